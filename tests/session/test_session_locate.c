/* SPDX-License-Identifier: MIT */
/* Where a benchmark is written down: of pytest, a kernel of this program, and any other. */
#include "session_git.h"

#include "session/bench/locate.h"

#define NR(list) (sizeof(list) / sizeof((list)[0]))

/* ---- a comparison of names ---- */

enum { ROWS = 400 };

struct made {
    struct benchmark_name names[ROWS];
    struct compare_item items[ROWS];
    struct compare_row rows[ROWS];
    struct comparison c;
    struct records head;
};

static void made_row(struct made *m, const char *kernel, const char *variant, enum verdict verdict)
{
    size_t i = m->c.nr++;

    snprintf(m->names[i].kernel, sizeof(m->names[i].kernel), "%s", kernel);
    snprintf(m->names[i].variant, sizeof(m->names[i].variant), "%s", variant);
    m->items[i].bench = &m->names[i];
    m->rows[i].item = &m->items[i];
    m->rows[i].verdict = verdict;
}

/* Its head is a run of that commit; NULL: it has no run. */
static struct made *make(const char *ref)
{
    struct made *m = memory_zeroed(1, sizeof(*m));

    m->c.items = m->items;
    m->c.rows = m->rows;
    if (ref) {
        struct run *run = fixture_run(&m->head, "class", 1);
        snprintf(run->build.commit, sizeof(run->build.commit), "%s", ref);
    }
    return m;
}

static void made_free(struct made *m)
{
    records_release(&m->head);
    free(m);
}

/* `file` NULL: nobody knows one. */
static void expect_place(const struct finding_place *place, const char *file, int line,
                         const char *what)
{
    if (!file != !place->file || (file && strcmp(file, place->file) != 0) || place->line != line)
        fail_msg("%s: %s:%d, not %s:%d", what, place->file ? place->file : "nowhere", place->line,
                 file ? file : "nowhere", line);
}

/* ---- the sources ---- */

static void put_sources(void)
{
    static const char *const files[][2] = {
        { "bench/test_sort.py", "import sort\n\ndef helper(): pass\ndef test_sort(benchmark):\n" },
        { "bench/test_twin.py", "def test_sort(benchmark):\n" },
        { "bench/a:9:b.py", "\n\ndef test_colons(benchmark):\n" },
        { "a.c", "/* BM_sort is one of BM_sorted, and bm_low */\n" },
        { "b.cc", "\nBENCHMARK(BM_sorted);\nBENCHMARK_TEMPLATE(BM_sort, int)->Arg(8);\n" },
        { "notes/words.md", "of Fancy_one\nand of ctest_case\n" },
        { "kernels/gemm/gemm_simd.c", "\n\n\nconst struct variant gemm_simd[] = {\n" },
        { "kernels/gemm/gemm_simd_other.c", "const struct variant gemm_simd_other[] = {\n" },
        { "kernels/layernorm/layernorm_simd.cu", "// struct\nstruct variant layernorm_simd[];\n" },
    };
    static const char binary[] = "\0\0BENCHMARK(BM_hidden)";
    struct error err;

    for (size_t i = 0; i < NR(files); i++)
        put_file(files[i][0], files[i][1]);
    assert_ok(file_write("binary", binary, sizeof(binary), &err), &err);
    GIT("add", "--all");
    commit("the sources");
}

GIT_TEST(places_are_of_the_commit)
{
    static const struct {
        const char *kernel, *variant;
        enum verdict verdict;
        const char *file;
        int line;
    } cases[] = {
        /* pytest: its own file, though another has a function of that name */
        { "bench/test_sort.py::test_sort", "x", VERDICT_REGRESSED, "bench/test_sort.py", 4 },
        { "bench/test_twin.py::test_sort[8]", "x", VERDICT_BROKEN, "bench/test_twin.py", 1 },
        { "bench/a:9:b.py::test_colons", "x", VERDICT_REGRESSED, "bench/a:9:b.py", 3 },
        { "*/test_twin.py::test_sort", "x", VERDICT_REGRESSED, "bench/test_sort.py",
          4 }, /* a word */
        /* a kernel of this program: its file, of C or of CUDA */
        { "gemm/linear", "simd", VERDICT_REGRESSED, "kernels/gemm/gemm_simd.c", 4 },
        { "layernorm/plain", "simd", VERDICT_BROKEN, "kernels/layernorm/layernorm_simd.cu", 2 },
        /* what registers it comes before what names it */
        { "BM_sort", "x", VERDICT_REGRESSED, "b.cc", 3 },
        { "suite/BM_sort<int>/8", "x", VERDICT_REGRESSED, "b.cc", 3 },
        { "ns::BM_sorted", "x", VERDICT_REGRESSED, "b.cc", 2 },
        /* else the first that has it as a word */
        { "bm_low", "x", VERDICT_REGRESSED, "a.c", 1 },
        { "Fancy_one", "x", VERDICT_REGRESSED, "notes/words.md", 1 },
        { "bm_lo", "x", VERDICT_REGRESSED, NULL, 0 },
        { "BM_hidden", "x", VERDICT_REGRESSED, NULL, 0 }, /* in what is no text */
        /* no word */
        { "ab", "x", VERDICT_REGRESSED, NULL, 0 },
        { "8sort", "x", VERDICT_REGRESSED, NULL, 0 },
        { "", "", VERDICT_REGRESSED, NULL, 0 },
        { "/", "x", VERDICT_REGRESSED, NULL, 0 },
        { "--help", "x", VERDICT_REGRESSED, NULL, 0 },
        { ".*", "x", VERDICT_REGRESSED, NULL, 0 },
        /* no findings */
        { "BM_sort", "x", VERDICT_IMPROVED, NULL, 0 },
        { "BM_sort", "x", VERDICT_SAME, NULL, 0 },
        { "BM_sort", "x", VERDICT_UNDECIDED, NULL, 0 },
        { "BM_sort", "x", VERDICT_MISSING, NULL, 0 },
    };
    struct made *m = make("HEAD");

    put_sources();
    for (size_t i = 0; i < NR(cases); i++)
        made_row(m, cases[i].kernel, cases[i].variant, cases[i].verdict);
    struct finding_place *places = places_find(&m->c, &m->head);
    for (size_t i = 0; i < NR(cases); i++)
        expect_place(&places[i], cases[i].file, cases[i].line, cases[i].kernel);
    places_release(places, m->c.nr);
    made_free(m);
}

