/* SPDX-License-Identifier: MIT */
#include "cli/serving.h"

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

#include "cli/history_file.h"
#include "cli/interrupt.h"
#include "serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { DRAIN_MS = 5000, LOOK_MS = 50 };

/* Texts that the options point to while the server lives. */
struct serving {
    struct viewing viewing;
    struct strbuf path, generator;
    struct serve_options options;
};

static void describe(struct serving *s, const struct viewing_options *viewing)
{
    viewing_generator(&s->generator);
    history_path(viewing->db, &s->path);
    history_baseline_folder(&s->viewing.baselines);
    s->viewing.request.baseline = viewing->baseline;
    s->viewing.request.baselines = s->viewing.baselines.data;
    s->viewing.request.filters = (const char *const *)viewing->filters.items;
    s->viewing.request.nr_filters = viewing->filters.nr;
    s->viewing.request.config = &s->viewing.config;
}

static void fill_options(struct serving *s, const struct viewing_options *viewing,
                         const struct serving_options *o)
{
    const char *token = o->token ? o->token : getenv("HARNESS_TOKEN");

    s->options = (struct serve_options) {
        .path = s->path.data,
        .host = o->host ? o->host : "127.0.0.1",
        .port = o->port ? (int)*o->port : SERVING_PORT,
        .token = token && *token ? token : NULL,
        .names = o->names ? (const char *const *)o->names->items : NULL,
        .nr_names = o->names ? o->names->nr : 0,
        .watch = o->watch,
        .history = o->history ? (size_t)*o->history : SERVING_HISTORY,
        .request = &s->viewing.request,
        .presets = &s->viewing.config.presets,
        .generator = s->generator.data,
        .db = viewing->db ? viewing->db : "",
    };
}

static void wait_for_signal(const volatile sig_atomic_t *interrupted)
{
    struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };

    while (!*interrupted)
        nanosleep(&pause, NULL);
}

/* For people: what is served, to whom, and what they need. The token stays out of logs. */
static void describe_address(const struct serve_options *options, const struct serve *serve)
{
    const char *others = serve_others_url(serve);

    fprintf(stderr, "harness: serving %s; Ctrl+C ends it\n", options->path);
    if (others)
        fprintf(stderr,
                "harness: it listens at all addresses of this machine; from others it is %s, or "
                "one of them in place of the name\n",
                others);
    if (options->token)
        fprintf(stderr,
                "harness: a browser needs the token once: add ?token=TOKEN to the "
                "address\n");
}

static int serve_until_interrupted(const struct serve_options *options, struct error *err)
{
    const volatile sig_atomic_t *interrupted = interrupt_watch();
    struct serve *serve;

    if (serve_open(options, &serve, err))
        return -1;
    /* Not into a log, where others read it. */
    bool whole = options->token && isatty(STDOUT_FILENO);
    printf("%s%s%s\n", serve_url(serve), whole ? "?token=" : "", whole ? options->token : "");
    fflush(stdout);
    if (ferror(stdout)) {
        serve_close(serve, 0);
        return error_set(err, "cannot write to standard output");
    }
    describe_address(options, serve);
    wait_for_signal(interrupted);
    if (serve_close(serve, DRAIN_MS))
        return 0;
    fprintf(stderr, "harness: an answer was not ready within %d s and is cut off\n",
            DRAIN_MS / 1000);
    _exit(EXIT_SAME); /* its thread still uses what exit() would take apart */
}

int serving_run(const struct viewing_options *viewing, const struct serving_options *options,
                struct error *err)
{
    struct serving s = { .options = { 0 } };

    strbuf_init(&s.path);
    strbuf_init(&s.generator);
    viewing_init(&s.viewing);
    int rc = viewing_configure(&s.viewing, viewing, err);
    if (rc == 0)
        rc = viewing_profiles(&s.viewing, viewing, err);
    if (rc == 0) {
        describe(&s, viewing);
        fill_options(&s, viewing, options);
        rc = serve_until_interrupted(&s.options, err);
    }
    viewing_release(&s.viewing);
    strbuf_release(&s.generator);
    strbuf_release(&s.path);
    return rc;
}

#endif
