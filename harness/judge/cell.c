/* SPDX-License-Identifier: MIT */
#include "judge/cell.h"

#include "base/file.h"
#include "base/json.h"
#include "core/clock.h"
#include "judge/maps.h"
#include "judge/sandbox.h"
#include "process/descriptors.h"
#include "process/own_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EMPTY_WINDOWS = 7 };
/* Until the process is there, which is not the guest's time. */
static const double start_seconds = 60;

/* ---- a process is made ---- */

/* "0a1b..." */
static int add_memory(cJSON *json, const struct arena *a, struct error *err)
{
    struct device_handle handle = { { 0 } };
    char text[DEVICE_HANDLE_TEXT_SIZE];

    if (!a->device)
        return 0;
    if (arena_lend(a, &handle, err))
        return -1;
    device_handle_text(&handle, text);
    cJSON_AddStringToObject(json, "device_memory", text);
    return 0;
}

static int write_job(const struct cell_job *job, const struct arena *a, struct error *err)
{
    cJSON *json = cJSON_CreateObject(), *dims = cJSON_AddArrayToObject(json, "shape");

    if (add_memory(json, a, err)) {
        cJSON_Delete(json);
        return -1;
    }
    cJSON_AddStringToObject(json, "spec", job->spec->name);
    cJSON_AddStringToObject(json, "variant", job->variant->name);
    cJSON_AddStringToObject(json, "device", job->device_spec);
    json_add_int(json, "slots", a->slots);
    json_add_int(json, "dtype", (int64_t)job->variant->dtype);
    for (int i = 0; i < SHAPE_MAX; i++)
        cJSON_AddItemToArray(dims, cJSON_CreateNumber((double)job->shape.dim[i]));
    cJSON_AddBoolToObject(json, "reference", job->reference);
    if (job->guests)
        guests_to_job(job->guests, json);
    char *text = json_take_text(json);
    int fd = descriptors_of_bytes("job", text, strlen(text));
    if (fd < 0)
        error_set(err, "cannot write a job: %s", strerror(errno));
    free(text);
    return fd;
}

/* Between fork and exec: only async-signal-safe calls. */
static void exec_cell(const int from[4], char **env, pid_t judge,
                      const struct processors *processors)
{
    char program[] = "harness", command[] = "internal-launch", cell[] = "cell";
    char *argv[] = { program, command, cell, NULL };
    int high[4];

    processors_bind(0, processors);
    setpgid(0, 0); /* a Ctrl+C is for the judge */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != judge)
        _exit(127);
    for (int i = 0; i < 4; i++)
        if ((high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 10)) < 0 || (from[i] > 9 && close(from[i])))
            _exit(127);
    for (int i = 0; i < 4; i++)
        if (dup2(high[i], i) < 0)
            _exit(127);
    descriptors_close_on_exec(4);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    execve("/proc/self/exe", argv, env);
    _exit(127);
}

static int start_process(struct cell *c, struct error *err)
{
    int job = write_job(c->job, &c->arena, err);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (job >= 0 && nowhere < 0)
        error_set(err, "cannot open /dev/null: %s", strerror(errno));
    char **env = sandbox_environment(c->folder);
    const int from[4] = { job, nowhere, nowhere, c->arena.fd };
    pid_t self = getpid();

    if (job >= 0 && nowhere >= 0) {
        c->pid = fork();
        if (c->pid == 0)
            exec_cell(from, env, self, &c->job->processors);
        if (c->pid < 0)
            error_set(err, "cannot start a process: %s", strerror(errno));
    }
    free(env);
    if (job >= 0)
        close(job);
    if (nowhere >= 0)
        close(nowhere);
    c->pid = c->pid > 0 ? c->pid : 0;
    return c->pid > 0 ? 0 : -1;
}

/* ---- how it goes on, and stops ---- */

