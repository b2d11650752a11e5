/* SPDX-License-Identifier: MIT */
/*
 * A device with a scripted clock: everything above it (sampling, history, verdicts, pictures) is
 * tested with known truths and no noise of a real machine.
 *
 *     fake:base=2000,slow=1.05,launch=0.01,sd=0.02,seed=7,hang=3,crash=2
 *     fake:base=2000,disturb=0.3,by=1.5,beside=2,placement=0.02
 *
 *   base    median ns of one kernel launch, before `slow`          (default 10000)
 *   slow    planted slow-down factor                               (1)
 *   launch  sd of the log of a whole process launch                (0)
 *   placement  the same, in launches that were placed anew (device/memory_placement.h)   (0)
 *   sd      sd of the log of one sample                            (0)
 *   seed    of all noise, the same in each launch; 0 draws a fresh one each process   (0)
 *   draw    the same, mixed with the launch's number: launches differ, and so do sides and runs of
 *           one call; the same call has the same noise again       (0: by `seed`)
 *   only    slow applies only to benchmarks whose first dim is N   (all)
 *   disturb the machine is slower beside so many of all cases, and its probe tells   (0: no probe)
 *   by      by this factor                                         (1.5)
 *   beside  disturb applies only to benchmarks whose first dim is N   (all)
 *   crash   the process dies by SIGSEGV when the first dim is N    (never)
 *   hang    the call never returns when the first dim is N         (never)
 *   grow    the call takes memory without end when the first dim is N (never)
 *
 * Further settings are taken from the environment variable HARNESS_FAKE, for tests only: they come
 * after those of the spec, so that a script that sets it and starts this program stands for another
 * build of it.
 *
 * The kernel is still run (so that it can be checked); only its time is invented.
 */
#include "device/device_fake.h"

#include "base/memory.h"
#include "base/text.h"
#include "core/kernel.h"
#include "device/device_host.h"
#include "device/memory_placement.h"
#include "stats/random.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake {
    double base, slow, launch, placement, sd, seed, draw, only, disturb, by, beside;
    double crash, hang, grow;
    double factor; /* of this process */
    struct random random;
};

/* Limits within which no time overflows. */
static const struct {
    const char *name;
    size_t offset;
    double low, high;
} settings[] = {
    { "base", offsetof(struct fake, base), 1, 1e12 },
    { "slow", offsetof(struct fake, slow), 0.01, 100 },
    { "launch", offsetof(struct fake, launch), 0, 1 },
    { "placement", offsetof(struct fake, placement), 0, 1 },
    { "sd", offsetof(struct fake, sd), 0, 1 },
    { "seed", offsetof(struct fake, seed), 0, 0x1p53 },
    { "draw", offsetof(struct fake, draw), 0, 0x1p32 },
    { "only", offsetof(struct fake, only), 0, DIM_LIMIT },
    { "disturb", offsetof(struct fake, disturb), 0, 1 },
    { "by", offsetof(struct fake, by), 1, 100 },
    { "beside", offsetof(struct fake, beside), 0, DIM_LIMIT },
    { "crash", offsetof(struct fake, crash), 0, DIM_LIMIT },
    { "hang", offsetof(struct fake, hang), 0, DIM_LIMIT },
    { "grow", offsetof(struct fake, grow), 0, DIM_LIMIT },
};

static int set_one(struct fake *fake, const char *name, const char *value, struct error *err)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        void *member = (char *)fake + settings[i].offset;
        if (strcmp(settings[i].name, name) == 0)
            return text_parse_double(value, settings[i].low, settings[i].high, name, member, err);
    }
    return error_set(err,
                     "unknown setting \"%s\"; there are base, slow, launch, placement, sd, "
                     "seed, draw, only, disturb, by, beside, crash, hang, grow",
                     name);
}

static int parse_settings(struct fake *fake, const char *argument, struct error *err)
{
    char *copy = memory_string(argument), *rest = copy, *item;
    int rc = 0;

    while (rc == 0 && (item = strsep(&rest, ","))) {
        char *equals = strchr(item, '=');
        if (!*item)
            continue;
        if (equals)
            *equals = '\0';
        rc = equals ? set_one(fake, item, equals + 1, err)
                    : error_set(err, "\"%s\" is not NAME=VALUE", item);
    }
    free(copy);
    return rc;
}

