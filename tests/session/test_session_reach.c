/* SPDX-License-Identifier: MIT */
/* What a build recorded of its objects, which of them refer to which, and what a change leaves out.
 * ninja and nm are scripts here that say what a test wrote down. */
#include "session_git.h"

#include "core/registry.h"
#include "session/bench/reach_kernels.h"
#include "session/bench/reach_objects.h"

#define NR(list) (sizeof(list) / sizeof((list)[0]))

/* ---- the folder ---- */

/* ninja answers "-t deps" by the file deps, nm by the file symbols; without that they fail. */
static int build_setup(void **state)
{
    static const char *const tools[][2] = {
        { "tools/ninja", "#!/bin/sh\ntest \"$3\" = deps && cat ../deps\n" },
        { "tools/nm", "#!/bin/sh\ncat ../symbols\n" },
    };
    struct strbuf path;

    if (git_setup(state))
        return -1;
    const struct scratch *scratch = *state;
    for (size_t i = 0; i < NR(tools); i++) {
        put_file(tools[i][0], tools[i][1]);
        if (chmod(tools[i][0], 0700))
            return -1;
    }
    put_folder("src");
    put_folder("build");
    strbuf_init(&path);
    strbuf_addf(&path, "%s/tools:%s", scratch->folder, getenv("PATH"));
    int rc = setenv("PATH", path.data, 1);
    strbuf_release(&path);
    return rc;
}

#define BUILD_TEST(name) TEST_WITH(name, build_setup, place_teardown)

/* Borrows two texts that live until the next call. */
static struct built built_there(const struct scratch *scratch)
{
    static char source[128], build[128];

    snprintf(source, sizeof(source), "%s/src", scratch->folder);
    snprintf(build, sizeof(build), "%s/build", scratch->folder);
    return (struct built) { .source = source, .build = build };
}

/* "a b c" */
static void expect_list(const struct string_list *list, const char *expected)
{
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < list->nr; i++)
        strbuf_addf(&text, "%s%s", i ? " " : "", list->items[i]);
    assert_string_equal(text.data, expected);
    strbuf_release(&text);
}

/* ---- lists ---- */

TEST(a_sorted_list_has_each_once)
{
    static const struct {
        const char *given, *sorted, *has, *lacks;
    } cases[] = {
        { "", "", NULL, "a" },
        { "a", "a", "a", "" },
        { "b,a,b,a,b", "a b", "b", "c" },
        { "ab,a,abc,a", "a ab abc", "ab", "abcd" },
        { "\xff,z,Z", "Z z \xff", "\xff", "\xfe" },
    };

    for (size_t i = 0; i < NR(cases); i++) {
        struct string_list list = { 0 };
        if (cases[i].given[0])
            string_list_add_split(&list, cases[i].given, ',');
        reach_sort(&list);
        expect_list(&list, cases[i].sorted);
        assert_true(!cases[i].has || reach_has(&list, cases[i].has));
        assert_false(reach_has(&list, cases[i].lacks));
        string_list_release(&list);
    }
}

/* ---- names ---- */

BUILD_TEST(a_name_of_a_build_is_one_of_the_sources)
{
    struct scratch *scratch = *state;
    const struct {
        const char *above; /* NULL: the name is relative */
        const char *name;
        const char *inside; /* NULL: it is no file of the sources */
    } cases[] = {
        { scratch->folder, "/src/gemm/gemm.c", "gemm/gemm.c" },
        { scratch->folder, "/src", NULL },           /* the folder itself */
        { scratch->folder, "/src-other/a.c", NULL }, /* a twin that begins alike */
        { scratch->folder, "/build/rooms/base/a.h", "base/a.h" },
        { scratch->folder, "/build/made.h", NULL },
        { "/usr/include", "/stdio.h", NULL },
        { NULL, "../src/base/a.h", "base/a.h" },
        { NULL, "./rooms/base/a.h", "base/a.h" },
        { NULL, "rooms/base/gone.h", NULL },
        { NULL, "rooms/out/b.h", NULL },  /* a link out of the sources */
        { NULL, "base/a.h", "base/a.h" }, /* from the top of the sources */
        { NULL, "././base/a.h", "base/a.h" },
        { NULL, "base/gone.h", NULL },
    };
    struct built built = built_there(scratch);

    put_file("src/base/a.h", "");
    put_file("build/made.h", "");
    put_file("elsewhere/b.h", "");
    put_folder("build/rooms");
    assert_int_equal(symlink("../../src/base", "build/rooms/base"), 0);
    assert_int_equal(symlink("../../elsewhere", "build/rooms/out"), 0);
    for (size_t i = 0; i < NR(cases); i++) {
        char path[256];
        snprintf(path, sizeof(path), "%s%s", cases[i].above ? cases[i].above : "", cases[i].name);
        char *inside = reach_in_source(&built, path);
        if (!cases[i].inside != !inside || (inside && strcmp(inside, cases[i].inside) != 0))
            fail_msg("%s is %s, not %s", path, inside ? inside : "none",
                     cases[i].inside ? cases[i].inside : "none");
        free(inside);
    }
}

