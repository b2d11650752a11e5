/* SPDX-License-Identifier: MIT */
/* The messages of `cargo criterion --message-format=json`: one JSON object a line. What criterion
 * itself leaves in a folder comes in the same form. */
#include "importers/base/import_base.h"

#include "base/file.h"
#include "host/folder.h"
#include "text/csv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16, FOLDERS_MAX = 100000 };

/* ---- messages ---- */

static int criterion_unit(struct import_build *b, const cJSON *object, double *ns)
{
    const char *unit = json_string(object, "unit", "ns");

    *ns = import_unit_ns(unit);
    return *ns > 0 ? 0
                   : import_refuse(b, import_member(object, "unit"),
                                   "\"unit\" is \"%.20s\": times alone can be imported", unit);
}

static int criterion_read_samples(struct import_build *b, const cJSON *message,
                                  struct import_case *c)
{
    const cJSON *counts = import_member(message, "iteration_count");
    const cJSON *values = import_member(message, "measured_values");
    const cJSON *count = counts->child, *value = values->child;
    double unit, nr, time;

    if (criterion_unit(b, message, &unit))
        return -1;
    for (; count && value; count = count->next, value = value->next) {
        if (!import_value(count, &nr) || nr < 1)
            return import_refuse(b, count, "an iteration count is no number of 1 or more");
        if (!import_value(value, &time))
            return import_refuse(b, value, "a measured value is no finite number");
        if (import_time(b, c, value, time * unit / nr, nr))
            return -1;
    }
    if (count || value)
        return import_refuse(b, values, "%d measured values, but %d iteration counts",
                             cJSON_GetArraySize(values), cJSON_GetArraySize(counts));
    return 0;
}

/* Without raw samples: the first of these that is there. */
static int criterion_read_estimate(struct import_build *b, const cJSON *message,
                                   struct import_case *c)
{
    static const char *const keys[] = { "median", "typical", "mean" };
    double unit, value;

    b->statistic = "the median";
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const cJSON *estimate = import_member(message, keys[i]);
        if (!cJSON_IsObject(estimate))
            continue;
        if (criterion_unit(b, estimate, &unit) || import_number(b, estimate, "estimate", 0, &value))
            return -1;
        return import_statistic(b, c, estimate, value * unit);
    }
    return import_refuse(b, message, "there are neither samples nor estimates");
}

static void criterion_read_throughput(struct import_build *b, const cJSON *message,
                                      struct import_case *c)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, import_member(message, "throughput"))
    {
        double amount = import_optional(item, "per_iteration");
        const char *unit = json_string(item, "unit", "");
        if (!(amount > 0))
            continue;
        if (strncmp(unit, "byte", 4) == 0)
            c->m.bytes = amount;
        else
            import_beside(b, c, "elements", amount);
    }
}

static int criterion_read_message(struct import_build *b)
{
    const cJSON *message = b->source.root;
    const char *id;
    struct import_name name;

    if (!cJSON_IsObject(message))
        return import_refuse(b, message, "a message is no object");
    if (strcmp(json_string(message, "reason", ""), "benchmark-complete") != 0)
        return 0; /* of groups and of cargo */
    if (import_text(b, message, "id", &id))
        return -1;
    import_name_path(&name, id);
    struct import_case *c = import_case(b, &name);
    import_note_again(b, c);
    criterion_read_throughput(b, message, c);
    const cJSON *values = import_member(message, "measured_values");
    const cJSON *counts = import_member(message, "iteration_count");
    if (cJSON_IsArray(values) && values->child && cJSON_IsArray(counts))
        return criterion_read_samples(b, message, c);
    return criterion_read_estimate(b, message, c);
}

static int criterion_parse(struct import_build *b)
{
    b->clock = "criterion";
    return import_each_message(b, criterion_read_message);
}

/* ---- folders ---- */

struct criterion_folder {
    const char *root;
    struct strbuf *text; /* a message a benchmark */
    size_t nr, seen;     /* benchmarks, folders */
    int64_t written_ms;  /* a rerun writes files in the folders "new", and no folder above them */
    struct error *err;
};

/* 1, or 0: it is not there. What is there and cannot be looked at is an error (-1), or it would be
 * left out without a word. */
static int criterion_look(const char *path, struct stat *status, struct error *err)
{
    if (stat(path, status) == 0)
        return 1;
    if (errno == ENOENT || errno == ENOTDIR)
        return 0;
    return error_set(err, "%s: %s", path, strerror(errno));
}

/* A JSON file of the folder, NULL where it is not there; 0 or -1. */
static int criterion_read_part(struct criterion_folder *c, const char *folder, const char *name,
                               cJSON **json)
{
    struct strbuf path;
    struct stat status;

    *json = NULL;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", folder, name);
    int rc = criterion_look(path.data, &status, c->err);
    if (rc > 0) {
        int64_t written_ms = import_written_ms(&status);
        c->written_ms = written_ms > c->written_ms ? written_ms : c->written_ms;
        *json = json_parse_file(path.data, FILE_RECORDS_MOST, c->err);
        rc = *json ? 0 : -1;
    }
    strbuf_release(&path);
    return rc;
}

