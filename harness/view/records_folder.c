/* SPDX-License-Identifier: MIT */
/* Files of records in a folder, found by content. */
#include "view/history_side.h"

#include "base/array.h"
#include "base/file.h"
#include "view/view_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 16, FILES_MAX = 20000 };

static const off_t size_max = (off_t)1 << 29;

/* A folder being searched. */
struct search {
    struct string_list files; /* regular ones, whatever they hold */
    struct error *err;
};

static int search_folder(struct search *s, const char *folder, int depth);

static int search_entry(struct search *s, const char *path, int depth)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return 0; /* gone meanwhile */
    if (S_ISDIR(status.st_mode))
        return search_folder(s, path, depth + 1);
    if (!S_ISREG(status.st_mode) || status.st_size > size_max)
        return 0;
    if (s->files.nr == FILES_MAX)
        return error_set(s->err, "%s: more than %d files are here; name a folder inside it", path,
                         FILES_MAX);
    string_list_add(&s->files, path);
    return 0;
}

static int search_folder(struct search *s, const char *folder, int depth)
{
    struct strbuf path;
    struct dirent *entry;
    int rc = 0;

    if (depth > DEPTH_MAX)
        return 0;
    DIR *dir = opendir(folder);
    if (!dir)
        return depth ? 0 : error_set(s->err, "%s: %s", folder, strerror(errno));
    strbuf_init(&path);
    while (rc == 0 && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.') /* the folder itself, its parent, what is hidden */
            continue;
        strbuf_clear(&path);
        strbuf_addf(&path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                    entry->d_name);
        rc = search_entry(s, path.data, depth);
    }
    strbuf_release(&path);
    closedir(dir);
    return rc;
}

static int order_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A JSON object by its first character. */
static bool begins_an_object(const char *path)
{
    FILE *file = fopen(path, "rb");
    int c = EOF;

    if (!file)
        return false;
    do
        c = fgetc(file);
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t');
    fclose(file);
    return c == '{';
}

/* Figures, lists of plots and other JSON have no measurements. */
static bool holds_records(const char *path)
{
    struct error ignored;
    size_t length;

    if (!begins_an_object(path))
        return false;
    char *text = file_read(path, FILE_RECORDS_MOST, &length, &ignored);
    bool holds = text && strstr(text, "\"measurements\"") && strstr(text, "\"runs\"");
    free(text);
    return holds;
}

static size_t read_all(const struct string_list *files, struct records *out,
                       struct string_list *notes)
{
    struct error why;
    size_t found = 0;

    for (size_t i = 0; i < files->nr; i++) {
        if (!holds_records(files->items[i]))
            continue;
        if (records_read_file(files->items[i], out, &why) == 0)
            found++;
        else
            string_list_add(notes, why.message);
    }
    return found;
}

static void sort_by_time(struct records *records)
{
    int *places = memory_zeroed(records->nr_runs + 1, sizeof(*places));

    records_sort_runs(records, places);
    free(places);
}

int records_read_folder(const char *folder, struct records *out, struct string_list *notes,
                        struct error *err)
{
    struct search s = { .err = err };
    int rc = search_folder(&s, folder, 0);

    if (rc == 0 && s.files.nr > 0)
        qsort(s.files.items, s.files.nr, sizeof(*s.files.items), order_texts);
    if (rc == 0 && read_all(&s.files, out, notes) == 0)
        rc = error_set(err, "%s: no file of records in it; `harness run --json` writes one%s%s",
                       folder, notes->nr ? ". Left out: " : "", notes->nr ? notes->items[0] : "");
    if (rc == 0)
        sort_by_time(out);
    string_list_release(&s.files);
    return rc;
}
