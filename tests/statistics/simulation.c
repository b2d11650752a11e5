/* SPDX-License-Identifier: MIT */
#include "simulation.h"

#include "base/array.h"
#include "stats/stats.h"
#include "testing.h"

#include <math.h>
#include <stdlib.h>

const char *const noise_names[NOISE_KIND_NR] = {
    [NOISE_NORMAL] = "normal", [NOISE_LOGNORMAL] = "lognormal", [NOISE_BIMODAL] = "bimodal",
    [NOISE_HEAVY] = "heavy",   [NOISE_MIXED] = "mixed",
};

/* exp(z) has mean exp(1/2) and variance (e - 1) e. */
static double lognormal_draw(struct random *r)
{
    return (exp(random_normal(r)) - exp(0.5)) / sqrt((exp(1) - 1) * exp(1));
}

static double bimodal_draw(struct random *r)
{
    double mode = random_u64(r) >> 63 ? 1 : -1;

    return (mode + 0.1 * random_normal(r)) / sqrt(1.01);
}

/* Its variance is 3. */
static double heavy_draw(struct random *r)
{
    double z = random_normal(r), square = 0;

    for (int i = 0; i < 3; i++) {
        double x = random_normal(r);
        square += x * x;
    }
    return z / sqrt(square / 3) / sqrt(3);
}

double noise_draw(struct random *r, enum noise_kind kind)
{
    switch (kind) {
    case NOISE_LOGNORMAL:
        return lognormal_draw(r);
    case NOISE_BIMODAL:
        return bimodal_draw(r);
    case NOISE_HEAVY:
        return heavy_draw(r);
    default:
        return random_normal(r);
    }
}

/* What kind and how much noise benchmark i has. */
static struct simulation own_noise(const struct simulation *s, int i)
{
    struct simulation own = *s;

    if (s->kind == NOISE_MIXED) {
        own.kind = (enum noise_kind)(i % NOISE_MIXED);
        double scale = 0.5 + 0.25 * (i / NOISE_MIXED % 5); /* 0.5 to 1.5 */
        own.within *= scale;
        own.between *= scale;
    }
    return own;
}

static void add_launch(const struct simulation *s, int benchmark, int launch, double factor,
                       struct random *r, struct records *out)
{
    struct measurement *m = &records_add(out, 0, launch)->m;
    struct simulation own = own_noise(s, benchmark);
    double level = log(1e7 * factor) + own.between * noise_draw(r, own.kind);

    snprintf(m->bench.key, sizeof(m->bench.key), "sim/%03d", benchmark);
    snprintf(m->bench.kernel, sizeof(m->bench.kernel), "sim/%03d", benchmark);
    m->batch = 1;
    m->nr_samples = (size_t)s->samples;
    m->samples = memory_zeroed(m->nr_samples, sizeof(*m->samples));
    for (int i = 0; i < s->samples; i++)
        m->samples[i] = (uint64_t)exp(level + own.within * noise_draw(r, own.kind));
}

void simulate(const struct simulation *s, const double *factor, struct random *r,
              struct records *out)
{
    *out = (struct records) { 0 };
    records_add_run(out);
    for (int launch = 0; launch < s->launches; launch++)
        for (int i = 0; i < s->benchmarks; i++)
            add_launch(s, i, launch, factor ? factor[i] : 1, r, out);
}

void simulate_comparison(const struct simulation *s, const double *factor,
                         const struct compare_settings *settings, struct random *r,
                         struct comparison *c)
{
    struct records base, head;
    struct error err;

    simulate(s, NULL, r, &base);
    simulate(s, factor, r, &head);
    assert_ok(compare_run(&base, &head, settings, c, &err), &err);
    records_release(&base);
    records_release(&head);
}

/* A benchmark's launches as they follow each other. */
struct stream {
    struct simulation noise;
    struct random *r;
    double state; /* of the AR(1) process, sd 1 */
};

static struct stream stream_start(const struct simulation *s, int benchmark, struct random *r)
{
    struct stream stream = { own_noise(s, benchmark), r, 0 };

    stream.state = noise_draw(r, stream.noise.kind);
    return stream;
}

static double stream_next(struct stream *s)
{
    double rho = s->noise.serial;

    s->state = rho * s->state + sqrt(1 - rho * rho) * noise_draw(s->r, s->noise.kind);
    return s->noise.between * s->state + s->noise.within * random_normal(s->r);
}

static void add_value(struct evidence_side *side, const struct stream *s, double log_value, int run)
{
    side->values = array_grow(side->values, side->nr, &side->capacity, sizeof(*side->values));
    side->values[side->nr++] = (struct evidence_value) {
        .value = 1e6 * exp(log_value),
        .run = run,
        .inner = s->noise.within * s->noise.within * (1 - s->noise.inner_serial) /
                 (1 + s->noise.inner_serial),
        .probe = NAN,
    };
}

static void add_runs(const struct simulation *s, int benchmark, int runs, double effect,
                     const double *common, struct random *r, struct evidence_side *side)
{
    for (int run = 0; run < (runs ? runs : 1); run++) {
        struct stream stream = stream_start(s, benchmark, r);
        double level = effect + common[run] + s->run_noise * random_normal(r);
        for (int i = 0; i < s->launches; i++)
            add_value(side, &stream, level + stream_next(&stream), run);
    }
}

