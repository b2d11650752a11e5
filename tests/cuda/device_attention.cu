/* SPDX-License-Identifier: MIT */
/*
 * Bring-up of attention for Hopper (kernels/attention/attention_cuda_wgmma.h) on a device, without
 * the harness: checks every tiling of the plan against a plain kernel in double, then times them.
 *
 *     nvcc -std=c++20 -O3 -I. -Iharness -gencode=arch=compute_90a,code=sm_90a -cudart static
 *          -DCUDA_WATCHDOG_PASS -o device_attention
 *          tests/cuda/device_attention.cu kernels/cuda/tma.cu
 *     ./device_attention [--check] [--time] [--only TEXT]     TEXT: a part of a tiling's name
 */
#include "kernels/attention/attention_cuda_fp8_round.h"
#include "kernels/attention/attention_cuda_wgmma.h"

#include <algorithm>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <vector>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool failed(cudaError_t rc, const char *what)
{
    if (rc != cudaSuccess)
        printf("ERROR %s: %s\n", what, cudaGetErrorString(rc));
    return rc != cudaSuccess;
}

/* ---- The tilings ---- */

typedef void launch_fn(const struct attention_cuda *a, const attention_plan &p, unsigned blocks,
                       cudaStream_t stream);

struct tiling {
    const char *name;
    int headdim;
    bool causal;
    attention_plan plan;
    launch_fn *launch;
    bool bytes = false; /* products of e4m3 */
};

template <int D, bool CAUSAL, attention_wgmma_knobs KNOBS>
static constexpr struct tiling tiling_of(const char *name, attention_plan plan)
{
    return { name, D, CAUSAL, plan,
             attention_wgmma_launch<attention_wgmma_tiling<D, CAUSAL, KNOBS>> };
}

/* Device memory that is `bytes` large or more, its queue of tiles at zero. */
static void *room(size_t bytes)
{
    static void *memory;
    static size_t has;

    if (bytes > has) {
        cudaFree(memory);
        memory = nullptr, has = 0;
        if (!failed(cudaMalloc(&memory, bytes), "memory for bytes"))
            has = bytes, cudaMemset(memory, 0, 64);
    }
    return memory;
}

/* With the rounding in front, which is timed with it. */
template <int D, bool CAUSAL, attention_wgmma_knobs KNOBS>
static void launch_bytes(const struct attention_cuda *a, const attention_plan &p, unsigned blocks,
                         cudaStream_t stream)
{
    struct attention_cuda b = *a;

    b.workspace = room(attention_fp8_places_of(a->batch, a->seq, a->heads, D).all);
    attention_fp8_round_all(&b, stream);
    attention_wgmma_launch<attention_fp8_tiling<D, CAUSAL, KNOBS>>(&b, p, blocks, stream);
}

template <int D, bool CAUSAL, attention_wgmma_knobs KNOBS>
static constexpr struct tiling bytes_of(const char *name, attention_plan plan)
{
    return { name, D, CAUSAL, plan, launch_bytes<D, CAUSAL, KNOBS>, true };
}

static const struct tiling tilings[] = {
    bytes_of<128, true, ATTENTION_BYTES>("128 causal: 128 x 128, e4m3", { SQUARE, false }),
    bytes_of<128, true, ATTENTION_BYTES>("128 causal: 128 x 128, e4m3, queue", { SQUARE, true }),
    bytes_of<128, false, ATTENTION_BYTES>("128 full: 128 x 128, e4m3", { SQUARE, false }),
    bytes_of<64, true, ATTENTION_BYTES_NARROW>("64 causal: 192 x 128, e4m3", { NARROW, false }),
    bytes_of<64, true, ATTENTION_BYTES_NARROW>("64 causal: 192 x 128, e4m3, queue",
                                               { NARROW, true }),
    bytes_of<64, false, ATTENTION_BYTES_NARROW>("64 full: 192 x 128, e4m3", { NARROW, false }),
    tiling_of<128, true, ATTENTION_SQUARE>("128 causal: 128 x 128", { SQUARE, false }),
    tiling_of<128, true, ATTENTION_LONG>("128 causal: 128 x 176", { LONG, false }),
    tiling_of<128, true, ATTENTION_LONG>("128 causal: 128 x 176, queue", { LONG, true }),
    tiling_of<128, true, ATTENTION_SHORT>("128 causal: 64 x 128", { SHORT, false }),
    tiling_of<128, false, ATTENTION_LONG>("128 full: 128 x 176", { LONG, false }),
    tiling_of<128, false, ATTENTION_TALL>("128 full: 192 x 80", { TALL, false }),
    tiling_of<64, true, ATTENTION_NARROW>("64 causal: 192 x 128", { NARROW, false }),
    tiling_of<64, true, ATTENTION_NARROW>("64 causal: 192 x 128, queue", { NARROW, true }),
    tiling_of<64, false, ATTENTION_NARROW>("64 full: 192 x 128", { NARROW, false }),
};
static const size_t TILINGS = sizeof(tilings) / sizeof(tilings[0]);

