/* SPDX-License-Identifier: MIT */
#include "simulation.h"

#include "base/memory.h"
#include "base/stats.h"
#include "testing.h"

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

static void report(const char *what, size_t hits, size_t n, const char *relation, double bound)
{
    print_message("%-52s %5zu of %6zu = %6.2f %% (%s %g %%)\n", what, hits, n,
                  100 * (double)hits / (double)n, relation, 100 * bound);
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
