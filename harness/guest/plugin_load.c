/* SPDX-License-Identifier: MIT */
#include "guest/plugin_parts.h"

#include "base/memory.h"
#include "base/process_group.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIAL_SECONDS = 60 }; /* for the trial: also from a slow disk no plugin needs that */

static const char symbol[] = "harness_plugin";

static int load(struct plugin *p, struct error *err)
{
    /* RTLD_NOW: what is missing is told here, not by a crash in the middle of a case. */
    p->own->library = dlopen(p->path, RTLD_NOW | RTLD_LOCAL);
    if (!p->own->library)
        return error_set(err, "%s; a plugin is a shared object: cc -shared -fPIC", dlerror());
    p->own->table = dlsym(p->own->library, symbol);
    if (!p->own->table)
        return error_set(err,
                         "it has no symbol %s: put HARNESS_PLUGIN(kernels); of <harness/plugin.h> "
                         "at its end",
                         symbol);
    return plugin_check(p->own->table, err);
}

/* What the trial says when all is well: a constructor that calls exit(0) says nothing. */
static const char fine[] = "fine";

static void read_words(int fd, char *words, size_t size)
{
    size_t length = 0;
    ssize_t nr;

    while (length < size - 1 && (nr = read(fd, words + length, size - 1 - length)) != 0) {
        if (nr > 0)
            length += (size_t)nr;
        else if (errno != EINTR)
            break;
    }
    words[length] = '\0';
}

static void try_and_exit(struct plugin *p, int fd, pid_t parent)
{
    struct error err = { "" };

    if (!process_end_with(parent))
        _exit(1);
    signal(SIGALRM, SIG_DFL);
    alarm(TRIAL_SECONDS);
    const char *words = load(p, &err) == 0 ? fine : err.message;
    size_t length = strlen(words);

    _exit(write(fd, words, length) == (ssize_t)length ? 0 : 1);
}

static int judge_trial(int status, const char *words, struct error *err)
{
    if (WIFEXITED(status) && strcmp(words, fine) == 0)
        return 0;
    if (WIFEXITED(status) && *words)
        return error_set(err, "%s", words);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return error_set(err, "loading it takes longer than %d s: look at its constructors",
                         TRIAL_SECONDS);
    if (WIFSIGNALED(status))
        return error_set(err,
                         "loading it crashes (signal %d, %s): look at its constructors and at the "
                         "pointers and numbers in its tables",
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    return error_set(err, "loading it ends the process: look at its constructors");
}

/* Constructors of a plugin may do anything, and so may wild pointers in its tables. */
static int try_aside(struct plugin *p, struct error *err)
{
    struct error words;
    int ends[2], status = 0;

    if (pipe(ends))
        return error_set(err, "cannot make a pipe: %s", strerror(errno));
    pid_t self = getpid(), pid = fork();
    if (pid == 0)
        try_and_exit(p, ends[1], self);
    close(ends[1]);
    read_words(ends[0], words.message, sizeof(words.message));
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid < 0 ? error_set(err, "cannot start a process to try it: %s", strerror(errno))
                   : judge_trial(status, words.message, err);
}

static int check_digest(struct plugin *p, const char *digest, struct error *err)
{
    if (file_digest(p->path, p->digest, err))
        return -1;
    if (!digest || strcmp(p->digest, digest) == 0)
        return 0;
    return error_set(err,
                     "it is not the file any more that this run began with (%s, now %s): let "
                     "nothing build it while it is measured, and run again",
                     digest, p->digest);
}

int plugin_open(struct plugin *p, const char *path, const char *digest, struct error *err)
{
    *p = (struct plugin) { .path = realpath(path, NULL) };
    if (!p->path)
        return error_set(err, "plugin %s: %s", path, strerror(errno));
    p->file = strrchr(p->path, '/') + 1;
    p->own = memory_zeroed(1, sizeof(*p->own));
    if (check_digest(p, digest, err) || (!digest && try_aside(p, err)) || load(p, err))
        return error_prefix(err, "plugin %s", path);
    plugin_adapt(p);
    return 0;
}

void plugin_close(struct plugin *p)
{
    if (p->own) {
        plugin_drop(p);
        if (p->own->library)
            dlclose(p->own->library);
    }
    free(p->own);
    free(p->path);
    *p = (struct plugin) { 0 };
}