/* ---- Memory ---- */

/* Numbers of about a normal distribution, the same at each run. */
__global__ void fill(bf16 *to, size_t n, uint32_t seed, float scale)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        float sum = 0;
        uint32_t x = (uint32_t)i * 2654435761u + seed;
        for (int r = 0; r < 4; r++) {
            x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
            sum += (float)(x >> 8) * (1.0f / 16777216.0f) - 0.5f;
            x += 0x9e3779b9u;
        }
        to[i] = cuda_from<bf16>(sum * 1.732f * scale);
    }
}

/* A token's numbers to those that e4m3 holds times `by`, a power of two; of the first token the
 * first of each head to the largest one: so this is the head's factor, and rounding changes
 * nothing. */
__global__ void coarsen(bf16 *to, int width, int headdim, float by, bool first)
{
    for (int i = (int)threadIdx.x; i < width; i += (int)blockDim.x) {
        uint32_t bits = cuda_e4m3x2(cuda_float(to[i]) * by, 0) & 0xff;
        bool largest = first && i % headdim == 0;
        to[i] = cuda_from<bf16>((largest ? CUDA_E4M3_MAX : cuda_e4m3_float((uint8_t)bits)) / by);
    }
}

static const size_t POOL = (size_t)1 << 30; /* bytes */

struct memory {
    bf16 *pool;
    double *want, *bound;
    unsigned *queue;
    longlong2 *clocks;
    cudaStream_t stream;
    cudaEvent_t begin, end;
};

/* ---- Checks ---- */

/* A block a query: the row in double, and the sum of weights times |v|, in which errors of weights
 * are measured. */
__global__ void plain(struct attention_cuda a, double *want, double *bound)
{
    extern __shared__ double scores[];
    int64_t query = blockIdx.x, seq = a.seq, b = blockIdx.z, first = b * seq;
    int64_t head = blockIdx.y * a.headdim, seen = a.causal ? query + 1 : seq;
    const bf16 *q = (const bf16 *)a.q + (first + query) * a.ld + head;
    const bf16 *k = (const bf16 *)a.k + first * a.ld + head;
    const bf16 *v = (const bf16 *)a.v + first * a.ld + head;
    double most = -INFINITY, sum = 0, out = 0, size = 0;

    for (int64_t j = threadIdx.x; j < seen; j += blockDim.x) {
        double dot = 0;
        for (int64_t d = 0; d < a.headdim; d++)
            dot += (double)cuda_float(q[d]) * (double)cuda_float(k[j * a.ld + d]);
        scores[j] = dot / sqrt((double)a.headdim);
    }
    __syncthreads();
    for (int64_t j = 0; j < seen; j++)
        most = fmax(most, scores[j]);
    for (int64_t j = 0; j < seen; j++) {
        double w = exp(scores[j] - most), x = (double)cuda_float(v[j * a.ld + threadIdx.x]);
        sum += w, out += w * x, size += w * fabs(x);
    }
    int64_t at = (first + query) * a.heads * a.headdim + head + threadIdx.x;
    want[at] = out / sum;
    bound[at] = size / sum;
}

struct checked {
    int64_t batch, seq, heads;
    int pad;            /* columns behind a token's */
    bool fused;         /* q, k and v of a token in one row */
    float sharp = 1.5f; /* of q: where large, maxima rise by more than any slack */
};

