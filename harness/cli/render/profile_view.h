/* SPDX-License-Identifier: MIT */
/* All that `harness profile` says of one trace, and how it says it: tables and files. */
#ifndef HARNESS_CLI_RENDER_PROFILE_VIEW_H
#define HARNESS_CLI_RENDER_PROFILE_VIEW_H

#include "base/strbuf.h"
#include "profile/summary.h"
#include "timeline/timeline_findings.h"
#include "timeline/timeline_main.h"

#include <stdbool.h>

struct cJSON;
struct profile_counters;

struct profile_view {
    char title[256]; /* a benchmark's key, or a file */
    int launches;    /* made in all, the last of which this is; 0: none of ours */
    struct prof_trace trace, main;
    struct prof_summary summary; /* of main */
    struct timeline_findings found;
    struct timeline_roofs roofs;             /* all 0: not known */
    int64_t gap_ns;                          /* as in advice_evidence; 0: the usual */
    struct prof_cost cost;                   /* of a scope, on this machine; on 0: not measured */
    const struct profile_counters *counters; /* borrowed; NULL: not asked for */
};

/* Takes the trace. `roofs` and `cost` may be NULL. Release the view whatever the result. */
int profile_view_init(struct profile_view *view, const char *title, struct prof_trace *trace,
                      const struct timeline_roofs *roofs, const struct prof_cost *cost,
                      int64_t gap_ns, struct error *err);
void profile_view_release(struct profile_view *view);

/* For people: the `top` worst by self and by total, the split, advice, the cost of recording. */
void profile_print(const struct profile_view *view, size_t top, struct strbuf *out);
/* The same in Markdown, behind other Markdown: the table by self time, the split and advice. */
void profile_markdown(const struct profile_view *view, size_t top, struct strbuf *out);
/* docs/formats/profile.md. */
struct cJSON *profile_to_json(const struct profile_view *view, size_t top, struct error *err);
/* profile.json, and folded stacks of the host (stacks.folded) and of GPUs where there are any
 * (stacks-gpu.folded), into the folder, which exists. */
int profile_write(const struct profile_view *view, const char *folder, size_t top,
                  struct error *err);
/* trace.json; for traces that are not in a file of that form yet. */
int profile_write_trace(const struct profile_view *view, const char *folder, struct error *err);

/* ---- where it goes ---- */

struct profile_output {
    const char *folder; /* --output; NULL: "profile-<what>" */
    size_t top;         /* operations in the tables */
    int64_t gap_ns;     /* --gap; 0: the usual */
    bool json;          /* on standard output, instead of tables */
};

/* Appends a name as one of a folder: none leads out of it, and none needs quotes. */
void profile_folder_name(struct strbuf *path, const char *name);
/* Makes the folder for `what` ("gpt/nano/prefill": profile-gpt-nano-prefill) and puts its path into
 * the empty `path`. */
int profile_folder(const struct profile_output *o, const char *what, struct strbuf *path,
                   struct error *err);
/* Another one inside it. */
int profile_subfolder(const char *name, struct strbuf *path, struct error *err);

/* Writes the files of a view (but for its trace) and prints it, or adds it to `list`, which --json
 * prints in the end. */
int profile_show(const struct profile_output *o, const struct profile_view *view,
                 const char *folder, struct cJSON *list, struct error *err);

/* To standard output. Releases the text. */
int profile_say(struct strbuf *text, struct error *err);

#endif
