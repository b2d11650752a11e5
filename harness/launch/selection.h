/* SPDX-License-Identifier: MIT */
/*
 * What to measure: filters over benchmark keys and values for dims, expanded against the
 * registry. The command line and a suite file (harness/launch/suites, JSON) say the same things.
 *
 * A filter is a glob over the whole key or a leading run of its parts ("gemm", "gpt/nano",
 * "[ag]*", see base/text.h). A dim value list replaces that dim in the default shapes of every
 * selected kernel that has it; the result holds no shape twice.
 *
 * A peer (VARIANT_PEER) is selected only where its name is given: in the list of variants, or as a
 * part of a filter ("gemm/linear/blis"; neither "gemm" nor "gemm/linear/b*" selects it).
 *
 * A variant's name is that of its settings, too: where a guest or `--param` has added
 * "simd:depth=64", "gemm/nn/simd" and the variant "simd" select it beside what has no setting.
 */
#ifndef HARNESS_LAUNCH_SELECTION_H
#define HARNESS_LAUNCH_SELECTION_H

#include "base/options.h"
#include "core/benchmark.h"
#include "core/registry.h"
#include "launch/fill_list.h"
#include "measure/sampling.h"

struct dim_values {
    char name[24];
    struct int_list values;
};

struct selection {
    struct string_list filters; /* empty: everything */
    bool beside_keys;           /* whole keys were taken out of these: where all that is left begins
                                 * with '!', nothing else is chosen */
    struct string_list models;  /* kernel.model; restricts to forward passes */
    struct string_list variants; /* by name, see above; empty: all */
    struct string_list maths;    /* "fp32", ...; empty: all */
    struct dim_values dims[SHAPE_MAX];
    int nr_dims;
    bool caches[CACHE_NR];         /* none means warm */
    const struct fill_list *fills; /* what inputs hold; borrowed; NULL: as the kernels say */
    struct fill_list *own_fills;   /* of a suite's file, or NULL; `fills` is this, then */
    bool test_shapes;              /* the kernel's odd sizes instead of its default ones */
};

struct benchmark_list {
    struct benchmark *items;
    size_t nr, capacity;
};

void selection_release(struct selection *s);
/* Adds (or extends) the values of a dim; copies them, repeats once. */
int selection_add_dim(struct selection *s, const char *name, const struct int_list *values,
                      struct error *err);

/* Do the filters take the benchmark of that key? */
bool selection_takes(const struct selection *s, const struct variant *v, const char *key);

/* Is the word the variant's name, with its setting or without? */
bool selection_word_names(const char *word, const struct variant *v);

/* "warm", "cold" or "rotate"; an error for any other. */
int selection_add_cache(struct selection *s, const char *name, struct error *err);

/* Appends every benchmark that is selected for the device. An error if a filter, model, variant,
 * math or dim matches nothing at all, naming the nearest that exists. A variant that this build
 * lacks (registry.missing) is an error only where nothing else is selected. */
int selection_expand(const struct selection *s, const struct registry *r,
                     const struct device *device, struct benchmark_list *out, struct error *err);

/* Filters for the forward passes of models, and for their operations in profiles. -1 where there is
 * no such model, naming the nearest and all that there are. Release `filters` in any case. */
int selection_model_filters(const struct registry *r, const struct string_list *models,
                            struct string_list *filters, struct error *err);

/* A named set of selections with its own sampling. */
struct suite {
    char name[64];
    char summary[160];
    struct sampling sampling;
    int launches;
    struct selection *selections;
    size_t nr, capacity;
};

/* A suite by name (embedded), or a file (anything with a '/' or ending in .json). Unknown names
 * list what there is. suite_release() whatever the result. */
int suite_load(struct suite *s, const char *name, struct error *err);
void suite_release(struct suite *s);

#endif
