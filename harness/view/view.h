/* SPDX-License-Identifier: MIT */
/*
 * What plot, report and serve look at: runs of a history, loaded once, with all that figures are
 * made from: records, the comparison, the series of the machine, changes that are meant to be.
 *
 *     struct view view;
 *     view_load(store, &request, &view, err);
 *     view_chart(&view, preset, &chart);
 *     ... chart_build(&chart) ...
 *     view_release(&view);
 *
 * A view owns its records; charts, figures' captions and page data borrow from it.
 */
#ifndef HARNESS_VIEW_VIEW_H
#define HARNESS_VIEW_VIEW_H

#include "chart/chart.h"
#include "chart/config.h"
#include "metrics/run_label.h"
#include "overview/overview.h"
#include "store/store.h"
#include "view/annotations.h"
#include "view/causes.h"

struct view_request {
    /* REFs, files of records, folders of such files (view/history_side.h); none: the newest run. A
     * REF of several runs brings all of them. */
    const char *const *refs;
    size_t nr_refs;
    const int64_t *run_ids; /* or runs by number, instead of refs */
    size_t nr_run_ids;
    const char *baseline;       /* REF of the base; NULL: none, or with two refs the first */
    const char *baselines;      /* folder of this machine class's reviewed baselines; NULL: none */
    const char *const *filters; /* benchmarks, see base/text.h */
    size_t nr_filters;
    const char *const *keys; /* further benchmarks of the history, to the letter */
    size_t nr_keys;
    double delta;         /* of the comparison; 0: the configuration's, or the default */
    size_t history;       /* newest finished runs of the head's machine class that trends
                           * show; 0: all */
    bool without_history; /* no trends at all */
    bool head_too;        /* figures of one run show the head even where there are several */
    const struct run_fact *named_by; /* NULL: whatever differs */
    const struct config *config;     /* peaks and delta; may be NULL. Borrowed */
    const struct plot_model *models; /* for figures of models; nr_models, may be 0. Borrowed */
    size_t nr_models;
    /* Marks rows of the comparison whose change is meant to be, as `harness compare` does it: it
     * asks git, which is above this room. `accepted` owns the reasons. NULL: none is. */
    int (*accept)(struct store *store, const struct records *base, const struct records *head,
                  struct comparison *c, struct store_acceptances *accepted, struct error *err);
    const struct profile_data *profile;      /* for figures of a profile; then there need not be a
                                              * run. NULL: none. Borrowed, as the next */
    const struct profile_data *profile_base; /* the one before it; NULL: none */
};

/* The series of the history and what is found in them: once, for all that show it. */
struct view_trends {
    struct series_list series;
    struct trends trends;
};

struct view {
    struct records records; /* every run looked at, oldest first; roofs of the head's machine */
    int *runs;              /* those asked for, in the order of the request: indices into it */
    size_t nr_runs;
    char **run_names;    /* short and unique, one for each of `runs` */
    int head;            /* the run that figures of one run show; -1: there is none */
    struct records base; /* of the comparison. Borrows from `records`, like the next */
    struct records compared_head;
    bool compared;
    struct comparison comparison;        /* if compared */
    struct store_acceptances accepted;   /* texts of its rows that are meant to be */
    struct explanations causes;          /* of the worst that got slower; empty where none did */
    char base_what[256], head_what[256]; /* for people; base_what says why nothing is compared */
    char base_label[128];                /* what the base is called: "main" */
    struct records
        history; /* for trends, with samples. Its own, or of files: borrows from `records` */
    bool history_is_borrowed;
    const struct series_list
        *series;                    /* of the history, and what was found in it: by view_load(), */
    const struct trends *trends;    /* or by a caller that knows them, borrowed. Then the history
                                     * needs no measurements. NULL: there is no history */
    struct view_trends *own_trends; /* what view_load() found; NULL: nothing */
    const struct string_list
        *only; /* sorted keys: of the series, figures show these alone. Borrowed; NULL: all */
    struct annotations annotations; /* of the history */
    const char *peaks_from;         /* the file that gave peaks; borrowed; NULL: none did */
    struct string_list notes;       /* sentences on files that were left out */
    const struct plot_model *models;
    size_t nr_models;
    const struct profile_data *profile, *profile_base; /* NULL: none */
    bool head_too;
};

/* `store` may be NULL where all refs are files. A REF that names nothing is an error; nothing to
 * compare with is not: `compared` stays false and base_what says why. Release in any case. */
int view_load(struct store *store, const struct view_request *request, struct view *view,
              struct error *err);
void view_release(struct view *view);

/* A sentence on each of the filters that take something and here fit nothing, if any run is looked
 * at. Only what the filters take was loaded: nothing is known of those that leave out. */
void view_note_unfit_filters(const struct view *view, const char *const *filters, size_t nr,
                             struct string_list *notes);

/* The chart of a preset; borrows from both. Trend presets get the history as their records,
 * presets of several runs get all that were asked for. */
void view_chart(const struct view *view, const struct preset *preset, struct chart *chart);

/* What a reader asks first, answered (overview/overview.h); borrows from the view. */
void view_overview(const struct view *view, struct overview *out);

/* The modes that there is something to show in: bits of enum plot_mode. */
unsigned view_modes(const struct view *view);
/* Does the preset belong to what is looked at: a comparison, one run, several? NULL, or why not
 * ("needs a base: --baseline REF, or two runs"). */
const char *view_absence(const struct view *view, const struct preset *preset);

#endif
