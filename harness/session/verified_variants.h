/* SPDX-License-Identifier: MIT */
/*
 * The record of which CUDA variants were right on a real device: baselines/verification.json,
 * written by `harness verify --record`, carried inside the binary, shown by `harness list`. One
 * entry a kernel and variant; docs/formats/run.md has its members.
 *
 * An entry speaks for the source it was made from (the digest of registry_variant_source()): once
 * that changes, the variant counts as verified in an older form only.
 */
#ifndef HARNESS_SESSION_VERIFIED_VARIANTS_H
#define HARNESS_SESSION_VERIFIED_VARIANTS_H

#include "base/array.h"
#include "core/record.h"
#include "core/registry.h"

struct verification {
    char kernel[NAME_SIZE], variant[NAME_SIZE];
    char source[65];                             /* SHA-256 in hex */
    char device[64];                             /* "NVIDIA H200" */
    char capability[8];                          /* "9.0" */
    char date[11];                               /* "2026-11-30", UTC */
    char commit[COMMIT_SIZE + sizeof("-dirty")]; /* "-dirty" where the tree had uncommitted changes;
                                                  * "" if unknown */
    double max_error; /* the largest, relative to the rms of the expected values */
    double share;     /* the largest error over its own tolerance; at most 1 */
    int64_t shapes;   /* checked in one go */
    bool wrong;       /* a check was WRONG or FAILED: then it is not verified */
};

/* Of a variant, shapes that were right with a setting of its parameters: a tile that was forced, a
 * number of slices. None: it can be nowhere that was looked. */
struct verification_setting {
    char kernel[NAME_SIZE], variant[NAME_SIZE], setting[NAME_SIZE]; /* "tile=1:split=2" */
    int64_t shapes;
};

struct verification_list {
    struct verification *items;
    size_t nr, capacity;
    ARRAY(struct verification_setting) settings; /* of these */
};

void verification_release(struct verification_list *list);
/* Appends the entries of a record; `what` stands in messages. */
int verification_parse(const char *text, size_t length, const char *what,
                       struct verification_list *list, struct error *err);
/* What is in the binary. */
int verification_builtin(struct verification_list *list, struct error *err);
/* 0 if what runs on this device may be recorded: a CUDA device of a build for real ones. */
int verification_allowed(const struct device *d, struct error *err);
/* Adds one check's result to its variant's entry, that of a variant with a setting to the setting,
 * too. What is UNSUPPORTED says nothing of a variant, but that there is such a setting. */
void verification_note(struct verification_list *list, const struct registry *r,
                       const struct build *build, const struct device *d,
                       const struct measurement *m);
/* Merges into the file, which need not exist: the newer entry stands; of the same source, device
 * and commit, the larger errors, the larger number of shapes, and what was not right once. */
int verification_write(const char *path, const struct verification_list *fresh, struct error *err);

/* The entry of a variant, or NULL. */
const struct verification *verification_find(const struct verification_list *list,
                                             const char *kernel, const char *variant);
/* For people: "unverified on a device", "verified on NVIDIA H200, 2026-11-30, abc1234, error
 * 1.2e-06", "verified an older source on ...", "not right on ...". `v` may be NULL; the result is
 * `text`. */
enum { VERIFICATION_TEXT = 192 };
char *verification_describe(const struct verification *v, const char *source,
                            char text[VERIFICATION_TEXT]);
/* The same for programs; the tree is the caller's. */
struct cJSON *verification_to_json(const struct verification *v);

#endif