/* ---- objects ---- */

struct object_files {
    const char *name, *files; /* "a b" */
};

static void expect_objects(const struct reach_objects *o, const struct object_files *expected)
{
    size_t nr = 0;

    for (; expected[nr].name; nr++) {
        assert_true(nr < o->nr);
        assert_string_equal(o->items[nr].name, expected[nr].name);
        expect_list(&o->items[nr].files, expected[nr].files);
    }
    assert_int_equal(o->nr, nr);
}

BUILD_TEST(objects_are_those_that_ninja_recorded)
{
    static const struct {
        const char *deps;
        struct object_files objects[4]; /* by name */
    } cases[] = {
        { "b.o: #deps 2, deps mtime 1 (VALID)\n    ../src/b.c\n    ../src/a.h\n\n"
          "a.o: #deps 3, deps mtime 1 (STALE)\n    ../src/a.c\n    ../src/a.h\n    /usr/x.h\n",
          { { "a.o", "a.c a.h" }, { "b.o", "a.h b.c" } } },
        { "a.o: #deps 2, deps mtime 1 (VALID)\n    ../src/a.h\n    ../src/a.h\n", /* twice */
          { { "a.o", "a.h" } } },
        { "a.o: #deps 0, deps mtime 1 (VALID)\n", { { "a.o", "" } } },
        { "a.o: #deps 1, deps mtime 1 (VALID)\n    ../src/a b.c", { { "a.o", "a b.c" } } },
        { "    ../src/nobody.c\na.o: deps not found\n    ../src/a.c\n", { { NULL, NULL } } },
        { "", { { NULL, NULL } } },
    };
    struct built built = built_there(*state);

    for (size_t i = 0; i < NR(cases); i++) {
        struct reach_objects o;
        put_file("deps", cases[i].deps);
        assert_int_equal(reach_objects_read(&built, &o), cases[i].objects[0].name != NULL);
        expect_objects(&o, cases[i].objects);
        reach_objects_release(&o);
    }
}

/* Of a build by make, for ninja knows nothing. */
BUILD_TEST(objects_are_those_beside_their_rules)
{
    static const char *const files[][2] = {
        { "build/a.o", "" },
        { "build/a.d", "a.o: ../src/a.c \\\n  ../src/a.h\n\n../src/a.h:\n" },
        { "build/deep/b.c.o", "" },
        { "build/deep/b.c.o.d",
          "b.c.o : ../src/b.c \\\r\n ../src/a\\ b.h ../src/c\\#.h ../src/$$d" },
        { "build/gone.d", "gone.o: ../src/gone.c" }, /* its object is not there */
        { "build/empty.o", "" },
        { "build/empty.d", "" },
        { "build/no_target.o", "" },
        { "build/no_target.d", "../src/a.c ../src/b.c\n" },
        { "build/.d", "x.o: ../src/a.c" }, /* a name that is an ending */
    };
    static const struct object_files objects[] = { { "a.o", "a.c a.h" },
                                                   { "deep/b.c.o", "$d a b.h b.c c#.h" },
                                                   { "empty.o", "" },
                                                   { "no_target.o", "" },
                                                   { NULL, NULL } };
    struct built built = built_there(*state);
    struct reach_objects o;

    for (size_t i = 0; i < NR(files); i++)
        put_file(files[i][0], files[i][1]);
    assert_int_equal(symlink("..", "build/loop"), 0);
    assert_true(reach_objects_read(&built, &o));
    expect_objects(&o, objects);
    reach_objects_release(&o);
}

