/* SPDX-License-Identifier: MIT */
/*
 * A second method, to hold harness's times against: that which NVBench documents, written anew
 * from its documentation. A kernel of one number and a copy of 256 MiB, each
 *
 *     cold     a launch a sample: L2 is overwritten and waited for; then, behind a kernel that
 *              blocks the stream until the host says so, an event, the launch, an event. The mean
 *              over samples: 0.5 s of them, and more until they scatter by 0.5 % or make 15 s
 *     batch    many launches between two events behind such a kernel; time over launches
 *
 *     device_method [--check]     prints JSON; --check: few samples, and whether copies are right
 *
 * ci/nvbench_method.py prints it beside harness's own times. Ends with 1 where a copy is wrong,
 * with 3 after an error of CUDA, with 77 without a device.
 */
#include "device_memory.h"
#include "method_copy.h"

#include <math.h>
#include <string.h>

/* ---- The stream stands until the host has enqueued all ---- */

/* A second at most: a host that died must not leave a GPU that spins for ever. */
static __global__ void wait_for_host(const volatile int *go)
{
    const long long start = clock64();

    while (*go == 0 && clock64() - start < 2000000000ll)
        ;
}

struct bench {
    cudaStream_t stream;
    cudaEvent_t start, stop;
    int *go, *device_go; /* the same word */
    void *flush;
    size_t flush_bytes;
    float *x, *y;
};

static void bench_open(struct bench *b, int64_t most)
{
    int l2 = 0;

    must(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0), "size of L2");
    b->flush_bytes = (size_t)l2;
    must(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking), "stream");
    must(cudaEventCreate(&b->start), "event");
    must(cudaEventCreate(&b->stop), "event");
    must(cudaHostAlloc(&b->go, sizeof(*b->go), cudaHostAllocMapped), "word");
    must(cudaHostGetDevicePointer(reinterpret_cast<void **>(&b->device_go), b->go, 0), "word");
    must(cudaMalloc(&b->flush, b->flush_bytes), "memory of the flush");
    must(cudaMalloc(&b->x, (size_t)most * sizeof(float)), "memory");
    must(cudaMalloc(&b->y, (size_t)most * sizeof(float)), "memory");
    must(cudaMemset(b->x, 0x3f, (size_t)most * sizeof(float)), "memory");
}

static void bench_close(struct bench *b)
{
    cudaFree(b->y);
    cudaFree(b->x);
    cudaFree(b->flush);
    cudaFreeHost(b->go);
    cudaEventDestroy(b->stop);
    cudaEventDestroy(b->start);
    cudaStreamDestroy(b->stream);
}

static void hold(struct bench *b)
{
    *const_cast<volatile int *>(b->go) = 0;
    wait_for_host<<<1, 1, 0, b->stream>>>(b->device_go);
}

/* ns of `nr` launches between two events. So many may be enqueued while the stream stands: with
 * more, the host would wait for room, and the stream for the host. */
static double time_launches(struct bench *b, int64_t size, int nr)
{
    enum { QUEUE = 500 };
    float ms = 0;

    hold(b);
    must(cudaEventRecord(b->start, b->stream), "event");
    for (int i = 0; i < nr; i++) {
        method_copy(b->y, b->x, size, b->stream);
        if (i == QUEUE)
            *const_cast<volatile int *>(b->go) = 1;
    }
    must(cudaEventRecord(b->stop, b->stream), "event");
    *const_cast<volatile int *>(b->go) = 1;
    finish("launches");
    must(cudaEventElapsedTime(&ms, b->start, b->stop), "time");
    return (double)ms * 1e6;
}

/* ---- Cold, and in a batch ---- */

struct mean {
    double sum, squares, ns;
    long nr;
};

static double mean_of(const struct mean *m)
{
    return m->sum / (double)m->nr;
}

/* Deviation over mean. */
static double mean_noise(const struct mean *m)
{
    double mean = mean_of(m), variance = m->squares / (double)m->nr - mean * mean;

    return m->nr > 1 ? sqrt(fmax(variance, 0)) / mean : INFINITY;
}

static bool mean_is_enough(const struct mean *m, bool check)
{
    const double least_ns = 0.5e9, most_ns = 15e9;

    if (check)
        return m->nr >= 20;
    return m->nr >= 10 && m->ns >= least_ns && (mean_noise(m) <= 0.005 || m->ns >= most_ns);
}

static struct mean measure_cold(struct bench *b, int64_t size, bool check)
{
    const long most = 1000000; /* a null kernel has 0.5 s of its own time after 250,000 */
    struct mean m = {};

    time_launches(b, size, 1);
    while (m.nr < most && !mean_is_enough(&m, check)) {
        must(cudaMemsetAsync(b->flush, 0, b->flush_bytes, b->stream), "flush");
        must(cudaStreamSynchronize(b->stream), "flush");
        double ns = time_launches(b, size, 1);
        m.sum += ns;
        m.squares += ns * ns;
        m.ns += ns;
        m.nr++;
    }
    return m;
}

/* Some half a second of launches. */
static double measure_batch(struct bench *b, int64_t size, bool check, int *nr)
{
    double one = time_launches(b, size, 100) / 100, wanted = check ? 1e6 : 0.5e9;

    *nr = (int)fmin(fmax(wanted / one, 10), 1e6);
    return time_launches(b, size, *nr) / *nr;
}

/* ---- What is told ---- */

static bool copy_is_right(struct bench *b, int64_t size)
{
    size_t bytes = (size_t)size * sizeof(float);
    char *copied = static_cast<char *>(malloc(bytes));

    must(cudaMemset(b->y, 0, bytes), "memory");
    method_copy(b->y, b->x, size, b->stream);
    finish("copy");
    must(cudaMemcpy(copied, b->y, bytes, cudaMemcpyDeviceToHost), "copy");
    bool right = copied[0] == 0x3f && memcmp(copied, copied + 1, bytes - 1) == 0;
    free(copied);
    return right;
}

static void tell_size(struct bench *b, const int64_t *size, bool check, bool last)
{
    const int64_t nr = size[0] * size[1];
    const struct mean cold = measure_cold(b, nr, check);
    int launches = 0;
    const double batch = measure_batch(b, nr, check, &launches);

    printf(
        "  {\"rows\": %lld, \"columns\": %lld, \"cold_mean_ns\": %.1f, \"cold_samples\": %ld, "
        "\"cold_noise\": %.5f,\n   \"batch_mean_ns\": %.1f, \"batch_launches\": %d}%s\n",
        (long long)size[0], (long long)size[1], mean_of(&cold), cold.nr, mean_noise(&cold), batch,
        launches, last ? "" : ",");
    fflush(stdout);
    probes_wrong += !copy_is_right(b, nr);
}

int main(int argc, char **argv)
{
    const int nr = sizeof(method_sizes) / sizeof(method_sizes[0]) / 2;
    const bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
    struct cudaDeviceProp device;
    struct bench b = {};
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("no device\n");
        return 77;
    }
    must(cudaGetDeviceProperties(&device, 0), "device");
    bench_open(&b, method_sizes[2 * nr - 2] * method_sizes[2 * nr - 1]);
    printf("{\"device\": \"%s\", \"l2_bytes\": %zu, \"results\": [\n", device.name, b.flush_bytes);
    for (int i = 0; i < nr; i++)
        tell_size(&b, &method_sizes[2 * i], check, i + 1 == nr);
    printf("], \"right\": %s}\n", probes_wrong ? "false" : "true");
    bench_close(&b);
    return probes_wrong > 0;
}
