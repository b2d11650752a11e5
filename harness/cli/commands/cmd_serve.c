/* SPDX-License-Identifier: MIT */
#include "cli/commands/serving.h"

#include "base/access.h"
#include "cli/command.h"
#include "cli/shared_options.h"

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
#include "cli/progress.h"
#include "cli/render/report.h"
#include "http/listen.h"
#include "serve/serve.h"
#include "session/acceptance.h"
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
    struct strbuf own; /* folder of a history of the server's own; "" */
    struct strbuf
        named; /* the part of an address that shows what was named: "run=12,9&base=9"; "" */
    struct serve_token token, edit_key;
    char *author;
    struct repository *repository;
    struct page_asked asked;
    bool is_public; /* all users of this machine may read the history itself */
    struct serve_options options;
};

/* ---- a history of the server's own ---- */

static int make_own_history(struct serving *s, struct store **store, struct error *err)
{
    const char *folder = getenv("TMPDIR");

    strbuf_addf(&s->own, "%s/harness-serve-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(s->own.data)) {
        error_set(err, "%s: %s", s->own.data, strerror(errno));
        strbuf_clear(&s->own);
        return -1;
    }
    strbuf_clear(&s->path);
    strbuf_addf(&s->path, "%s/history.db", s->own.data);
    return store_open(store, s->path.data, STORE_WRITE, err);
}

/* A profile needs no history, but the server has one: it is empty. */
static int make_empty_history(struct serving *s, struct error *err)
{
    struct store *store = NULL;
    int rc = make_own_history(s, &store, err);

    store_close(store);
    return rc;
}

/* What files hold has no place in the user's history, and the server reads nothing else. */
static int make_named_history(struct serving *s, struct records *records, struct error *err)
{
    struct store *store = NULL;
    int rc = make_own_history(s, &store, err);
    bool added;

    for (size_t i = 0; rc == 0 && i < records->nr_runs; i++)
        rc = store_add_run(store, records, (int)i, &added, err);
    store_close(store);
    return rc;
}

static void remove_own_history(const struct serving *s)
{
    static const char *const endings[] = { "", "-wal", "-shm" };
    struct strbuf file;

    if (!s->own.length)
        return;
    strbuf_init(&file);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        strbuf_clear(&file);
        strbuf_addf(&file, "%s%s", s->path.data, endings[i]);
        unlink(file.data);
    }
    strbuf_release(&file);
    rmdir(s->own.data);
}

/* ---- what is named ---- */

/* The run that the page is about: the newest. */
static const struct run *newest_named(const struct view *view)
{
    const struct run *newest = &view->records.runs[view->runs[0]];

    for (size_t i = 1; i < view->nr_runs; i++)
        if (view->records.runs[view->runs[i]].started_ms >= newest->started_ms)
            newest = &view->records.runs[view->runs[i]];
    return newest;
}

/* A base has an address where the page can be against it: one run, which is not the newest. */
static void name_base(struct serving *s, const struct view *view)
{
    const struct records *all = &view->records;
    const struct run *base = view->base.runs;

    if (!view->compared || view->base.nr_runs != 1 ||
        strcmp(base->uuid, newest_named(view)->uuid) == 0)
        return;
    for (size_t i = 0; i < all->nr_runs; i++) /* in a new history it has another number */
        if (strcmp(all->runs[i].uuid, base->uuid) == 0)
            strbuf_addf(&s->named, "&base=%lld", (long long)all->runs[i].id);
}

/* The first runs that fit into an address. */
static void name_runs(struct serving *s, const struct view *view)
{
    for (size_t i = 0; i < view->nr_runs && i < SERVE_RUNS_MAX; i++)
        strbuf_addf(&s->named, "%s%lld",
                    i ? "," : "run=", (long long)view->records.runs[view->runs[i]].id);
}

static bool names_files(const struct viewing *named)
{
    for (size_t i = 0; i < named->refs.nr; i++)
        if (history_is_path(named->refs.items[i]))
            return true;
    return !named->store;
}

