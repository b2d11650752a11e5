/* SPDX-License-Identifier: MIT */
/*
 * What the repository of the current folder knows of the commits of a history: whether they are in
 * it, whether one leads to another, and where a forge shows them. So a card of a trend has links
 * that lead somewhere, and a command that works as it stands.
 *
 * Git is asked once about each commit and pair; several threads may ask.
 */
#ifndef HARNESS_SESSION_BUILDS_REPOSITORY_H
#define HARNESS_SESSION_BUILDS_REPOSITORY_H

#include "base/strbuf.h"
#include "trend/trend.h"

#include <stdbool.h>

struct repository;

struct repository *repository_create(void);
void repository_free(struct repository *r); /* NULL is fine */
/* As trends take it (struct trend_settings); borrows. */
const struct trend_repository *repository_for_trends(const struct repository *r);

/* Is it a benchmark of this program, not of a guest or of another tool? */
bool repository_measures(const struct benchmark_name *bench);

/* Appends what stands before a hash: "https://forge.example/owner/name/commit/" for the address of
 * a remote, "git@forge.example:owner/name.git" and the like, without a name or password in it.
 * Nothing for a folder, a host without a dot, or what is no plain address. */
void repository_commit_address(const char *remote, struct strbuf *out);

#endif