/* ---- symbols ---- */

BUILD_TEST(objects_refer_by_what_nm_says)
{
    static const struct {
        const char *symbols;
        bool linked;
        const char *symbol;  /* looked for */
        const char *defined; /* by which: 'x' of a.o and b.o */
    } cases[] = {
        { "a.o: f T 0 8\na.o: g U\nb.o: g T 0 8\n", true, "f", "x-" },
        { "a.o: f T 0 8\na.o: g U\nb.o: g T 0 8\n", true, "g", "-x" },
        { "a.o: f T 0 8\nb.o: f T 0 8\n", true, "f", "xx" },   /* twins */
        { "a.o: f W 0 8\nb.o: v V 0 8\n", true, "v", "-x" },   /* weak, and there */
        { "a.o: f w\nb.o: f v\n", true, "f", "--" },           /* weak, and not there */
        { "a.o: ff T 0 8\nb.o: f_ T 0 8\n", true, "f", "--" }, /* names that begin alike */
        { "", true, "f", "--" },
        { "a.o: __gnu_lto_slim C 1 1\n", false, "f", "--" },
        { "c.o: f T 0 8\n", false, "f", "--" }, /* of no object */
        { "a.o: f\n", false, "f", "--" },
        { "a.o f T 0 8\n", false, "f", "--" },
    };
    struct built built = built_there(*state);

    put_file("deps", "b.o: #deps 0, x\na.o: #deps 0, x\n");
    for (size_t i = 0; i < NR(cases); i++) {
        struct reach_objects o;
        bool mark[2] = { false };
        put_file("symbols", cases[i].symbols);
        assert_true(reach_objects_read(&built, &o));
        assert_int_equal(reach_objects_link(&o), cases[i].linked);
        assert_int_equal(reach_objects_define(&o, cases[i].symbol, mark),
                         strchr(cases[i].defined, 'x') != NULL);
        for (size_t k = 0; k < 2; k++)
            if (mark[k] != (cases[i].defined[k] == 'x'))
                fail_msg("case %zu: object %zu", i, k);
        reach_objects_release(&o);
    }
}

BUILD_TEST(without_objects_or_nm_nothing_is_linked)
{
    struct built built = built_there(*state);
    struct reach_objects o;

    assert_false(reach_objects_read(&built, &o));
    put_file("symbols", "");
    assert_false(reach_objects_link(&o));
    reach_objects_release(&o);
    put_file("deps", "a.o: #deps 0, x\n");
    assert_int_equal(remove("symbols"), 0);
    assert_true(reach_objects_read(&built, &o));
    assert_false(reach_objects_link(&o));
    reach_objects_release(&o);
}

/* ---- from one to the next ---- */

/* Objects that are called by letters; "a:bc" defines a, and refers to b and c. */
static struct reach_objects make_objects(const char *text)
{
    struct reach_objects o = { 0 };
    char symbol[2] = "";

    for (; *text; text += *text == ' ') {
        struct reach_object *object = array_push(&o);
        *object = (struct reach_object) { .name = memory_string("an object") };
        symbol[0] = *text;
        *(struct reach_symbol *)array_push(&o.defines) =
            (struct reach_symbol) { memory_string(symbol), o.nr - 1 };
        for (text += 2; *text && *text != ' '; text++) {
            symbol[0] = *text;
            string_list_add(&object->needs, symbol);
        }
    }
    return o;
}

