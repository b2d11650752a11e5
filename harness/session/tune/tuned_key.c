/* SPDX-License-Identifier: MIT */
#include "session/tune/tuned_key.h"

#include "machine/environment.h"

#include <stdio.h>

void tuned_key_name(const struct benchmark *b, const struct device *d,
                    const struct guest_setting *setting, struct benchmark_name *name)
{
    struct variant plain = *b->variant;
    struct benchmark bare = *b;

    plain.name = setting->variant;
    bare.variant = &plain;
    benchmark_name_of(&bare, d, name);
}

void tuned_key_driver(const struct device *d, char driver[32])
{
    struct gpus gpus;

    driver[0] = '\0';
    if (d->kind != DEVICE_CUDA)
        return;
    gpus_find(&gpus);
    snprintf(driver, 32, "%s", gpus.driver);
}

void tuned_key_fill(struct store_tuned *t, const struct benchmark *b, const struct device *d,
                    const struct guest_setting *setting)
{
    struct benchmark_name name;

    tuned_key_name(b, d, setting, &name);
    snprintf(t->key, sizeof(t->key), "%s", name.key);
    tuned_key_driver(d, t->driver);
    snprintf(t->code, sizeof(t->code), "%s", setting->guest);
    snprintf(t->digest, sizeof(t->digest), "%s", setting->digest);
}