static int find_named(struct serving *s, const struct viewing_options *viewing,
                      const struct serving_options *o, struct error *err)
{
    struct viewing named;

    viewing_init(&named);
    named.sink = &terminal_notes;
    named.request.without_history = true;
    named.arguments = o->argv;
    named.nr_arguments = o->argc;
    int rc = viewing_configure(&named, viewing, err);
    if (rc == 0)
        rc = viewing_open(&named, viewing, o->argc, o->argv, err);
    bool files = rc == 0 && names_files(&named);
    if (files)
        rc = make_named_history(s, &named.view.records, err);
    else if (rc == 0) {
        strbuf_clear(&s->path);
        strbuf_adds(&s->path, store_path(named.store));
    }
    if (rc == 0 && named.refs.nr > 0 && named.view.nr_runs > 0) {
        name_runs(s, &named.view);
        if (files || !viewing->baseline)
            name_base(s, &named.view);
    }
    viewing_release(&named);
    return rc;
}

static int describe_serving(struct serving *s, const struct viewing_options *viewing,
                            const struct serving_options *o, struct error *err)
{
    viewing_generator(&s->generator);
    history_path(viewing->db, &s->path);
    if (o->argc > 0 && find_named(s, viewing, o, err))
        return -1;
    if (o->argc == 0 && s->viewing.request.profile && !viewing->db && !file_exists(s->path.data) &&
        make_empty_history(s, err))
        return -1;
    if (history_baseline_folder(&s->viewing.baselines, err))
        return -1;
    s->viewing.request.baseline = s->named.length && s->own.length ? NULL : viewing->baseline;
    s->viewing.request.baselines = s->viewing.baselines.data;
    s->viewing.request.filters = (const char *const *)viewing->filters.items;
    s->viewing.request.nr_filters = viewing->filters.nr;
    s->viewing.request.config = &s->viewing.config;
    return 0;
}

/* A profile has files of its own, whose modes nobody looks at. */
static int find_serving_token(struct serving *s, const struct serving_options *o, struct error *err)
{
    if (o->edit && o->open)
        return error_set(err,
                         "--edit lets who has the token write to the history, --open makes "
                         "none: one of the two");
    if (o->edit && s->own.length)
        return error_set(err, "--edit: there is no history to write to");
    if (o->edit && serve_token_make(&s->edit_key, err))
        return -1;
    s->is_public = !s->viewing.request.profile && !o->edit && access_is_public(s->path.data);
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
    s->asked = report_asked(viewing);
    s->author = o->edit ? acceptance_author(NULL) : NULL;
    s->options = (struct serve_options) {
        .path = s->path.data,
        .tell = history_teller(&terminal_notes),
        .host = o->host ? o->host : "127.0.0.1",
        .port = o->port ? (int)*o->port : SERVING_PORT,
        .token = s->token.text[0] ? s->token.text : NULL,
        .public_only = s->is_public && !s->token.text[0] && !o->open,
        .names = o->names ? (const char *const *)o->names->items : NULL,
        .nr_names = o->names ? o->names->nr : 0,
        .edit_key = o->edit ? s->edit_key.text : NULL,
        .author = s->author,
        .watch = o->watch,
        .history = o->history ? (size_t)*o->history : SERVING_HISTORY,
        .request = &s->viewing.request,
        .presets = &s->viewing.config.presets,
        .generator = s->generator.data,
        .db = viewing->db ? viewing->db : "",
        .asked = &s->asked,
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
                  !s->own.length    ? options->path
                  : s->named.length ? "what is named, which is in no history"
                                    : "the profile alone, there is no history");
    if (others)
        terminal_note(
            "harness: it listens at all addresses of this machine; from others it is %s, or "
            "one of them in place of the name\n",
            others);
    if (options->edit_key)
        terminal_note("harness: who has the token can accept changes and annotate runs\n");
    else if (s->token.made)
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
    terminal_print("%s%s%s%s%s%s\n", serve_url(serve), whole || s->named.length ? "?" : "",
                   whole ? "token=" : "", whole ? options->token : "",
                   whole && s->named.length ? "&" : "", s->named.data);
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
    remove_own_history(s);
    _exit(EXIT_SAME); /* its thread still uses what exit() would take apart */
}

int serving_run(const struct viewing_options *viewing, const struct serving_options *options,
                struct error *err)
{
    struct serving s = { .options = { 0 } };