/* q, k and v of a shape in the pool, NaN around them; out behind, all NaN, with rows of 16 columns
 * more than it needs and 64 rows more. */
static struct attention_cuda place(const struct memory *m, const struct checked *s, int headdim,
                                   bool causal, bool bytes)
{
    int64_t tokens = s->batch * s->seq, width = s->heads * headdim;
    int64_t ld = (s->fused ? 3 * width : width) + s->pad;
    int64_t apart = s->fused ? width : (tokens + 8) * ld;
    size_t in = (size_t)((tokens + 8) * ld * 3), out = (size_t)((tokens + 64) * (width + 16));

    cudaMemset(m->pool, 0xff, (in + out) * sizeof(bf16));
    for (int i = 0; i < 3; i++)
        for (int64_t t = 0; t < tokens; t++) {
            bf16 *to = m->pool + i * apart + t * ld;
            fill<<<1, 256>>>(to, (size_t)width, (uint32_t)(i * 7919 + t * 104729),
                             i == 0 ? s->sharp : 1.0f);
            if (bytes) /* those of fill() are below 3.5 */
                coarsen<<<1, 256>>>(to, (int)width, headdim,
                                    i > 0          ? 128.0f
                                    : s->sharp > 2 ? 8.0f
                                                   : 64.0f,
                                    t % s->seq == 0);
        }
    return {
        s->batch, s->seq,       s->heads,   headdim, m->pool, m->pool + apart, m->pool + 2 * apart,
        ld,       m->pool + in, width + 16, causal,  0,       m->queue
    };
}

struct fault {
    size_t count, strays;
    int64_t token, col;
    double got, want;
};

/* Of bytes each weight is rounded, by a sixteenth at most. */
static void compare(struct fault *w, const struct attention_cuda *a, const uint16_t *out,
                    const double *want, const double *bound, bool bytes)
{
    int64_t tokens = a->batch * a->seq, width = a->heads * a->headdim;

    *w = {};
    for (int64_t t = 0; t < tokens + 64; t++)
        for (int64_t c = 0; c < a->ldo; c++) {
            uint16_t bits = out[t * a->ldo + c];
            if (t >= tokens || c >= width) {
                w->strays += bits != 0xffff;
                continue;
            }
            double x = want[t * width + c], got = cuda_bits_float((uint32_t)bits << 16);
            double allowed = fabs(x) / 200 + bound[t * width + c] / (bytes ? 16 : 200) + 1e-6;
            if (fabs(got - x) <= allowed)
                continue;
            if (w->count++ == 0)
                w->token = t, w->col = c, w->got = got, w->want = x;
        }
}

static void report(const struct fault *w, const char *name, const struct checked *s,
                   unsigned blocks, unsigned left)
{
    printf("WRONG %s: batch %d seq %d heads %d pad %d %s blocks %u queue %u\n", name, (int)s->batch,
           (int)s->seq, (int)s->heads, s->pad, s->fused ? "fused" : "apart", blocks, left);
    printf("      first at (token %d, col %d): got %g want %g; %zu wrong; %zu strays\n",
           (int)w->token, (int)w->col, w->got, w->want, w->count, w->strays);
}

/* Whether a wait was given up; names it and starts anew. */
static bool late(void)
{
    unsigned note[5] = {}, zero[5] = {};

#ifdef CUDA_WATCHDOG_PASS
    cudaMemcpyFromSymbol(note, cuda_mbarrier_late, sizeof(note));
    cudaMemcpyToSymbol(cuda_mbarrier_late, zero, sizeof(zero));
#endif
    if (note[4] != zero[4])
        printf("HANG block %u thread %u waits for parity %u of the barrier at %#x\n", note[0],
               note[1], note[3], note[2]);
    return note[4] != zero[4];
}

