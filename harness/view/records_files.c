/* SPDX-License-Identifier: MIT */
#include "view/records_files.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "host/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- whole and part ---- */

static int records_find_run(const struct records *records, const struct run *run)
{
    for (size_t i = 0; run->uuid[0] && i < records->nr_runs; i++)
        if (strcmp(records->runs[i].uuid, run->uuid) == 0)
            return (int)i;
    return -1;
}

static int64_t records_newest_ms(const struct records *records)
{
    int64_t newest = INT64_MIN;

    for (size_t i = 0; i < records->nr_runs; i++)
        if (records->runs[i].started_ms > newest)
            newest = records->runs[i].started_ms;
    return newest;
}

static void records_swap_roofs(struct records *a, struct records *b)
{
    struct records kept = *a;

    a->roofs = b->roofs;
    a->nr_roofs = b->nr_roofs;
    a->roofs_capacity = b->roofs_capacity;
    b->roofs = kept.roofs;
    b->nr_roofs = kept.nr_roofs;
    b->roofs_capacity = kept.roofs_capacity;
    memcpy(a->roofs_of, b->roofs_of, sizeof(a->roofs_of));
    memcpy(b->roofs_of, kept.roofs_of, sizeof(b->roofs_of));
}

/* Moves the runs; places[i] is -1 - index for one that was there already. */
static void records_absorb_runs(struct records *to, struct records *from, int *places)
{
    for (size_t i = 0; i < from->nr_runs; i++) {
        int there = records_find_run(to, &from->runs[i]);
        places[i] = there >= 0 ? -1 - there : (int)to->nr_runs;
        if (there >= 0)
            continue;
        *records_add_run(to) = from->runs[i];
        from->runs[i] = (struct run) { 0 };
    }
}

void records_absorb(struct records *to, struct records *from, int *places)
{
    int *moved = memory_zeroed(from->nr_runs + 1, sizeof(*moved));

    if (records_newest_ms(from) > records_newest_ms(to))
        records_swap_roofs(to, from);
    records_absorb_runs(to, from, moved);
    for (size_t i = 0; i < from->nr; i++) {
        struct record *r = &from->items[i];
        if (moved[r->run] < 0)
            continue;
        records_add(to, moved[r->run], r->launch_seq)->m = r->m;
        r->m = (struct measurement) { .outcome = OUTCOME_OK };
    }
    for (size_t i = 0; places && i < from->nr_runs; i++)
        places[i] = moved[i] < 0 ? -1 - moved[i] : moved[i];
    free(moved);
    records_release(from);
}

/* The place of a run in the list, or -1. */
static int records_place_of(int run, const int *runs, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        if (runs[i] == run)
            return (int)i;
    return -1;
}

void records_part_init(struct records *part, const struct records *whole, const int *runs,
                       size_t nr)
{
    int *places = memory_zeroed(whole->nr_runs + 1, sizeof(*places));

    *part = (struct records) { .roofs = whole->roofs, .nr_roofs = whole->nr_roofs };
    memcpy(part->roofs_of, whole->roofs_of, sizeof(part->roofs_of));
    part->runs = memory_zeroed(nr + 1, sizeof(*part->runs));
    part->items = memory_zeroed(whole->nr + 1, sizeof(*part->items));
    for (size_t i = 0; i < nr; i++)
        part->runs[part->nr_runs++] = whole->runs[runs[i]];
    for (size_t i = 0; i < whole->nr_runs; i++)
        places[i] = records_place_of((int)i, runs, nr);
    for (size_t i = 0; i < whole->nr; i++) {
        if (places[whole->items[i].run] < 0)
            continue;
        part->items[part->nr] = whole->items[i];
        part->items[part->nr++].run = places[whole->items[i].run];
    }
    free(places);
}

void records_part_release(struct records *part)
{
    free(part->runs);
    free(part->items);
    *part = (struct records) { 0 };
}

struct aged {
    int64_t started_ms;
    int run;
};

static int order_aged(const void *x, const void *y)
{
    const struct aged *a = x, *b = y;
    int order = (a->started_ms > b->started_ms) - (a->started_ms < b->started_ms);

    return order ? order : (a->run > b->run) - (a->run < b->run);
}

