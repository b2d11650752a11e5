/* SPDX-License-Identifier: MIT */
#include "cli/commands/serving.h"

#include "cli/command.h"

#ifndef HARNESS_HAVE_MICROHTTPD

int serving_run(const struct viewing_options *viewing, const struct serving_options *options,
                struct error *err)
{
    (void)viewing;
    (void)options;
    return error_set(err,
                     "this harness was built without libmicrohttpd, so it cannot serve the "
                     "page. Install libmicrohttpd-dev (ci/setup.sh does) and build again; "
                     "`harness report` writes the same page into a file");
}

#else

#include "base/file.h"
#include "http/listen.h"
#include "serve/serve.h"
#include "session/builds/repository.h"
#include "session/history_file.h"
#include "session/serve_token.h"
#include "terminal/interrupt.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DRAIN_MS = 5000, LOOK_MS = 50 };

/* Texts that the options point to while the server lives. */
struct serving {
    struct viewing viewing;
    struct strbuf path, generator;
    struct strbuf empty; /* folder of an empty history, where there is none; "" */
    struct serve_token token;
    struct repository *repository;
    bool is_public; /* all users of this machine may read the history itself */
    struct serve_options options;
};

/* A profile needs no history, but the server has one: it is empty, and gone when the server is. */
static int make_empty_history(struct serving *s, struct error *err)
{
    const char *folder = getenv("TMPDIR");
    struct store *store = NULL;

    strbuf_addf(&s->empty, "%s/harness-serve-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(s->empty.data)) {
        error_set(err, "%s: %s", s->empty.data, strerror(errno));
        strbuf_clear(&s->empty);
        return -1;
    }
    strbuf_clear(&s->path);
    strbuf_addf(&s->path, "%s/history.db", s->empty.data);
    int rc = store_open(&store, s->path.data, STORE_WRITE, err);
    store_close(store);
    return rc;
}

static void remove_empty_history(const struct serving *s)
{
    static const char *const endings[] = { "", "-wal", "-shm" };
    struct strbuf file;

    if (!s->empty.length)
        return;
    strbuf_init(&file);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        strbuf_clear(&file);
        strbuf_addf(&file, "%s%s", s->path.data, endings[i]);
        unlink(file.data);
    }
    strbuf_release(&file);
    rmdir(s->empty.data);
}

static int describe_serving(struct serving *s, const struct viewing_options *viewing,
                            struct error *err)
{
    viewing_generator(&s->generator);
    history_path(viewing->db, &s->path);
    if (s->viewing.request.profile && !viewing->db && !file_exists(s->path.data) &&
        make_empty_history(s, err))
        return -1;
    history_baseline_folder(&s->viewing.baselines);
    s->viewing.request.baseline = viewing->baseline;
    s->viewing.request.baselines = s->viewing.baselines.data;
    s->viewing.request.filters = (const char *const *)viewing->filters.items;
    s->viewing.request.nr_filters = viewing->filters.nr;
    s->viewing.request.config = &s->viewing.config;
    return 0;
}

/* A profile has files of its own, whose modes nobody looks at. */
static int find_serving_token(struct serving *s, const struct serving_options *o, struct error *err)
{
    s->is_public = !s->viewing.request.profile && file_is_public(s->path.data);
    struct serve_token_source source = {
        .word = o->token,
        .file = o->token_file,
        .open = o->open,
        .elsewhere = o->host && !listen_is_loopback(o->host),
        .is_public = s->is_public,
    };

    return serve_token_find(&source, &s->token, err);
}

