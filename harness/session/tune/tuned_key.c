/* SPDX-License-Identifier: MIT */
#include "session/tune/tuned_key.h"

#include "kernels/simd.h"
#include "machine/environment.h"

#include <stdio.h>
#include <string.h>

void tuned_key_name(const struct benchmark *b, const struct device *d,
                    const struct guest_setting *setting, struct benchmark_name *name)
{
    struct variant plain = *b->variant;
    struct benchmark bare = *b;

    plain.name = setting->variant;
    bare.variant = &plain;
    benchmark_name_of(&bare, d, name);
}

/* The model, too: the key has "cuda1", which is a place in what CUDA_VISIBLE_DEVICES lets see, and
 * the machine may have other models. */
void tuned_key_driver(const struct device *d, char driver[TUNED_DRIVER_SIZE])
{
    const char *version = d->driver;
    struct gpus gpus;

    if (d->ops && d->ops->nvidia) {
        gpus_find(&gpus);
        version = gpus.driver;
    }
    snprintf(driver, TUNED_DRIVER_SIZE, "%s%s%s", version, *version && d->model[0] ? ", " : "",
             d->model);
}

/* The source alone makes no code: the compiler and its flags do, too, and of a CPU's variants the
 * instruction set chooses among what they made (HARNESS_ISA). Where no digest of the source is
 * kept, the commit stands for it. */
void tuned_key_digest(const struct variant *v, char text[DIGEST_TEXT_SIZE])
{
    const struct registry *r = registry_builtin();
    char name[NAME_SIZE];
    struct digest digest;
    struct build build;

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(v->name, ":"), v->name);
    const struct variant *own = registry_variant(r, v->kernel->name, name);
    const char *source = own ? registry_variant_source(r, own) : "";
    environment_build(&build);
    digest_init(&digest);
    digest_add_text(&digest, *source ? source : build.commit);
    digest_add_text(&digest, build.compiler);
    digest_add_text(&digest, build.flags);
    if (v->device == DEVICE_CPU)
        digest_add_text(&digest, simd_isa_name(simd_isa()));
    digest_text(&digest, text);
}

void tuned_key_fill(struct store_tuned *t, const struct benchmark *b, const struct device *d,
                    const struct guest_setting *setting)
{
    struct benchmark_name name;

    tuned_key_name(b, d, setting, &name);
    snprintf(t->key, sizeof(t->key), "%s", name.key);
    tuned_key_driver(d, t->driver);
    snprintf(t->code, sizeof(t->code), "%s", setting->guest ? setting->guest : TUNED_BUILTIN);
    if (setting->guest)
        snprintf(t->digest, sizeof(t->digest), "%s", setting->digest);
    else
        tuned_key_digest(b->variant, t->digest);
}

bool tuned_key_same_code(const struct store_tuned *t, const char *code, const char *digest)
{
    return strcmp(t->code, code) == 0 && strcmp(t->digest, digest) == 0;
}

const struct store_tuned *tuned_key_find(const struct store_tuned_list *kept,
                                         const struct store_tuned *wanted)
{
    for (size_t i = 0; i < kept->nr; i++) {
        const struct store_tuned *t = &kept->items[i];
        if (strcmp(t->key, wanted->key) == 0 && strcmp(t->driver, wanted->driver) == 0 &&
            tuned_key_same_code(t, wanted->code, wanted->digest))
            return t;
    }
    return NULL;
}
