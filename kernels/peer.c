/* SPDX-License-Identifier: MIT */
#include "kernels/peer.h"

#include "base/memory.h"
#include "host/thread_pinning.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* dlsym() gives an object's address where C wants a function's: POSIX has them alike. */
static int find_symbols(void *handle, const char *file, const struct peer_symbol *symbols,
                        void *table, struct error *err)
{
    for (const struct peer_symbol *s = symbols; s->name != NULL; s++) {
        void *function = dlsym(handle, s->name);
        if (function == NULL)
            return error_set(err, "%s has no %s", file, s->name);
        memcpy((char *)table + s->offset, &function, sizeof(function));
    }
    return 0;
}

/* The loader's words matter where a file is there but does not load. */
static int not_there(const struct peer *p, const char *why, struct error *err)
{
    if (strstr(why, "No such file or directory") != NULL)
        return error_set(err, "%s is not installed (%s)", p->files[0], p->packages);
    return error_set(err, "%s does not load: %s", p->files[0], why);
}

/* `chosen` NULL or empty: the first of the files that is there. */
static int load(const struct peer *p, const char *chosen, void *table, struct error *err)
{
    const int flags = RTLD_NOW | RTLD_NODELETE | p->flags;
    const char *file = chosen;
    void *handle = NULL;
    struct error first;

    if (chosen != NULL && *chosen != '\0') {
        handle = dlopen(chosen, flags);
        if (handle == NULL)
            return error_set(err, "%s: %s", p->variable, dlerror());
    }
    for (int i = 0; handle == NULL && p->files[i] != NULL; i++) {
        file = p->files[i];
        handle = dlopen(file, flags);
        if (handle == NULL && i == 0)
            error_set(&first, "%s", dlerror());
    }
    if (handle == NULL)
        return not_there(p, first.message, err);
    int rc = find_symbols(handle, file, p->symbols, table, err);
    dlclose(handle); /* it stays, by RTLD_NODELETE: only the count of this open goes */
    return rc;
}

int peer_open_file(const struct peer *p, const char *file, void *table, struct error *err)
{
    struct pinning_pause pause;

    pinning_pause(&pause);
    int rc = load(p, file, table, err);
    pinning_resume(&pause);
    return rc;
}

int peer_open(const struct peer *p, void *table, struct error *err)
{
    return peer_open_file(p, getenv(p->variable), table, err);
}

int peer_prepare(const struct peer *p, size_t size, struct call *call, struct error *err)
{
    void *table = memory_zeroed(1, size);

    if (peer_open(p, table, err) != 0) {
        free(table);
        return -1;
    }
    call->state = table;
    return 0;
}
