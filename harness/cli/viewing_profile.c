/* SPDX-License-Identifier: MIT */
/* What --profile names. */
#include "cli/viewing.h"

#include "base/strbuf.h"
#include "timeline/timeline_read.h"

#include <stdlib.h>
#include <string.h>

/* The last part of a path that is not "trace.json": what the profile is called. */
static char *profile_name(const char *path)
{
    static const char usual[] = "/trace.json";
    size_t length = strlen(path), end = sizeof(usual) - 1;

    if (length > end && strcmp(path + length - end, usual) == 0)
        length -= end;
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t first = length;
    while (first > 0 && path[first - 1] != '/')
        first--;
    struct strbuf name;
    strbuf_init(&name);
    strbuf_add(&name, path + first, length - first);
    return strbuf_detach(&name);
}

static int read_profile(struct profile_data *data, const char *path, struct error *err)
{
    struct prof_trace trace;

    if (timeline_read(path, &trace, err))
        return -1;
    char *name = profile_name(path);
    int rc = profile_data_init(data, &trace, name, err);
    free(name);
    return rc;
}

int viewing_profiles(struct viewing *v, const struct viewing_options *o, struct error *err)
{
    size_t nr = o->profiles.nr;

    if (nr > 2)
        return error_set(err, "--profile takes one profile, or two to compare");
    for (size_t i = 0; i < nr; i++)
        if (read_profile(&v->profiles[i], o->profiles.items[i], err))
            return error_prefix(err, "--profile");
    v->request.profile = nr ? &v->profiles[nr - 1] : NULL;
    v->request.profile_base = nr > 1 ? &v->profiles[0] : NULL;
    return 0;
}