void records_sort_runs(struct records *records, int *places)
{
    size_t nr = records->nr_runs;
    struct aged *aged = memory_zeroed(nr + 1, sizeof(*aged));
    struct run *runs = memory_zeroed(nr + 1, sizeof(*runs));
    int *own = memory_zeroed(nr + 1, sizeof(*own));

    for (size_t i = 0; i < nr; i++)
        aged[i] = (struct aged) { records->runs[i].started_ms, (int)i };
    qsort(aged, nr, sizeof(*aged), order_aged);
    for (size_t i = 0; i < nr; i++) {
        runs[i] = records->runs[aged[i].run];
        own[aged[i].run] = (int)i;
    }
    free(records->runs);
    records->runs = runs;
    records->runs_capacity = nr + 1;
    for (size_t i = 0; i < records->nr; i++)
        records->items[i].run = own[records->items[i].run];
    if (places)
        memcpy(places, own, nr * sizeof(*own));
    free(own);
    free(aged);
}

/* ---- files, found by content ---- */

int records_read_file(const char *path, struct records *out, struct error *err)
{
    struct records read = { 0 };
    cJSON *json = json_parse_file(path, FILE_RECORDS_MOST, err);

    if (!json)
        return -1;
    int rc = records_from_json(json, &read, err);
    cJSON_Delete(json);
    if (rc)
        error_prefix(err, "%s", path);
    else
        records_absorb(out, &read, NULL);
    records_release(&read);
    return rc;
}

enum { DEPTH_MAX = 16, FILES_MAX = 20000 };

static const off_t size_max = (off_t)1 << 29;

/* A folder being searched. */
struct search {
    struct string_list files;  /* regular ones, whatever they hold */
    struct string_list *notes; /* what cannot be read of what is inside */
    struct error *err;
};

/* A file that is gone meanwhile was no part of the folder. */
static void note_unread(struct string_list *notes, const char *path)
{
    struct error why;

    if (errno == ENOENT)
        return;
    error_set(&why, "%s: %s", path, strerror(errno));
    string_list_add(notes, why.message);
}

static int search_folder(struct search *s, const char *folder, int depth);

static int search_entry(struct search *s, const char *path, int depth)
{
    struct stat status;

    if (lstat(path, &status) != 0) {
        note_unread(s->notes, path);
        return 0;
    }
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
    struct string_list names = { 0 };
    struct strbuf path;
    struct error why;
    int rc = 0;

    if (depth > DEPTH_MAX)
        return 0;
    if (folder_names(folder, "", &names, depth ? &why : s->err)) {
        if (depth)
            string_list_add(s->notes, why.message);
        return depth ? 0 : -1;
    }
    strbuf_init(&path);
    for (size_t i = 0; i < names.nr && rc == 0; i++) {
        if (names.items[i][0] == '.') /* what is hidden */
            continue;
        strbuf_clear(&path);
        strbuf_addf(&path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                    names.items[i]);
        rc = search_entry(s, path.data, depth);
    }
    strbuf_release(&path);
    string_list_release(&names);
    return rc;
}

/* A JSON object by its first character. */
static bool file_begins_an_object(const char *path, struct string_list *notes)
{
    FILE *file = fopen(path, "rb");
    int c = EOF;

    if (!file) {
        note_unread(notes, path);
        return false;
    }
    do
        c = fgetc(file);
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t');
    if (ferror(file))
        note_unread(notes, path);
    fclose(file);
    return c == '{';
}

/* Figures, lists of plots and other JSON have no measurements. */
static bool file_holds_records(const char *path, struct string_list *notes)
{
    struct error why;
    size_t length;

    if (!file_begins_an_object(path, notes))
        return false;
    char *text = file_read(path, FILE_RECORDS_MOST, &length, &why);
    if (!text)
        string_list_add(notes, why.message);
    bool holds = text && strstr(text, "\"measurements\"") && strstr(text, "\"runs\"");
    free(text);
    return holds;
}

static size_t files_read(const struct string_list *files, struct records *out,
                         struct string_list *notes)
{
    struct error why;
    size_t found = 0;

    for (size_t i = 0; i < files->nr; i++) {
        if (!file_holds_records(files->items[i], notes))
            continue;
        if (records_read_file(files->items[i], out, &why) == 0)
            found++;
        else
            string_list_add(notes, why.message);
    }
    return found;
}

int records_read_folder(const char *folder, struct records *out, struct string_list *notes,
                        struct error *err)
{
    struct search s = { .notes = notes, .err = err };
    int rc = search_folder(&s, folder, 0);

    string_list_sort(&s.files);
    if (rc == 0 && files_read(&s.files, out, notes) == 0)
        rc = error_set(err, "%s: no file of records in it; `harness run --json` writes one%s%s",
                       folder, notes->nr ? ". Left out: " : "", notes->nr ? notes->items[0] : "");
    if (rc == 0)
        records_sort_runs(out, NULL);
    string_list_release(&s.files);
    return rc;
}
