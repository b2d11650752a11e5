/* SPDX-License-Identifier: MIT */
/* Variants of gemm/nt that do unusual things and are right: none of them may be refused. */
#include "nt.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void loops(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_all(&p);
}

static void *half(void *context)
{
    const struct nt *p = context;

    nt_rows(p, p->m / 2, p->m);
    return NULL;
}

static void beside(struct nt *p, const pthread_attr_t *how, void *(*life)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, how, life, p))
        return;
    nt_rows(p, 0, p->m / 2);
    pthread_join(thread, NULL);
}

/* Threads of its own, joined before it returns. */
static void joined(const struct harness_call *call)
{
    struct nt p = nt_of(call);

    beside(&p, NULL, half);
}

/* As pools do that say what policy their threads have, and not that of who makes them. */
static void explicit_sched(const struct harness_call *call)
{
    const struct sched_param usual = { .sched_priority = 0 };
    struct nt p = nt_of(call);
    pthread_attr_t own;

    pthread_attr_init(&own);
    pthread_attr_setinheritsched(&own, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&own, SCHED_OTHER);
    pthread_attr_setschedparam(&own, &usual);
    beside(&p, &own, half);
    pthread_attr_destroy(&own);
}

/* A worker that would rather wait than others; it goes on where it may not. */
static void *half_as_a_batch(void *context)
{
    const struct sched_param usual = { .sched_priority = 0 };

    pthread_setschedparam(pthread_self(), SCHED_BATCH, &usual);
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 1);
    return half(context);
}

static void own_policy(const struct harness_call *call)
{
    struct nt p = nt_of(call);

    beside(&p, NULL, half_as_a_batch);
}

/* A thread that lives from prepare() on, and spins. */
static void *spin(void *context)
{
    volatile int *goes_on = context;

    while (*goes_on)
        sched_yield();
    return NULL;
}

static int begin_spinning(struct harness_call *call, char *why, size_t room)
{
    static volatile int goes_on;
    pthread_t thread;

    (void)call, (void)why, (void)room;
    if (goes_on)
        return 0;
    goes_on = 1;
    return pthread_create(&thread, NULL, spin, (void *)&goes_on);
}

/* Remembers whole inputs, and compares them wholly: it is right, and it never pays, since inputs
 * of timed launches do not come twice. */
struct memory {
    float *x, *y;
    int has;
};

static int remember(struct harness_call *call, char *why, size_t room)
{
    const struct nt p = nt_of(call);
    struct memory *m = calloc(1, sizeof(*m));

    (void)why, (void)room;
    m->x = malloc((size_t)(p.m * p.k) * sizeof(float));
    m->y = malloc(nt_bytes(&p));
    call->state = m;
    return 0;
}

static void memo_of_all(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    struct memory *m = call->state;
    size_t bytes = (size_t)(p.m * p.k) * sizeof(float);

    if (m->has && memcmp(m->x, p.x, bytes) == 0) {
        memcpy(p.y, m->y, nt_bytes(&p));
        return;
    }
    nt_all(&p);
    memcpy(m->x, p.x, bytes);
    memcpy(m->y, p.y, nt_bytes(&p));
    m->has = 1;
}

/* It takes no odd sizes, and says so. */
static int even_only(struct harness_call *call, char *why, size_t room)
{
    if (call->size[3] % 8 == 0)
        return 0;
    strncpy(why, "k must be a multiple of 8", room - 1);
    return HARNESS_UNSUPPORTED;
}

/* Folders and files below TMPDIR, as what is compiled or unpacked before it is used; they are left
 * to whoever ends this process. */
static bool leave_files(const char *folder)
{
    char path[4096];
    const char *const names[] = { "kept", "kept/whole" };

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        int fd = i == 0 ? mkdir(path, 0700) : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return false;
        if (i > 0)
            close(fd);
    }
    return true;
}

static int keep_files(struct harness_call *call, char *why, size_t room)
{
    const char *folder = getenv("TMPDIR");

    (void)call;
    if (folder && leave_files(folder))
        return 0;
    strncpy(why, "it cannot make a folder below TMPDIR", room - 1);
    return -1;
}

/* Somebody else's product. */
typedef void sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int,
                   float, float *, int);
static sgemm *vendor_sgemm;

static int open_vendor(struct harness_call *call, char *why, size_t room)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);

    (void)call;
    if (library)
        vendor_sgemm = (sgemm *)dlsym(library, "cblas_sgemm");
    if (vendor_sgemm)
        return 0;
    strncpy(why, "there is no OpenBLAS here", room - 1);
    return HARNESS_UNSUPPORTED;
}

static void vendor(const struct harness_call *call)
{
    enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };
    const struct nt p = nt_of(call);
    int m = (int)p.m, n = (int)p.n, k = (int)p.k;

    vendor_sgemm(ROW_MAJOR, PLAIN, TRANSPOSED, m, n, k, 1, p.x, k, p.w, k, 0, p.y, n);
}

/* Code without a name: a copy of its own file, which is told. */
static void copy_file(const char *from, int to)
{
    char block[65536];
    int file = open(from, O_RDONLY | O_CLOEXEC);
    ssize_t nr;

    while (file >= 0 && (nr = read(file, block, sizeof(block))) > 0)
        if (write(to, block, (size_t)nr) != nr)
            break;
    if (file >= 0)
        close(file);
}

static int load_from_memory(struct harness_call *call, char *why, size_t room)
{
    static void *library;
    char path[64];
    Dl_info own;

    (void)call;
    if (library)
        return 0;
    int fd = memfd_create("nameless", MFD_CLOEXEC);
    if (fd >= 0 && dladdr((void *)load_from_memory, &own))
        copy_file(own.dli_fname, fd);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (fd >= 0)
        close(fd);
    if (library)
        return 0;
    strncpy(why, "it cannot be loaded from memory", room - 1);
    return -1;
}

/* So many rows at a time, as --param says. */
static void rows_at_a_time(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    const int64_t step = harness_param(call, "rows", 1);

    for (int64_t i = 0; i < p.m; i += step)
        nt_rows(&p, i, i + step < p.m ? i + step : p.m);
}

static const char *const of_rows[] = { "rows=1,4", NULL };

static const struct harness_variant variants[] = {
    { .name = "loops", .launch = loops },
    { .name = "rows_at_a_time", .launch = rows_at_a_time, .params = of_rows },
    { .name = "joined", .launch = joined },
    { .name = "explicit_sched", .launch = explicit_sched },
    { .name = "own_policy", .launch = own_policy },
    { .name = "spinning", .launch = loops, .prepare = begin_spinning },
    { .name = "memo_of_all", .launch = memo_of_all, .prepare = remember },
    { .name = "even_only", .launch = loops, .prepare = even_only },
    { .name = "keeps_files", .launch = loops, .prepare = keep_files },
    { .name = "nameless", .launch = loops, .prepare = load_from_memory },
    { .name = "vendor", .launch = vendor, .prepare = open_vendor },
};
NT_PLUGIN(variants);
