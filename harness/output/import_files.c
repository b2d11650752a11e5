/* SPDX-License-Identifier: MIT */
/* What is imported from files: one text each, or a folder of criterion's made one text. */
#include "base/file.h"
#include "output/import_parts.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 16, FOLDERS_MAX = 100000 };

/* ---- raw samples of NVBench ---- */

/* Only below the folder of the JSON file: a file from elsewhere must not name others of ours. */
static bool is_below(const char *name)
{
    if (name[0] == '/' || name[0] == '\0')
        return false;
    for (const char *p = name; p; p = strchr(p, '/'), p += p != NULL)
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
            return false;
    return true;
}

static int read_beside(const char *json, const char *name, struct strbuf *content)
{
    const char *slash = strrchr(json, '/');
    struct strbuf path;
    struct error ignored;
    size_t length;

    strbuf_init(&path);
    strbuf_addf(&path, "%.*s%s", slash ? (int)(slash - json + 1) : 0, json, name);
    char *bytes = file_read(path.data, FILE_RECORDS_MOST, &length, &ignored);
    if (bytes)
        strbuf_add(content, bytes, length);
    free(bytes);
    strbuf_release(&path);
    return bytes ? 0 : -1;
}

/* NVBench names the file as seen from where it ran: "out/a.json-bin/0.bin". Its last two parts are
 * beside the JSON file, wherever both were taken. */
static int find_samples(void *context, const char *name, struct strbuf *content)
{
    const char *last = strrchr(name, '/'), *two = name;

    for (const char *p = name; last && p < last; p++)
        if (*p == '/')
            two = p + 1;
    if (is_below(name) && read_beside(context, name, content) == 0)
        return 0;
    return is_below(two) && strcmp(two, name) != 0 ? read_beside(context, two, content) : -1;
}

/* ---- folders of criterion ---- */

struct criterion {
    const char *root;
    struct strbuf *text; /* a message a benchmark */
    size_t nr;
    struct error *err;
};

/* A JSON file of the folder, NULL where it is not there; 0 or -1. */
static int read_part(const struct criterion *c, const char *folder, const char *name, cJSON **json)
{
    struct strbuf path;
    int rc = 0;

    *json = NULL;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", folder, name);
    if (file_exists(path.data)) {
        *json = json_parse_file(path.data, FILE_RECORDS_MOST, c->err);
        rc = *json ? 0 : -1;
    }
    strbuf_release(&path);
    return rc;
}

/* Moves a member of one object into another one by another name. */
static void move(cJSON *from, const char *key, cJSON *to, const char *name)
{
    cJSON *item = cJSON_IsObject(from) ? cJSON_DetachItemFromObjectCaseSensitive(from, key) : NULL;

    if (item)
        cJSON_AddItemToObject(to, name, item);
}

/* {"sampling_mode", "iters", "times"}, or before 0.4 a pair of lists. */
static void add_sample(cJSON *message, cJSON *sample)
{
    if (cJSON_IsArray(sample) && cJSON_GetArraySize(sample) == 2) {
        cJSON_AddItemToObject(message, "iteration_count", cJSON_DetachItemFromArray(sample, 0));
        cJSON_AddItemToObject(message, "measured_values", cJSON_DetachItemFromArray(sample, 0));
        return;
    }
    move(sample, "iters", message, "iteration_count");
    move(sample, "times", message, "measured_values");
}

/* {"median":{"point_estimate"}}; old ones have a capital letter. */
static void add_estimates(cJSON *message, const cJSON *estimates)
{
    const cJSON *median = cJSON_GetObjectItem(estimates, "median"); /* of any case */
    const cJSON *mean = cJSON_GetObjectItem(estimates, "mean");
    const cJSON *point = cJSON_GetObjectItemCaseSensitive(median ? median : mean, "point_estimate");

    if (point)
        cJSON_AddItemToObject(cJSON_AddObjectToObject(message, median ? "median" : "mean"),
                              "estimate", cJSON_Duplicate(point, true));
}

