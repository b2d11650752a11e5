/* SPDX-License-Identifier: MIT */
/*
 * Bring-up of models/gpt_cuda_cluster.h on a device, or on the host layer: each size of the table
 * against plain kernels in float, and times. Nothing of the harness but the kernels.
 *
 *     nvcc -std=c++20 -O3 -I. -gencode=arch=compute_90a,code=sm_90a -cudart static
 *         tests/cuda/device_cluster.cu -o device_cluster
 * With -DGPT_CLUSTER_CLOCK the times are cycles from place to place in a layer (no us then), with
 * -DCUDA_WATCHDOG a wait that never ends is an error.
 *
 *     ./device_cluster [--check] [--time] [--quick] [--only NAME] [--wgmma]
 */
#include "models/gpt_cuda_cluster_wgmma.h"

#include "models/gpt_cuda_cluster_kinds.h"

#include "device_plain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct model {
    const char *name;
    int layers, heads, width;
};

static const struct model models[] = {
    { "nano", 3, 3, 48 },         { "tile-small", 4, 4, 64 }, { "micro", 4, 4, 128 },
    { "tile-medium", 6, 4, 128 }, { "mini", 6, 6, 192 },      { "tile-large", 8, 8, 256 },
};

enum { VOCAB = 512, BLOCK = 64 };

static const char *const sends[] = { "store", "count", "copy " };

/* The tables; and by wgmma what else may be as fast. */
static std::vector<struct gpt_cluster_kind> all_kinds(void)
{
#ifdef DEVICE_CLUSTER_KINDS
    return { DEVICE_CLUSTER_KINDS };
#else
    static constexpr struct gpt_cluster_kind plain[] = {
        gpt_cluster_row_of<48, 16, 8, 8, GPT_CLUSTER_STORE>(0),
        gpt_cluster_row_of<48, 16, 8, 8, GPT_CLUSTER_COPY>(0),
        gpt_cluster_row_of<48, 16, 16, 8, GPT_CLUSTER_COUNT>(0),
        gpt_cluster_row_of<64, 16, 8, 8, GPT_CLUSTER_STORE>(0),
        gpt_cluster_row_of<64, 16, 8, 8, GPT_CLUSTER_COPY>(0),
        gpt_cluster_row_of<64, 16, 16, 8, GPT_CLUSTER_COUNT>(0),
        gpt_cluster_row_of<128, 32, 8, 8, GPT_CLUSTER_STORE>(0),
        gpt_cluster_row_of<128, 32, 16, 8, GPT_CLUSTER_COUNT>(0),
        gpt_cluster_row_of<128, 32, 16, 8, GPT_CLUSTER_COPY>(0),
        gpt_cluster_row_of<192, 32, 8, 8, GPT_CLUSTER_STORE>(0),
        gpt_cluster_row_of<192, 32, 16, 8, GPT_CLUSTER_COUNT>(0),
        gpt_cluster_row_of<256, 32, 8, 8, GPT_CLUSTER_STORE>(0),
        gpt_cluster_row_of<256, 32, 16, 8, GPT_CLUSTER_STORE>(0),
        gpt_cluster_row_of<256, 32, 16, 8, GPT_CLUSTER_COPY>(0),
    };
    std::vector<struct gpt_cluster_kind> all(std::begin(plain), std::end(plain));
    static constexpr struct gpt_cluster_kind more[] = {
        gpt_cluster_row_of<64, 16, 8, 8, GPT_CLUSTER_STORE, true>(0),
        gpt_cluster_row_of<128, 32, 8, 8, GPT_CLUSTER_STORE, true>(0),
        gpt_cluster_row_of<128, 32, 8, 8, GPT_CLUSTER_COPY, true>(0),
        gpt_cluster_row_of<128, 32, 16, 8, GPT_CLUSTER_COUNT, true>(0),
        gpt_cluster_row_of<128, 32, 16, 8, GPT_CLUSTER_COPY, true>(0),
        gpt_cluster_row_of<192, 32, 16, 8, GPT_CLUSTER_COUNT, true>(0),
        gpt_cluster_row_of<192, 32, 16, 8, GPT_CLUSTER_COPY, true>(0),
        gpt_cluster_row_of<256, 32, 8, 8, GPT_CLUSTER_STORE, true>(0),
        gpt_cluster_row_of<256, 32, 8, 8, GPT_CLUSTER_COPY, true>(0),
        gpt_cluster_row_of<256, 32, 16, 8, GPT_CLUSTER_STORE, true>(0),
        gpt_cluster_row_of<256, 32, 16, 8, GPT_CLUSTER_COPY, true>(0),
    };
    all.insert(all.end(), std::begin(more), std::end(more));
    return all;
#endif
}

