/* SPDX-License-Identifier: MIT */
#include "gputrace/import.h"

#include "base/array.h"
#include "base/strbuf.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 20 };

struct text_id {
    int64_t id;
    char *text;
};

/* Which GPU a process means by a number: it counts those that it may use, from 0. */
struct device_id {
    uint32_t process;
    int32_t ordinal, gpu;
};

struct nsys {
    sqlite3 *db;
    const char *path;
    struct activity_list *list;
    ARRAY(struct text_id) texts;     /* the table StringIds, ascending */
    ARRAY(struct device_id) devices; /* by process and ordinal; none in files that do not tell */
    const char *table;               /* being read */
};

static int nsys_failed(const struct nsys *n, struct error *err)
{
    return error_set(err, "%s: %s%s%s", n->path, n->table ? n->table : "", n->table ? ": " : "",
                     sqlite3_errmsg(n->db));
}

/* A table with the columns that are read; those whose name starts with '?' may be missing in older
 * files and are NULL then. The first two are start and end. */
struct table {
    const char *name;
    enum activity_kind kind;
    const char *columns[COLUMNS_MOST];
    void (*fill)(struct nsys *n, sqlite3_stmt *row, struct activity *a);
};

static int64_t row_number(sqlite3_stmt *row, int column)
{
    return sqlite3_column_int64(row, column); /* NULL becomes 0 */
}

static uint32_t row_small(sqlite3_stmt *row, int column)
{
    return (uint32_t)sqlite3_column_int64(row, column);
}

/* The list's own copy; NULL where there is none. */
static const char *string_of(const struct nsys *n, int64_t id)
{
    size_t low = 0, high = n->texts.nr;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (n->texts.items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == n->texts.nr || n->texts.items[low].id != id)
        return NULL;
    return activity_name(n->list, n->texts.items[low].text);
}

/* nsys packs process and thread into one number: three bytes of thread, three of process. */
static void fill_thread(struct activity *a, int64_t global)
{
    a->thread = (uint32_t)(global & 0xffffff);
    a->process = (uint32_t)(global >> 24 & 0xffffff);
}

/* Columns 2 to 7 of everything on a device, from the list below. */
#define ON_DEVICE                                                                                  \
    "start", "end", "deviceId", "contextId", "streamId", "correlationId", "?graphNodeId",          \
        "?globalPid"
enum { FIRST_OWN = 8 };