/* An interpreter says why it has ended: an exception, mostly. */
static int set_exit_fault(struct cell *c, int status)
{
    const struct board *board = arena_board(&c->arena);
    char words[sizeof(board->words)];

    memcpy(words, board->words, sizeof(words));
    words[sizeof(words) - 1] = '\0';
    return fault_set(&c->fault, FAULT_ENDED, "it ended its process (status %d)%s%.200s", status,
                     words[0] ? ": " : "", words);
}

/* It is gone. */
static int set_end_fault(struct cell *c, int status)
{
    c->state = CELL_OVER;
    c->pid = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        return fault_set(&c->fault, FAULT_CALL,
                         "it made a system call that no kernel needs: of processes, of signals to "
                         "others, of debuggers, or to set the clock");
    if (WIFSIGNALED(status))
        return fault_set(&c->fault, FAULT_ENDED, "it crashed (signal %d, %s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
    return set_exit_fault(c, WEXITSTATUS(status));
}

/* Has it been continued by anybody else? A timer's SIGCONT would do it. The kernel keeps that: as
 * a process that goes on, or as one that has stopped once more. */
static int check_asleep(struct cell *c)
{
    int status;
    pid_t pid = waitpid(c->pid, &status, WNOHANG | WUNTRACED | WCONTINUED);

    if (pid == c->pid && !WIFSTOPPED(status) && !WIFCONTINUED(status))
        return set_end_fault(c, status);
    if (pid == c->pid)
        return fault_set(&c->fault, FAULT_AWAKE,
                         "it had itself continued and ran on while the clock stood still");
    return 0;
}

static int kill_hanging_cell(struct cell *c, double limit)
{
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    c->pid = 0;
    c->state = CELL_OVER;
    return fault_set(&c->fault, FAULT_HANGS, "it did not return within %.3g s", limit);
}

/* Until the process has stopped, which is reported once all of its threads have. SIGCHLD is
 * blocked, and taken. */
static int wait_for_stop(struct cell *c, uint64_t *now, struct error *err)
{
    const double limit =
        c->state == CELL_NONE ? fmax(c->job->timeout, start_seconds) : c->job->timeout;

    const struct timespec second = { .tv_sec = 0, .tv_nsec = 500000000 };
    uint64_t end = clock_ns() + (uint64_t)(1e9 * limit);
    sigset_t child;
    int status;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        pid_t pid = waitpid(c->pid, &status, WNOHANG | WUNTRACED);
        *now = clock_ns();
        if (pid == c->pid && WIFSTOPPED(status))
            return 0;
        if (pid == c->pid)
            return set_end_fault(c, status);
        if (c->job->interrupted && *c->job->interrupted)
            return error_set(err, "interrupted");
        if (*now > end)
            return kill_hanging_cell(c, limit);
        sigtimedwait(&child, NULL, &second);
    }
}

static void write_board(struct cell *c, enum order order, const int *slots, int nr)
{
    struct board *board = arena_board(&c->arena);

    board->order = order;
    board->nr = (uint32_t)nr;
    board->done = 0;
    for (int i = 0; i < nr; i++)
        board->slot[i] = (uint32_t)slots[i];
}

/* ---- what is in its memory ---- */

int cell_put(struct cell *c, const struct test_vectors *v, int slot, enum put what,
             struct error *err)
{
    arena_put(&c->arena, slot, v->vectors[slot].host, what);
    return arena_send(&c->arena, slot, err);
}

/* The last launches first: theirs is what could still be under way. */
static int fetch_slots(const struct cell *c, const int *slots, int nr, struct error *err)
{
    int rc = 0;

    for (int i = nr - 1; rc == 0 && i >= 0; i--)
        rc = arena_fetch(&c->arena, slots[i], err);
    return rc;
}

static int fetch_all(const struct cell *c, struct error *err)
{
    int rc = 0;

    for (int slot = 0; rc == 0 && slot < c->arena.slots; slot++)
        rc = arena_fetch(&c->arena, slot, err);
    return rc;
}

int cell_window(struct cell *c, enum order order, const int *slots, int nr, uint64_t *ns,
                struct error *err)
{
    uint64_t from, to;

