/* SPDX-License-Identifier: MIT */
/* A few handles of one history, each in one pair of hands at a time. They only read. */
#ifndef HARNESS_SERVE_HANDLES_H
#define HARNESS_SERVE_HANDLES_H

#include "store/store.h"

#include <stddef.h>

enum {
    HANDLES_MAX = 8,
    HANDLES_BUSY_MS = 5000, /* that reading waits for a writer who keeps all others out */
};

struct handles;

int handles_open(const char *path, size_t nr, const struct store_teller *tell,
                 struct handles **handles, struct error *err);
void handles_close(struct handles *h); /* after all were given back; NULL is fine */

/* Waits for a free one, so there are never more who work at once; NULL after so many ms. */
struct store *handles_take(struct handles *h, int patience_ms);
void handles_give(struct handles *h, struct store *store);

/* Another file stands at the path: each handle is opened anew before it is taken again. One that
 * cannot be opened stays with the file that it has. */
void handles_renew(struct handles *h);
/* Other content was copied into the file: waits until all are given back and closes them, because
 * SQLite lets the handles of one process share what they know of one file. Each is opened anew
 * when it is taken; until that succeeds, handles_take() gives NULL. */
void handles_empty(struct handles *h);

#endif