static const struct checked shapes[] = {
    { 1, 1, 1, 0, true },    { 3, 1, 2, 8, false },
    { 1, 63, 1, 0, true },   { 2, 64, 1, 0, false },
    { 1, 65, 2, 0, true },   { 2, 127, 3, 8, true },
    { 1, 128, 1, 0, false }, { 2, 129, 2, 0, true },
    { 3, 200, 5, 24, true }, { 1, 256, 4, 0, false, 12.0f },
    { 2, 300, 3, 0, true },  { 3, 385, 1, 8, false },
    { 1, 512, 2, 0, true },  { 2, 577, 2, 16, true, 12.0f },
    { 2, 1000, 5, 0, true }, { 1, 1000, 3, 8, false, 12.0f },
};

static int right, wrong, wrongs[TILINGS]; /* tilings that were wrong are not timed */
static bool lost;                         /* the device takes nothing more */

/* Each tiling of this head size and mask on a shape, with a block a tile and with few blocks that
 * take several each. */
static void check_shape(const struct memory *m, const struct checked *s, int headdim, bool causal,
                        bool bytes, const char *only)
{
    struct attention_cuda a = place(m, s, headdim, causal, bytes);
    int64_t tokens = s->batch * s->seq;
    size_t n = (size_t)(tokens * s->heads * headdim), stored = (size_t)((tokens + 64) * a.ldo);
    std::vector<double> want(n), bound(n);
    std::vector<uint16_t> out(stored);

    plain<<<dim3((unsigned)s->seq, (unsigned)s->heads, (unsigned)s->batch), headdim,
            (size_t)s->seq * sizeof(double)>>>(a, m->want, m->bound);
    cudaMemcpy(want.data(), m->want, n * sizeof(double), cudaMemcpyDeviceToHost);
    cudaMemcpy(bound.data(), m->bound, n * sizeof(double), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < TILINGS; i++) {
        const struct tiling *t = &tilings[i];
        if (t->headdim != headdim || t->causal != causal || t->bytes != bytes ||
            strstr(t->name, only) == nullptr)
            continue;
        for (unsigned blocks : { 2u, 4u, UINT_MAX }) {
            struct fault w;
            unsigned left = 1;
            cudaMemset(a.out, 0xff, stored * sizeof(bf16));
            t->launch(&a, t->plan, blocks, 0);
            lost = failed(cudaGetLastError(), t->name) || failed(cudaDeviceSynchronize(), t->name);
            if (lost)
                return;
            cudaMemcpy(&left, m->queue, sizeof(left), cudaMemcpyDeviceToHost);
            cudaMemset(m->queue, 0, sizeof(left));
            cudaMemcpy(out.data(), a.out, stored * sizeof(bf16), cudaMemcpyDeviceToHost);
            compare(&w, &a, out.data(), want.data(), bound.data(), bytes);
            bool good = !late() && w.count == 0 && w.strays == 0 && left == 0;
            right += good, wrong += !good;
            if (!good && wrongs[i]++ < 2)
                report(&w, t->name, s, blocks, left);
        }
    }
}

static void check(const struct memory *m, const char *only)
{
    for (const struct checked &s : shapes)
        for (int headdim = 64; headdim <= 128; headdim *= 2)
            for (int causal = 0; causal < 2; causal++)
                for (int bytes = 0; bytes < 2; bytes++)
                    if (!lost)
                        check_shape(m, &s, headdim, causal != 0, bytes != 0, only);
    printf("%d right, %d wrong\n", right, wrong);
}

/* ---- Times ---- */

struct timed {
    int64_t batch, seq, heads;
};

static const struct timed sizes[] = { { 1, 512, 16 },  { 1, 1024, 16 }, { 4, 2048, 16 },
                                      { 4, 4096, 16 }, { 1, 4096, 16 }, { 1, 8192, 32 },
                                      { 1, 16384, 16 } };
static const size_t SIZES = sizeof(sizes) / sizeof(sizes[0]);

/* Dense or fused rows make no difference to the copies: fused, as the variant has them. Copies of
 * the tensors rotate through the pool. */
static struct attention_cuda rotated(const struct memory *m, const struct timed *s, int headdim,
                                     bool causal, int i)
{
    int64_t width = s->heads * headdim;
    size_t each = (size_t)(s->batch * s->seq * width * 4);
    size_t copies = std::max<size_t>(1, POOL / sizeof(bf16) / each);
    bf16 *at = m->pool + (size_t)i % copies * each;

    return { s->batch,       s->seq,    s->heads,
             headdim,        at,        at + width,
             at + 2 * width, 3 * width, at + s->batch * s->seq * 3 * width,
             width,          causal,    0,
             m->queue };
}

