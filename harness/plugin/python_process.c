/* SPDX-License-Identifier: MIT */
#include "plugin/python_process.h"

#include "base/memory.h"
#include "base/monotonic.h"
#include "base/resource.h"
#include "core/kernel.h"
#include "host/thread_pinning.h"
#include "process/descriptors.h"
#include "process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* An answer is a line or two; standard error is not to take the machine's memory. */
enum { ANSWER_MOST = 1 << 16, WORDS_MOST = 1 << 20, WORDS_SHOWN = 400 };
/* How often one looks whether it still is, where something that it started holds its channel; and
 * how long one that has closed that gets to end. */
enum { LOOK_MS = 200, END_MS = 2000 };
/* Above all numbers that a child's descriptors get. */
enum { HIGH = PYTHON_FILES + TENSOR_MAX };

/* ---- its start ---- */

/* What it begins with, in the order of its numbers; each is out of the way of those. */
struct endowment {
    int fd[HIGH];
    size_t nr;
};

static int add_descriptor(struct endowment *e, int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);

    if (high < 0)
        return -1;
    e->fd[e->nr++] = high;
    return 0;
}

/* The same of one that was made for it, or could not be made. */
static int give_descriptor(struct endowment *e, int fd)
{
    if (fd < 0)
        return -1;
    int rc = add_descriptor(e, fd), reason = errno;
    close(fd);
    errno = reason;
    return rc;
}

static void drop_endowment(const struct endowment *e)
{
    for (size_t i = 0; i < e->nr; i++)
        close(e->fd[i]);
}

void python_program(struct strbuf *text)
{
    static const char *const parts[] = { "plugin/tensors.py", "plugin/cuda_tensors.py",
                                         "plugin/guest.py" };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const struct resource *part = resource_find(parts[i]);
        strbuf_add(text, part->data, part->length);
    }
}

static int give_program(struct endowment *e)
{
    struct strbuf text;

    strbuf_init(&text);
    python_program(&text);
    int rc = give_descriptor(e, descriptors_of_bytes("guest.py", text.data, text.length));
    int reason = errno;
    strbuf_release(&text);
    errno = reason;
    return rc;
}

/* -1 with errno. */
static int fill_endowment(struct endowment *e, const struct python_process *p, int channel,
                          const int *files, size_t nr)
{
    int rc = give_program(e) || give_descriptor(e, open("/dev/null", O_WRONLY | O_CLOEXEC)) ||
                     add_descriptor(e, p->words) || add_descriptor(e, channel)
                 ? -1
                 : 0;

    for (size_t i = 0; i < nr && rc == 0; i++)
        rc = add_descriptor(e, files[i]);
    return rc;
}

/* 0, or the error's number: without one of its descriptors it would have this process's. */
static int prepare_interpreter(const struct endowment *e, posix_spawn_file_actions_t *actions,
                               posix_spawnattr_t *attributes)
{
    int rc = process_signals_as_usual(attributes);
    int made = posix_spawn_file_actions_init(actions);

    for (size_t i = 0; made == 0 && i < e->nr; i++)
        made = posix_spawn_file_actions_adddup2(actions, e->fd[i], (int)i);
    return rc ? rc : made;
}

