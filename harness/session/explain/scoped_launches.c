/* SPDX-License-Identifier: MIT */
#include "session/explain/scoped_launches.h"

#include "core/clock.h"
#include "cupti/collect.h"
#include "stats/random.h"
#include "timeline/timeline_read.h"
#include "timeline/timeline_typical.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A launch is short: what buys evidence is launches. */
enum { LAUNCH_NS = 300000000, ITERATIONS_LEAST = 5, ITERATIONS_MOST = 40 };

/* The launch in hand. */
struct scoped_launch {
    const struct scoped_launches *s;
    struct explain_case *c;
    struct profiling profiling;
    char folder[64];
    enum explain_side side;
    bool ended; /* what comes now are its operations, which the trace has, too */
    struct error *why;
};

/* ---- what a trace says ---- */

static void add_layers(struct scoped_launch *l, const struct timeline_layers *layers)
{
    bool gpu = l->s->workload->device.kind == DEVICE_CUDA;
    size_t nr = layers->nr_iterations;

    explain_add(l->c, EXPLAIN_SCOPED, l->side, timeline_middle_of(layers->ns, nr).median);
    for (size_t i = 0; i < layers->nr; i++)
        explain_add_operation(l->c, layers->items[i].name, l->side,
                              timeline_typical_own(layers, &layers->items[i], gpu));
    if (!gpu && layers->nr > 0)
        explain_add_operation(l->c, "outside the operations", l->side,
                              timeline_middle_of(layers->rest_ns, nr).median);
}

/* The file is not needed any more. */
static void take_trace(struct scoped_launch *l)
{
    struct timeline_layers layers;
    struct benchmark_name name;
    struct prof_trace trace;

    benchmark_name_of(l->s->bench, &l->s->workload->device, &name);
    char *path = profiling_file(l->folder, &name);
    if (timeline_read(path, &trace, l->why) == 0) {
        if (timeline_layers(&trace, -1, NULL, &layers, l->why) == 0)
            add_layers(l, &layers);
        timeline_layers_release(&layers);
        prof_trace_release(&trace);
    }
    unlink(path);
    free(path);
}

/* ---- one launch ---- */

static int scoped_ends(void *context, const struct launch *launch, const struct measurement *m,
                       struct error *err)
{
    struct scoped_launch *l = context;

    (void)launch;
    (void)err;
    if (l->ended)
        return 0;
    l->ended = true;
    if (m->outcome == OUTCOME_OK)
        take_trace(l);
    else
        error_set(l->why, "%s is %s with scopes on%s%.200s", l->side ? "head" : "base",
                  outcome_name(m->outcome), m->message ? ": " : "", m->message ? m->message : "");
    return 0;
}

static int run_scoped_launch(struct scoped_launch *l, enum explain_side side, uint64_t seed,
                             double most, struct error *err)
{
    const struct scoped_side *who = &l->s->side[side];
    const struct workload *w = l->s->workload;
    const struct measurement_sink sink = { .context = l, .measurement = scoped_ends };
    struct sweep sweep = { .what = measuring_set(l->s->measuring, w, w->device.spec),
                           .launches = 1 };
    struct measured_set *what = &sweep.what;
    enum sweep_end end;

    l->side = side;
    l->ended = false;
    l->profiling.plant = who->plant;
    l->profiling.plant_share = who->plant_share;
    what->benchmarks = l->s->bench;
    what->nr = 1;
    what->settings.seed = seed;
    what->settings.profiling = &l->profiling;
    if (who->guests)
        what->settings.guests = who->guests;
    what->limits.program = who->program;
    what->limits.case_timeout = fmin(what->limits.case_timeout, most);
    if (sweep_run(&sweep, &sink, &end, err))
        return -1;
    return end == SWEEP_INTERRUPTED ? error_set(err, "interrupted") : 0;
}

/* ---- pairs ---- */

static int scoped_iterations(const struct scoped_launches *s)
{
    double nr = s->iteration_ns > 0 ? LAUNCH_NS / s->iteration_ns : ITERATIONS_MOST;

    return nr < ITERATIONS_LEAST  ? ITERATIONS_LEAST
           : nr > ITERATIONS_MOST ? ITERATIONS_MOST
                                  : (int)nr;
}

static double seconds_since(uint64_t start)
{
    return (double)(clock_ns() - start) * 1e-9;
}

static int run_pairs(struct scoped_launch *l, size_t *pairs, struct error *err)
{
    const struct scoped_launches *s = l->s;
    uint64_t start = clock_ns();
    struct random random;
    double took = 0;

    random_seed(&random, s->measuring->seed ? (uint64_t)s->measuring->seed : random_fresh_seed());
    while (*pairs < SCOPED_PAIRS_MOST && seconds_since(start) + took <= s->budget) {
        uint64_t seed = random_u64(&random), before = clock_ns();
        int first = (int)random_below(&random, EXPLAIN_SIDES);
        for (int i = 0; i < EXPLAIN_SIDES && !l->why->message[0]; i++) {
            double left = fmax(s->budget - seconds_since(start), 1);
            if (run_scoped_launch(l, (enum explain_side)(i ? 1 - first : first), seed, left, err))
                return -1;
        }
        if (l->why->message[0])
            return 0;
        took = seconds_since(before);
        (*pairs)++;
    }
    return 0;
}

static bool has_activity(const struct device *d)
{
    struct error ignored;
    uint32_t version;

    return d->kind == DEVICE_CUDA && activity_available(&version, &ignored) == 0;
}

int scoped_launches_run(const struct scoped_launches *s, struct explain_case *c, size_t *pairs,
                        struct error *why, struct error *err)
{
    struct scoped_launch l = { .s = s, .c = c, .why = why };
    const char *place = getenv("TMPDIR");

    *pairs = 0;
    why->message[0] = '\0';
    if (s->workload->device.kind != DEVICE_CPU && s->workload->device.kind != DEVICE_CUDA) {
        error_set(why, "on %s there is nothing to profile", s->workload->device.label);
        return 0;
    }
    int length = snprintf(l.folder, sizeof(l.folder), "%s/harness-explain-XXXXXX",
                          place && strlen(place) < 32 ? place : "/tmp");
    if (length >= (int)sizeof(l.folder) || !mkdtemp(l.folder))
        return error_set(err, "%s: %s", l.folder, strerror(errno));
    l.profiling = (struct profiling) { .iterations = scoped_iterations(s),
                                       .folder = l.folder,
                                       .activity = has_activity(&s->workload->device) };
    int rc = run_pairs(&l, pairs, err);
    if (rmdir(l.folder) && rc == 0 && errno != ENOENT)
        sink_note(s->measuring->sink, "harness: %s is left: %s\n", l.folder, strerror(errno));
    return rc;
}
