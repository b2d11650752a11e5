/* SPDX-License-Identifier: MIT */
#include "chart/base/profile_file.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "timeline/timeline_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char trace_name[] = "trace.json", tables_name[] = "profile.json";

/* Is `path` the file `name`, in whatever folder? Its folder's length goes to `folder`. */
static bool profile_file_is(const char *path, const char *name, size_t *folder)
{
    size_t length = strlen(path), end = strlen(name);

    if (length < end || strcmp(path + length - end, name) != 0)
        return false;
    *folder = length == end ? 0 : length - end - 1;
    return length == end || path[length - end - 1] == '/';
}

/* How much of a path is the folder of a profile: all of a folder's, what is before "/trace.json" of
 * a file's, none of "trace.json" itself. -1: a file of another name, which stands alone. */
static long profile_file_folder(const char *path)
{
    size_t folder;

    if (file_is_folder(path))
        return (long)strlen(path);
    return profile_file_is(path, trace_name, &folder) || profile_file_is(path, tables_name, &folder)
               ? (long)folder
               : -1;
}

/* The last part of a path that is not "trace.json": what the profile is called. */
static void profile_file_title(const char *path, struct strbuf *name)
{
    long folder = profile_file_folder(path);
    size_t length = folder > 0 ? (size_t)folder : strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t first = length;
    while (first > 0 && path[first - 1] != '/')
        first--;
    strbuf_add(name, path + first, length - first);
}

/* The path of a file beside the profile's others. */
static void profile_file_beside(const char *path, long folder, const char *name, struct strbuf *out)
{
    strbuf_add(out, path, (size_t)folder);
    strbuf_addf(out, "%s%s", folder > 0 && path[folder - 1] != '/' ? "/" : "", name);
}

/* What is to be read: the trace, and what stands beside it or is all there is. */
struct profile_files {
    struct strbuf trace, tables; /* "": there is none */
};

static void profile_files_find(const char *path, struct profile_files *files)
{
    long folder = profile_file_folder(path);

    strbuf_init(&files->trace);
    strbuf_init(&files->tables);
    if (folder < 0) {
        strbuf_adds(&files->trace, path);
        return;
    }
    profile_file_beside(path, folder, trace_name, &files->trace);
    profile_file_beside(path, folder, tables_name, &files->tables);
    if (!file_exists(files->tables.data))
        strbuf_clear(&files->tables);
    if (files->tables.length && !file_exists(files->trace.data))
        strbuf_clear(&files->trace);
}

static int profile_file_tables(const char *path, const char *title, struct profile_data *data,
                               struct error *err)
{
    struct timeline_tables tables;
    struct profile_facts facts;
    size_t length;
    char *text = file_read(path, FILE_RECORDS_MOST, &length, err);

    if (!text)
        return -1;
    int rc = timeline_tables_parse(text, length, path, &tables, err);
    free(text);
    if (rc == 0)
        rc = profile_facts_read(path, &facts, err);
    if (rc == 0)
        rc = profile_data_init_tables(data, &tables, title, &facts, err);
    timeline_tables_release(&tables);
    return rc;
}

/* In place of a trace that is too large, for the reason in `why`: what stands beside it. */
static int profile_file_tables_alone(const char *path, const char *title, const char *why,
                                     struct profile_data *data, struct error *err)
{
    struct strbuf note;

    if (profile_file_tables(path, title, data, err))
        return -1;
    strbuf_init(&note);
    strbuf_addf(&note, "%s; shown are the tables beside it, without single calls", why);
    data->note = strbuf_detach(&note);
    return 0;
}

static int profile_file_trace(const struct profile_files *files, const char *title,
                              struct profile_data *data, struct error *err)
{
    struct profile_facts facts = { .launches = 0 };
    const char *tables = files->tables.data;
    struct prof_trace trace;
    struct error why;

    if (files->tables.length && profile_facts_read(tables, &facts, err))
        return -1;
    int rc = timeline_read(files->trace.data, &trace, &why);
    if (rc == 0)
        return profile_data_init(data, &trace, title, &facts, err);
    if (rc == TIMELINE_TOO_LARGE && files->tables.length)
        return profile_file_tables_alone(tables, title, why.message, data, err);
    *err = why;
    return -1;
}

/* What a lone file is, its first bytes tell; a trace is read by its own reader. */
static bool profile_file_holds_tables(const char *path)
{
    char start[64];
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(start, 1, sizeof(start), file) : 0;

    if (file)
        (void)fclose(file);
    return timeline_tables_is(start, length);
}

static int profile_file_open(const struct profile_files *files, const char *title,
                             struct profile_data *data, struct error *err)
{
    const char *path = files->trace.length ? files->trace.data : files->tables.data;

    return profile_file_holds_tables(path) ? profile_file_tables(path, title, data, err)
                                           : profile_file_trace(files, title, data, err);
}

int profile_file_read(const char *path, struct profile_data *data, struct error *err)
{
    struct profile_files files;
    struct strbuf title;

    *data = (struct profile_data) { .track = -1 };
    strbuf_init(&title);
    profile_files_find(path, &files);
    profile_file_title(path, &title);
    int rc = profile_file_open(&files, title.data, data, err);
    strbuf_release(&title);
    strbuf_release(&files.trace);
    strbuf_release(&files.tables);
    return rc;
}