    if (c->stopped && check_asleep(c))
        return -1;
    write_board(c, order, slots, nr);
    from = clock_ns();
    if (c->stopped)
        kill(c->pid, SIGCONT);
    c->stopped = false;
    if (wait_for_stop(c, &to, err))
        return -1;
    c->stopped = true;
    *ns = to - from;
    return order == ORDER_WAIT ? fetch_all(c, err) : fetch_slots(c, slots, nr, err);
}

/* Until a launch has returned, or so it says: on a busy machine it begins late. Who does not say so
 * is stopped all the same. Whoever sleeps or yields until then comes too late for a short window.
 */
static void wait_for_begin(const struct cell *c, uint64_t window_ns)
{
    const uint64_t least_ns = 2000000;
    const struct timespec step = { 0, 50000 };
    const uint64_t end = clock_ns() + (window_ns > least_ns ? window_ns : least_ns);

    while (!__atomic_load_n(&arena_board(&c->arena)->done, __ATOMIC_ACQUIRE) && clock_ns() < end)
        if (window_ns > least_ns)
            nanosleep(&step, NULL);
}

/* The judge's processors while it waits for a moment of a cell: beside that cell's, if there are
 * others. */
static void move_aside(const struct cell *c, const struct processors *all)
{
    struct processors others = *all;

    for (size_t i = 0; i < PROCESSORS_MAX; i++)
        if (processors_have(&c->job->processors, i))
            processors_remove(&others, i);
    if (processors_count(&others) > 0)
        processors_bind(0, &others);
}

/* A sleep ends some 50 us late, which is behind the end of a short window. */
static void pause_for(uint64_t ns)
{
    const uint64_t short_ns = 200000, end = clock_ns() + ns;
    const struct timespec delay = { (time_t)(ns / 1000000000U), (long)(ns % 1000000000U) };

    if (ns > short_ns)
        nanosleep(&delay, NULL);
    else
        while (clock_ns() < end)
            continue;
}

/* A device goes on with what was enqueued when the process has stopped. What was is done soon: ten
 * times what all launches take, and a time in which somebody else may have the device. */
static int let_device_finish(const struct cell *c, const int *slots, int nr, uint64_t window_ns,
                             struct error *err)
{
    const uint64_t others_ns = 10000000, ns = 10 * window_ns + others_ns;
    const struct timespec delay = { (time_t)(ns / 1000000000U), (long)(ns % 1000000000U) };

    if (!c->arena.device)
        return 0;
    if (nanosleep(&delay, NULL) && c->job->interrupted && *c->job->interrupted)
        return error_set(err, "interrupted"); /* what is there by now says nothing */
    return fetch_slots(c, slots, nr, err);
}

int cell_interrupt(struct cell *c, const int *slots, int nr, uint64_t window_ns,
                   const struct moment *at, int *done, struct error *err)
{
    uint64_t now;
    struct processors all;

    if (check_asleep(c))
        return -1;
    bool told = processors_of(0, &all);
    if (told)
        move_aside(c, &all);
    write_board(c, ORDER_LAUNCH, slots, nr);
    kill(c->pid, SIGCONT);
    if (at->returned)
        wait_for_begin(c, window_ns);
    pause_for(at->delay_ns);
    kill(c->pid, SIGSTOP);
    if (told)
        processors_bind(0, &all);
    if (wait_for_stop(c, &now, err))
        return -1;
    uint32_t said = __atomic_load_n(&arena_board(&c->arena)->done, __ATOMIC_ACQUIRE);
    *done = said > (uint32_t)nr ? nr : (int)said;
    return let_device_finish(c, slots, nr, window_ns, err);
}

/* Where it had stopped by itself already, it launches all once more, whatever lies there now. */
int cell_resume(struct cell *c, const int *slots, int nr, struct error *err)
{
    uint64_t now;

    if (check_asleep(c))
        return -1;
    kill(c->pid, SIGCONT);
    return wait_for_stop(c, &now, err) ? -1 : fetch_slots(c, slots, nr, err);
}

