/* SPDX-License-Identifier: MIT */
/* What the checks of the doctor share: reading below the root, and saying what was found. */
#ifndef HARNESS_DOCTOR_DOCTOR_BASE_H
#define HARNESS_DOCTOR_DOCTOR_BASE_H

#include "base/options.h"
#include "doctor/doctor.h"
#include "host/processors.h"

#include <stdbool.h>
#include <stddef.h>

struct doctor_check {
    const char *name;
    /* The finding is DOCTOR_UNKNOWN, "not told", until it says otherwise. */
    void (*look)(const struct doctor_input *in, struct doctor_finding *f);
};

/* By subject; each ends with a row without a name. */
extern const struct doctor_check doctor_cpu_checks[];
extern const struct doctor_check doctor_share_checks[];
extern const struct doctor_check doctor_system_checks[];
extern const struct doctor_check doctor_watch_checks[];
extern const struct doctor_check doctor_gpu_checks[]; /* where there is a GPU */

/* The rest of the first line that starts with `field` (blanks around it cut off), or the first line
 * where that is "". False if there is none. */
bool doctor_text(const struct doctor_input *in, const char *path, const char *field, char *text,
                 size_t size);
/* The same as a number; NaN if there is none. */
double doctor_number(const struct doctor_input *in, const char *path, const char *field);
/* What is in a folder and begins so, sorted, for string_list_release(); none where it is not there
 * or cannot be read. */
void doctor_names(const struct doctor_input *in, const char *folder, const char *prefix,
                  struct string_list *names);
/* The sum over FOLDER/PREFIX.../FILE; NaN if none of them has a number. */
double doctor_sum(const struct doctor_input *in, const char *folder, const char *prefix,
                  const char *file);
/* "0-3,8", however long */
bool doctor_cpus(const struct doctor_input *in, const char *path, const char *field,
                 struct processors *set);
/* How often heat has slowed a processor down since the start, all together; NaN if none tells. */
double doctor_throttles(const struct doctor_input *in);
/* A variable of the environment, of another machine by its copy of /proc/self/environ; its first
 * characters alone where it is long. NULL: it is not set. */
struct doctor_value {
    char text[64];
};
const char *doctor_variable(const struct doctor_input *in, const char *name,
                            struct doctor_value *room);
bool doctor_has_variables(const struct doctor_input *in); /* otherwise nobody told of them */
/* Whether a file or a folder is there. */
bool doctor_is_there(const struct doctor_input *in, const char *path);
/* Whether `word` is one of those in `text`, which stand between blanks, commas or brackets. */
bool doctor_has_word(const char *text, const char *word);

void doctor_say(struct doctor_finding *f, enum doctor_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void doctor_mend(struct doctor_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