static int by_process_and_ordinal(const void *x, const void *y)
{
    const struct device_id *a = x, *b = y;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

static int32_t gpu_of(const struct nsys *n, uint32_t process, int32_t ordinal)
{
    const struct device_id key = { process, ordinal, 0 };
    const struct device_id *found = n->devices.nr ? bsearch(&key, n->devices.items, n->devices.nr,
                                                            sizeof(key), by_process_and_ordinal)
                                                  : NULL;

    return found ? found->gpu : ordinal;
}

static void fill_place(const struct nsys *n, sqlite3_stmt *row, struct activity *a)
{
    a->context = row_small(row, 3);
    a->stream = row_small(row, 4);
    a->correlation = row_small(row, 5);
    a->graph_node = (uint64_t)row_number(row, 6);
    fill_thread(a, row_number(row, 7));
    a->device = gpu_of(n, a->process, (int32_t)row_number(row, 2));
}

static void fill_kernel(struct nsys *n, sqlite3_stmt *row, struct activity *a)
{
    const char *demangled = string_of(n, row_number(row, FIRST_OWN));
    const char *brief = string_of(n, row_number(row, FIRST_OWN + 1));

    fill_place(n, row, a);
    a->name = demangled ? demangled : brief ? brief : activity_name(n->list, "unnamed kernel");
    for (int i = 0; i < 3; i++) {
        a->grid[i] = (int32_t)row_number(row, FIRST_OWN + 2 + i);
        a->block[i] = (int32_t)row_number(row, FIRST_OWN + 5 + i);
    }
    a->registers = (int32_t)row_number(row, FIRST_OWN + 8);
    a->static_shared = (int32_t)row_number(row, FIRST_OWN + 9);
    a->shared = (int32_t)row_number(row, FIRST_OWN + 10);
}

/* CUPTI's numbers, and three more of nsys for pages that unified memory moved. */
static enum memcpy_kind copy_kind(int64_t number)
{
    static const enum memcpy_kind unified[] = { MEMCPY_HOST_TO_DEVICE, MEMCPY_DEVICE_TO_HOST,
                                                MEMCPY_DEVICE_TO_DEVICE };

    if (number > 0 && number < MEMCPY_KIND_NR)
        return (enum memcpy_kind)number;
    if (number >= MEMCPY_KIND_NR && number < MEMCPY_KIND_NR + 3)
        return unified[number - MEMCPY_KIND_NR];
    return MEMCPY_UNKNOWN;
}

static void fill_memcpy(struct nsys *n, sqlite3_stmt *row, struct activity *a)
{
    fill_place(n, row, a);
    a->bytes = row_number(row, FIRST_OWN);
    a->copy = copy_kind(row_number(row, FIRST_OWN + 1));
    activity_name_work(n->list, a);
}

static void fill_memset(struct nsys *n, sqlite3_stmt *row, struct activity *a)
{
    fill_place(n, row, a);
    a->bytes = row_number(row, FIRST_OWN);
    activity_name_work(n->list, a);
}

static void fill_graph(struct nsys *n, sqlite3_stmt *row, struct activity *a)
{
    fill_place(n, row, a);
    a->graph = row_small(row, FIRST_OWN);
    activity_name_work(n->list, a);
}

static void fill_sync(struct nsys *n, sqlite3_stmt *row, struct activity *a)
{
    fill_place(n, row, a);
    a->device = -1;
    a->name = activity_name(n->list, "wait");
}

/* One table holds the calls of runtime and driver; their names tell them apart: "cudaMalloc",
 * "cuMemAlloc_v2". Versions of the runtime's stand at the end: "cudaLaunchKernel_v7000". */
static void fill_call(struct nsys *n, sqlite3_stmt *row, struct activity *a)
{
    const char *name = string_of(n, row_number(row, 4));

    fill_thread(a, row_number(row, 2));
    a->correlation = row_small(row, 3);
    a->result = (int32_t)row_number(row, 5);
    a->name = name ? activity_call_name(n->list, name) : activity_name(n->list, "unnamed call");
    if (strncmp(a->name, "cu", 2) == 0 && strncmp(a->name, "cuda", 4) != 0)
        a->kind = ACTIVITY_DRIVER;
}

static void fill_range(struct nsys *n, sqlite3_stmt *row, struct activity *a)
{
    const char *own = (const char *)sqlite3_column_text(row, 3);
    const char *shared = string_of(n, row_number(row, 4));

    fill_thread(a, row_number(row, 2));
    a->name = own ? activity_name(n->list, own) : shared ? shared : "";
}

static const struct table tables[] = {
    { "CUPTI_ACTIVITY_KIND_KERNEL",
      ACTIVITY_KERNEL,
      { ON_DEVICE, "?demangledName", "?shortName", "gridX", "gridY", "gridZ", "blockX", "blockY",
        "blockZ", "?registersPerThread", "?staticSharedMemory", "?dynamicSharedMemory" },
      fill_kernel },
    { "CUPTI_ACTIVITY_KIND_MEMCPY",
      ACTIVITY_MEMCPY,
      { ON_DEVICE, "bytes", "copyKind" },
      fill_memcpy },
    { "CUPTI_ACTIVITY_KIND_MEMSET", ACTIVITY_MEMSET, { ON_DEVICE, "bytes" }, fill_memset },
    { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", ACTIVITY_GRAPH, { ON_DEVICE, "?graphId" }, fill_graph },
    { "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", ACTIVITY_SYNC, { ON_DEVICE }, fill_sync },
    { "CUPTI_ACTIVITY_KIND_RUNTIME",
      ACTIVITY_RUNTIME,
      { "start", "end", "globalTid", "correlationId", "nameId", "?returnValue" },
      fill_call },
    /* Marks have no end: they are no ranges. */
    { "NVTX_EVENTS",
      ACTIVITY_RANGE,
      { "start", "end", "globalTid", "text", "?textId" },
      fill_range },
};

/* Whether the table has the column; with NULL, whether it is there at all. 1, 0, or -1. */
static int has_column(const struct nsys *n, const char *table, const char *column,
                      struct error *err)
{
    sqlite3_stmt *q = NULL;

    if (sqlite3_prepare_v2(
            n->db, "SELECT count(*) FROM pragma_table_info(?1) WHERE ?2 IS NULL OR name = ?2", -1,
            &q, NULL) != SQLITE_OK)
        return nsys_failed(n, err);
    sqlite3_bind_text(q, 1, table, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 2, column, -1, SQLITE_STATIC);
    int rc = sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int(q, 0) > 0 : nsys_failed(n, err);
    sqlite3_finalize(q);
    return rc;
}

static const char strings_table[] = "StringIds";
static const char devices_table[] = "TARGET_INFO_CUDA_DEVICE";

/* A range without an end is a mark. */
static const char *wanted_rows(const struct table *t)
{
    return t->kind == ACTIVITY_RANGE ? " WHERE \"end\" IS NOT NULL" : "";
}

/* Adds how many there are of a table that may not be there. The names are our own constants, as in
 * the next. */
static int add_rows(struct nsys *n, const char *table, const char *wanted, int64_t *nr,
                    struct error *err)
{
    sqlite3_stmt *q = NULL;
    struct strbuf sql;
    int rc = has_column(n, table, NULL, err);

    if (rc <= 0)
        return rc;
    n->table = table;
    strbuf_init(&sql);
    strbuf_addf(&sql, "SELECT count(*) FROM \"%s\"%s", table, wanted);
    rc = sqlite3_prepare_v2(n->db, sql.data, -1, &q, NULL);
    strbuf_release(&sql);
    if (rc != SQLITE_OK || sqlite3_step(q) != SQLITE_ROW)
        rc = nsys_failed(n, err);
    else
        *nr += row_number(q, 0);
    sqlite3_finalize(q);
    n->table = NULL;
    return rc;
}

/* All of them are in memory in the end, some three times. */
static int check_rows(struct nsys *n, size_t most, struct error *err)
{
    int64_t nr = 0;

    if (add_rows(n, strings_table, "", &nr, err) || add_rows(n, devices_table, "", &nr, err))
        return -1;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        if (add_rows(n, tables[i].name, wanted_rows(&tables[i]), &nr, err))
            return -1;
    if ((uint64_t)nr <= most)
        return 0;
    return error_set(err,
                     "%s: %lld rows of events and names; up to %zu are read: record a shorter time "
                     "(nsys profile --duration)",
                     n->path, (long long)nr, most);
}

/* The names are our own constants, so nothing of the file gets into the statement. */
static int prepare_table(const struct nsys *n, const struct table *t, sqlite3_stmt **rows,
                         struct error *err)
{
    struct strbuf sql;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT ");
    for (int i = 0; i < COLUMNS_MOST && t->columns[i]; i++) {
        bool optional = t->columns[i][0] == '?';
        const char *column = t->columns[i] + optional;
        int there = has_column(n, t->name, column, err);
        if (there == 0 && !optional)
            there = error_set(err, "%s: the table %s has no column %s", n->path, t->name, column);
        if (there < 0) {
            strbuf_release(&sql);
            return -1;
        }
        strbuf_addf(&sql, there ? "%s\"%s\"" : "%sNULL", i > 0 ? ", " : "", column);
    }
    strbuf_addf(&sql, " FROM \"%s\"%s", t->name, wanted_rows(t));
    int rc = sqlite3_prepare_v2(n->db, sql.data, -1, rows, NULL);
    strbuf_release(&sql);
    return rc == SQLITE_OK ? 0 : nsys_failed(n, err);
}

static int read_row(struct nsys *n, const struct table *t, sqlite3_stmt *row, size_t nr,
                    struct error *err)
{
    int64_t start = row_number(row, 0), end = row_number(row, 1);

    if (sqlite3_column_type(row, 0) != SQLITE_INTEGER ||
        sqlite3_column_type(row, 1) != SQLITE_INTEGER || start < 0 || end < start)
        return error_set(err, "%s: %s, row %zu: no time from start to end", n->path, t->name, nr);
    struct activity *a = activity_add(n->list, t->kind);
    a->start = start;
    a->end = end;
    t->fill(n, row, a);
    return 0;
}

/* 1: it is there and was read; 0: it is not there. */
static int read_table(struct nsys *n, const struct table *t, struct error *err)
{
    sqlite3_stmt *rows = NULL;
    int rc = has_column(n, t->name, NULL, err);

    if (rc <= 0)
        return rc;
    n->table = t->name;
    if (prepare_table(n, t, &rows, err))
        return -1;
    for (size_t nr = 1; (rc = sqlite3_step(rows)) == SQLITE_ROW; nr++)
        if (read_row(n, t, rows, nr, err))
            break;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        nsys_failed(n, err);
    sqlite3_finalize(rows);
    return rc == SQLITE_DONE ? 1 : -1;
}

static int read_texts(struct nsys *n, struct error *err)
{
    sqlite3_stmt *rows = NULL;
    int rc = has_column(n, strings_table, NULL, err);

    if (rc <= 0)
        return rc;
    n->table = strings_table;
    if (sqlite3_prepare_v2(n->db, "SELECT id, value FROM StringIds ORDER BY id", -1, &rows, NULL) !=
        SQLITE_OK)
        return nsys_failed(n, err);
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(rows, 1);
        *array_push(&n->texts) = (struct text_id) { row_number(rows, 0), memory_string(text) };
    }
    rc = rc == SQLITE_DONE ? 0 : nsys_failed(n, err);
    sqlite3_finalize(rows);
    return rc;
}

/* 1: the file tells which GPU is meant; 0: it does not. */
static int tells_devices(const struct nsys *n, struct error *err)
{
    static const char *const columns[] = { "pid", "cudaId", "gpuId" };
    int rc = 1;

    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns) && rc == 1; i++)
        rc = has_column(n, devices_table, columns[i], err);
    return rc;
}