/* Whoever stands below the top is told of files from there, and of files beside him, too. */
GIT_TEST(places_are_named_from_the_top)
{
    struct made *m = make("HEAD");

    put_sources();
    assert_int_equal(chdir("kernels/gemm"), 0);
    made_row(m, "BM_sort", "x", VERDICT_REGRESSED);
    made_row(m, "bench/test_sort.py::test_sort", "x", VERDICT_REGRESSED);
    made_row(m, "gemm/linear", "simd", VERDICT_REGRESSED);
    struct finding_place *places = places_find(&m->c, &m->head);
    expect_place(&places[0], "b.cc", 3, "a benchmark");
    expect_place(&places[1], "bench/test_sort.py", 4, "pytest");
    expect_place(&places[2], "kernels/gemm/gemm_simd.c", 4, "a kernel");
    places_release(places, m->c.nr);
    made_free(m);
}

/* The newest run tells; what is in the checkout, or came later, does not count. */
GIT_TEST(the_commit_is_that_which_was_measured)
{
    static const struct {
        const char *commits[2]; /* of the head's runs, in order; NULL: no more */
        int line;               /* of BM_moved in moved.cc; 0: nowhere */
    } cases[] = {
        { { "HEAD~1" }, 1 },
        { { "HEAD" }, 3 },
        { { "HEAD", "HEAD~1" }, 1 },
        { { "HEAD~1", "HEAD" }, 3 },
        { { "HEAD~2" }, 0 }, /* before there was any */
        { { "0123456789abcdef0123456789abcdef01234567" }, 0 },
        { { "HEAD", "" }, 0 },
        { { "--all" }, 0 },
        { { NULL }, 0 },
    };

    commit("nothing yet");
    put_file("moved.cc", "BENCHMARK(BM_moved);\n");
    GIT("add", "--all");
    commit("first");
    put_file("moved.cc", "\n\nBENCHMARK(BM_moved);\n");
    GIT("add", "--all");
    commit("moved");
    put_file("moved.cc", "\n\n\n\nBENCHMARK(BM_moved);\n");
    for (size_t i = 0; i < NR(cases); i++) {
        struct made *m = make(cases[i].commits[0]);
        if (cases[i].commits[1])
            snprintf(fixture_run(&m->head, "class", 2)->build.commit,
                     sizeof(m->head.runs[1].build.commit), "%s", cases[i].commits[1]);
        made_row(m, "BM_moved", "x", VERDICT_REGRESSED);
        struct finding_place *places = places_find(&m->c, &m->head);
        expect_place(&places[0], cases[i].line ? "moved.cc" : NULL, cases[i].line, "BM_moved");
        places_release(places, m->c.nr);
        made_free(m);
    }
}

/* Sizes of one benchmark ask for the same, each of which has a place of its own. */
GIT_TEST(many_findings_of_one_benchmark)
{
    struct made *m = make("HEAD");

    put_sources();
    for (int i = 0; i < ROWS; i++)
        made_row(m, i % 2 ? "BM_sort" : "nowhere_at_all", "x", VERDICT_REGRESSED);
    struct finding_place *places = places_find(&m->c, &m->head);
    for (int i = 0; i < ROWS; i++)
        expect_place(&places[i], i % 2 ? "b.cc" : NULL, i % 2 ? 3 : 0, "one of many");
    places_release(places, m->c.nr);
    made_free(m);
}

PLACE_TEST(no_repository_knows_no_places)
{
    struct made *m = make("HEAD");

    setenv("GIT_CEILING_DIRECTORIES", "/tmp", 1);
    made_row(m, "BM_sort", "x", VERDICT_REGRESSED);
    struct finding_place *places = places_find(&m->c, &m->head);
    expect_place(&places[0], NULL, 0, "BM_sort");
    places_release(places, m->c.nr);
    made_free(m);
}

GIT_TEST(what_is_accepted_is_no_finding)
{
    struct made *m = make("HEAD");

    put_sources();
    places_release(places_find(&m->c, &m->head), 0); /* no rows */
    made_row(m, "BM_sort", "x", VERDICT_REGRESSED);
    m->rows[0].accepted = "meant to be";
    struct finding_place *places = places_find(&m->c, &m->head);
    expect_place(&places[0], NULL, 0, "BM_sort");
    places_release(places, m->c.nr);
    made_free(m);
}

RUN_TESTS(NULL, NULL)
