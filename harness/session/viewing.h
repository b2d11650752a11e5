/* SPDX-License-Identifier: MIT */
/*
 * What plot, report and serve have in common: which runs, against which base,
 * with which configuration.
 *
 *     struct viewing v;
 *     viewing_init(&v);
 *     v.request.history = 100;                                       what the command wants
 *     if (viewing_configure(&v, &o->viewing, err) == 0 &&
 *         viewing_open(&v, &o->viewing, argc, argv, err) == 0)
 *         ... v.view, v.config, v.store ...
 *     viewing_release(&v);
 */
#ifndef HARNESS_SESSION_VIEWING_H
#define HARNESS_SESSION_VIEWING_H

#include "base/options.h"
#include "session/measure/measuring.h"
#include "view/view.h"

enum { VIEWING_MODELS = 32 };

struct viewing_options {
    const char *db, *baseline, *config, *group_by;
    struct string_list filters, presets, profiles;
    double delta;
};

struct viewing {
    struct store *store; /* NULL where all is from files */
    struct config config;
    struct view_request request; /* set what the command wants before viewing_open() */
    struct view view;
    /* Set before viewing_configure(), as viewing_open() will get them: presets may name metrics of
     * programs, and a history among them has some. */
    char **arguments;
    int nr_arguments;
    struct strbuf home; /* of what is looked at: the folder of the history or of the files */
    struct plot_model models[VIEWING_MODELS];
    struct strbuf baselines; /* behind the request */
    struct string_list refs; /* the same */
    bool profile_alone; /* set before viewing_open(): with --profile, runs only where they are named
                         */
    const struct session_sink *sink; /* set before viewing_open(); may be NULL */
    struct profile_data profiles[2]; /* that --profile names, in its order */
};

void viewing_init(struct viewing *v);
void viewing_release(struct viewing *v);

/* Built in < the user's ($XDG_CONFIG_HOME or ~/.config)/harness/harness.json < harness.json at the
 * top of the project < --config < --preset. */
int viewing_configure(struct viewing *v, const struct viewing_options *o, struct error *err);

/* Reads the profiles that --profile names; of two the second is shown, against the first. */
int viewing_profiles(struct viewing *v, const struct viewing_options *o, struct error *err);

/* argv: runs, labels, branches, commits, baselines; files and folders of records; a history file,
 * or the folder of one, instead of --db. None: the newest run of the history, or without one the
 * folder ./artifacts, or with --profile no run at all. Notes on files left out go to the
 * sink. */
int viewing_open(struct viewing *v, const struct viewing_options *o, int argc, char **argv,
                 struct error *err);

/* "harness 0.1.0 (3f2a91c)": what made a page. */
void viewing_generator(struct strbuf *out);
/* <home>/<name>: where pictures and reports go by default. */
void viewing_path(const struct viewing *v, const char *name, struct strbuf *path);

#endif
