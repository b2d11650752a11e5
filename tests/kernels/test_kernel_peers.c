/* SPDX-License-Identifier: MIT */
/*
 * Libraries opened at run time: what is said where one is absent, broken or too old, and what an
 * exception of Python becomes. That the peers compute the right thing is for kernel.*.blis and so
 * on. Features: U-04, U-05 (neighbours of our own numbers).
 */
#include "testing.h"

#include "kernel_testing.h"

#include "base/memory.h"
#include "core/registry.h"
#include "host/thread_pinning.h"
#include "kernels/ggml/ggml.h"
#include "kernels/peer.h"
#include "kernels/torch/python.h"
#ifdef HARNESS_HAVE_OPENBLAS
#include "kernels/openblas.h"
#include "kernels/simd.h"
#endif

#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct maths {
    double (*cosine)(double x);
};

static const struct peer_symbol right[] = { { "cos", offsetof(struct maths, cosine) },
                                            { NULL, 0 } };
static const struct peer_symbol unknown[] = { { "no_such_function", 0 }, { NULL, 0 } };
static const char *const maths[] = { "libno-such.so.7", "libm.so.6", NULL };
static const char *const nowhere[] = { "libno-such.so.7", "libno-such.so.6", NULL };

static struct peer peer_of(const char *const *files, const struct peer_symbol *symbols)
{
    return (struct peer) { .variable = "HARNESS_NO_SUCH",
                           .files = files,
                           .packages = "Debian: libno-such7",
                           .flags = RTLD_LOCAL,
                           .symbols = symbols };
}

TEST(the_first_that_is_there_is_opened)
{
    struct peer peer = peer_of(maths, right);
    struct maths m = { NULL };
    struct error err;

    assert_ok(peer_open(&peer, &m, &err), &err);
    assert_close(m.cosine(0), 1, 0);
    assert_ok(peer_open(&peer, &m, &err), &err); /* once more */
    assert_close(m.cosine(0), 1, 0);
}

TEST(what_is_absent_has_its_package_named)
{
    struct peer peer = peer_of(nowhere, right);
    struct maths m;
    struct error err;

    assert_int_equal(peer_open(&peer, &m, &err), -1);
    assert_string_equal(err.message, "libno-such.so.7 is not installed (Debian: libno-such7)");
    peer = peer_of(maths, unknown);
    assert_int_equal(peer_open(&peer, &m, &err), -1);
    assert_string_equal(err.message, "libm.so.6 has no no_such_function");
}

TEST(a_chosen_file_is_the_only_one)
{
    struct peer peer = peer_of(maths, right);
    struct maths m = { NULL };
    struct error err;

    setenv("HARNESS_NO_SUCH", "/nonexistent/libno-such.so", 1);
    assert_fails(peer_open(&peer, &m, &err), &err, "HARNESS_NO_SUCH: /nonexistent/libno-such.so");
    setenv("HARNESS_NO_SUCH", "/etc/hostname", 1); /* there, but no library */
    assert_fails(peer_open(&peer, &m, &err), &err, "/etc/hostname");
    setenv("HARNESS_NO_SUCH", "libm.so.6", 1);
    assert_ok(peer_open(&peer, &m, &err), &err);
    setenv("HARNESS_NO_SUCH", "", 1);
    assert_ok(peer_open(&peer, &m, &err), &err);
    unsetenv("HARNESS_NO_SUCH");
}

/* Files that have a score and nothing else: whose lack is told was chosen. */
TEST(of_a_folder_the_best_file_for_this_processor_is_opened)
{
    static const struct {
        const char *named, *why;
    } rows[] = {
        { GGML_SCORES, "libggml-cpu-12.so has no ggml_init" },
        { GGML_SCORES "/libggml-cpu-3.so", "libggml-cpu-3.so has no ggml_init" },
        { GGML_SCORES "/unfit", "unfit has no libggml-cpu*.so that this processor runs" },
        { "/dev", "/dev has no libggml-cpu*.so that this processor runs" },
        { "/nonexistent/ggml", "HARNESS_GGML: /nonexistent/ggml: cannot open" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ggml ggml;
        struct error err;
        setenv("HARNESS_GGML", rows[i].named, 1);
        assert_fails(ggml_open(&ggml, &err), &err, rows[i].why);
    }
    unsetenv("HARNESS_GGML");
    /* libggml-base aborts where it is loaded again: what was looked at stays. */
    assert_non_null(dlopen(GGML_SCORES "/unfit/libggml-cpu-0.so", RTLD_NOW | RTLD_NOLOAD));
}

/* What surrounds a library's product is by vectors of ours. Nothing is loaded for the answer. */
TEST(beside_a_library_there_is_no_other_instruction_set_than_the_one_named)
{
    static const char *const names[] = { "openblas", "blis", "onednn" };

    setenv("HARNESS_ISA", "avx1024", 1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct variant *v =
            registry_variant(registry_builtin(), "gemm/linear_gelu", names[i]);
        const struct device device = { .kind = DEVICE_CPU, .threads = 1 };
        struct error why = { "" };
        if (!v) /* OpenBLAS, in a build without */
            continue;
        assert_false(v->supports(v->kernel, &v->kernel->shapes[0], &device, &why));
        if (!strstr(why.message, "AddressSanitizer")) /* BLIS's other reason */
            assert_has(why.message, "HARNESS_ISA is 'avx1024'");
    }
    unsetenv("HARNESS_ISA");
}

/* How many threads of this process may use one processor alone. */
static int bound_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    int nr = 0;

    while (tasks && (entry = readdir(tasks))) {
        cpu_set_t set;
        int task = atoi(entry->d_name);
        nr += task > 0 && sched_getaffinity(task, sizeof(set), &set) == 0 && CPU_COUNT(&set) == 1;
    }
    if (tasks)
        closedir(tasks);
    return nr;
}