static double flops(const struct timed *s, const struct tiling *t)
{
    double pairs = (double)s->seq * (double)s->seq / (t->causal ? 2 : 1);

    return 4.0 * (double)s->batch * (double)s->heads * pairs * t->headdim;
}

/* The time and the clock of each SM; two of them tell its rate between. */
__global__ void note_clocks(longlong2 *to)
{
    unsigned sm;
    long long ns;

    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    if (threadIdx.x == 0)
        to[sm] = make_longlong2(clock64(), ns);
}

static const int MOST_SMS = 256, ROUNDS = 11;

static double median(std::vector<double> x)
{
    std::sort(x.begin(), x.end());
    return x.empty() ? NAN : x[x.size() / 2];
}

/* GHz, of the SMs that both notes know; the first note is at `clocks`, the second behind it. */
static double clock_of(const longlong2 *clocks)
{
    std::vector<double> rates;

    for (int i = 0; i < MOST_SMS; i++) {
        const longlong2 &x = clocks[i], &y = clocks[i + MOST_SMS];
        if (x.y != 0 && y.y > x.y)
            rates.push_back((double)(y.x - x.x) / (double)(y.y - x.y));
    }
    return median(rates);
}

/* A tiling on a size: a graph of some launches, and what its replays gave. */
struct contest {
    const struct tiling *tiling;
    struct timed size;
    int count;
    cudaGraphExec_t exec;
    std::vector<double> seconds, ghz;
};

static bool capture(const struct memory *m, struct contest *c, unsigned blocks)
{
    cudaGraph_t graph;

    cudaStreamBeginCapture(m->stream, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < c->count; i++) {
        struct attention_cuda a = rotated(m, &c->size, c->tiling->headdim, c->tiling->causal, i);
        c->tiling->launch(&a, c->tiling->plan, blocks, m->stream);
    }
    if (failed(cudaStreamEndCapture(m->stream, &graph), c->tiling->name) ||
        failed(cudaGraphInstantiate(&c->exec, graph, 0), c->tiling->name))
        return false;
    cudaGraphDestroy(graph);
    return true;
}

static void replay(const struct memory *m, struct contest *c, unsigned sms)
{
    longlong2 clocks[2 * MOST_SMS];
    float ms = 0;

    cudaMemsetAsync(m->clocks, 0, sizeof(clocks), m->stream);
    note_clocks<<<8 * sms, 32, 0, m->stream>>>(m->clocks);
    cudaEventRecord(m->begin, m->stream);
    cudaGraphLaunch(c->exec, m->stream);
    cudaEventRecord(m->end, m->stream);
    note_clocks<<<8 * sms, 32, 0, m->stream>>>(m->clocks + MOST_SMS);
    cudaMemcpyAsync(clocks, m->clocks, sizeof(clocks), cudaMemcpyDeviceToHost, m->stream);
    cudaStreamSynchronize(m->stream);
    cudaEventElapsedTime(&ms, m->begin, m->end);
    c->seconds.push_back(1e-3 * ms / c->count);
    c->ghz.push_back(clock_of(clocks));
}

/* All in turn, each round from another one on, so that what heats and cools the device meets all
 * alike; the first round is not counted. */
static void contend(const struct memory *m, std::vector<contest> &all, unsigned sms, double until)
{
    size_t n = all.size();

    for (struct contest &c : all)
        if (!capture(m, &c, sms))
            return;
    for (int round = 0; round < ROUNDS && now() < until; round++)
        for (size_t i = 0; i < n; i++) {
            struct contest *c = &all[(i + (size_t)round * (n / ROUNDS + 1)) % n];
            replay(m, c, sms);
            if (round == 0)
                c->seconds.clear(), c->ghz.clear();
        }
    for (struct contest &c : all)
        cudaGraphExecDestroy(c.exec);
    failed(cudaGetLastError(), "times");
}

