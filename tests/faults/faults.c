/* SPDX-License-Identifier: MIT */
/*
 * Runs a program in an environment that fails it.
 *
 *   faults [OPTION...] -- COMMAND...
 *
 *   --count FILE        a line "CLASS N" for each class of system calls: how many were made
 *   --fail CLASS:N:HOW  the N-th call of a class, counted over all processes of the program, fails:
 *                       HOW is an errno by name, "short" (a read or write of one byte) or
 *                       "nothing" (said to be done, and not). With ":on" behind it all later
 *                       ones do, too
 *   --deny NAME:HOW,... these system calls always fail, in all that is started, as on an older
 *                       kernel or in a container
 *   --rlimit NAME:VALUE a limit of setrlimit(2), such as NOFILE:8, for COMMAND
 *   --limit SECONDS     then all is killed, and the exit status is 124
 *
 * Counted are calls of processes that run COMMAND's own file, from the first time on that they
 * choose what SIGPIPE does: the loader is behind them then. Exit status: the program's, 128 and its
 * signal, 124, or 125 where the program has ended and processes that it started are left.
 *
 * By ptrace(2) and seccomp(2), so that what libraries call counts as well.
 */
#include "faults_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PROCESSES = 4096,
    DENIED = 64,
    SKIPPED = -1,
    LEFT_OVER = 125,
    TIMED_OUT = 124,
    BROKEN = 126
};

struct denied {
    long call;
    int error;
};

struct options {
    const char *count;
    enum call_class class;
    long at;
    int error; /* SHORT: of one byte */
    bool fails, on;
    struct denied denied[DENIED];
    size_t nr_denied;
    int resource; /* -1: none */
    rlim_t most;
    int limit;
    char **command;
};

struct process {
    pid_t id;
    bool armed, watched; /* past its loader; runs COMMAND's file */
};

struct tracer {
    const struct options *options;
    struct stat file; /* COMMAND's */
    struct process processes[PROCESSES];
    size_t nr;
    long counts[CLASS_NR];
    pid_t first;
    int status; /* of the first; -1 as long as it runs */
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
    exit(BROKEN);
}

/* ---- the filter ---- */

static struct sock_filter load(size_t offset)
{
    return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset);
}

