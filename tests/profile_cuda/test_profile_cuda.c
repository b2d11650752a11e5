/* SPDX-License-Identifier: MIT */
/*
 * CUPTI for guests of the scopes library (S3-01, S4-28), against stand-ins for CUPTI and the
 * driver: kernels join the scopes by stream and launch, whatever order and pieces their records
 * come in; the device is waited for; what is lost is said.
 */
#include "testing.h"

#include "profile/profile.h"
#include "profile/trace.h"
#include "profile_cuda/profile_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAUNCHES = 20 };

typedef void run_fn(const char *name, int launches);

static void *symbol_of(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL), *symbol = NULL;

    assert_non_null(handle);
    symbol = dlsym(handle, name);
    assert_non_null(symbol);
    return symbol;
}

static void stub_run(const char *name, int launches)
{
    void *symbol = symbol_of(CUPTI_STUB_PATH, "cupti_stub_run");
    run_fn *run;

    memcpy(&run, &symbol, sizeof(run));
    run(name, launches);
}

static long waits(void)
{
    void *symbol = symbol_of(CONTEXT_STUB_PATH, "context_stub_waits");
    long (*waited)(void);

    memcpy(&waited, &symbol, sizeof(waited));
    return waited();
}

static void use(const char *cupti, const char *cupti_words, const char *driver,
                const char *driver_words)
{
    char words[64];

    setenv("HARNESS_CUPTI", cupti, 1);
    snprintf(words, sizeof(words), "process=%d,%s", (int)getpid(), cupti_words);
    setenv("CUPTI_STUB", words, 1);
    setenv("HARNESS_LIBCUDA", driver, 1);
    setenv("CONTEXT_STUB", driver_words, 1);
}

struct guest {
    struct prof *prof;
    struct prof_cuda *cuda;
    struct prof_trace trace;
};

static void begin(struct guest *g, const struct prof_cuda_options *options)
{
    char why[PROF_CUDA_WORDS];

    g->prof = prof_create(NULL);
    assert_non_null(g->prof);
    g->cuda = prof_cuda_start(options, why);
    if (!g->cuda)
        fail_msg("%s", why);
    assert_int_equal(prof_set_on(g->prof, 1), 0);
}

static void end(struct guest *g)
{
    char why[PROF_CUDA_WORDS], wrong[256];

    if (prof_cuda_stop(g->cuda, g->prof, &g->trace, why))
        fail_msg("%s", why);
    if (prof_trace_check(&g->trace, wrong, sizeof(wrong)))
        fail_msg("%s", wrong);
}

static void release(struct guest *g)
{
    prof_trace_release(&g->trace);
    prof_free(g->prof);
}

/* The stub's kernels run on stream 3; the number of a stream is its address. */
static void forward(struct guest *g, int launches)
{
    PROF_SCOPE_IN(g->prof, "forward", .device = PROF_GPU, .stream = (void *)(uintptr_t)3);
    stub_run("_Z4gemmPKf", launches);
}

static size_t count_slices(const struct prof_trace *trace, const char *name, const char *category)
{
    size_t nr = 0;

    for (size_t i = 0; i < trace->nr_slices; i++)
        nr += !strcmp(trace->slices[i].name, name) && !strcmp(trace->slices[i].category, category);
    return nr;
}

/* Each kernel is on stream 3 and was launched by a call inside the scope. */
static void check_kernels(const struct prof_trace *trace, size_t nr)
{
    size_t launched = 0;

    assert_int_equal(count_slices(trace, "gemm(float const*)", PROF_KERNELS), nr);
    for (size_t i = 0; i < trace->nr_flows; i++) {
        const struct prof_slice *from = &trace->slices[trace->flows[i].from];
        const struct prof_slice *to = &trace->slices[trace->flows[i].to];
        if (strcmp(to->category, PROF_KERNELS) != 0)
            continue;
        launched++;
        assert_int_equal(trace->tracks[to->track].kind, PROF_TRACK_STREAM);
        assert_int_equal(trace->tracks[to->track].thread, 3);
        assert_true(from->parent >= 0);
        assert_string_equal(trace->slices[from->parent].name, "forward");
    }
    assert_int_equal(launched, nr);
}