/* Without what it might write beside a file that is somebody else's. */
static int spawn_interpreter(struct python_process *p, const struct endowment *e)
{
    char interpreter[] = "python3", plain[] = "-B", from_input[] = "-";
    char *argv[] = { interpreter, plain, from_input, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    struct pinning_pause pause;

    argv[0] = (char *)p->who;
    int rc = prepare_interpreter(e, &actions, &attributes);
    pinning_pause(&pause);
    if (rc == 0)
        rc = posix_spawn(&p->pid, p->who, &actions, &attributes, argv, environ);
    pinning_resume(&pause);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (rc)
        p->pid = 0;
    return rc;
}

int python_process_start(struct python_process *p, const char *interpreter, const int *files,
                         size_t nr, struct error *err)
{
    struct endowment e = { .nr = 0 };
    int ends[2], rc;

    *p = (struct python_process) { .who = interpreter, .channel = -1 };
    strbuf_init(&p->said);
    p->words = memfd_create("standard error", MFD_CLOEXEC);
    if (p->words < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return error_set(err, "cannot make a channel to %s: %s", interpreter, strerror(errno));
    p->channel = ends[0];
    fcntl(p->words, F_SETFL, O_APPEND);
    rc = fill_endowment(&e, p, ends[1], files, nr) ? errno : spawn_interpreter(p, &e);
    drop_endowment(&e);
    close(ends[1]);
    return rc ? error_set(err, "cannot start %s: %s", interpreter, strerror(rc)) : 0;
}

/* ---- its end ---- */

/* The last line that says anything. */
static void last_words(const struct python_process *p, char words[WORDS_SHOWN + 1])
{
    struct stat file;
    off_t from =
        fstat(p->words, &file) == 0 && file.st_size > WORDS_SHOWN ? file.st_size - WORDS_SHOWN : 0;
    ssize_t nr = pread(p->words, words, WORDS_SHOWN, from);

    words[nr > 0 ? nr : 0] = '\0';
    for (size_t end = strlen(words); end > 0 && strchr(" \n\r\t", words[end - 1]); end--)
        words[end - 1] = '\0';
    char *last = strrchr(words, '\n');
    if (last)
        memmove(words, last + 1, strlen(last));
}

/* False: it is still there after a while. */
static bool reap_interpreter(struct python_process *p, int wait_ms, int *status)
{
    for (int waited = 0;; waited++) {
        if (waitpid(p->pid, status, WNOHANG) == p->pid) {
            p->pid = 0;
            return true;
        }
        if (waited >= wait_ms)
            return false;
        poll(NULL, 0, 1);
    }
}

static int tell_end(struct python_process *p, struct error *err)
{
    char words[WORDS_SHOWN + 1];
    int status;

    if (!reap_interpreter(p, END_MS, &status))
        return error_set(err, "%s has closed descriptor %d, which is not its own", p->who,
                         PYTHON_CHANNEL);
    last_words(p, words);
    const char *between = words[0] ? ": " : "";
    if (WIFSIGNALED(status))
        return error_set(err, "%s died by signal %d (%s)%s%s", p->who, WTERMSIG(status),
                         strsignal(WTERMSIG(status)), between, words);
    return error_set(err, "%s ended with status %d%s%s", p->who, WEXITSTATUS(status), between,
                     words);
}

void python_process_stop(struct python_process *p)
{
    int status;

    if (p->channel >= 0)
        close(p->channel);
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        reap_interpreter(p, END_MS, &status);
    }
    if (p->words >= 0)
        close(p->words);
    strbuf_release(&p->said);
    p->channel = p->words = -1;
}

/* ---- question and answer ---- */

static bool has_ended(const struct python_process *p)
{
    siginfo_t info = { .si_pid = 0 };

    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

/* What there is of an answer; false at the end of all. */
static bool read_answer(struct python_process *p)
{
    struct pollfd fd = { .fd = p->channel, .events = POLLIN };
    char block[4096];
    bool ended = false;

    while (poll(&fd, 1, ended ? 0 : LOOK_MS) <= 0) {
        if (ended)
            return false;
        ended = has_ended(p); /* then there is nothing to come, but there may be a rest */
    }
    ssize_t nr = recv(p->channel, block, sizeof(block), 0);
    if (nr > 0)
        strbuf_add(&p->said, block, (size_t)nr);
    return nr > 0 || (nr < 0 && errno == EINTR);
}

/* With a file (-1: none) beside it; so much of it as send() would. */
static ssize_t send_beside(const struct python_process *p, const char *data, size_t length,
                           int file)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } beside = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
                             .cmsg_level = SOL_SOCKET,
                             .cmsg_type = SCM_RIGHTS } };
    struct iovec text = { (void *)data, length };
    struct msghdr message = { .msg_iov = &text, .msg_iovlen = 1 };

    if (file >= 0) {
        memcpy(CMSG_DATA(&beside.header), &file, sizeof(file));
        message.msg_control = &beside;
        message.msg_controllen = sizeof(beside.room);
    }
    return sendmsg(p->channel, &message, MSG_NOSIGNAL);
}

static bool send_line(struct python_process *p, const char *line, int file)
{
    struct strbuf text;
    size_t sent = 0;

    strbuf_init(&text);
    strbuf_addf(&text, "%s\n", line);
    while (sent < text.length) {
        ssize_t nr = send_beside(p, text.data + sent, text.length - sent, sent == 0 ? file : -1);
        if (nr < 0 && errno != EINTR)
            break;
        sent += nr > 0 ? (size_t)nr : 0;
    }
    bool all = sent == text.length;
    strbuf_release(&text);
    return all;
}

/* Nobody reads it from the front. */
static void bound_words(const struct python_process *p)
{
    struct stat file;

    if (fstat(p->words, &file) == 0 && file.st_size > WORDS_MOST && ftruncate(p->words, 0))
        return; /* the memory limit will tell */
}

int python_process_hand(struct python_process *p, const char *line, int file, const char **answer,
                        struct error *err)
{
    char *end;

    *answer = "";
    bound_words(p);
    strbuf_clear(&p->said);
    if (!send_line(p, line, file))
        return tell_end(p, err);
    while (!(end = strchr(p->said.data, '\n'))) {
        if (p->said.length > ANSWER_MOST)
            return error_set(err, "%s writes to descriptor %d, which is not its own", p->who,
                             PYTHON_CHANNEL);
        if (!read_answer(p))
            return tell_end(p, err);
    }
    *end = '\0';
    *answer = p->said.data + 1;
    if (p->said.data[0] == '+' && end + 1 == p->said.data + p->said.length)
        return 0;
    if (p->said.data[0] == '-' || p->said.data[0] == '?')
        error_set(err, "%s", *answer);
    else
        error_set(err, "%s writes to descriptor %d, which is not its own", p->who, PYTHON_CHANNEL);
    return p->said.data[0] == '?' ? CALL_UNSUPPORTED : -1;
}

int python_process_ask(struct python_process *p, const char *line, const char **answer,
                       struct error *err)
{
    return python_process_hand(p, line, -1, answer, err);
}