/* ---- Plain kernels in float ---- */

__global__ void plain_embed(float *x, const int32_t *tokens, const bf16 *wte, const bf16 *wpe,
                            int seq, int width, int rows)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows * width)
        x[i] = cuda_float(wte[tokens[i / width] * width + i % width]) +
               cuda_float(wpe[i / width % seq * width + i % width]);
}

__global__ void plain_norm(float *y, const float *x, const bf16 *gain, const bf16 *bias, int width,
                           int rows)
{
    int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (r >= rows)
        return;
    float mean = 0, squares = 0;
    for (int i = 0; i < width; i++)
        mean += x[r * width + i] / (float)width;
    for (int i = 0; i < width; i++)
        squares += (x[r * width + i] - mean) * (x[r * width + i] - mean) / (float)width;
    for (int i = 0; i < width; i++)
        y[r * width + i] =
            (x[r * width + i] - mean) / sqrtf(squares + 1e-5f) * cuda_float(gain[i]) +
            cuda_float(bias[i]);
}

/* y = x w^T + b, GELU of it, or that added to y */
__global__ void plain_product(float *y, const float *x, const bf16 *w, const bf16 *b, int rows,
                              int n, int k, int what)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= rows * n)
        return;
    float sum = cuda_float(b[i % n]);
    for (int j = 0; j < k; j++)
        sum += x[i / n * k + j] * cuda_float(w[(size_t)(i % n) * (size_t)k + (size_t)j]);
    if (what == 1)
        sum = 0.5f * sum * (1 + tanhf(0.7978845608f * (sum + 0.044715f * sum * sum * sum)));
    y[i] = what == 2 ? y[i] + sum : sum;
}

__global__ void plain_attention(float *y, const float *qkv, int rows, int seq, int heads, int width)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), head = width / heads;
    if (i >= rows * heads)
        return;
    int r = i / heads, h = i % heads * head, first = r / seq * seq;
    float most = -INFINITY, sum = 0, s[BLOCK], out[32] = {};
    for (int j = first; j <= r; j++) {
        s[j - first] = 0;
        for (int d = 0; d < head; d++)
            s[j - first] += qkv[r * 3 * width + h + d] * qkv[j * 3 * width + width + h + d];
        s[j - first] /= sqrtf((float)head);
        most = fmaxf(most, s[j - first]);
    }
    for (int j = first; j <= r; j++) {
        float p = expf(s[j - first] - most);
        sum += p;
        for (int d = 0; d < head; d++)
            out[d] += p * qkv[j * 3 * width + 2 * width + h + d];
    }
    for (int d = 0; d < head; d++)
        y[r * width + h + d] = out[d] / sum;
}

/* ---- A case ---- */

static float normal(void)
{
    return sqrtf(-2 * logf(uniform() + 1e-9f)) * cosf(6.2831853f * uniform());
}

/* Offsets in a layer of width c, as models/gpt_weights.h has them. */
struct offsets {
    int64_t ln1, qkv, qkv_b, proj, proj_b, ln2, fc, fc_b, fc_proj, fc_proj_b, layer;
    explicit offsets(int64_t c)
        : ln1(0), qkv(2 * c), qkv_b(qkv + 3 * c * c), proj(qkv_b + 3 * c), proj_b(proj + c * c),
          ln2(proj_b + c), fc(ln2 + 2 * c), fc_b(fc + 4 * c * c), fc_proj(fc_b + 4 * c),
          fc_proj_b(fc_proj + 4 * c * c), layer(fc_proj_b + c)
    {
    }
};

