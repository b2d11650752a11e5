/* SPDX-License-Identifier: MIT */
/* What --profile names. */
#include "cli/viewing.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "timeline/timeline_read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char usual[] = "trace.json";

/* How much of a path is the folder of a profile: all of a folder's, what is before "/trace.json" of
 * a file's, none of "trace.json" itself. -1: a file of another name, which stands alone. */
static long folder_length(const char *path)
{
    size_t length = strlen(path), end = sizeof(usual) - 1;
    struct stat status;

    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return (long)length;
    if (length < end || strcmp(path + length - end, usual) != 0)
        return -1;
    if (length == end)
        return 0;
    return path[length - end - 1] == '/' ? (long)(length - end - 1) : -1;
}

/* The last part of a path that is not "trace.json": what the profile is called. */
static char *profile_name(const char *path)
{
    long folder = folder_length(path);
    size_t length = folder > 0 ? (size_t)folder : strlen(path);

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

/* What stands in profile.json beside the trace, where there is one. */
static int read_facts(const char *path, struct profile_facts *facts, struct error *err)
{
    long folder = folder_length(path);
    struct strbuf file;
    int rc = 0;

    *facts = (struct profile_facts) { .launches = 0 };
    if (folder < 0)
        return 0;
    strbuf_init(&file);
    strbuf_add(&file, path, (size_t)folder);
    strbuf_addf(&file, "%sprofile.json", folder > 0 ? "/" : "");
    if (file_exists(file.data))
        rc = profile_facts_read(file.data, facts, err);
    strbuf_release(&file);
    return rc;
}

static int read_profile(struct profile_data *data, const char *path, struct error *err)
{
    struct profile_facts facts;
    struct prof_trace trace;

    if (read_facts(path, &facts, err) || timeline_read(path, &trace, err))
        return -1;
    char *name = profile_name(path);
    int rc = profile_data_init(data, &trace, name, &facts, err);
    free(name);
    return rc;
}

/* Commas part one profile from the next, and stand in the names of our own folders: as many items
 * as make a path that exists, or the one item where none do. Returns how many that were. */
static size_t next_path(char *const *items, size_t nr, struct strbuf *path)
{
    strbuf_clear(path);
    for (size_t i = 0; i < nr; i++) {
        strbuf_addf(path, "%s%s", i > 0 ? "," : "", items[i]);
        if (file_exists(path->data))
            return i + 1;
    }
    strbuf_clear(path);
    strbuf_adds(path, items[0]);
    return 1;
}

static int read_profiles(struct viewing *v, const struct viewing_options *o, size_t *nr,
                         struct error *err)
{
    struct strbuf path;
    int rc = 0;

    strbuf_init(&path);
    for (size_t i = 0; rc == 0 && i < o->profiles.nr; ++*nr) {
        i += next_path(o->profiles.items + i, o->profiles.nr - i, &path);
        rc = *nr < 2 ? read_profile(&v->profiles[*nr], path.data, err)
                     : error_set(err, "one profile, or two to compare");
    }
    strbuf_release(&path);
    return rc;
}

int viewing_profiles(struct viewing *v, const struct viewing_options *o, struct error *err)
{
    size_t nr = 0;

    if (read_profiles(v, o, &nr, err))
        return error_prefix(err, "--profile");
    v->request.profile = nr ? &v->profiles[nr - 1] : NULL;
    v->request.profile_base = nr > 1 ? &v->profiles[0] : NULL;
    return 0;
}
