/* SPDX-License-Identifier: MIT */
/* Who beside its owner may change a file or replace it, by modes and owners. */
#include "test_store.h"

#include "base/access.h"
#include "base/file.h"
#include "base/strbuf.h"

enum { OWNER = 12345, STRANGER = 54321 };

static const struct exposed {
    const char *what;
    uid_t folder_owner;
    gid_t folder_group;
    mode_t above, folder, file;
    const char *says; /* NULL: nobody else */
} exposed[] = {
    { "a folder of one's own", OWNER, OWNER, 0755, 0755, 0644, NULL },
    { "one that nobody else may even look at", OWNER, OWNER, 0755, 0700, 0600, NULL },
    { "all may write to the folder", OWNER, OWNER, 0755, 0777, 0644, "all users" },
    { "but replace nothing", OWNER, OWNER, 0755, 01777, 0644, NULL },
    { "all may replace the folder", OWNER, OWNER, 0777, 0755, 0644, "all users" },
    { "all may write to the file", OWNER, OWNER, 0755, 0755, 0666, "may change it" },
    { "a folder of another", STRANGER, OWNER, 0755, 0755, 0644, "the user 54321" },
    { "a sticky folder of another", STRANGER, OWNER, 0755, 01777, 0644, "the user 54321" },
    { "root's folder", 0, 0, 0755, 01777, 0644, NULL },
    { "a group that may replace, not write", OWNER, STRANGER, 0755, 0775, 0644, "the group 54321" },
    { "another group that may replace", OWNER, STRANGER, 0755, 02775, 0664, "the group 54321" },
    { "a group that may not replace", OWNER, STRANGER, 0755, 03775, 0644, NULL },
    { "a group that shares all", OWNER, OWNER, 0755, 02775, 0664, NULL },
};

static void make(const struct exposed *e, const char *above, const char *folder, const char *file)
{
    struct error err;

    assert_ok(file_make_directory(folder, &err), &err);
    assert_ok(file_write(file, "x", 1, &err), &err);
    assert_int_equal(chown(above, OWNER, OWNER), 0);
    assert_int_equal(chown(folder, e->folder_owner, e->folder_group), 0);
    assert_int_equal(chown(file, OWNER, OWNER), 0);
    assert_int_equal(chmod(above, e->above), 0);
    assert_int_equal(chmod(folder, e->folder), 0);
    assert_int_equal(chmod(file, e->file), 0);
}

SCRATCH_TEST(test_others)
{
    const struct scratch *scratch = *state;
    char folder[140], file[160];

    if (geteuid() != 0) {
        printf("skipped: only root can make files that belong to others\n");
        skip();
    }
    snprintf(folder, sizeof(folder), "%s/sub", scratch->folder);
    snprintf(file, sizeof(file), "%s/history.db", folder);
    for (size_t i = 0; i < sizeof(exposed) / sizeof(exposed[0]); i++) {
        const struct exposed *e = &exposed[i];
        struct strbuf found, mend;
        strbuf_init(&found);
        strbuf_init(&mend);
        make(e, scratch->folder, folder, file);
        bool others = access_of_others(file, &found, &mend);
        if (others != (e->says != NULL) || (others && !strstr(found.data, e->says)) ||
            (mend.length > 0) != others)
            fail_msg("%s: \"%s\" (%s)", e->what, found.data, mend.data);
        strbuf_release(&found);
        strbuf_release(&mend);
    }
}

/* It is not there yet: the folder that it will be made in counts. */
SCRATCH_TEST(test_not_there)
{
    const struct scratch *scratch = *state;
    char path[160];
    struct strbuf found, mend;

    strbuf_init(&found);
    strbuf_init(&mend);
    snprintf(path, sizeof(path), "%s/a/b/history.db", scratch->folder);
    assert_false(access_of_others(path, &found, &mend));
    assert_int_equal(chmod(scratch->folder, 0777), 0);
    assert_true(access_of_others(path, &found, &mend));
    assert_non_null(strstr(found.data, scratch->folder));
    strbuf_release(&found);
    strbuf_release(&mend);
}

TEST(test_may_write)
{
    const struct stat file = { .st_uid = OWNER, .st_gid = OWNER, .st_mode = 0644 };
    struct stat shared = file, open = file;

    shared.st_mode = 0664;
    open.st_mode = 0666;
    assert_true(access_may_write(&file, OWNER) && access_may_write(&file, 0));
    assert_false(access_may_write(&file, STRANGER) || access_may_write(&shared, STRANGER));
    assert_true(access_may_write(&open, STRANGER));
    shared.st_gid = 1; /* daemon's, a group that every system has */
    assert_true(access_may_write(&shared, 1));
    assert_false(access_may_write(&file, 1));
}

RUN_TESTS(NULL, NULL)