TEST(what_an_object_leads_to)
{
    static const struct {
        const char *objects;               /* their symbols in order */
        const char *from, *stop, *reached; /* of each: 'x' */
    } cases[] = {
        { "a: b:", "a", "--", "x-" },
        { "a:b b:c c: d:a", "a", "----", "xxx-" },
        { "a:b b:c c: d:a", "d", "----", "xxxx" },
        { "a:b b:a", "b", "--", "xx" },           /* a circle */
        { "a:aaa b:", "a", "--", "x-" },          /* of itself */
        { "a:b b: b:c c:", "a", "----", "xxxx" }, /* both that define it */
        { "a:bz b:", "a", "--", "xx" },           /* z is of a library */
        { "a:b b:c c:", "a", "-x-", "x--" },      /* as the registry */
        { "a:bc b:c c:", "a", "-x-", "x-x" },
        { "a: b:", "a", "x-", "--" },
        { "a: b:", "z", "--", NULL },
        { "", "a", "", NULL },
    };

    for (size_t i = 0; i < NR(cases); i++) {
        struct reach_objects o = make_objects(cases[i].objects);
        bool mark[8] = { false }, stop[8] = { false };
        for (size_t k = 0; k < o.nr; k++)
            stop[k] = cases[i].stop[k] == 'x';
        assert_int_equal(reach_objects_close(&o, cases[i].from, stop, mark),
                         cases[i].reached != NULL);
        for (size_t k = 0; k < o.nr; k++)
            if (mark[k] != (cases[i].reached && cases[i].reached[k] == 'x'))
                fail_msg("case %zu: object %zu", i, k);
        reach_objects_release(&o);
    }
}

/* Each refers to the next, and to the first: a stack as deep as there are objects. */
TEST(a_chain_of_thousands_is_gone_through)
{
    enum { LONG = 20000 };
    struct reach_objects o = { 0 };
    char name[16];

    for (int i = 0; i < LONG; i++) {
        struct reach_object *object = array_push(&o);
        snprintf(name, sizeof(name), "%06d", i);
        *object = (struct reach_object) { .name = memory_string(name) };
        *(struct reach_symbol *)array_push(&o.defines) =
            (struct reach_symbol) { memory_string(name), (size_t)i };
        string_list_add(&object->needs, "000000");
        snprintf(name, sizeof(name), "%06d", i + 1);
        string_list_add(&object->needs, name);
    }
    bool *mark = memory_zeroed(LONG, sizeof(*mark));
    assert_true(reach_objects_close(&o, "000001", NULL, mark));
    for (int i = 0; i < LONG; i++)
        assert_true(mark[i]);
    free(mark);
    reach_objects_release(&o);
}

/* ---- kernels ---- */

PLACE_TEST(a_map_names_variants_of_this_program)
{
    static const struct {
        const char *map;
        const char *fails; /* NULL: it is fine */
    } cases[] = {
        { "", NULL },
        { "# nothing\n\n  \t\r\n", NULL },
        { "docs/*:\n", NULL },
        { "a.c: gemm/linear/simd layernorm/plain/naive\r\n", NULL },
        { "a:b.c: gemm/*\n", NULL }, /* the last colon counts */
        { "a.c: gemm/linear/none\n", "map:1: no kernel's variant is called \"gemm/linear/none\"" },
        { "a.c:\nb.c: gemm/linear\n", "map:2: no kernel's variant is called \"gemm/linear\"" },
        { "\n\n: gemm/*\n", "map:3: not \"PATTERN: NAME...\"" },
        { "a.c\n", "map:1: not \"PATTERN: NAME...\"" },
    };
    struct error err;

    assert_ok(reach_kernels_check(NULL, &err), &err);
    assert_fails(reach_kernels_check("map", &err), &err, "map");
    for (size_t i = 0; i < NR(cases); i++) {
        put_file("map", cases[i].map);
        if (cases[i].fails)
            assert_fails(reach_kernels_check("map", &err), &err, cases[i].fails);
        else
            assert_ok(reach_kernels_check("map", &err), &err);
    }
}

/* Two of one operation, of which the naive one is there twice, and one of another. */
static void fill_workload(struct workload *w)
{
    static const char *const names[][2] = {
        { "gemm/linear", "naive" },
        { "gemm/linear", "simd" },
        { "gemm/linear", "naive" },
        { "layernorm/plain", "naive" },
    };

    for (size_t i = 0; i < NR(names); i++) {
        const struct variant *v = registry_variant(registry_builtin(), names[i][0], names[i][1]);
        assert_non_null(v);
        *(struct benchmark *)array_push(&w->list) = (struct benchmark) { .variant = v };
    }
}

