/* SPDX-License-Identifier: MIT */
/* Where `harness profile` puts its files, and what it prints of a view. */
#ifndef HARNESS_CLI_PROFILE_OUTPUT_H
#define HARNESS_CLI_PROFILE_OUTPUT_H

#include "cli/profile_view.h"

struct profile_output {
    const char *folder; /* --output; NULL: "profile-<what>" */
    size_t top;         /* operations in the tables */
    bool json;          /* on standard output, instead of tables */
};

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