/* The whole lines at the beginning of a regular file, as many as fit; 0: it has none, or -1. */
static ssize_t criterion_first_lines(const char *path, char *text, size_t size, struct error *err)
{
    struct stat status;
    int there = criterion_look(path, &status, err);

    if (there <= 0 || !S_ISREG(status.st_mode))
        return there < 0 ? -1 : 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(err, "%s: cannot open: %s", path, strerror(errno));
    size_t length = fread(text, 1, size, file);
    int reason = ferror(file) ? errno : 0;
    fclose(file);
    if (reason)
        return error_set(err, "%s: cannot read: %s", path, strerror(reason));
    while (length == size && size > 0 && text[size - 1] != '\n')
        length = --size;
    return (ssize_t)length;
}

/* The cell of the first row under "unit", where there is such a column; 0 or -1. What is no CSV
 * tells none. */
static int criterion_check_unit(const char *path, const char *text, size_t length,
                                struct error *err)
{
    struct csv csv;
    struct csv_row head = { 0 }, row = { 0 };
    struct error broken;
    size_t unit = 0;
    int rc = 0;

    csv_open(&csv, text, length, path);
    bool more = csv_next(&csv, &head, &broken) > 0;
    while (more && unit < head.nr && strcmp(csv_text(&head, unit), "unit") != 0)
        unit++;
    more = more && unit < head.nr && csv_next(&csv, &row, &broken) > 0;
    if (more && row.nr > unit && strcmp(csv_text(&row, unit), "ns") != 0)
        rc = error_set(err,
                       "%s: the unit is \"%.40s\": of a folder, times in ns alone can be imported",
                       path, csv_text(&row, unit));
    csv_row_release(&head);
    csv_row_release(&row);
    return rc;
}

/* No JSON file tells what its numbers are of: ns, or what a measurement of one's own counts
 * (cycles, bytes). raw.csv does, which criterion writes up to 0.3, and later where it is asked to.
 * Its numbers are not read, so what else is in it is no reason to refuse the folder. */
static int criterion_read_unit(const struct criterion_folder *c, const char *folder)
{
    struct strbuf path;
    char text[16384];

    strbuf_init(&path);
    strbuf_addf(&path, "%s/raw.csv", folder);
    ssize_t length = criterion_first_lines(path.data, text, sizeof(text), c->err);
    int rc = length < 0    ? -1
             : length == 0 ? 0
                           : criterion_check_unit(path.data, text, (size_t)length, c->err);
    strbuf_release(&path);
    return rc;
}

/* Moves a member of one object into another one by another name. */
static void criterion_move(cJSON *from, const char *key, cJSON *to, const char *name)
{
    cJSON *item = cJSON_IsObject(from) ? cJSON_DetachItemFromObjectCaseSensitive(from, key) : NULL;

    if (item)
        cJSON_AddItemToObject(to, name, item);
}

/* {"sampling_mode", "iters", "times"}, or before 0.4 a pair of lists. */
static void criterion_add_sample(cJSON *message, cJSON *sample)
{
    if (cJSON_IsArray(sample) && cJSON_GetArraySize(sample) == 2) {
        cJSON_AddItemToObject(message, "iteration_count", cJSON_DetachItemFromArray(sample, 0));
        cJSON_AddItemToObject(message, "measured_values", cJSON_DetachItemFromArray(sample, 0));
        return;
    }
    criterion_move(sample, "iters", message, "iteration_count");
    criterion_move(sample, "times", message, "measured_values");
}

/* {"median":{"point_estimate"}}; old ones have a capital letter. */
static void criterion_add_estimates(cJSON *message, const cJSON *estimates)
{
    const cJSON *median = cJSON_GetObjectItem(estimates, "median"); /* of any case */
    const cJSON *mean = cJSON_GetObjectItem(estimates, "mean");
    const cJSON *point = import_member(median ? median : mean, "point_estimate");

    if (point)
        cJSON_AddItemToObject(cJSON_AddObjectToObject(message, median ? "median" : "mean"),
                              "estimate", cJSON_Duplicate(point, true));
}

/* {"Bytes": 1024}, {"Elements": 10}, or several in {"ElementsAndBytes": {...}}. */
static void criterion_add_throughput(cJSON *list, const cJSON *throughput)
{
    for (const cJSON *t = cJSON_IsObject(throughput) ? throughput->child : NULL; t; t = t->next) {
        if (cJSON_IsObject(t)) {
            criterion_add_throughput(list, t);
            continue;
        }
        cJSON *item = cJSON_CreateObject();
        bool bytes = strncasecmp(t->string, "bytes", 5) == 0;
        cJSON_AddItemToObject(item, "per_iteration", cJSON_Duplicate(t, true));
        cJSON_AddStringToObject(item, "unit", bytes ? "bytes" : "elements");
        cJSON_AddItemToArray(list, item);
    }
}

