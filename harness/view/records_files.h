/* SPDX-License-Identifier: MIT */
/* Records from files and folders of files, put together, and parts of records. */
#ifndef HARNESS_VIEW_RECORDS_FILES_H
#define HARNESS_VIEW_RECORDS_FILES_H

#include "base/options.h"
#include "core/record.h"

#include <stddef.h>

/* Reads every file of the folder, and of those inside it, that holds records, found by content.
 * Links are not followed, hidden files left alone. None is an error. Adds to `out`, whose runs are
 * in order of time then; what cannot be read makes a note. */
int records_read_folder(const char *folder, struct records *out, struct string_list *notes,
                        struct error *err);
int records_read_file(const char *path, struct records *out, struct error *err);

/* ---- whole and part ---- */

/* Moves all that `from` has to the end of `to`, runs that `to` has already left out. The roofs
 * are those of whichever has the newest run. `from` is empty then. places[i] is the index in `to`
 * of run i of `from`; may be NULL. */
void records_absorb(struct records *to, struct records *from, int *places);

/* Some runs of `whole` as records of their own, which borrow everything from it. */
void records_part_init(struct records *part, const struct records *whole, const int *runs,
                       size_t nr);
/* Of a part, or of nothing (zeroed). */
void records_part_release(struct records *part);

/* Sorts runs by time, oldest first; places[i] is the new index of run i, may be NULL. */
void records_sort_runs(struct records *records, int *places);

#endif