static void fill_serve_options(struct serving *s, const struct viewing_options *viewing,
                               const struct serving_options *o)
{
    s->repository = repository_create();
    s->options = (struct serve_options) {
        .path = s->path.data,
        .host = o->host ? o->host : "127.0.0.1",
        .port = o->port ? (int)*o->port : SERVING_PORT,
        .token = s->token.text[0] ? s->token.text : NULL,
        .public_only = s->is_public && !s->token.text[0] && !o->open,
        .names = o->names ? (const char *const *)o->names->items : NULL,
        .nr_names = o->names ? o->names->nr : 0,
        .watch = o->watch,
        .history = o->history ? (size_t)*o->history : SERVING_HISTORY,
        .request = &s->viewing.request,
        .presets = &s->viewing.config.presets,
        .generator = s->generator.data,
        .db = viewing->db ? viewing->db : "",
        .repository = repository_for_trends(s->repository),
    };
}

static void wait_for_signal(const volatile sig_atomic_t *interrupted)
{
    struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };

    while (!*interrupted)
        nanosleep(&pause, NULL);
}

/* For people: what is served, to whom, and what they need. The token stays out of logs. */
static void describe_address(const struct serving *s, const struct serve *serve)
{
    const struct serve_options *options = &s->options;
    const char *others = serve_others_url(serve);

    terminal_note("harness: serving %s; Ctrl+C ends it\n",
                  s->empty.length ? "the profile alone, there is no history" : options->path);
    if (others)
        terminal_note(
            "harness: it listens at all addresses of this machine; from others it is %s, or "
            "one of them in place of the name\n",
            others);
    if (s->token.made)
        terminal_note(
            "harness: not all users of this machine may read the history, so the address has a "
            "token; with --open it has none\n");
    else if (options->token)
        terminal_note(
            "harness: a browser needs the token once: add ?token=TOKEN to the "
            "address\n");
}

/* This process does nothing else from here on. A thread a connection would come to an arena each,
 * which keep what was freed; and a block that is large goes back to the system as it is freed. */
static void limit_serving_memory(void)
{
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

static int serve_until_interrupted(const struct serving *s, struct error *err)
{
    const struct serve_options *options = &s->options;
    const volatile sig_atomic_t *interrupted = interrupt_watch();
    struct serve *serve;

    limit_serving_memory();
    if (serve_open(options, &serve, err))
        return -1;
    /* Not into a log, where others read it; but one that was made here is known from here alone. */
    bool whole = options->token && (s->token.made || isatty(STDOUT_FILENO));
    if (s->token.made && !serve_token_may_be_shown()) {
        serve_close(serve, 0);
        return error_set(err,
                         "the address has a token, which would get into a file that all users may "
                         "read: give --token-file FILE, or --open if all may read the history");
    }
    terminal_print("%s%s%s\n", serve_url(serve), whole ? "?token=" : "",
                   whole ? options->token : "");
    fflush(stdout);
    if (ferror(stdout)) {
        serve_close(serve, 0);
        return error_set(err, "cannot write to standard output");
    }
    describe_address(s, serve);
    wait_for_signal(interrupted);
    if (serve_close(serve, DRAIN_MS))
        return 0;
    terminal_note("harness: an answer was not ready within %d s and is cut off\n", DRAIN_MS / 1000);
    remove_empty_history(s);
    _exit(EXIT_SAME); /* its thread still uses what exit() would take apart */
}

int serving_run(const struct viewing_options *viewing, const struct serving_options *options,
                struct error *err)
{
    struct serving s = { .options = { 0 } };

    strbuf_init(&s.path);
    strbuf_init(&s.generator);
    strbuf_init(&s.empty);
    viewing_init(&s.viewing);
    int rc = viewing_configure(&s.viewing, viewing, err);
    if (rc == 0)
        rc = viewing_profiles(&s.viewing, viewing, err);
    if (rc == 0)
        rc = describe_serving(&s, viewing, err);
    if (rc == 0)
        rc = find_serving_token(&s, options, err);
    if (rc == 0) {
        fill_serve_options(&s, viewing, options);
        rc = serve_until_interrupted(&s, err);
    }
    remove_empty_history(&s);
    strbuf_release(&s.empty);
    viewing_release(&s.viewing);
    repository_free(s.repository);
    strbuf_release(&s.generator);
    strbuf_release(&s.path);
    return rc;
}

#endif