/* "Fib/20" of "target/criterion/Fib/20/new", where the file does not say it better. */
static void criterion_add_id(const struct criterion_folder *c, cJSON *message,
                             const cJSON *benchmark, const char *folder)
{
    size_t root = strlen(c->root);
    const char *full = json_string(benchmark, "full_id", NULL), *begin = folder + root;
    const char *slash = strrchr(folder, '/');
    size_t length = slash ? (size_t)(slash - folder) : 0; /* without "new" */
    struct strbuf id;

    strbuf_init(&id);
    if (length > root) {
        begin += *begin == '/';
    } else { /* this very folder was named: its parent's name */
        for (begin = folder + length; begin > folder && begin[-1] != '/'; begin--)
            ;
    }
    strbuf_add(&id, begin, folder + length > begin ? (size_t)(folder + length - begin) : 0);
    cJSON_AddStringToObject(message, "id",
                            full && *full ? full
                            : id.length   ? id.data
                                          : "criterion");
    strbuf_release(&id);
}

static int criterion_add_benchmark(struct criterion_folder *c, const char *folder)
{
    cJSON *benchmark = NULL, *sample = NULL, *estimates = NULL, *message = cJSON_CreateObject();
    int rc = criterion_read_part(c, folder, "benchmark.json", &benchmark) ||
                     criterion_read_part(c, folder, "sample.json", &sample) ||
                     criterion_read_part(c, folder, "estimates.json", &estimates)
                 ? -1
                 : 0;

    if (rc == 0 && (sample || estimates))
        rc = criterion_read_unit(c, folder);
    if (rc == 0 && (sample || estimates)) {
        cJSON_AddStringToObject(message, "reason", "benchmark-complete");
        criterion_add_id(c, message, benchmark, folder);
        criterion_add_sample(message, sample);
        criterion_add_estimates(message, estimates);
        criterion_add_throughput(cJSON_AddArrayToObject(message, "throughput"),
                                 import_member(benchmark, "throughput"));
        char *line = cJSON_PrintUnformatted(message);
        strbuf_addf(c->text, "%s\n", line);
        cJSON_free(line);
        c->nr++;
    }
    cJSON_Delete(benchmark);
    cJSON_Delete(sample);
    cJSON_Delete(estimates);
    cJSON_Delete(message);
    return rc;
}

static int criterion_walk(struct criterion_folder *c, const char *folder, int depth);

/* What the folder has under that name, if it is a folder; links are not followed. */
static int criterion_walk_inside(struct criterion_folder *c, const char *folder, const char *name,
                                 int depth)
{
    struct strbuf path;
    struct stat status = { .st_mode = 0 }; /* of what is gone meanwhile */
    int rc = 0;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", folder, name);
    if (lstat(path.data, &status))
        rc = errno == ENOENT ? 0 : error_set(c->err, "%s: %s", path.data, strerror(errno));
    else if (S_ISDIR(status.st_mode) && strcmp(name, "new") == 0)
        rc = criterion_add_benchmark(c, path.data);
    if (rc == 0 && S_ISDIR(status.st_mode))
        rc = criterion_walk(c, path.data, depth);
    strbuf_release(&path);
    return rc;
}

/* Every folder "new" inside, in order. */
static int criterion_walk(struct criterion_folder *c, const char *folder, int depth)
{
    struct string_list names = { 0 };
    int rc = 0;

    if (++c->seen > FOLDERS_MAX)
        return error_set(c->err, "%s: more than %d folders; name one inside it", c->root,
                         FOLDERS_MAX);
    if (depth < DEPTH_MAX)
        rc = folder_names(folder, "", &names, c->err);
    for (size_t i = 0; i < names.nr && rc == 0; i++)
        rc = criterion_walk_inside(c, folder, names.items[i], depth + 1);
    string_list_release(&names);
    return rc;
}

static int criterion_read_folder(const char *folder, struct strbuf *text, int64_t *written_ms,
                                 struct error *err)
{
    char *root = memory_string(folder);
    size_t length = strlen(root);

    while (length > 1 && root[length - 1] == '/')
        root[--length] = '\0';
    struct criterion_folder c = { .root = root, .text = text, .err = err };
    int rc = criterion_add_benchmark(&c, root) || criterion_walk(&c, root, 0) ? -1 : 0;
    if (rc == 0 && c.nr == 0)
        rc = error_set(err,
                       "%s: no folder \"new\" with sample.json or estimates.json is in it; give "
                       "target/criterion",
                       root);
    *written_ms = c.written_ms;
    free(root);
    return rc;
}

static const struct import_folder_file criterion_files[] = {
    { "sample.json", "sampling_mode" },
    { "sample.json", "[].[" }, /* before 0.4 */
    { "estimates.json", "*.confidence_interval" },
    { "benchmark.json", "full_id" },
    { NULL, NULL },
};

const struct import_format_row import_criterion = { .signs = { "reason" },
                                                    .parse = criterion_parse,
                                                    .stream = true,
                                                    .read_folder = criterion_read_folder,
                                                    .folder_files = criterion_files };
