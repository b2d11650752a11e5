/* SPDX-License-Identifier: MIT */
/* What people write about a run: "new BIOS", "the fan was broken". It changes no result. */
#ifndef HARNESS_STORE_ANNOTATIONS_H
#define HARNESS_STORE_ANNOTATIONS_H

#include "store/store.h"

struct store_annotation {
    int64_t run;
    int64_t written_ms;
    char *text; /* owned */
};

struct store_annotations {
    struct store_annotation *items;
    size_t nr, capacity;
};

enum { ANNOTATION_LENGTH_MAX = 1000 };

/* Refuses texts that are empty, too long, of several lines or not UTF-8; `what` is "an annotation".
 */
int store_annotation_check(const char *text, const char *what, struct error *err);
/* Refuses an unknown run and what store_annotation_check() refuses. */
int store_annotate(struct store *s, int64_t run_id, int64_t written_ms, const char *text,
                   struct error *err);
/* Appends what is written about a run, oldest first; 0: about all runs. */
int store_annotation_list(struct store *s, int64_t run_id, struct store_annotations *out,
                          struct error *err);
void store_annotations_release(struct store_annotations *list);

#endif