/* ---- its beginning and end ---- */

static char *read_maps(const struct cell *c)
{
    char path[64];
    size_t length;
    struct error ignored;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)c->pid);
    return file_read(path, FILE_RECORDS_MOST, &length, &ignored);
}

static int measure_overhead(struct cell *c, struct error *err)
{
    uint64_t ns;

    if (cell_window(c, ORDER_NOTHING, NULL, 0, &ns, err)) /* it starts, and stops */
        return -1;
    c->overhead_ns = 1e9;
    for (int i = 0; i < EMPTY_WINDOWS; i++) {
        if (cell_window(c, ORDER_NOTHING, NULL, 0, &ns, err))
            return -1;
        c->overhead_ns = (double)ns < c->overhead_ns ? (double)ns : c->overhead_ns;
    }
    c->mapped = read_maps(c);
    c->state = CELL_EMPTY;
    return 0;
}

/* What the cell says of itself is only ever why there is no result. */
static void take_state(struct cell *c)
{
    const struct board *board = arena_board(&c->arena);
    char words[sizeof(board->words)];

    memcpy(words, board->words, sizeof(words));
    words[sizeof(words) - 1] = '\0';
    c->state = CELL_READY;
    if (board->state == BOARD_UNSUPPORTED) {
        c->state = CELL_UNSUPPORTED;
        snprintf(c->fault.words, sizeof(c->fault.words), "%.300s", words);
    } else if (board->state != BOARD_READY) {
        c->state = CELL_OVER;
        fault_set(&c->fault, FAULT_FAILED, "it could not be made ready: %.250s",
                  words[0] ? words : "it stopped before it was");
    }
}

/* Nothing of a guest has run yet: it is no fault of one. */
static int not_begun(const struct cell *c, struct error *err)
{
    return c->fault.kind == FAULT_NONE
               ? -1
               : error_set(err, "a process for %s: %s", c->job->variant->name, c->fault.words);
}

int cell_open(struct cell *c, const struct cell_job *job, const struct test_vectors *v,
              struct error *err)
{
    uint64_t ns;

    *c = (struct cell) { .job = job };
    arena_plan(&c->arena, job->spec, &job->shape, v->dtype, v->slots);
    c->previous = memory_zeroed((size_t)v->slots, c->arena.slot_bytes);
    c->has_previous = memory_zeroed((size_t)v->slots, sizeof(*c->has_previous));
    if (arena_make(&c->arena, job->device, err))
        return -1;
    for (int slot = 0; slot < v->slots; slot++)
        if (cell_put(c, v, slot, PUT_ALL, err))
            return -1;
    c->folder = own_folder_make(err);
    if (!c->folder || start_process(c, err))
        return -1;
    if (measure_overhead(c, err))
        return not_begun(c, err);
    if (cell_window(c, ORDER_LOAD, NULL, 0, &ns, err))
        return c->fault.kind == FAULT_NONE ? -1 : 0;
    take_state(c);
    return 0;
}

void cell_close(struct cell *c)
{
    if (c->pid > 0) {
        kill(c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    arena_close(&c->arena);
    own_folder_remove(c->folder);
    free(c->previous);
    free(c->has_previous);
    free(c->mapped);
    *c = (struct cell) { .state = CELL_NONE, .arena = { .fd = -1 } };
}

/* ---- what it did beside computing ---- */

void cell_libraries(const struct cell *c, struct string_list *files)
{
    char *maps = c->pid > 0 ? read_maps(c) : NULL;
    struct string_list found = { 0 };
    const struct guests *guests = c->job->guests;

    if (maps)
        maps_new_code(maps, c->mapped, &found);
    for (size_t i = 0; i < found.nr; i++) {
        bool own = false;
        for (size_t p = 0; guests && p < guests->plugins.nr; p++)
            own = own || strcmp(found.items[i], guests->plugins.items[p].path) == 0;
        if (!own)
            maps_tell_once(files, found.items[i]);
    }
    string_list_release(&found);
    free(maps);
}
