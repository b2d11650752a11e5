/* SPDX-License-Identifier: MIT */
#include "plugin/plugin_parts.h"

#include "base/memory.h"
#include "base/monotonic.h"
#include "base/options.h"
#include "process/descriptors.h"
#include "process/process_group.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* For the trial: also from a slow disk no plugin needs that long. Strays may stand before the
 * tables. */
enum { TRIAL_SECONDS = 60, TRIAL_WORDS_MOST = PLUGIN_TABLE_MOST + (1 << 20) };

static const char symbol[] = "harness_plugin";

/* As it was before, whatever constructors set: gcc's of -Ofast make subnormals zeros for the thread
 * that loads it and all that it starts, and so for the oracle and the variants beside the guest's.
 */
static void *open_keeping_arithmetic(const char *path)
{
    fenv_t usual;

    fegetenv(&usual);
    /* RTLD_NOW: what is missing is told here, not by a crash in the middle of a case. */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fesetenv(&usual);
    return library;
}

/* What to do about what dlerror() says. What a package brings comes before what the system has. */
static const char *cure_of(const char *said)
{
    if (strstr(said, "version `") && strstr(said, "' not found"))
        return "it was built against a newer one of that library: build it on this system; or "
               "where that one lies in lib/harness, which came with a package, and the system has "
               "a newer one, delete it there";
    return "a plugin is a shared object: cc -shared -fPIC";
}

static int load_table(struct plugin *p, struct error *err)
{
    p->own->library = open_keeping_arithmetic(p->path);
    if (!p->own->library) {
        const char *said = dlerror();
        return error_set(err, "%s; %s", said, cure_of(said));
    }
    const struct harness_plugin *table = dlsym(p->own->library, symbol);
    if (!table)
        return error_set(err,
                         "it has no symbol %s: put HARNESS_PLUGIN(kernels); of <harness/plugin.h> "
                         "at its end",
                         symbol);
    return plugin_take(p->own, table, err) || plugin_check(p->own->table, err) ? -1 : 0;
}

/* What the trial says when all is well, before the tables: a constructor that calls exit(0) says
 * nothing. */
static const char fine[] = "fine\n";

struct trial {
    struct plugin *plugin;
    plugin_confine *confine;
    int words;
};

static bool write_words(int fd, const struct strbuf *words)
{
    size_t sent = 0;

    while (sent < words->length) {
        ssize_t nr = write(fd, words->data + sent, words->length - sent);
        if (nr < 0 && errno != EINTR)
            return false;
        sent += nr > 0 ? (size_t)nr : 0;
    }
    return true;
}

static int try_and_exit(const void *context)
{
    const struct trial *t = context;
    struct error err = { "" };
    struct strbuf words;

    descriptors_close(STDERR_FILENO + 1, t->words); /* the parent's, and that of its guard */
    strbuf_init(&words);
    strbuf_adds(&words, fine);
    if ((t->confine && t->confine(&err)) || load_table(t->plugin, &err) ||
        plugin_table_print(t->plugin->own->table, &words, &err)) {
        strbuf_clear(&words);
        strbuf_adds(&words, err.message);
    }
    _exit(write_words(t->words, &words) ? 0 : 1);
}

static int judge_trial(struct plugin *p, int status, const struct strbuf *words, struct error *err)
{
    const size_t skip = strlen(fine);

    if (WIFEXITED(status) && strncmp(words->data, fine, skip) == 0)
        return plugin_table_read(p->own, words->data + skip, words->length - skip, err);
    if (WIFEXITED(status) && words->length)
        return error_set(err, "%s", words->data);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        return error_set(err,
                         "loading it makes a system call that is forbidden here, such as of "
                         "processes, signals to others or debuggers: look at its "
                         "constructors");
    if (WIFSIGNALED(status))
        return error_set(err,
                         "loading it crashes (signal %d, %s): look at its constructors and at the "
                         "pointers and numbers in its tables",
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    return error_set(err, "loading it ends the process: look at its constructors");
}

/* What has been said by now. */
static void take_words(int *fd, struct strbuf *words)
{
    char block[16384];
    ssize_t nr;

    while (*fd >= 0 && words->length <= TRIAL_WORDS_MOST &&
           (nr = read(*fd, block, sizeof(block))) != 0) {
        if (nr < 0 && errno != EINTR)
            return; /* no more yet */
        strbuf_add(words, block, nr > 0 ? (size_t)nr : 0);
    }
    *fd = -1; /* it has closed it, or says too much: poll() need not look any more */
}

/* Until it has ended, or time is up. Whatever it does to its signals, timers and descriptors: it is
 * the parent that looks at the clock, and the end of the process that counts, not that of a pipe.
 */
static bool hear_trial(struct process_group *g, int fd, int seconds, struct strbuf *words)
{
    int64_t end = monotonic_ms() + INT64_C(1000) * seconds, now;
    bool ended;

    while (!(ended = process_group_ended(g)) && (now = monotonic_ms()) < end &&
           words->length <= TRIAL_WORDS_MOST) {
        struct pollfd fds[] = { { .fd = g->news, .events = POLLIN },
                                { .fd = fd, .events = POLLIN } };
        poll(fds, 2, (int)(end - now));
        take_words(&fd, words);
    }
    take_words(&fd, words);
    return ended;
}

static int follow_trial(struct plugin *p, struct process_group *g, int fd, int seconds,
                        struct error *err)
{
    struct strbuf words;
    int rc = 0;

    strbuf_init(&words);
    bool ended = hear_trial(g, fd, seconds, &words), alone = process_group_is_empty(g);
    process_group_kill(g);
    if (words.length > TRIAL_WORDS_MOST)
        rc = error_set(err, "as it is loaded it writes to descriptors that are not its own");
    else if (!ended)
        rc = error_set(err, "loading it takes longer than %d s: look at its constructors", seconds);
    else if (judge_trial(p, g->status, &words, err))
        rc = -1;
    else if (!alone)
        rc = error_set(err,
                       "loading it leaves a process behind: start what a kernel needs in "
                       "prepare(), and end it in release()");
    strbuf_release(&words);
    return rc;
}

int plugin_try(struct plugin *p, int seconds, plugin_confine *confine, struct error *err)
{
    struct process_group g;
    struct trial trial = { .plugin = p, .confine = confine };
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return error_set(err, "cannot make a pipe: %s", strerror(errno));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    trial.words = ends[1];
    int rc = process_group_start(&g, 0, try_and_exit, &trial, err);
    close(ends[1]);
    if (rc == 0)
        rc = follow_trial(p, &g, ends[0], seconds, err);
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

int plugin_open(struct plugin *p, const struct registry *base, const char *path, const char *digest,
                plugin_confine *confine, const struct string_list *settings, struct error *err)
{
    *p = (struct plugin) { .path = realpath(path, NULL) };
    if (!p->path)
        return error_set(err, "plugin %s: %s", path, strerror(errno));
    p->file = strrchr(p->path, '/') + 1;
    p->own = memory_zeroed(1, sizeof(*p->own));
    if (check_digest(p, digest, err) ||
        (digest ? load_table(p, err) : plugin_try(p, TRIAL_SECONDS, confine, err)) ||
        plugin_adapt(p, base, settings, err))
        return error_prefix(err, "plugin %s", path);
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