/* Seeds of the launches of one draw lie side by side, far from those of the next one. */
static uint64_t noise_seed(const struct fake *fake)
{
    enum { LAUNCHES = 1 << 20 };
    const char *launch = getenv(DEVICE_FAKE_LAUNCH);

    if (fake->draw > 0)
        return (uint64_t)fake->draw * LAUNCHES + (launch ? strtoull(launch, NULL, 10) : 0);
    return fake->seed > 0 ? (uint64_t)fake->seed : random_fresh_seed();
}

static int fake_open(struct device *d, const char *argument, struct error *err)
{
    struct fake *fake = memory_zeroed(1, sizeof(*fake));

    *fake = (struct fake) { .base = 10000,
                            .slow = 1,
                            .only = -1,
                            .by = 1.5,
                            .beside = -1,
                            .crash = -1,
                            .hang = -1,
                            .grow = -1 };
    const char *further = getenv("HARNESS_FAKE");
    if (parse_settings(fake, argument, err) ||
        (further && parse_settings(fake, further, err) && error_prefix(err, "HARNESS_FAKE"))) {
        free(fake);
        return -1;
    }
    random_seed(&fake->random, noise_seed(fake));
    fake->factor = exp(fake->launch * random_normal(&fake->random));
    if (fake->placement > 0 && placement_is_fresh())
        fake->factor *= exp(fake->placement * random_normal(&fake->random));
    d->state = fake;
    d->probed = fake->disturb > 0;
    d->clock_step = 1;
    snprintf(d->label, sizeof(d->label), "fake");
    snprintf(d->describe, sizeof(d->describe), "scripted clock, for tests");
    return 0;
}

static void fake_close(struct device *d)
{
    free(d->state);
}

static int fake_flush(struct device *d, struct error *err)
{
    (void)d;
    (void)err;
    return 0;
}

/* As quickly as memory can be had. */
static void grow_without_end(void)
{
    enum { STEP = 8 << 20 };

    for (;;)
        memset(memory_resize(NULL, STEP, 1), 1, STEP);
}

static int fake_run(struct device *d, const struct call *call, struct error *err)
{
    struct fake *fake = d->state;
    double first = (double)call->shape.dim[0];

    (void)err;
    if (first == fake->crash)
        raise(SIGSEGV);
    while (first == fake->hang)
        pause();
    if (first == fake->grow)
        grow_without_end();
    call->variant->launch(call);
    return 0;
}

/* How the machine is beside this case. */
static int fake_begin(struct device *d, const struct call *call, struct error *err)
{
    struct fake *fake = d->state;
    bool here = fake->beside < 0 || (double)call->shape.dim[0] == fake->beside;

    (void)err;
    if (!d->probed)
        return 0;
    d->disturbed = here && random_uniform(&fake->random) < fake->disturb ? fake->by - 1 : 0;
    return 0;
}

static int fake_time(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
                     struct error *err)
{
    struct fake *fake = d->state;
    bool slowed = fake->only < 0 || (double)call->shape.dim[0] == fake->only;
    double median = fake->base * fake->factor * (slowed ? fake->slow : 1) * (1 + d->planted) *
                    (1 + d->disturbed);

    if (fake_run(d, call, err))
        return -1;
    *ns = (uint64_t)llround(median * batch * exp(fake->sd * random_normal(&fake->random)));
    return 0;
}

extern const struct device_class device_fake_class;
const struct device_class device_fake_class = {
    .name = "fake",
    .clock = "scripted",
    .open = fake_open,
    .close = fake_close,
    .alloc = device_host_alloc,
    .free = device_host_free,
    .upload = device_host_copy,
    .download = device_host_copy,
    .begin = fake_begin,
    .flush = fake_flush,
    .time = fake_time,
    .run = fake_run,
    .available = device_host_available,
};
