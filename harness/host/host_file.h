/* SPDX-License-Identifier: MIT */
/* Small files of /proc and /sys that tell what the host is, where "it does not say" and "it cannot
 * be read now" have to be told apart: what tells one machine from another must not hang on whether
 * a table of files was full for a moment. */
#ifndef HARNESS_HOST_HOST_FILE_H
#define HARNESS_HOST_HOST_FILE_H

struct error;
struct strbuf;

/* All of it behind what `text` holds. 1; 0 where there is no such file, or none for this process,
 * which is so the next time, too; -1 where it cannot be read now. */
int host_file_read(const char *path, struct strbuf *text, struct error *err);

#endif
