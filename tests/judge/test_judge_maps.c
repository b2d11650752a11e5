/* SPDX-License-Identifier: MIT */
/* Which files with code a guest brought, whatever it did to their names. */
#include "testing.h"

#include "judge/maps.h"

#define LIBC      "7f10-7f20 r-xp 00026000 08:01 1234                       /usr/lib/libc.so.6\n"
#define LIBC_DATA "7f20-7f30 rw-p 00126000 08:01 1234                       /usr/lib/libc.so.6\n"

struct code_case {
    const char *before, *now, *told; /* NULL: nothing */
};

static const struct code_case code_cases[] = {
    { LIBC, LIBC LIBC_DATA, NULL },
    { "", LIBC LIBC_DATA LIBC, "/usr/lib/libc.so.6" },
    { NULL, LIBC, "/usr/lib/libc.so.6" },
    { "", LIBC_DATA, NULL },
    /* Mapped before, and replaced since by an upgrade: the same file. */
    { LIBC, "7f10-7f20 r-xp 00026000 08:01 1234      /usr/lib/libc.so.6 (deleted)\n", NULL },
    /* Another file of the same name. */
    { LIBC, "7f10-7f20 r-xp 00026000 08:01 1235      /usr/lib/libc.so.6\n", "/usr/lib/libc.so.6" },
    { LIBC, "7f10-7f20 r-xp 00026000 08:01 123       /a/b.so\n", "/a/b.so" },
    { LIBC, "7f10-7f20 r-xp 00026000 08:02 1234      /a/b.so\n", "/a/b.so" },
    /* A name that is part of one that was there. */
    { LIBC, "7f10-7f20 r-xp 00026000 08:01 77        /usr/lib/libc\n", "/usr/lib/libc" },
    /* Gone behind dlopen(), or without a name from the beginning. */
    { LIBC, "7f40-7f50 r-xp 00000000 08:01 9         /tmp/libopenblas.so (deleted)\n",
      "/tmp/libopenblas.so (deleted)" },
    { LIBC, "7f40-7f50 r-xp 00000000 00:01 3072      /memfd:mine (deleted)\n" LIBC,
      "/memfd:mine (deleted)" },
    { LIBC, "7f40-7f50 r-xs 00000000 00:01 3072      /memfd:mine (deleted)\n",
      "/memfd:mine (deleted)" },
    { LIBC, "7f40-7f50 rwxp 00000000 08:01 9         /a b/c.so", "/a b/c.so" },
    /* What is no file: code that was made in memory, the stack. */
    { "",
      "7f60-7f70 rwxp 00000000 00:00 0 \n7fff-8000 r-xp 00000000 00:00 0       [vdso]\n7f80-7f90 "
      "rwxp 00000000 00:00 0       [anon:a/b]\n",
      NULL },
    { "", "", NULL },
    { "", "not a line\n", NULL },
};

TEST(what_a_guest_brought)
{
    for (size_t i = 0; i < sizeof(code_cases) / sizeof(code_cases[0]); i++) {
        const struct code_case *c = &code_cases[i];
        struct string_list files = { 0 };
        maps_new_code(c->now, c->before, &files);
        assert_int_equal(files.nr, c->told ? 1 : 0);
        if (c->told)
            assert_string_equal(files.items[0], c->told);
        string_list_release(&files);
    }
}

TEST(each_is_told_once)
{
    struct string_list files = { 0 };

    string_list_add(&files, "/usr/lib/libc.so.6");
    maps_new_code(LIBC LIBC, "", &files);
    assert_int_equal(files.nr, 1);
    string_list_release(&files);
}

TEST(who_is_gone)
{
    assert_true(maps_is_gone("/memfd:mine (deleted)"));
    assert_false(maps_is_gone("/tmp/a.so"));
    assert_false(maps_is_gone(" (deleted"));
}

RUN_TESTS(NULL, NULL)