struct weights {
    const struct model *m;
    struct offsets o;
    bf16 *wte, *wpe, *layers, *last;
    explicit weights(const struct model *of);
    ~weights(void)
    {
        cudaFree(wte), cudaFree(wpe), cudaFree(layers), cudaFree(last);
    }
};

static bf16 *drawn(int64_t n, float mean, float deviation, std::vector<bf16> *into)
{
    std::vector<bf16> v((size_t)n);
    for (bf16 &x : v)
        x = cuda_from<bf16>(mean + deviation * normal());
    if (into) {
        into->insert(into->end(), v.begin(), v.end());
        return nullptr;
    }
    return device_array(v.size(), v.data());
}

weights::weights(const struct model *of) : m(of), o(of->width)
{
    int64_t c = m->width;
    std::vector<bf16> all, f;
    wte = drawn(VOCAB * c, 0, 1, nullptr);
    wpe = drawn(BLOCK * c, 0, 0.5f, nullptr);
    for (int l = 0; l < m->layers; l++) {
        float near = 0.8f / sqrtf((float)c);
        drawn(c, 1, 0.2f, &all), drawn(c, 0, 0.2f, &all);
        drawn(3 * c * c, 0, near, &all), drawn(3 * c, 0, 0.2f, &all);
        drawn(c * c, 0, near, &all), drawn(c, 0, 0.2f, &all);
        drawn(c, 1, 0.2f, &all), drawn(c, 0, 0.2f, &all);
        drawn(4 * c * c, 0, near, &all), drawn(4 * c, 0, 0.2f, &all);
        drawn(4 * c * c, 0, near / 2, &all), drawn(c, 0, 0.2f, &all);
    }
    layers = device_array(all.size(), all.data());
    drawn(c, 1, 0.2f, &f), drawn(c, 0, 0.2f, &f);
    last = device_array(f.size(), f.data());
}

static std::vector<float> expected(const struct weights *w, const int32_t *tokens, int sequences,
                                   int seq)
{
    int c = w->m->width, rows = sequences * seq;
    size_t n = (size_t)rows * (size_t)c;
    float *x = device_array<float>(n, nullptr), *h = device_array<float>(n, nullptr);
    float *wide = device_array<float>(4 * n, nullptr);
    const struct offsets &o = w->o;
    plain<plain_embed>(rows * c, x, tokens, (const bf16 *)w->wte, (const bf16 *)w->wpe, seq, c,
                       rows);
    for (int l = 0; l < w->m->layers; l++) {
        const bf16 *p = w->layers + l * o.layer;
        plain<plain_norm>(rows, h, x, p + o.ln1, p + o.ln1 + c, c, rows);
        plain<plain_product>(rows * 3 * c, wide, h, p + o.qkv, p + o.qkv_b, rows, 3 * c, c, 0);
        plain<plain_attention>(rows * w->m->heads, h, wide, rows, seq, w->m->heads, c);
        plain<plain_product>(rows * c, x, h, p + o.proj, p + o.proj_b, rows, c, c, 2);
        plain<plain_norm>(rows, h, x, p + o.ln2, p + o.ln2 + c, c, rows);
        plain<plain_product>(rows * 4 * c, wide, h, p + o.fc, p + o.fc_b, rows, 4 * c, c, 1);
        plain<plain_product>(rows * c, x, wide, p + o.fc_proj, p + o.fc_proj_b, rows, c, 4 * c, 2);
    }
    plain<plain_norm>(rows, h, x, (const bf16 *)w->last, (const bf16 *)w->last + c, c, rows);
    std::vector<float> out(n);
    must(cudaMemcpyAsync(out.data(), h, n * sizeof(float), cudaMemcpyDeviceToHost, nullptr), "out");
    must(cudaStreamSynchronize(nullptr), "the plain kernels");
    cudaFree(x), cudaFree(h), cudaFree(wide);
    return out;
}