/* {"Bytes": 1024}, {"Elements": 10}, or several in {"ElementsAndBytes": {...}}. */
static void add_throughput(cJSON *list, const cJSON *throughput)
{
    for (const cJSON *t = cJSON_IsObject(throughput) ? throughput->child : NULL; t; t = t->next) {
        if (cJSON_IsObject(t)) {
            add_throughput(list, t);
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
static void add_id(const struct criterion *c, cJSON *message, const cJSON *benchmark,
                   const char *folder)
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

static int add_benchmark(struct criterion *c, const char *folder)
{
    cJSON *benchmark = NULL, *sample = NULL, *estimates = NULL, *message = cJSON_CreateObject();
    int rc = read_part(c, folder, "benchmark.json", &benchmark) ||
                     read_part(c, folder, "sample.json", &sample) ||
                     read_part(c, folder, "estimates.json", &estimates)
                 ? -1
                 : 0;

    if (rc == 0 && (sample || estimates)) {
        cJSON_AddStringToObject(message, "reason", "benchmark-complete");
        add_id(c, message, benchmark, folder);
        add_sample(message, sample);
        add_estimates(message, estimates);
        add_throughput(cJSON_AddArrayToObject(message, "throughput"),
                       cJSON_GetObjectItemCaseSensitive(benchmark, "throughput"));
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

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Every folder "new" below, and the folder itself. */
static int walk(struct criterion *c, FTS *tree)
{
    size_t seen = 0;

    for (FTSENT *e; (e = fts_read(tree));) {
        bool wanted = e->fts_level == 0 || strcmp(e->fts_name, "new") == 0;
        if (e->fts_info != FTS_D)
            continue;
        if (++seen > FOLDERS_MAX)
            return error_set(c->err, "%s: more than %d folders; name one inside it", c->root,
                             FOLDERS_MAX);
        if (e->fts_level == DEPTH_MAX)
            fts_set(tree, e, FTS_SKIP);
        if (wanted && add_benchmark(c, e->fts_path))
            return -1;
    }
    return c->nr ? 0
                 : error_set(c->err,
                             "%s: no folder \"new\" with sample.json or estimates.json is in it; "
                             "give target/criterion",
                             c->root);
}

static int read_criterion(const char *folder, struct strbuf *text, struct error *err)
{
    char *root = memory_string(folder);
    size_t length = strlen(root);

    while (length > 1 && root[length - 1] == '/')
        root[--length] = '\0';
    char *const paths[] = { root, NULL };
    struct criterion c = { .root = root, .text = text, .err = err };
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    int rc = tree ? walk(&c, tree) : error_set(err, "%s: %s", folder, strerror(errno));
    if (tree)
        fts_close(tree);
    free(root);
    return rc;
}

/* One of the files that criterion writes for a benchmark stands for their folder. */
static bool is_criterion_file(const char *path, struct strbuf *folder)
{
    static const char *const names[] = { "sample.json", "estimates.json", "benchmark.json" };
    const char *slash = strrchr(path, '/');

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(slash ? slash + 1 : path, names[i]) != 0)
            continue;
        strbuf_addf(folder, "%.*s", slash && slash > path ? (int)(slash - path) : 1,
                    slash ? path : ".");
        return true;
    }
    return false;
}

/* ---- the whole ---- */

static int read_text(const char *path, const struct stat *status, struct strbuf *text,
                     struct error *err)
{
    struct strbuf folder;
    size_t length;

    if (S_ISDIR(status->st_mode))
        return read_criterion(path, text, err);
    strbuf_init(&folder);
    bool part = is_criterion_file(path, &folder);
    int rc = part ? read_criterion(folder.data, text, err) : 0;
    strbuf_release(&folder);
    if (part)
        return rc;
    char *bytes = file_read(path, FILE_IMPORT_MOST, &length, err);
    if (!bytes)
        return -1;
    strbuf_add(text, bytes, length);
    free(bytes);
    return 0;
}

int import_file(const char *path, const struct import_options *options, struct imported *out,
                struct error *err)
{
    struct import_options own = *options;
    bool piped = strcmp(path, "-") == 0;
    const char *file = piped ? "/dev/stdin" : path;
    struct strbuf text;
    struct stat status;

    *out = (struct imported) { .format = IMPORT_ANY };
    if (stat(file, &status))
        return error_set(err, "%s: %s", path, strerror(errno));
    strbuf_init(&text);
    own.samples = find_samples;
    own.context = memory_string(file);
    int rc = read_text(file, &status, &text, err);
    if (rc == 0)
        rc = import_parse(text.data, text.length, piped ? "standard input" : path, &own, out, err);
    digest_init(&out->digest);
    digest_add(&out->digest, text.data, text.length);
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        out->written_ms = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
    free(own.context);
    strbuf_release(&text);
    return rc;
}