static void name_commit(struct built *side, const char *ref)
{
    struct git_commit found;
    struct error err;

    assert_ok(git_resolve(ref, &found, &err), &err);
    memcpy(side->commit, found.hash, sizeof(side->commit));
}

/* The change is of one file. */
static void commit_file(const char *path)
{
    put_file(path, "changed\n");
    GIT("add", "--", path);
    commit("the change");
}

/* Of builds that tell nothing: only the map does. */
BUILD_TEST(what_the_map_says_is_left_out)
{
    static const struct {
        const char *file, *map;
        size_t left;     /* how many stay */
        const char *out; /* what is said of the others; "": nothing */
        const char *note;
    } cases[] = {
        { "x1.c", "docs/*:\n", 4, "", "nobody knows what x1.c may reach" },
        { "x2.c", "x2.c:\n", 0, "all of gemm (3 benchmarks), all of layernorm (1 benchmark)", "" },
        { "x3.c", "x3.c: gemm/*\n", 3, "all of layernorm (1 benchmark)", "" },
        { "x4.c", "x4.c: gemm/linear/simd layernorm/*\n", 2, "gemm/linear/naive (2 benchmarks)",
          "" },
        { "x5.c", "*5.c: layernorm/plain/naive\nx5.c: *\n", 1, "all of gemm (3 benchmarks)", "" },
        { "x6.c", "x6.c: *\n", 4, "", "" },
    };
    struct scratch *scratch = *state;
    struct built base = built_there(scratch), head = base;
    const struct built *sides[AB_SIDES] = { &base, &head };
    struct error err;

    commit("first");
    for (size_t i = 0; i < NR(cases); i++) {
        struct workload w = { .device_of = NULL };
        struct strbuf out;
        struct notes notes;
        strbuf_init(&out);
        notes_init(&notes);
        fill_workload(&w);
        commit_file(cases[i].file);
        put_file("map", cases[i].map);
        name_commit(&base, "HEAD~1");
        name_commit(&head, "HEAD");
        assert_ok(reach_kernels_leave_out(&w, sides, "map", &notes.sink, &out, &err), &err);
        assert_int_equal(w.list.nr, cases[i].left);
        assert_has(out.data, cases[i].out);
        assert_int_equal(out.length > 0, cases[i].left < 4);
        assert_has(notes.text.data, cases[i].note);
        assert_has(notes.text.data, out.data);
        strbuf_release(&out);
        strbuf_release(&notes.text);
        array_release(&w.list);
    }
}

/* A workload stays as it was where nothing can be said. */
BUILD_TEST(an_unreadable_map_or_commit_leaves_nothing_out)
{
    struct built base = built_there(*state), head = base;
    const struct built *sides[AB_SIDES] = { &base, &head };
    struct workload w = { .device_of = NULL };
    struct strbuf out;
    struct notes notes;
    struct error err;

    strbuf_init(&out);
    notes_init(&notes);
    fill_workload(&w);
    commit("first");
    name_commit(&base, "HEAD");
    name_commit(&head, "HEAD");
    assert_fails(reach_kernels_leave_out(&w, sides, "gone", &notes.sink, &out, &err), &err, "gone");
    memset(head.commit, 'e', 40);
    assert_int_equal(reach_kernels_leave_out(&w, sides, NULL, &notes.sink, &out, &err), -1);
    assert_int_equal(w.list.nr, 4);
    assert_int_equal(out.length + notes.text.length, 0);
    /* Nothing changed, so nothing is reached. */
    name_commit(&head, "HEAD");
    assert_ok(reach_kernels_leave_out(&w, sides, NULL, &notes.sink, &out, &err), &err);
    assert_int_equal(w.list.nr, 0);
    strbuf_release(&out);
    strbuf_release(&notes.text);
    array_release(&w.list);
}

RUN_TESTS(NULL, NULL)