    strbuf_init(&s.path);
    strbuf_init(&s.generator);
    strbuf_init(&s.own);
    strbuf_init(&s.named);
    viewing_init(&s.viewing);
    int rc = viewing_configure(&s.viewing, viewing, err);
    if (rc == 0)
        rc = viewing_profiles(&s.viewing, viewing, err);
    if (rc == 0)
        rc = describe_serving(&s, viewing, options, err);
    if (rc == 0)
        rc = find_serving_token(&s, options, err);
    if (rc == 0) {
        fill_serve_options(&s, viewing, options);
        rc = serve_until_interrupted(&s, err);
    }
    remove_own_history(&s);
    strbuf_release(&s.own);
    strbuf_release(&s.named);
    viewing_release(&s.viewing);
    free(s.author);
    repository_free(s.repository);
    strbuf_release(&s.generator);
    strbuf_release(&s.path);
    return rc;
}

#endif

/* ---- the command ---- */

struct serve_command {
    struct viewing_options viewing;
    const char *host, *token, *token_file, *port, *history;
    struct string_list names;
    bool watch, open, edit;
};

static int run_serve(int argc, char **argv, void *options, struct error *err)
{
    const struct serve_command *o = options;
    int64_t port = SERVING_PORT, history = SERVING_HISTORY;

    if (command_no_more(argc, argv, 0, err))
        return -1;
    if ((o->port && text_parse_int(o->port, 0, 65535, "--port", &port, err)) ||
        (o->history && text_parse_int(o->history, 0, 1000000, "--history", &history, err)))
        return -1;
    struct serving_options serving = {
        .host = o->host,
        .port = &port,
        .token = o->token,
        .token_file = o->token_file,
        .open = o->open,
        .names = &o->names,
        .history = &history,
        .watch = o->watch,
        .edit = o->edit,
    };
    return serving_run(&o->viewing, &serving, err);
}

static const struct option_row rows[] = {
    OPTION_ROW("port", 'p', OPTION_STRING, struct serve_command, port, "N",
               "default 8080; 0: any free one"),
    OPTION_ROW("host", 0, OPTION_STRING, struct serve_command, host, "ADDRESS",
               "to listen at (default 127.0.0.1: this machine alone)"),
    OPTION_ROW(
        "token-file", 0, OPTION_STRING, struct serve_command, token_file, "FILE",
        "the token that readers must give, in a file that others can neither read nor change "
        "(or $HARNESS_TOKEN)"),
    OPTION_ROW("token", 0, OPTION_STRING, struct serve_command, token, "TEXT",
               "refused: a list of processes would show it"),
    OPTION_ROW("open", 0, OPTION_FLAG, struct serve_command, open, NULL,
               "no token: every user of this machine may read the history"),
    OPTION_ROW("allow-host", 0, OPTION_STRINGS, struct serve_command, names, "NAME,...",
               "further names under which it may be asked, as behind a proxy"),
    OPTION_ROW("watch", 'w', OPTION_FLAG, struct serve_command, watch, NULL,
               "open pages tell of new runs"),
    OPTION_ROW("edit", 0, OPTION_FLAG, struct serve_command, edit, NULL,
               "who has the token may accept changes and annotate runs"),
    OPTION_ROW("history", 0, OPTION_STRING, struct serve_command, history, "N",
               "newest runs that trends reach back to (default 200; 0: all)"),
    VIEWING_OPTION_ROWS(struct serve_command, viewing),
    OPTION_END,
};

extern const struct command cmd_serve;
const struct command cmd_serve = {
    .name = "serve",
    .arguments = "",
    .summary = "show the history as a live page at http://127.0.0.1:8080/ until Ctrl+C",
    .details =
        "  harness serve\n"
        "  harness serve --baseline main --watch\n"
        "  harness serve --port 0                     any free port; the first line says which\n"
        "  harness serve --edit                       accept changes on the page\n"
        "  HARNESS_TOKEN=$(openssl rand -hex 24) harness serve --host 0.0.0.0\n"
        "\n"
        "The page of `harness report`, with all runs of the history to choose from and filters\n"
        "that are worked out here (docs/filters.md). The history is only read; with --edit a step "
        "or\n"
        "drift can be accepted on its card, and its run annotated. docs/serve.md has the "
        "addresses, and\n"
        "what to know before others may reach it.",
    .options = rows,
    .options_size = sizeof(struct serve_command),
    .run = run_serve,
};