/* base head head base, or the other way round. */
static void add_blocks(const struct simulation *s, int benchmark, double effect, struct random *r,
                       struct evidence *e)
{
    struct stream stream = stream_start(s, benchmark, r);

    for (int block = 0; block < s->blocks; block++) {
        bool swap = random_u64(r) >> 63;
        for (int i = 0; i < 4; i++) {
            bool head = (i == 1 || i == 2) != swap;
            double at = (4.0 * block + i) / (4.0 * s->blocks - 1);
            add_value(head ? &e->head : &e->base, &stream,
                      stream_next(&stream) + log1p(s->drift * at) + (head ? effect : 0), block);
        }
    }
}

enum { RUNS_MAX = 16, LAUNCHES_MAX = 64 };

/* Runs before the base: `level` goes from run to run where the code was changed. */
static void add_earlier(const struct simulation *s, int benchmark, const double *common,
                        struct random *r, struct evidence_side *side)
{
    double logs[LAUNCHES_MAX], level = 0;

    for (int run = 0; run < s->earlier; run++) {
        struct stream stream = stream_start(s, benchmark, r);
        double shift = common[run] + s->run_noise * random_normal(r);
        if (random_uniform(r) < s->earlier_changes)
            level += random_u64(r) >> 63 ? 0.05 : -0.05;
        for (int i = 0; i < s->launches; i++)
            logs[i] = level + shift + stream_next(&stream);
        double sd = stats_sd(logs, (size_t)s->launches);
        add_value(side, &stream, stats_mean(logs, (size_t)s->launches), run);
        side->values[run].inner = sd * sd / s->launches;
    }
}

static const struct benchmark_name nameless;

struct compare_item *simulate_items(const struct simulation *s, const double *factor,
                                    struct random *r)
{
    struct compare_item *items = memory_zeroed((size_t)s->benchmarks, sizeof(*items));
    double common[3 * RUNS_MAX];
    struct error err;

    for (int i = 0; i < (s->earlier ? 3 : 2) * RUNS_MAX; i++)
        common[i] = s->common * random_normal(r);
    for (int i = 0; i < s->benchmarks; i++) {
        struct evidence *e = &items[i].evidence;
        double effect = factor ? log(factor[i]) : 0;
        items[i].bench = &nameless;
        items[i].machine = "";
        items[i].metric = metric_find("p50", &err);
        e->base.present = e->head.present = true;
        if (s->blocks) {
            add_blocks(s, i, effect, r, e);
        } else {
            add_runs(s, i, s->base_runs, 0, common, r, &e->base);
            add_runs(s, i, s->head_runs, effect, common + RUNS_MAX, r, &e->head);
            add_earlier(s, i, common + 2 * RUNS_MAX, r, &e->earlier);
        }
        e->design = s->blocks                              ? DESIGN_BLOCKS
                    : s->base_runs > 1 || s->head_runs > 1 ? DESIGN_RUNS
                                                           : DESIGN_LAUNCHES;
    }
    return items;
}

void simulate_decision(const struct simulation *s, const double *factor,
                       const struct compare_settings *settings, struct random *r,
                       struct comparison *c)
{
    struct compare_item *items = simulate_items(s, factor, r);
    struct error err;

    assert_ok(compare_decide(items, (size_t)s->benchmarks, settings, c, &err), &err);
}

size_t trials(size_t number)
{
    const char *text = getenv("HARNESS_TRIALS");
    double times = text ? strtod(text, NULL) : 1;

    return times > 0 ? (size_t)fmax(1, round((double)number * times)) : number;
}

static void report(const char *what, size_t hits, size_t n, const char *relation, double bound)
{
    struct interval range = stats_proportion_interval(hits, n, 0.95);

    print_message("%-52s %5zu of %6zu = %6.2f %% (%.1f to %.1f; %s %g %%)\n", what, hits, n,
                  100 * (double)hits / (double)n, 100 * range.low, 100 * range.high, relation,
                  100 * bound);
}

void assert_rate_at_most(const char *what, size_t hits, size_t n, double bound)
{
    report(what, hits, n, "at most", bound);
    if (stats_proportion_interval(hits, n, 0.998).low > bound)
        fail_msg("%s: the rate is above %g", what, bound);
}

void assert_rate_at_least(const char *what, size_t hits, size_t n, double bound)
{
    report(what, hits, n, "at least", bound);
    if (stats_proportion_interval(hits, n, 0.998).high < bound)
        fail_msg("%s: the rate is below %g", what, bound);
}

/* How often a rate that is the bound itself is seen as far off: with few trials that is no rarity,
 * and who changed a rule, which draws other numbers, needs more of them to know. */
static void fail_seen(const char *what, const char *side, double bound, double chance)
{
    fail_msg(
        "%s: what was seen is %s %g; a rate of just that would be seen so in %.2g %% of draws: "
        "HARNESS_TRIALS=10 tells more",
        what, side, bound, 100 * chance);
}

void assert_seen_at_most(const char *what, size_t hits, size_t n, double bound)
{
    report(what, hits, n, "itself at most", bound);
    if ((double)hits > bound * (double)n)
        fail_seen(what, "above", bound, 1 - stats_binomial_cdf(hits - 1, n, bound));
}

void assert_seen_at_least(const char *what, size_t hits, size_t n, double bound)
{
    report(what, hits, n, "itself at least", bound);
    if ((double)hits < bound * (double)n)
        fail_seen(what, "below", bound, stats_binomial_cdf(hits, n, bound));
}