#ifdef HARNESS_HAVE_OPENBLAS
/* A launch binds its threads before it opens a library, which counts processors then. In a child,
 * because binding stays. */
TEST(openblas_has_all_processors)
{
    cpu_set_t all;

    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    const int nr = CPU_COUNT(&all);
    pid_t child = fork();
    if (child == 0) {
        struct error err;
        pin_threads(nr);
        _exit(openblas_open(&err) == 0 && openblas()->get_num_threads() == nr ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* With OPENBLAS_NUM_THREADS or OMP_NUM_THREADS it begins with fewer threads than the device has,
 * and starts the others once the caller is bound. */
TEST(threads_of_openblas_that_come_later_are_bound_to_none)
{
    cpu_set_t all;

    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    const int nr = CPU_COUNT(&all);
    pid_t child = fork();
    if (child == 0) {
        struct error err;
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        int expected = pin_threads(nr) ? nr : 0;
        if (openblas_open(&err) != 0)
            _exit(2);
        openblas_use_threads(nr);
        _exit(expected == 0 || bound_threads() == expected ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* The kernels that OpenBLAS took, "SkylakeX"; "" where it cannot be asked. */
static const char *openblas_core(void)
{
    void *handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, "openblas_get_corename") : NULL;
    char *(*core)(void) = NULL;

    memcpy(&core, &found, sizeof(core));
    return core ? core() : "";
}

/* A processor that came after it would get those of 2004; what a user has set stays. */
TEST(openblas_takes_kernels_of_this_processor)
{
    static const char *const wishes[] = { NULL, "Haswell", "Prescott" };

    if (!simd_has(SIMD_AVX2))
        skip();
    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
        pid_t child = fork();
        if (child == 0) {
            struct error err;
            unsetenv("OPENBLAS_CORETYPE");
            if (wishes[i])
                setenv("OPENBLAS_CORETYPE", wishes[i], 1);
            if (openblas_open(&err) != 0)
                _exit(2);
            bool old = strcmp(openblas_core(), "Prescott") == 0;
            _exit(wishes[i] ? strcmp(openblas_core(), wishes[i]) != 0 : old);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}
#endif

/* A benchmark of N threads has N: what a library with fewer can do is measured, nothing else. */
struct few_threads {
    const char *kernel, *variant, *named;
    struct shape shape;
    int threads;
    const char *why; /* NULL: supported */
};

static const struct few_threads few_threads[] = {
#ifdef HARNESS_HAVE_OPENBLAS
    { "gemm/nt", "openblas", "HARNESS_OPENBLAS", { { 1, 2, 3, 4 } }, 2, NULL },
    { "gemm/nt", "openblas", "HARNESS_OPENBLAS", { { 1, 2, 3, 4 } }, 3, "give --device cpu:2" },
    { "gpt/nano/decode", "openblas", "HARNESS_OPENBLAS", { { 1, 2 } }, 3, "has 2 at most" },
    /* A head a thread: OpenBLAS itself has one. */
    { "attention/full", "openblas", "HARNESS_OPENBLAS", { { 1, 8, 3, 4 } }, 3, NULL },
    { "attention/full", "openblas", "HARNESS_OPENBLAS", { { 1, 8, 2, 4 } }, 3, "has 2 at most" },
#endif
    { "gemm/nt", "blis", "HARNESS_BLIS", { { 1, 2, 3, 4 } }, 1, NULL },
    { "gemm/nt", "blis", "HARNESS_BLIS", { { 1, 2, 3, 4 } }, 2, "none of OpenMP's" },
    { NULL, NULL, NULL, { { 0 } }, 0, NULL },
};

/* Exit status: 0 as in the row, 1 otherwise. */
static int asked_in_child(const struct few_threads *row)
{
    const struct device device = { .kind = DEVICE_CPU, .threads = row->threads };
    const struct variant *v = registry_variant(registry_builtin(), row->kernel, row->variant);
    struct error why = { "" };

    setenv(row->named, FEW_THREADS, 1);
    bool yes = v->supports(v->kernel, &row->shape, &device, &why);
    if (row->why ? !yes && strstr(why.message, row->why) : yes)
        return 0;
    if (strstr(why.message, "AddressSanitizer")) /* BLIS's other reason */
        return 0;
    print_message("%s/%s by %d threads: %s\n", row->kernel, row->variant, row->threads,
                  yes ? "supported" : why.message);
    return 1;
}

/* In children, because a library that was opened stays. */
TEST(libraries_with_fewer_threads_than_the_device_are_refused)
{
    for (const struct few_threads *row = few_threads; row->kernel; row++) {
        pid_t child = fork();
        if (child == 0)
            _exit(asked_in_child(row));
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* All of this build: a reference, on the CPU, and refused with a reason where it is absent. */
TEST(every_peer_says_why_it_cannot)
{
    static const char *const variables[] = { "HARNESS_BLIS", "HARNESS_ONEDNN", "HARNESS_PYTHON",
                                             "HARNESS_GGML" };
    const size_t nr_variables = sizeof(variables) / sizeof(variables[0]);
    const struct registry *r = registry_builtin();
    const struct variant *v;
    char *before[sizeof(variables) / sizeof(variables[0])];
    size_t nr = 0;

    for (size_t i = 0; i < nr_variables; i++) {
        before[i] = memory_string(getenv(variables[i]));
        setenv(variables[i], "/nonexistent/library.so", 1);
    }
    for (size_t i = 0; (v = registry_variant_at(r, i)); i++) {
        const struct device device = { .kind = DEVICE_CPU, .threads = 1 };
        struct error why = { "" };
        if (!(v->flags & VARIANT_PEER))
            continue;
        assert_true(v->flags & VARIANT_VENDOR);
        assert_int_equal(v->device, DEVICE_CPU);
        assert_non_null(v->supports);
        assert_false(v->supports(v->kernel, &v->kernel->shapes[0], &device, &why));
        if (!strstr(why.message, "AddressSanitizer")) /* BLIS's other reason */
            assert_has(why.message, ": /nonexistent/library.so");
        nr++;
    }
    assert_true(nr > 25); /* two of BLAS for five kernels, ggml for three and two, PyTorch for four
                             and the models */
    for (size_t i = 0; i < nr_variables; i++) {
        unsetenv(variables[i]);
        if (before[i])
            setenv(variables[i], before[i], 1);
        free(before[i]);
    }
}

enum { TEAM = 2, NO_TORCH = 77 };

/* Of a bound team, once PyTorch has computed with as many threads. */
static int bound_beside_torch(void)
{
    const struct variant *v = registry_variant(registry_builtin(), "gemm/linear", "torch");
    struct device device = { .kind = DEVICE_CPU, .threads = TEAM };
    const struct shape shape = { { 1, 256, 256, 256 } }; /* batch, seq, n, k */
    struct call call;
    struct error err = { "one processor" };

    if (!pin_threads(TEAM) || !v || !v->supports(v->kernel, &shape, &device, &err)) {
        print_message("no PyTorch to try: %s\n", err.message);
        return NO_TORCH;
    }
    call_init(&call, v->kernel, &shape, 1);
    call.variant = v;
    call.device = &device;
    if (v->prepare(&call, &err) != 0) {
        print_message("%s\n", err.message);
        return -1;
    }
    v->launch(&call);
    return bound_threads();
}

/* A launch binds its threads before it opens PyTorch, whose own threads, and those of its BLAS, are
 * to have all processors. */
TEST(threads_of_pytorch_are_bound_to_none)
{
    pid_t child = fork();

    if (child == 0)
        _exit(bound_beside_torch());
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_TORCH)
        skip();
    assert_int_equal(WEXITSTATUS(status), TEAM);
}

TEST(exceptions_become_errors)
{
    static const char source[] = "torch/peer.py";
    struct python py;
    struct error err;

    if (python_open(&py, &err) != 0) {
        print_message("no Python to try: %s\n", err.message);
        skip();
    }
    assert_null(python_run(&py, source, "no_such_function", "", &err));
    assert_has(err.message, "AttributeError: ");
    assert_has(err.message, "no_such_function");
    assert_null(python_run(&py, source, "missing", ".", &err));
    assert_has(err.message, "Error: ");
    assert_null(python_run(&py, "torch/no-such.py", "missing", "", &err));
    assert_has(err.message, "torch/no-such.py");
    struct python_object *text = python_run(&py, source, "missing", "no_such_module", &err);
    assert_non_null(text);
    assert_false(python_call(&py, text)); /* a string is not callable */
    python_forget(&py, text);
    text = python_run(&py, source, "missing", "json", &err);
    assert_non_null(text);
    python_forget(&py, text);
    python_forget(&py, NULL);
}

RUN_TESTS(NULL, NULL)