/* Everything one kernel of the table needs. */
struct body {
    const struct gpt_cluster_kind *kind;
    struct gpt_cluster_body b;
    unsigned char *packed;
    body(const struct gpt_cluster_kind *k, const struct weights *w, const int32_t *tokens,
         int sequences, int seq)
        : kind(k), b()
    {
        const struct offsets &o = w->o;
        const bf16 *p = w->layers;
        size_t bytes = (size_t)w->m->layers * k->layer_bytes;
        packed = device_array<unsigned char>(bytes, nullptr);
        struct gpt_cluster_sources f = { p + o.qkv,  p + o.qkv_b,   p + o.proj, p + o.fc,
                                         p + o.fc_b, p + o.fc_proj, o.layer,    packed };
        k->pack(&f, w->m->layers, nullptr);
        must(cudaGetLastError(), "packing");
        must(cudaStreamSynchronize(nullptr), "packing");
        b.layers = w->m->layers, b.sequences = sequences, b.seq = seq;
        b.tokens = tokens, b.wte = w->wte, b.wpe = w->wpe;
        b.stride = o.layer, b.first_gain = p;
        b.attention = { p + o.proj_b, p + o.ln2 };
        b.mlp = { p + o.fc_proj_b, p + o.layer }; /* LN1 of the layer behind */
        b.last_gain = w->last, b.packed = packed;
        b.next = packed, b.next_bytes = (int64_t)bytes;
#ifdef GPT_CLUSTER_CLOCK
        b.clock = device_array<long long>(clocks(), nullptr);
#endif
        b.out = device_array<bf16>((size_t)(sequences * seq) * (size_t)k->width, nullptr);
    }
    ~body(void)
    {
        cudaFree(packed), cudaFree(b.out);
#ifdef GPT_CLUSTER_CLOCK
        cudaFree(b.clock);
#endif
    }
    size_t clocks(void) const
    {
        return (size_t)(b.sequences * kind->blocks * b.layers * GPT_CLUSTER_MARKS);
    }
    std::vector<float> run(void)
    {
        size_t n = (size_t)(b.sequences * b.seq) * (size_t)kind->width;
        std::vector<bf16> out(n);
        must(cudaMemsetAsync(b.out, 0xff, n * 2, nullptr), "poison");
        kind->launch(&b, nullptr);
        must(cudaGetLastError(), "launching the cluster kernel");
        must(cudaMemcpyAsync(out.data(), b.out, n * 2, cudaMemcpyDeviceToHost, nullptr), "out");
        must(cudaStreamSynchronize(nullptr), "the cluster kernel");
        std::vector<float> f(n);
        for (size_t i = 0; i < n; i++)
            f[i] = cuda_float(out[i]);
        return f;
    }
};

static int32_t *draw_tokens(int n)
{
    std::vector<int32_t> t((size_t)n);
    for (int32_t &x : t)
        x = std::min(VOCAB - 1, (int)(uniform() * (float)VOCAB));
    return device_array(t.size(), t.data());
}

static int check(const struct gpt_cluster_kind *k, const struct weights *w, int sequences, int seq)
{
    int32_t *tokens = draw_tokens(sequences * seq);
    std::vector<float> want = expected(w, tokens, sequences, seq);
    struct body made(k, w, tokens, sequences, seq);
    std::vector<float> got = made.run(), again = made.run();
    double squares = 0, most = 0, apart = 0, bound = 0.06;
    size_t wrong = 0, first = 0, rows[8] = {}, cols[8] = {};
    for (float x : want)
        squares += (double)x * x / (double)want.size();
    for (size_t i = 0; i < want.size(); i++) {
        double d = fabs((double)got[i] - want[i]) / sqrt(squares);
        most = d > most || std::isnan(d) ? d : most;
        apart += d * d / (double)want.size();
        if (d <= bound)
            continue;
        if (!wrong++)
            first = i;
        rows[i / (size_t)k->width % 8]++;
        cols[i % (size_t)k->width % 8]++;
    }
    bool same = memcmp(got.data(), again.data(), got.size() * sizeof(float)) == 0;
    printf("%-12s cluster %2d %s %s  %d x %2d  %s  largest %.4f rms %.5f%s\n", w->m->name,
           k->blocks, k->wgmma ? "wgmma" : "mma  ", sends[k->send], sequences, seq,
           wrong ? "WRONG" : "ok   ", most, sqrt(apart), same ? "" : "  DIFFERS when run again");
    if (wrong) {
        size_t c = (size_t)k->width;
        printf("    first at (%zu, %zu) got %g want %g; %.1f%% wrong; by row%%8", first / c,
               first % c, got[first], want[first], 100.0 * (double)wrong / (double)want.size());
        for (size_t x : rows)
            printf(" %zu", x);
        printf("; by col%%8");
        for (size_t x : cols)
            printf(" %zu", x);
        printf("\n");
    }
    fflush(stdout);
    cudaFree(tokens);
    return wrong > 0 || !same;
}

