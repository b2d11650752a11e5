/* SPDX-License-Identifier: MIT */
/*
 * The end of a log that a dead process left. SQLite takes its frames up to the
 * first that is damaged, and drops the rest without a word: what was in them is lost, whether the
 * power went while they were written or a bit of an older one changed. So the log is looked at
 * before SQLite does, and kept where it has more frames than SQLite is going to take.
 * Source: sqlite.org/fileformat2.html, 4 (the log).
 */
#ifndef HARNESS_VFS_WATCH_LOG_H
#define HARNESS_VFS_WATCH_LOG_H

#include "base/strbuf.h"

/* Before the database at `path`, which is no link to it, is opened. Where its log is going to be
 * cut, copies it to PATH-wal.damaged.1 (or the next number that is free) and tells so in `note`,
 * once for a log. */
void watch_log_keep(const char *path, struct strbuf *note);

#endif
