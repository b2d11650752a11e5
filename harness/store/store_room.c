/* SPDX-License-Identifier: MIT */
/* How large a history is, and how it becomes smaller. */
#include "store/sql.h"
#include "vfs/watch.h"

int store_room(struct store *s, struct store_room *room, struct error *err)
{
    int64_t page, pages, unused;

    if (sql_one_int(s, "PRAGMA page_size", &page, err) ||
        sql_one_int(s, "PRAGMA page_count", &pages, err) ||
        sql_one_int(s, "PRAGMA freelist_count", &unused, err))
        return -1;
    *room = (struct store_room) { pages * page, unused * page };
    return 0;
}

int store_vacuum(struct store *s, struct error *err)
{
    int rc = watch_with_vacuum(s->db);

    if (rc != SQLITE_OK)
        return sql_error(s, rc, err);
    if (sql_execute(s, "VACUUM", err))
        return -1;
    /* Into the file and cut to its length; readers may keep it from that until they are done. */
    sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return 0;
}