#if defined(GPT_CLUSTER_CLOCK) && !defined(CUDA_HOST_LAYER)
/* Cycles between the marks of a layer: of block 0 and the largest of the first cluster, the median
 * over the layers but the first and the last. */
static void show_clocks(const struct gpt_cluster_kind *k, const struct weights *w)
{
    static const char *const names[] = { "start",     "weights", "qkv",    "attention", "proj",
                                         "barrier 1", "sum 1",   "norm 1", "barrier 2", "mlp",
                                         "barrier 3", "sum 2",   "norm 2", "barrier 4" };
    int32_t *tokens = draw_tokens(4 * 64);
    struct body made(k, w, tokens, 4, 64);
    std::vector<long long> at(made.clocks());
    for (int i = 0; i < 5; i++)
        made.run();
    must(cudaMemcpyAsync(at.data(), made.b.clock, at.size() * sizeof(long long),
                         cudaMemcpyDeviceToHost, nullptr),
         "clocks");
    must(cudaStreamSynchronize(nullptr), "clocks");
    printf("%-12s cluster %2d %s %s  cycles of block 0 (most of a block):", w->m->name, k->blocks,
           k->wgmma ? "wgmma" : "mma  ", sends[k->send]);
    for (int mark = 1; mark <= GPT_CLUSTER_BARRIER_4; mark++) {
        long long first = 0, most = 0;
        for (int block = 0; block < k->blocks; block++) {
            std::vector<long long> took;
            for (int l = 1; l + 1 < w->m->layers; l++) {
                const long long *t = &at[(size_t)((block * w->m->layers + l) * GPT_CLUSTER_MARKS)];
                bool idle = t[GPT_CLUSTER_QKV] < t[GPT_CLUSTER_WEIGHTS]; /* no head: not written */
                if (!idle || mark < GPT_CLUSTER_QKV || mark > GPT_CLUSTER_PROJ)
                    took.push_back(t[mark] - t[mark - 1]);
            }
            std::sort(took.begin(), took.end());
            long long median = took.empty() ? 0 : took[took.size() / 2];
            first = block == 0 ? median : first;
            most = std::max(most, median);
        }
        printf("  %s %lld (%lld)", names[mark], first, most);
    }
    printf("\n");
    fflush(stdout);
    cudaFree(tokens);
}
#endif

#if !defined(CUDA_HOST_LAYER) && !defined(GPT_CLUSTER_CLOCK)
/* us a launch: the median of 15 replays of a graph of 20. */
static double graph_us(const struct gpt_cluster_kind *k, const struct gpt_cluster_body *b,
                       cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t start, stop;
    std::vector<float> times;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < 20; i++)
        k->launch(b, stream);
    must(cudaStreamEndCapture(stream, &graph), "capture");
    must(cudaGraphInstantiate(&exec, graph, 0), "graph");
    cudaEventCreate(&start), cudaEventCreate(&stop);
    static bool warm = false;
    for (int i = 0; !warm && i < 500; i++) /* some 0.1 s, once */
        must(cudaGraphLaunch(exec, stream), "warming up");
    warm = true;
    for (int i = 0; i < 25; i++) {
        float ms = 0;
        cudaEventRecord(start, stream);
        cudaGraphLaunch(exec, stream);
        cudaEventRecord(stop, stream);
        must(cudaEventSynchronize(stop), "replay");
        cudaEventElapsedTime(&ms, start, stop);
        if (i >= 10)
            times.push_back(ms * 1000 / 20);
    }
    std::sort(times.begin(), times.end());
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
    cudaEventDestroy(start), cudaEventDestroy(stop);
    return times[times.size() / 2];
}