/* Whether the variant takes this tiling for this size. */
static bool taken(const struct contest *c, int sms)
{
    const struct tiling *t = c->tiling;
    attention_plan p =
        attention_plan_of(t->headdim, t->causal, c->size.batch * c->size.heads, c->size.seq, sms);

    return p.tiling == t->plan.tiling && p.queue == t->plan.queue;
}

static void print_times(const std::vector<contest> *results, unsigned sms)
{
    printf(
        "TFLOP/s (causal: half of all pairs; *: what the variant takes), share of the matrix "
        "units' rate at the clock there was, MHz; headdim 64 with twice the heads\n%-29s",
        "batch x seq x heads");
    for (const struct timed &s : sizes)
        printf(" %6dx%5dx%-2d", (int)s.batch, (int)s.seq, (int)s.heads);
    printf("\n");
    for (size_t i = 0; i < results[0].size(); i++) {
        printf("%-29s", results[0][i].tiling->name);
        for (size_t size = 0; size < SIZES; size++) {
            const struct contest *c = &results[size][i];
            double rate = flops(&c->size, c->tiling) / median(c->seconds), ghz = median(c->ghz);
            printf("  %3.0f%c %2.0f%% %4.0f", 1e-12 * rate, taken(c, (int)sms) ? '*' : ' ',
                   rate / (sms * (c->tiling->bytes ? 8192.0 : 4096.0) * 1e7 * ghz), 1e3 * ghz);
        }
        printf("\n");
    }
}

static void time_all(const struct memory *m, const char *only, unsigned sms)
{
    static std::vector<contest> results[SIZES];
    const double until = now() + 4;
    unsigned left = 0, count = 0;

    fill<<<1024, 256>>>(m->pool, POOL / sizeof(bf16), 1, 1.0f);
    cudaDeviceSynchronize();
    for (const struct timed &s : sizes) {
        std::vector<contest> *all = &results[count++];
        for (const struct tiling &t : tilings) {
            struct timed size = s;
            size.heads *= 128 / t.headdim; /* the same width */
            int launches = (int)std::max(1.0, std::min(16.0, 3e-3 * 600e12 / flops(&size, &t)));
            if (strstr(t.name, only) != nullptr && wrongs[&t - tilings] == 0)
                all->push_back({ &t, size, launches, nullptr, {}, {} });
        }
        contend(m, *all, sms, until);
    }
    print_times(results, sms);
    late();
    cudaMemcpy(&left, m->queue, sizeof(left), cudaMemcpyDeviceToHost);
    wrong += left != 0;
    if (left != 0)
        printf("WRONG the queue is left at %u\n", left);
}

int main(int argc, char **argv)
{
    bool checks = true, times = true;
    const char *only = "";
    struct memory m;
    cudaDeviceProp p;

    for (int i = 1; i < argc; i++) {
        times = times && strcmp(argv[i], "--check") != 0;
        checks = checks && strcmp(argv[i], "--time") != 0;
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
    }
    setvbuf(stdout, nullptr, _IOLBF, 0);
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess || p.major != 9 || p.minor != 0) {
        printf("no device of compute capability 9.0\n");
        return 77;
    }
    printf("%s, %d SMs\n", p.name, p.multiProcessorCount);
    if (failed(cudaMalloc(&m.pool, POOL), "memory") ||
        failed(cudaMalloc(&m.want, (size_t)32 << 20), "memory") ||
        failed(cudaMalloc(&m.bound, (size_t)32 << 20), "memory") ||
        failed(cudaMalloc(&m.clocks, 2 * MOST_SMS * sizeof(*m.clocks)), "memory") ||
        failed(cudaStreamCreate(&m.stream), "stream") ||
        failed(cudaEventCreate(&m.begin), "event") || failed(cudaEventCreate(&m.end), "event") ||
        failed(cudaMalloc(&m.queue, sizeof(*m.queue)), "memory") ||
        failed(cudaMemset(m.queue, 0, sizeof(*m.queue)), "memory"))
        return 1;
    double begin = now();
    if (checks)
        check(&m, only);
    printf("checks: %.1f s\n", now() - begin);
    if (times && !lost)
        time_all(&m, only, (unsigned)p.multiProcessorCount);
    printf("all: %.1f s\n", now() - begin);
    return lost || wrong > 0 ? 1 : 0;
}
