/* SPDX-License-Identifier: MIT */
#include "guest/plugin_parts.h"

#include "base/descriptors.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/process_group.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
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

struct trial {
    struct plugin *plugin;
    int words;
};

static int try_and_exit(const void *context)
{
    const struct trial *t = context;
    struct error err = { "" };

    descriptors_close(STDERR_FILENO + 1, t->words); /* the parent's, and that of its guard */
    const char *words = load(t->plugin, &err) == 0 ? fine : err.message;
    size_t length = strlen(words);

    _exit(write(t->words, words, length) == (ssize_t)length ? 0 : 1);
}

static int judge_trial(int status, const char *words, struct error *err)
{
    if (WIFEXITED(status) && strcmp(words, fine) == 0)
        return 0;
    if (WIFEXITED(status) && *words)
        return error_set(err, "%s", words);
    if (WIFSIGNALED(status))
        return error_set(err,
                         "loading it crashes (signal %d, %s): look at its constructors and at the "
                         "pointers and numbers in its tables",
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    return error_set(err, "loading it ends the process: look at its constructors");
}

/* What has been said by now, and no more of it than there is room for. */
static void read_words(int fd, char *words, size_t size)
{
    ssize_t nr = read(fd, words, size - 1);

    words[nr > 0 ? nr : 0] = '\0';
}

/* Whatever it does to its signals, timers and descriptors: it is the parent that looks at the
 * clock, and the end of the process that counts, not that of a pipe. */
static int follow_trial(struct process_group *g, int words, int seconds, struct error *err)
{
    bool ended = process_group_wait(g, seconds), alone = process_group_is_empty(g);
    char said[sizeof(err->message)];

    process_group_kill(g);
    if (!ended)
        return error_set(err, "loading it takes longer than %d s: look at its constructors",
                         seconds);
    read_words(words, said, sizeof(said));
    if (judge_trial(g->status, said, err))
        return -1;
    return alone ? 0
                 : error_set(err,
                             "loading it leaves a process behind: start what a kernel needs in "
                             "prepare(), and end it in release()");
}

int plugin_try(struct plugin *p, int seconds, struct error *err)
{
    struct process_group g;
    struct trial trial = { .plugin = p };
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return error_set(err, "cannot make a pipe: %s", strerror(errno));
    trial.words = ends[1];
    int rc = process_group_start(&g, 0, try_and_exit, &trial, err);
    close(ends[1]);
    if (rc == 0)
        rc = follow_trial(&g, ends[0], seconds, err);
    process_group_close(&g);
    close(ends[0]);
    return rc;
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
    if (check_digest(p, digest, err) || (!digest && plugin_try(p, TRIAL_SECONDS, err)) ||
        load(p, err))
        return error_prefix(err, "plugin %s", path);
    plugin_adapt(p);
    return 0;
}

void plugin_close(struct plugin *p)
{
    if (p->own) /* the library stays: its destructors are a stranger's code */
        plugin_drop(p);
    free(p->own);
    free(p->path);
    *p = (struct plugin) { 0 };
}

static int add_name(struct dl_phdr_info *info, size_t size, void *names)
{
    (void)size;
    if (info->dlpi_name && *info->dlpi_name)
        string_list_add(names, info->dlpi_name);
    return 0;
}

/* The loader knows, so that nothing else has to remember. */
bool plugin_is_loaded(void)
{
    struct string_list names = { 0 };
    bool found = false;

    dl_iterate_phdr(add_name, &names);
    for (size_t i = 0; i < names.nr && !found; i++) {
        void *library = dlopen(names.items[i], RTLD_LAZY | RTLD_NOLOAD);
        if (!library)
            continue;
        found = dlsym(library, symbol) != NULL;
        dlclose(library); /* counted down alone: it was there before */
    }
    string_list_release(&names);
    return found;
}