/* us of one launch behind a write of 256 MB, which leaves nothing of it in the L2. */
static double cold_us(const struct gpt_cluster_kind *k, const struct gpt_cluster_body *b,
                      cudaStream_t stream, void *flush, size_t bytes)
{
    cudaEvent_t start, stop;
    std::vector<float> times;
    cudaEventCreate(&start), cudaEventCreate(&stop);
    for (int i = 0; i < 11; i++) {
        float ms = 0;
        cudaMemsetAsync(flush, i, bytes, stream);
        cudaEventRecord(start, stream);
        k->launch(b, stream);
        cudaEventRecord(stop, stream);
        must(cudaEventSynchronize(stop), "a cold launch");
        cudaEventElapsedTime(&ms, start, stop);
        times.push_back(ms * 1000);
    }
    std::sort(times.begin(), times.end());
    cudaEventDestroy(start), cudaEventDestroy(stop);
    return times[times.size() / 2];
}

static void time_one(const struct gpt_cluster_kind *k, const struct weights *w, cudaStream_t stream,
                     void *flush, size_t bytes)
{
    int32_t *tokens = draw_tokens(4 * 64);
    struct body made(k, w, tokens, 4, 64);
    struct gpt_cluster_body one = made.b, quiet = made.b;
    one.layers = 1;
    quiet.next_bytes = 0;
    double whole = graph_us(k, &made.b, stream), single = graph_us(k, &one, stream);
    printf(
        "%-12s cluster %2d %s %s  %7.2f us, without prefetch of the head %7.2f; a layer "
        "%5.2f, "
        "the "
        "rest %5.2f; cold L2 %7.2f (with the event's overhead); %d clusters fit, %zu B shared\n",
        w->m->name, k->blocks, k->wgmma ? "wgmma" : "mma  ", sends[k->send], whole,
        graph_us(k, &quiet, stream), (whole - single) / (w->m->layers - 1),
        single - (whole - single) / (w->m->layers - 1), cold_us(k, &made.b, stream, flush, bytes),
        k->active(), k->shared);
    fflush(stdout);
    cudaFree(tokens);
}
#endif

int main(int argc, char **argv)
{
    bool checks = true, times = true, quick = false, wgmma = false;
    const char *only = "";
    int wrong = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--check"))
            times = false;
        else if (!strcmp(argv[i], "--quick"))
            quick = true, times = false;
        else if (!strcmp(argv[i], "--wgmma"))
            wgmma = true;
        else if (!strcmp(argv[i], "--time"))
            checks = false;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
    }
#ifndef CUDA_HOST_LAYER
    cudaStream_t stream;
    void *flush;
    size_t bytes = (size_t)256 << 20;
    cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess || p.major != 9 || p.minor != 0) {
        printf("no device of compute capability 9.0\n");
        return 77;
    }
    must(cudaStreamCreate(&stream), "stream");
    must(cudaMalloc(&flush, bytes), "cudaMalloc");
#endif
    const std::vector<struct gpt_cluster_kind> kinds = all_kinds();
    for (const struct model &m : models) {
        if (*only && strcmp(only, m.name))
            continue;
        struct weights w(&m);
        for (const struct gpt_cluster_kind &way : kinds) {
            const struct gpt_cluster_kind *k = &way;
            if (k->width != m.width || (wgmma && !k->wgmma))
                continue;
            if (k->active() < 1) {
                printf("%-12s cluster %2d  does not fit on this device\n", m.name, k->blocks);
                continue;
            }
            if (checks && quick)
                wrong += check(k, &w, 1, 64) + check(k, &w, 2, 17);
            else if (checks)
                wrong += check(k, &w, 1, 1) + check(k, &w, 3, 17) + check(k, &w, 4, 64);
#ifdef GPT_CLUSTER_CLOCK
#ifndef CUDA_HOST_LAYER
            if (times)
                show_clocks(k, &w);
#endif
#elif !defined(CUDA_HOST_LAYER)
            if (times)
                time_one(k, &w, stream, flush, bytes);
#endif
        }
    }
    (void)times;
    printf(wrong ? "%d cases WRONG\n" : "all ok\n", wrong);
    return wrong > 0;
}
