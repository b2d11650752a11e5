/* SPDX-License-Identifier: MIT */
#include "history/merge.h"

#include "base/file.h"
#include "history/merge_parts.h"
#include "store/place.h"

/* The log that a dead writer left is read, but stays where it is: the last reader of a file would
 * else write it into the file. */
static int open_source(struct store **from, const char *path, const struct store_teller *tell,
                       struct error *err)
{
    bool has_log = place_has_log(path);

    if (store_open_telling(from, path, STORE_READ, tell, err))
        return -1;
    (*from)->leaves_log = has_log;
    return 0;
}

int store_merge_check(const char *to, const char *path, struct error *err)
{
    struct store *from;

    if (file_is_same(to, path))
        return error_set(err, "%s: cannot be merged into itself", path);
    if (store_open(&from, path, STORE_LOOK, err))
        return -1;
    store_close(from);
    return 0;
}

/* The last transaction of a file: all those before it last with it. */
static int merge_rest(struct merge *m, struct error *err)
{
    struct store_merged before = *m->result;

    if (sql_begin_lasting(m->to, err))
        return -1;
    if (sql_end(m->to, merge_names(m, err), err) == 0)
        return 0;
    before.conflicts = m->result->conflicts;
    *m->result = before;
    return -1;
}

int store_merge(struct store *to, const char *path, struct store_merged *merged, struct error *err)
{
    struct merge m = { .to = to, .result = merged };

    if (file_is_same(to->path, path))
        return error_set(err, "%s: cannot be merged into itself", path);
    if (open_source(&m.from, path, &to->tell, err))
        return -1;
    int rc = sql_execute(m.from, "BEGIN", err); /* one state of it, whoever writes */
    if (rc == 0)
        rc = merge_runs(&m, err);
    if (rc == 0)
        rc = merge_comparisons(&m, err);
    if (rc == 0)
        rc = merge_rest(&m, err);
    if (rc == 0)
        merged->files++;
    if (!sqlite3_get_autocommit(m.from->db))
        sqlite3_exec(m.from->db, "ROLLBACK", NULL, NULL, NULL);
    store_close(m.from);
    array_release(&m.benchmarks);
    return rc;
}

void store_merged_release(struct store_merged *merged)
{
    string_list_release(&merged->conflicts);
}
