/* SPDX-License-Identifier: MIT */
/* What `harness judge` judges: variants of one kernel, of a plugin or of this build, beside the
 * kernel's other variants. */
#ifndef HARNESS_SESSION_MEASURE_JUDGING_H
#define HARNESS_SESSION_MEASURE_JUDGING_H

#include "core/record.h"
#include "judge/judge.h"
#include "session/measure/measuring.h"
#include "session/measure/workload.h"

struct judging_options {
    const char *spec; /* the name of a kernel of this build */
    struct workload_options workload;
    bool tuned;                 /* by it the settings that are kept were chosen, as by --tuned */
    struct string_list against; /* names of the references; empty: those that are not textbook */
    int64_t rounds, other_shapes;
    struct sampling sampling;
    /* timeout: of a window; seed: of the sizes that are drawn. Of the rest `interrupted` alone
     * counts: a judgement has rounds in place of a budget. */
    struct measuring measuring;
};

/* One to be judged, and the sizes at which it is timed: with the settings that are kept, those of
 * its setting. */
struct judging_variant {
    const struct variant *variant;
    ARRAY(struct shape) shapes;
};

struct judging {
    const struct judging_options *options;
    struct workload workload;
    const struct kernel *spec;
    ARRAY(struct judging_variant) variants; /* to be judged */
    const char *plugin;                     /* the file; NULL: they are of this build */
};

/* First of all, before anything that `o` names is opened: nobody may look into this process any
 * more, and plugins are tried in the sandbox, since their constructors are a stranger's code, too.
 */
int judging_begin(struct judging_options *o, struct error *err);
/* When all that `o` names has been opened, or not: what plugins had to tell their tables in goes.
 */
void judging_opened(void);
/* -1 where there is nothing to judge: no such kernel, no such variant, a device that the judge
 * does not know yet. Release it whatever the result; it must stay where it is. */
int judging_open(struct judging *g, const struct judging_options *o, struct error *err);
void judging_close(struct judging *g);
/* One of the variants. `j` is released by the caller. */
int judging_run(struct judging *g, const struct judging_variant *v, struct judgement *j,
                struct error *err);
/* The share of the roof of a timed shape; NaN where no roofs are known. */
double judging_roof(const struct judging *g, const struct judgement *j, size_t shape,
                    const struct records *roofs, const struct machine *machine);

#endif