static int read_devices(struct nsys *n, struct error *err)
{
    sqlite3_stmt *rows = NULL;
    int rc = tells_devices(n, err);

    if (rc <= 0)
        return rc;
    n->table = devices_table;
    if (sqlite3_prepare_v2(n->db, "SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE", -1,
                           &rows, NULL) != SQLITE_OK)
        return nsys_failed(n, err);
    while ((rc = sqlite3_step(rows)) == SQLITE_ROW)
        *array_push(&n->devices) =
            (struct device_id) { row_small(rows, 0), (int32_t)row_number(rows, 1),
                                 (int32_t)row_number(rows, 2) };
    rc = rc == SQLITE_DONE ? 0 : nsys_failed(n, err);
    sqlite3_finalize(rows);
    if (n->devices.nr)
        qsort(n->devices.items, n->devices.nr, sizeof(*n->devices.items), by_process_and_ordinal);
    return rc;
}

static int read_tables(struct nsys *n, struct error *err)
{
    int nr = 0;

    if (read_texts(n, err) || read_devices(n, err))
        return -1;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        int rc = read_table(n, &tables[i], err);
        if (rc < 0)
            return -1;
        nr += rc;
    }
    if (nr == 0)
        return error_set(err,
                         "%s: none of the tables of an Nsight Systems export is in it: was "
                         "CUDA traced, and the report exported with --type sqlite?",
                         n->path);
    activity_sort(n->list);
    return 0;
}

int activity_import_nsys(const char *path, size_t most, struct activity_list *list,
                         struct error *err)
{
    struct nsys n = { .path = path, .list = list };

    int rc = sqlite3_open_v2(path, &n.db, SQLITE_OPEN_READONLY, NULL);
    rc = rc == SQLITE_OK ? check_rows(&n, most, err) : nsys_failed(&n, err);
    if (rc == 0)
        rc = read_tables(&n, err);
    for (size_t i = 0; i < n.texts.nr; i++)
        free(n.texts.items[i].text);
    array_release(&n.texts);
    array_release(&n.devices);
    sqlite3_close(n.db);
    return rc;
}