/* Two instructions: this call does that, others go on. */
static size_t rule(struct sock_filter *at, long call, unsigned action)
{
    at[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1);
    at[1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    return 2;
}

static void filter(const struct options *o, bool traces)
{
    struct sock_filter code[2 * (DENIED + CALLS_MAX) + 2];
    size_t nr = 0;

    code[nr++] = load(offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < o->nr_denied; i++)
        nr += rule(code + nr, o->denied[i].call, SECCOMP_RET_ERRNO | (unsigned)o->denied[i].error);
    for (const struct call *c = calls; traces && c->name; c++)
        if (c->class != CLASS_NONE)
            nr += rule(code + nr, c->number, SECCOMP_RET_TRACE);
    code[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { .len = (unsigned short)nr, .filter = code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        fail("seccomp");
}

/* ---- registers ---- */

struct call_state {
    long number;
    unsigned long first, second, third; /* arguments */
};

#if defined(__x86_64__)

static bool call_of(pid_t id, struct call_state *s)
{
    struct user_regs_struct r;

    if (ptrace(PTRACE_GETREGS, id, NULL, &r))
        return false;
    *s = (struct call_state) { (long)r.orig_rax, r.rdi, r.rsi, r.rdx };
    return true;
}

static void call_ends(pid_t id, int error)
{
    struct user_regs_struct r;

    if (ptrace(PTRACE_GETREGS, id, NULL, &r))
        return;
    r.orig_rax = (unsigned long long)SKIPPED;
    r.rax = (unsigned long long)-error;
    ptrace(PTRACE_SETREGS, id, NULL, &r);
}

static void call_is_short(pid_t id)
{
    struct user_regs_struct r;

    if (ptrace(PTRACE_GETREGS, id, NULL, &r))
        return;
    r.rdx = r.rdx > 1 ? 1 : r.rdx;
    ptrace(PTRACE_SETREGS, id, NULL, &r);
}

#elif defined(__aarch64__)

#include <elf.h>

static bool registers(pid_t id, int request, struct user_regs_struct *r)
{
    struct iovec all = { r, sizeof(*r) };

    return ptrace(request, id, NT_PRSTATUS, &all) == 0;
}

static bool call_of(pid_t id, struct call_state *s)
{
    struct user_regs_struct r;

    if (!registers(id, PTRACE_GETREGSET, &r))
        return false;
    *s = (struct call_state) { (long)r.regs[8], r.regs[0], r.regs[1], r.regs[2] };
    return true;
}

static void call_ends(pid_t id, int error)
{
    struct user_regs_struct r;
    int none = SKIPPED;
    struct iovec number = { &none, sizeof(none) };

    if (!registers(id, PTRACE_GETREGSET, &r))
        return;
    ptrace(PTRACE_SETREGSET, id, NT_ARM_SYSTEM_CALL, &number);
    r.regs[0] = (unsigned long long)-error;
    registers(id, PTRACE_SETREGSET, &r);
}

static void call_is_short(pid_t id)
{
    struct user_regs_struct r;

    if (!registers(id, PTRACE_GETREGSET, &r))
        return;
    r.regs[2] = r.regs[2] > 1 ? 1 : r.regs[2];
    registers(id, PTRACE_SETREGSET, &r);
}

#else
#error "the registers of this processor are not known here"
#endif

/* ---- processes ---- */

static struct process *find(struct tracer *t, pid_t id)
{
    for (size_t i = 0; i < t->nr; i++)
        if (t->processes[i].id == id)
            return &t->processes[i];
    if (t->nr == PROCESSES)
        return NULL;
    t->processes[t->nr] = (struct process) { .id = id };
    return &t->processes[t->nr++];
}

static void forget(struct tracer *t, pid_t id)
{
    for (size_t i = 0; i < t->nr; i++)
        if (t->processes[i].id == id)
            t->processes[i] = t->processes[--t->nr];
}

static bool runs_the_file(const struct tracer *t, pid_t id)
{
    char path[64];
    struct stat file;

    snprintf(path, sizeof(path), "/proc/%d/exe", id);
    return stat(path, &file) == 0 && file.st_ino == t->file.st_ino && file.st_dev == t->file.st_dev;
}

/* Threads wake each other by writing to one, which does not fail. */
static bool is_eventfd(pid_t id, unsigned long file)
{
    char path[64], target[64] = "";

    snprintf(path, sizeof(path), "/proc/%d/fd/%lu", id, file);
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    return length > 0 && strstr(target, "[eventfd]") != NULL;
}

/* What an fcntl is, and of what can fail in no kernel: giving a lock back, a wait that does not
 * wait. */
static enum call_class class_by_arguments(pid_t id, const struct call_state *s)
{
    const unsigned long command = s->second;

    if (s->number == SYS_wait4)
        return s->third & WNOHANG ? CLASS_NONE : CLASS_WAIT;
    if (s->number == SYS_write && is_eventfd(id, s->first))
        return CLASS_NONE;
    if (s->number != SYS_fcntl)
        return class_of(s->number);
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        return CLASS_DUP;
    if (command != F_SETLK && command != F_SETLKW)
        return CLASS_NONE;
    short type = (short)ptrace(PTRACE_PEEKDATA, id, s->third, NULL);
    return type == F_UNLCK ? CLASS_NONE : CLASS_LOCK;
}

/* A call that the filter stopped. */
static void look_at(struct tracer *t, struct process *p)
{
    const struct options *o = t->options;
    struct call_state s;

    if (!p || !p->watched || !call_of(p->id, &s))
        return;
    enum call_class class = class_by_arguments(p->id, &s);
    if (class == CLASS_START)
        p->armed |= s.first == SIGPIPE;
    if (!p->armed || class == CLASS_START || class == CLASS_NONE)
        return;
    long nr = ++t->counts[class];
    if (!o->fails || class != o->class || (o->on ? nr < o->at : nr != o->at))
        return;
    if (o->error == SHORT)
        call_is_short(p->id);
    else
        call_ends(p->id, o->error);
}

static void inherit(struct tracer *t, const struct process *parent, pid_t id)
{
    struct process from = parent ? *parent : (struct process) { 0 };
    struct process *child = find(t, id);

    if (!child)
        return;
    child->armed = from.armed;
    child->watched = from.watched;
}

/* What a stop was about, and the signal to go on with. */
static int stopped(struct tracer *t, pid_t id, int status)
{
    struct process *p = find(t, id);
    unsigned long about = 0;

    switch (status >> 16) {
    case 0:
        return WSTOPSIG(status);
    case PTRACE_EVENT_SECCOMP:
        look_at(t, p);
        return 0;
    case PTRACE_EVENT_EXEC:
        if (p)
            *p = (struct process) { .id = id, .watched = runs_the_file(t, id) };
        return 0;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        ptrace(PTRACE_GETEVENTMSG, id, NULL, &about);
        inherit(t, p, (pid_t)about);
        return 0;
    default:
        return 0;
    }
}

static void go_on(struct tracer *t, pid_t id, int status)
{
    bool holds = status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
    long signal = stopped(t, id, status);

    ptrace(holds ? PTRACE_LISTEN : PTRACE_CONT, id, NULL, signal);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void kill_all(struct tracer *t)
{
    for (size_t i = 0; i < t->nr; i++)
        kill(t->processes[i].id, SIGKILL);
    while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
        ;
}

/* Until all have ended. What the first left has some seconds to follow it. */
static int watch(struct tracer *t)
{
    enum { GRACE = 5 };
    double end = now() + t->options->limit;
    int status;

    for (;;) {
        pid_t id = waitpid(-1, &status, __WALL | WNOHANG);
        if (id < 0 && errno == ECHILD)
            return t->status;
        if (id <= 0 && now() > end) {
            int result = t->status < 0 ? TIMED_OUT : LEFT_OVER;
            kill_all(t);
            return result;
        }
        if (id <= 0) {
            nanosleep(&(struct timespec) { .tv_nsec = 20000 }, NULL);
            continue;
        }
        if (WIFSTOPPED(status)) {
            go_on(t, id, status);
            continue;
        }
        forget(t, id);
        if (id == t->first) {
            t->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            end = now() + GRACE;
        }
    }
}

static void write_counts(const struct tracer *t)
{
    FILE *file = t->options->count ? fopen(t->options->count, "w") : NULL;

    if (!file)
        return;
    for (int class = CLASS_START + 1; class < CLASS_NR; class ++)
        fprintf(file, "%s %ld\n", class_names[class], t->counts[class]);
    fclose(file);
}

static void become(const struct options *o, bool traces)
{
    struct rlimit limit = { o->most, o->most };

    filter(o, traces);
    if (o->resource >= 0 && setrlimit((__rlimit_resource_t)o->resource, &limit))
        fail("setrlimit");
    execv(o->command[0], o->command);
    fail(o->command[0]);
}

static void find_file(struct tracer *t)
{
    char *real = realpath(t->options->command[0], NULL);

    if (!real || stat(real, &t->file))
        fail(t->options->command[0]);
    free(real);
}

static int trace(const struct options *o)
{
    static struct tracer t;
    int ready[2];
    char go = 0;

    t.options = o;
    t.status = -1;
    find_file(&t);
    if (pipe(ready) || (t.first = fork()) < 0)
        fail("fork");
    if (t.first == 0) {
        close(ready[1]);
        if (read(ready[0], &go, 1) != 1)
            _exit(BROKEN);
        close(ready[0]);
        become(o, true);
    }
    close(ready[0]);
    long events = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                  PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, t.first, NULL, events))
        fail("ptrace");
    find(&t, t.first);
    if (write(ready[1], &go, 1) != 1)
        fail("write");
    close(ready[1]);
    int status = watch(&t);
    write_counts(&t);
    return status;
}

/* ---- options ---- */

static _Noreturn void misused(const char *text)
{
    fprintf(stderr, "faults: %s?\n", text);
    exit(BROKEN);
}

static void parse_fail(struct options *o, char *text)
{
    char *class = strtok(text, ":"), *at = strtok(NULL, ":"), *how = strtok(NULL, ":");

    if (!how || !class_find(class, &o->class) || !error_find(how, &o->error))
        misused("--fail CLASS:N:HOW");
    o->at = strtol(at, NULL, 10);
    o->on = strtok(NULL, ":") != NULL;
    o->fails = true;
}

/* A name that this processor does not have is denied already. */
static void parse_deny(struct options *o, char *text)
{
    for (char *name = strtok(text, ":"); name; name = strtok(NULL, ":")) {
        char *how = strtok(NULL, ",");
        struct denied d;
        if (!how || !error_find(how, &d.error))
            misused("--deny NAME:HOW,...");
        d.call = call_find(name);
        if (d.call >= 0 && o->nr_denied < DENIED)
            o->denied[o->nr_denied++] = d;
    }
}

static void parse_rlimit(struct options *o, const char *text)
{
    static const struct {
        const char *name;
        int resource;
    } names[] = {
        { "AS", RLIMIT_AS },       { "NOFILE", RLIMIT_NOFILE }, { "NPROC", RLIMIT_NPROC },
        { "STACK", RLIMIT_STACK }, { "FSIZE", RLIMIT_FSIZE },   { "CORE", RLIMIT_CORE },
        { "CPU", RLIMIT_CPU },     { "DATA", RLIMIT_DATA },     { "MEMLOCK", RLIMIT_MEMLOCK },
    };
    size_t length = strcspn(text, ":");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i].name) == length && strncmp(names[i].name, text, length) == 0)
            o->resource = names[i].resource;
    if (o->resource < 0 || text[length] != ':')
        misused("--rlimit NAME:VALUE");
    o->most = strtoul(text + length + 1, NULL, 10);
}

int main(int argc, char **argv)
{
    struct options o = { .limit = 10, .resource = -1 };
    int i = 1;

    for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2) {
        if (strcmp(argv[i], "--count") == 0)
            o.count = argv[i + 1];
        else if (strcmp(argv[i], "--fail") == 0)
            parse_fail(&o, argv[i + 1]);
        else if (strcmp(argv[i], "--deny") == 0)
            parse_deny(&o, argv[i + 1]);
        else if (strcmp(argv[i], "--rlimit") == 0)
            parse_rlimit(&o, argv[i + 1]);
        else if (strcmp(argv[i], "--limit") == 0)
            o.limit = atoi(argv[i + 1]);
        else
            misused(argv[i]);
    }
    if (i + 1 >= argc)
        misused("-- COMMAND");
    o.command = argv + i + 1;
    if (o.count || o.fails)
        return trace(&o);
    become(&o, false);
}
