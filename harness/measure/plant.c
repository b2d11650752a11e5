/* SPDX-License-Identifier: MIT */
#include "measure/plant.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "core/clock.h"
#include "profile/summary.h"
#include "stats/stats.h"

#include <math.h>
#include <string.h>

/* A round of calibration: about 25 us of steps in one go, and as many pieces of one step as last
 * about as long. */
enum { ROUNDS = 9, LONG = 20000, PIECES = 1000 };

/* A correction: pairs of groups of samples, each about PAIR_NS long. Work beyond OVERLAP_NS needs
 * none: no team of threads takes that long to come to rest, and a core's queues are soon empty. */
enum { CORRECTIONS = 8, PAIRS = 15, PAIR_NS = 500000, SAMPLES_MAX = 31, OVERLAP_NS = 20000 };

/* Nothing before it runs on beside what follows, nor what follows beside what is before. */
static inline void fence_instructions(void)
{
#if defined(__x86_64__)
    __asm__ volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("dsb ish\n\tisb" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

/* A linear congruential generator, Knuth's constants (TAOCP 2, 3.3.4): each step needs the last. */
void plant_work(uint64_t steps)
{
    uint64_t x = steps;

    fence_instructions();
    for (uint64_t i = 0; i < steps; i++) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        __asm__ volatile("" : "+r"(x)); /* so that no compiler finds the closed form */
    }
    fence_instructions();
}

static void planted_launch(const struct call *call)
{
    const struct plant *plant = (const struct plant *)call->variant;

    plant->original->launch(call);
    if (plant->steps > 0)
        plant_work(plant->steps);
}

/* ns of so many pieces of work of `steps` each. */
static double time_work(int times, uint64_t steps)
{
    uint64_t start = clock_ns();

    for (int i = 0; i < times; i++)
        plant_work(steps);
    return (double)(clock_ns() - start);
}

struct plant_cost plant_calibrate(void)
{
    double in_one[ROUNDS], in_pieces[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        in_one[i] = time_work(1, LONG) / LONG;
        in_pieces[i] = time_work(PIECES, 1) / PIECES;
    }
    double step = stats_median(in_one, ROUNDS);
    return (struct plant_cost) {
        .step = step,
        .fixed = fmax(0, stats_median(in_pieces, ROUNDS) - step),
    };
}

int plant_steps(const struct plant_cost *cost, double wanted, uint64_t *steps, struct error *err)
{
    double nr = fmax(1, round((wanted - cost->fixed) / cost->step));
    double had = cost->fixed + nr * cost->step;
    char shortest[TEXT_UNIT_SIZE], asked[TEXT_UNIT_SIZE];

    *steps = (uint64_t)nr;
    if (fabs(had - wanted) <= PLANT_ERROR_MAX * wanted)
        return 0;
    *steps = 0;
    return error_set(err, "%s of extra work cannot be planted: it comes in steps of %s",
                     text_time(wanted, asked), text_time(cost->fixed + cost->step, shortest));
}

static int check_share(double share, struct error *err)
{
    if (share > 0 && share <= 10)
        return 0;
    return error_set(err, "a slow-down of %g cannot be planted: a share above 0, at most 10",
                     share);
}

int plant_init(struct plant *plant, double share, struct device *device, struct call *call,
               struct error *err)
{
    *plant = (struct plant) { .share = share };
    if (check_share(share, err))
        return -1;
    if (device->kind != DEVICE_CPU && device->kind != DEVICE_FAKE)
        return error_set(err, "a slow-down can be planted in launches on the CPU, not on %s",
                         device->label);
    plant->original = call->variant;
    plant->variant = *call->variant;
    plant->variant.launch = planted_launch;
    call->variant = &plant->variant;
    return 0;
}

/* Samples as the sampling takes them, with so much extra work: their median in ns a launch. */
static double time_samples(struct plant *plant, const struct call *call, uint64_t steps,
                           unsigned batch, int nr)
{
    struct error ignored;
    double times[SAMPLES_MAX];
    uint64_t ns;

    plant->steps = steps;
    for (int i = 0; i < nr; i++) {
        if (call->device->ops->time(call->device, call, batch, &ns, &ignored))
            return NAN;
        times[i] = (double)ns / batch;
    }
    return stats_median(times, (size_t)nr);
}

/* The share by which samples are longer with `steps`, from some with and some without in turn. */
static double share_of(struct plant *plant, const struct call *call, uint64_t steps, unsigned batch,
                       int nr)
{
    double without[PAIRS], with[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        without[i] = time_samples(plant, call, 0, batch, nr);
        with[i] = time_samples(plant, call, steps, batch, nr);
    }
    return stats_median(with, PAIRS) / stats_median(without, PAIRS) - 1;
}

/* What follows a launch of several threads may run while they still come to rest, and costs less
 * than it lasts; what follows a short one of one thread waits for its stores, and costs more. So
 * short work is made longer or shorter until samples are longer by the wanted share. */
static void correct_steps(struct plant *plant, const struct call *call, double launch_ns,
                          unsigned batch)
{
    int nr = (int)fmax(3, fmin(SAMPLES_MAX, PAIR_NS / (launch_ns * batch)));
    uint64_t steps = plant->steps;

    for (int i = 0; i < CORRECTIONS; i++) {
        double seen = share_of(plant, call, steps, batch, nr), wanted = plant->share;
        if (!(fabs(seen - wanted) > PLANT_ERROR_MAX / 2 * wanted)) /* also where it is NaN */
            break;
        double more = (wanted - seen) * launch_ns / plant->step;
        steps = (uint64_t)fmax(1, round((double)steps + more));
    }
    plant->steps = steps;
}

int plant_grow(struct plant *plant, const struct call *call, double launch_ns, unsigned batch,
               struct error *err)
{
    if (call->device->kind == DEVICE_FAKE) {
        call->device->planted = plant->share;
        return 0;
    }
    struct plant_cost cost = plant_calibrate();
    plant->step = cost.step;
    if (plant_steps(&cost, plant->share * launch_ns, &plant->steps, err))
        return -1;
    if (plant->share * launch_ns < OVERLAP_NS)
        correct_steps(plant, call, launch_ns, batch);
    return 0;
}

void plant_remove(struct plant *plant, struct call *call)
{
    if (!plant->original)
        return;
    call->variant = plant->original;
    call->device->planted = 0;
    plant->original = NULL;
}

/* ---- in one operation ---- */

static void finish_scope(void *context, const char *scope)
{
    const struct plant_scope *plant = context;

    if (plant->steps > 0 && strcmp(scope, plant->operation) == 0)
        plant_work(plant->steps);
}

int plant_scope_init(struct plant_scope *plant, const char *operation, double share,
                     struct error *err)
{
    if (check_share(share, err))
        return -1;
    *plant = (struct plant_scope) { .operation = operation,
                                    .share = share,
                                    .hooks = { .context = plant, .finish = finish_scope } };
    return prof_set_hooks(prof_global(), &plant->hooks) ? error_set(err, "no memory for a profile")
                                                        : 0;
}

static int no_such_scope(const struct plant_scope *plant, const struct prof_summary *summary,
                         struct error *err)
{
    struct strbuf names;

    strbuf_init(&names);
    for (size_t i = 0; i < summary->nr_rows; i++)
        strbuf_addf(&names, "%s%s", i ? ", " : "", summary->rows[i].name);
    error_set(err, "there is no operation \"%s\" to plant a slow-down in; there are: %s",
              plant->operation, names.data);
    strbuf_release(&names);
    return -1;
}

static int find_scope_steps(struct plant_scope *plant, const struct prof_summary *summary,
                            struct error *err)
{
    const struct prof_row *row = prof_summary_row(summary, PROF_HOST, plant->operation);
    struct plant_cost cost = plant_calibrate();

    if (!row)
        return no_such_scope(plant, summary, err);
    return plant_steps(&cost, plant->share * (double)row->p50, &plant->steps, err);
}

int plant_scope_grow(struct plant_scope *plant, struct error *err)
{
    struct prof_summary summary;
    struct prof_trace trace;

    if (prof_snapshot(prof_global(), &trace))
        return error_set(err, "no memory for a profile");
    int rc = prof_summarise(&trace, &summary);
    if (rc) {
        error_set(err, "no memory for a profile");
    } else {
        rc = find_scope_steps(plant, &summary, err);
        prof_summary_release(&summary);
    }
    prof_trace_release(&trace);
    return rc;
}

void plant_scope_remove(struct plant_scope *plant)
{
    if (plant->operation)
        prof_set_hooks(prof_global(), NULL);
    plant->operation = NULL;
}