/* In order; kernels before their calls; in pieces of two records; late, by hundreds of buffers. */
TEST(records_in_any_order_and_pieces)
{
    static const struct {
        const char *words;
        size_t buffer_bytes;
        int launches;
    } cases[] = {
        { "", 0, LAUNCHES },
        { "late=1", 0, LAUNCHES },
        { "late=1", 512, LAUNCHES },
        { "", 256, LAUNCHES },
        { "late=1", 4096, 50 * LAUNCHES },
        { "wall=1", 0, LAUNCHES }, /* an old CUPTI, with a clock of its own */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct guest g;
        use(CUPTI_STUB_PATH, cases[i].words, CONTEXT_STUB_PATH, "");
        begin(&g, &(struct prof_cuda_options) { .buffer_bytes = cases[i].buffer_bytes,
                                                .most_buffers = 256 });
        forward(&g, cases[i].launches);
        end(&g);
        size_t nr = (size_t)cases[i].launches;
        assert_int_equal(count_slices(&g.trace, "gemm(float const*)", PROF_KERNELS) +
                             count_slices(&g.trace, "cudaLaunchKernel", PROF_RUNTIME_CALLS) +
                             (size_t)g.trace.meta.dropped,
                         2 * nr);
        if (!g.trace.meta.dropped && strcmp(cases[i].words, "wall=1") != 0) {
            check_kernels(&g.trace, nr);
            assert_int_equal(count_slices(&g.trace, "forward", PROF_GPU_SCOPES), 1);
        }
        release(&g);
    }
}

TEST(what_is_dropped_is_said)
{
    struct guest g;

    use(CUPTI_STUB_PATH, "", CONTEXT_STUB_PATH, "");
    begin(&g, &(struct prof_cuda_options) { .buffer_bytes = 128 }); /* no kernel fits */
    forward(&g, 5);
    end(&g);
    assert_int_equal(g.trace.meta.dropped, 5);
    assert_non_null(g.trace.meta.note);
    assert_non_null(strstr(g.trace.meta.note, "5 found no room"));
    release(&g);
}

/* What still runs has no record: the driver is waited for, and a note says where it was not. */
TEST(the_device_is_waited_for)
{
    static const struct {
        const char *library, *words, *note;
    } cases[] = {
        { CONTEXT_STUB_PATH, "", NULL },
        { CONTEXT_STUB_PATH, "status=719", "did not end its work" },
        { CONTEXT_STUB_PATH, "status=201", "this thread has no CUDA context" },
        { "/nowhere/libcuda.so.1", "", "no CUDA driver" },
        { "libm.so.6", "", "no CUDA driver" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct guest g;
        long before = waits();
        use(CUPTI_STUB_PATH, "", cases[i].library, cases[i].words);
        begin(&g, NULL);
        forward(&g, 3);
        end(&g);
        check_kernels(&g.trace, 3);
        assert_int_equal(waits() - before, i < 3);
        assert_int_equal(g.trace.meta.note != NULL, cases[i].note != NULL);
        if (cases[i].note)
            assert_non_null(strstr(g.trace.meta.note, cases[i].note));
        release(&g);
    }
}

TEST(a_refusal_says_why_and_scopes_go_on)
{
    static const struct {
        const char *library, *words, *why;
    } cases[] = {
        { "/nowhere/libcupti.so", "", "CUPTI cannot be opened" },
        { CUPTI_STUB_PATH, "enable=35", "administrator" },
        { CUPTI_STUB_PATH, "enable=39", "another profiler" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct guest g = { .prof = prof_create(NULL) };
        char why[PROF_CUDA_WORDS];
        use(cases[i].library, cases[i].words, CONTEXT_STUB_PATH, "");
        assert_null(prof_cuda_start(NULL, why));
        assert_non_null(strstr(why, cases[i].why));
        assert_int_equal(prof_set_on(g.prof, 1), 0);
        {
            PROF_SCOPE_IN(g.prof, "host");
        }
        assert_int_equal(prof_cuda_stop(NULL, g.prof, &g.trace, why), 0);
        assert_int_equal(count_slices(&g.trace, "host", PROF_SCOPES), 1);
        release(&g);
    }
}

TEST(one_at_a_time_and_one_after_the_other)
{
    char why[PROF_CUDA_WORDS];
    struct guest g;

    use(CUPTI_STUB_PATH, "", CONTEXT_STUB_PATH, "");
    for (int i = 0; i < 3; i++) {
        begin(&g, NULL);
        assert_null(prof_cuda_start(NULL, why));
        assert_non_null(strstr(why, "already"));
        forward(&g, 2);
        end(&g);
        check_kernels(&g.trace, 2);
        release(&g);
    }
}

/* A flush that fails: what came is there, and the note says that it may not be all. */
TEST(a_failed_flush_is_said)
{
    struct guest g;

    use(CUPTI_STUB_PATH, "", CONTEXT_STUB_PATH, "");
    begin(&g, NULL);
    forward(&g, 1);
    use(CUPTI_STUB_PATH, "flush=999", CONTEXT_STUB_PATH, "");
    end(&g);
    check_kernels(&g.trace, 1);
    assert_non_null(g.trace.meta.note);
    assert_non_null(strstr(g.trace.meta.note, "flush"));
    release(&g);
}

RUN_TESTS(NULL, NULL)
