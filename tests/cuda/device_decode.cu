/* SPDX-License-Identifier: MIT */
/*
 * Bring-up of models/gpt_cuda_decode.h on a device, or on the host layer: logits and caches against
 * plain kernels in float, and times of a token with what bounds them. Nothing of the harness but
 * the kernels.
 *
 *     nvcc -std=c++20 -O3 -I. -gencode=arch=compute_90a,code=sm_90a -cudart static
 *         tests/cuda/device_decode.cu -o device_decode
 *     ./device_decode [--check] [--time] [--only NAME] [--seq N] [--clusters N] [--unasked]
 *
 * With -DCUDA_WATCHDOG a wait that never ends is an error. Ends with 1 where anything was wrong,
 * with 3 after an error of CUDA, with 77 without such a device.
 */
#include "models/gpt_cuda_decode_kinds.h"

#include "device_plain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct model {
    const char *name;
    int layers, heads, width, block;
};

static const struct model models[] = {
    { "nano", 3, 3, 48, 128 },  { "tile-small", 4, 4, 64, 128 },  { "micro", 4, 4, 128, 256 },
    { "mini", 6, 6, 192, 256 }, { "tile-large", 8, 8, 256, 512 }, { "gpt2", 12, 12, 768, 1024 },
};

#ifndef DEVICE_DECODE_VOCAB
#define DEVICE_DECODE_VOCAB 50257
#endif
enum { VOCAB = DEVICE_DECODE_VOCAB };

/* What a way leaves out, or how it differs. */
struct way {
    const char *what;
    struct gpt_decode_kind kind;
};

static const struct way ways[] = {
#ifdef DEVICE_DECODE_WAY
    { "small", DEVICE_DECODE_WAY },
#else
    { "as it is", gpt_decode_row_of<48, 16, 128, 8, 24>() },
    { "as it is", gpt_decode_row_of<64, 16, 128, 8, 24>() },
    { "as it is", gpt_decode_row_of<128, 32, 256, 8, 24>() },
    { "as it is", gpt_decode_row_of<192, 32, 256, 8, 24>() },
    { "as it is", gpt_decode_row_of<256, 32, 512, 8, 24>() },
    { "16 warps", gpt_decode_row_of<256, 32, 512, 16, 24>() },
    { "as it is", gpt_decode_row_of<768, 64, 1024, 12, 14>() },
#ifndef CUDA_HOST_LAYER
    { "4 warps", gpt_decode_row_of<48, 16, 128, 4, 24>() },
    { "16 warps", gpt_decode_row_of<48, 16, 128, 16, 24>() },
    { "4 rows of the head at once", gpt_decode_row_of<48, 16, 128, 8, 16>() },
    { "12 warps", gpt_decode_row_of<256, 32, 512, 12, 24>() },
    { "2 rows of the head at once", gpt_decode_row_of<768, 64, 1024, 12, 11>() },
    { "stream only", gpt_decode_row_of<768, 64, 1024, 12, 14, GPT_DECODE_STREAM_ONLY>() },
    { "no products", gpt_decode_row_of<768, 64, 1024, 12, 14, GPT_DECODE_NO_PRODUCT>() },
    { "no waits for clusters", gpt_decode_row_of<768, 64, 1024, 12, 14, GPT_DECODE_NO_POLL>() },
    { "chain alone (no products, no cache)",
      gpt_decode_row_of<768, 64, 1024, 12, 14, GPT_DECODE_NO_PRODUCT | GPT_DECODE_NO_CACHE>() },
#endif
#endif
};

/* ---- Plain kernels in float, one token ---- */

__global__ void plain_embed(float *x, const bf16 *token, const bf16 *position, int width)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < width)
        x[i] = cuda_float(token[i]) + cuda_float(position[i]);
}

__global__ void plain_norm(float *y, const float *x, const bf16 *gain, int width)
{
    float mean = 0, squares = 0;
    if (blockIdx.x + threadIdx.x > 0)
        return;
    for (int i = 0; i < width; i++)
        mean += x[i] / (float)width;
    for (int i = 0; i < width; i++)
        squares += (x[i] - mean) * (x[i] - mean) / (float)width;
    for (int i = 0; i < width; i++)
        y[i] = (x[i] - mean) / sqrtf(squares + 1e-5f) * cuda_float(gain[i]) +
               cuda_float(gain[width + i]);
}

/* y = w x (+ b), GELU of it, or that added to y */
__global__ void plain_product(float *y, const float *x, const bf16 *w, const bf16 *b, int n, int k,
                              int what)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    float sum = b ? cuda_float(b[i]) : 0;
    for (int j = 0; j < k; j++)
        sum += x[j] * cuda_float(w[(size_t)i * (size_t)k + (size_t)j]);
    if (what == 1)
        sum = 0.5f * sum * (1 + tanhf(0.7978845608f * (sum + 0.044715f * sum * sum * sum)));
    y[i] = what == 2 ? y[i] + sum : sum;
}

/* One thread a head; its own key and value go to the cache. */
__global__ void plain_attention(float *y, const float *qkv, bf16 *k, bf16 *v, int seq, int heads,
                                int width)
{
    int h = (int)(blockIdx.x * blockDim.x + threadIdx.x), head = width / heads;
    if (h >= heads)
        return;
    float most = -INFINITY, sum = 0, out[64] = {};
    for (int d = 0; d < head; d++) {
        size_t at = (size_t)(seq - 1) * (size_t)width + (size_t)(h * head + d);
        k[at] = cuda_from<bf16>(qkv[width + h * head + d]);
        v[at] = cuda_from<bf16>(qkv[2 * width + h * head + d]);
    }
    for (int p = 0; p < seq; p++) {
        size_t at = (size_t)p * (size_t)width + (size_t)(h * head);
        float score = 0;
        for (int d = 0; d < head; d++)
            score += qkv[h * head + d] * cuda_float(k[at + (size_t)d]);
        score /= sqrtf((float)head);
        float next = fmaxf(most, score), by = expf(most - next), power = expf(score - next);
        most = next;
        sum = sum * by + power;
        for (int d = 0; d < head; d++)
            out[d] = out[d] * by + power * cuda_float(v[at + (size_t)d]);
    }
    for (int d = 0; d < head; d++)
        y[h * head + d] = out[d] / sum;
}

/* ---- A model with weights, and a step of it ---- */

/* Near enough to normal, and quick. */
static float normal(void)
{
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += uniform();
    return (sum - 2) * 1.732f;
}

template <class T> static std::vector<T> host_array(const T *from, size_t n)
{
    std::vector<T> v(n);
    must(cudaMemcpyAsync(v.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost, nullptr), "out");
    must(cudaStreamSynchronize(nullptr), "a kernel");
    return v;
}

static void draw(std::vector<bf16> *into, int64_t n, float mean, float deviation)
{
    for (int64_t i = 0; i < n; i++)
        into->push_back(cuda_from<bf16>(mean + deviation * normal()));
}

static bf16 *drawn(int64_t n, float deviation)
{
    std::vector<bf16> v;
    draw(&v, n, 0, deviation);
    return device_array(v.size(), v.data());
}

/* Where a layer's tensors are, as models/gpt_weights.h has them. */
struct offsets {
    int64_t qkv, qkv_b, proj, proj_b, ln2, fc, fc_b, fc2, fc2_b, layer;
    explicit offsets(int64_t c)
        : qkv(2 * c), qkv_b(qkv + 3 * c * c), proj(qkv_b + 3 * c), proj_b(proj + c * c),
          ln2(proj_b + c), fc(ln2 + 2 * c), fc_b(fc + 4 * c * c), fc2(fc_b + 4 * c),
          fc2_b(fc2 + 4 * c * c), layer(fc2_b + c)
    {
    }
};

struct weights {
    const struct model *m;
    struct offsets o;
    bf16 *wte, *wpe, *layers, *last, *lm_head;
    explicit weights(const struct model *of);
    ~weights(void)
    {
        cudaFree(wte), cudaFree(wpe), cudaFree(layers), cudaFree(last), cudaFree(lm_head);
    }
};

weights::weights(const struct model *of) : m(of), o(of->width)
{
    int64_t c = m->width;
    std::vector<bf16> all, f;
    float near = 0.8f / sqrtf((float)c);
    wte = drawn(64 * c, 1), wpe = drawn(m->block * c, 0.5f);
    for (int l = 0; l < m->layers; l++) {
        draw(&all, c, 1, 0.2f), draw(&all, c, 0, 0.2f);
        draw(&all, 3 * c * c, 0, near), draw(&all, 3 * c, 0, 0.2f);
        draw(&all, c * c, 0, near), draw(&all, c, 0, 0.2f);
        draw(&all, c, 1, 0.2f), draw(&all, c, 0, 0.2f);
        draw(&all, 4 * c * c, 0, near), draw(&all, 4 * c, 0, 0.2f);
        draw(&all, 4 * c * c, 0, near / 2), draw(&all, c, 0, 0.2f);
    }
    layers = device_array(all.size(), all.data());
    draw(&f, c, 1, 0.2f), draw(&f, c, 0, 0.2f);
    last = device_array(f.size(), f.data());
    lm_head = drawn(VOCAB * c, near);
}

struct step {
    const struct weights *w;
    int seq;
    size_t cache;
    int32_t token[1];
    int32_t *tokens;
    bf16 *k, *v;
    step(const struct weights *of, int length)
        : w(of), seq(length), cache((size_t)(of->m->layers * length) * (size_t)of->m->width),
          token { (int32_t)(uniform() * 63) }, tokens(device_array(1, token)),
          k(drawn((int64_t)cache, 1)), v(drawn((int64_t)cache, 1))
    {
    }
    ~step(void)
    {
        cudaFree(tokens), cudaFree(k), cudaFree(v);
    }
    /* What a step has to read. */
    double bytes(void) const
    {
        double c = w->m->width;
        return 2 * (12 * c * c * w->m->layers + (double)VOCAB * c + 2 * (double)cache);
    }
};

/* Logits by the plain kernels; k and v are this step's copies of the caches. */
static std::vector<float> expected(const struct step *t, bf16 *k, bf16 *v)
{
    const struct weights *w = t->w;
    int c = w->m->width, heads = w->m->heads;
    size_t n = (size_t)c;
    const struct offsets &o = w->o;
    float *x = device_array<float>(n, nullptr), *h = device_array<float>(n, nullptr);
    float *wide = device_array<float>(4 * n, nullptr), *y = device_array<float>(VOCAB, nullptr);
    plain<plain_embed>(c, x, (const bf16 *)w->wte + t->token[0] * c,
                       (const bf16 *)w->wpe + (t->seq - 1) * c, c);
    for (int l = 0; l < w->m->layers; l++) {
        const bf16 *p = w->layers + l * o.layer;
        int64_t before = (int64_t)l * t->seq * c;
        plain<plain_norm>(1, h, x, p, c);
        plain<plain_product>(3 * c, wide, h, p + o.qkv, p + o.qkv_b, 3 * c, c, 0);
        plain<plain_attention>(heads, h, wide, k + before, v + before, t->seq, heads, c);
        plain<plain_product>(c, x, h, p + o.proj, p + o.proj_b, c, c, 2);
        plain<plain_norm>(1, h, x, p + o.ln2, c);
        plain<plain_product>(4 * c, wide, h, p + o.fc, p + o.fc_b, 4 * c, c, 1);
        plain<plain_product>(c, x, wide, p + o.fc2, p + o.fc2_b, c, 4 * c, 2);
    }
    plain<plain_norm>(1, h, x, (const bf16 *)w->last, c);
    plain<plain_product>((int)VOCAB, y, h, (const bf16 *)w->lm_head, (const bf16 *)nullptr,
                         (int)VOCAB, c, 0);
    std::vector<float> out = host_array(y, VOCAB);
    cudaFree(x), cudaFree(h), cudaFree(wide), cudaFree(y);
    return out;
}

static bool unasked; /* launches without the attribute of cooperative ones */

/* A step made ready for a kind. */
struct body {
    const struct gpt_decode_kind *kind;
    struct gpt_decode_body b;
    unsigned char *packed;
    body(const struct gpt_decode_kind *of, const struct step *t, int clusters) : kind(of), b()
    {
        const struct weights *w = t->w;
        size_t given = 2 * GPT_DECODE_SOURCES * (size_t)w->m->width;
        packed = device_array<unsigned char>((size_t)w->m->layers * kind->packed_layer, nullptr);
        kind->pack(w->layers, w->m->layers, packed, nullptr);
        must(cudaGetLastError(), "packing");
        b.layers = w->m->layers, b.seq = t->seq, b.vocab = VOCAB, b.clusters = clusters;
        b.unasked = unasked;
        b.busy_units = kind->busy_units(clusters);
        b.tokens = t->tokens, b.wte = w->wte, b.wpe = w->wpe, b.first = w->layers;
        b.last_norm = w->last, b.lm_head = w->lm_head, b.packed = packed;
        b.k = device_array<bf16>(t->cache, nullptr), b.v = device_array<bf16>(t->cache, nullptr);
        must(cudaMemcpyAsync(b.k, t->k, 2 * t->cache, cudaMemcpyDeviceToDevice, nullptr), "copy");
        must(cudaMemcpyAsync(b.v, t->v, 2 * t->cache, cudaMemcpyDeviceToDevice, nullptr), "copy");
        b.logits = device_array<bf16>(VOCAB, nullptr);
        b.mid = device_array<cuda_flagged>(given, nullptr);
        b.end = device_array<cuda_flagged>(given, nullptr);
        b.launches = device_array<unsigned>(1, nullptr);
        must(cudaMemsetAsync(b.mid, 0, given * sizeof(*b.mid), nullptr), "zeros");
        must(cudaMemsetAsync(b.end, 0, given * sizeof(*b.end), nullptr), "zeros");
        must(cudaMemsetAsync(b.launches, 0, sizeof(*b.launches), nullptr), "zeros");
        must(cudaStreamSynchronize(nullptr), "packing");
    }
    ~body(void)
    {
        cudaFree(packed), cudaFree(b.k), cudaFree(b.v), cudaFree(b.logits), cudaFree(b.mid);
        cudaFree(b.end), cudaFree(b.launches);
    }
    std::vector<float> run(void)
    {
        must(cudaMemsetAsync(b.logits, 0xff, 2 * VOCAB, nullptr), "poison");
        kind->launch(&b, nullptr);
        must(cudaGetLastError(), "launching the kernel");
        std::vector<float> f;
        for (bf16 x : host_array(b.logits, VOCAB))
            f.push_back(cuda_float(x));
        return f;
    }
};

/* ---- Checks ---- */

/* In units of the root of what is wanted's mean square. */
struct difference {
    double most = 0, apart = 0;
    size_t wrong = 0;
};
template <class F, class G>
static struct difference compare(size_t n, const F &got, const G &want, double bound)
{
    struct difference d;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (double)want(i) * want(i) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double off = fabs((double)got(i) - want(i)) / sqrt(squares);
        d.wrong += !(off <= bound);
        d.most = off > d.most || std::isnan(off) ? off : d.most;
        d.apart += off * off / (double)n;
    }
    d.apart = sqrt(d.apart);
    return d;
}

static struct difference compare_caches(const bf16 *got, const bf16 *want, size_t n)
{
    std::vector<bf16> a = host_array(got, n), b = host_array(want, n);
    return compare(
        n, [&](size_t i) { return cuda_float(a[i]); }, [&](size_t i) { return cuda_float(b[i]); },
        0.06);
}

static int check(const struct way *way, const struct weights *w, int seq, int clusters)
{
    struct step t(w, seq);
    struct body made(&way->kind, &t, clusters);
    std::vector<float> want = expected(&t, t.k, t.v), got = made.run(), again = made.run();
    struct difference d = compare(
        VOCAB, [&](size_t i) { return got[i]; }, [&](size_t i) { return want[i]; }, 0.06);
    struct difference k = compare_caches(made.b.k, t.k, t.cache);
    struct difference v = compare_caches(made.b.v, t.v, t.cache);
    bool same = memcmp(got.data(), again.data(), got.size() * sizeof(float)) == 0;
    bool wrong = d.wrong + k.wrong + v.wrong > 0;
    printf(
        "%-10s %-12s seq %4d, %2d clusters  %s  logits: largest %.4f rms %.5f; caches: %.4f "
        "%.4f%s\n",
        w->m->name, way->what, seq, clusters, wrong ? "WRONG" : "ok   ", d.most, d.apart, k.most,
        v.most, same ? "" : "  DIFFERS when run again");
    fflush(stdout);
    return wrong || !same;
}

#ifndef CUDA_HOST_LAYER
/* ---- Times ---- */

/* us a launch: the median of 15 replays of a graph of 10. */
static double graph_us(const struct body *m, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t start, stop;
    std::vector<float> times;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < 10; i++)
        m->kind->launch(&m->b, stream);
    must(cudaStreamEndCapture(stream, &graph), "capture");
    must(cudaGraphInstantiate(&exec, graph, 0), "graph");
    cudaEventCreate(&start), cudaEventCreate(&stop);
    static bool warm = false;
    for (int i = 0; !warm && i < 100; i++)
        must(cudaGraphLaunch(exec, stream), "warming up");
    warm = true;
    for (int i = 0; i < 20; i++) {
        float ms = 0;
        cudaEventRecord(start, stream);
        cudaGraphLaunch(exec, stream);
        cudaEventRecord(stop, stream);
        must(cudaEventSynchronize(stop), "replay");
        cudaEventElapsedTime(&ms, start, stop);
        if (i >= 5)
            times.push_back(ms * 1000 / 10);
    }
    std::sort(times.begin(), times.end());
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
    cudaEventDestroy(start), cudaEventDestroy(stop);
    return times[times.size() / 2];
}

/* Times of a way, with the time that a layer takes and all else. */
static void time_one(const struct way *way, const struct weights *w, int seq, int clusters,
                     cudaStream_t stream)
{
    struct step t(w, seq);
    struct body made(&way->kind, &t, clusters), one(&way->kind, &t, clusters);
    one.b.layers = 1;
    double us = graph_us(&made, stream), single = graph_us(&one, stream);
    double layer = (us - single) / (w->m->layers - 1), tbs = t.bytes() / us / 1e6;
    printf(
        "%-10s %-36s seq %4d, %2d clusters, %2d units %8.2f us  %5.2f TB/s  %5.1f%% of 4.5; a "
        "layer %5.2f, the rest %6.2f; %zu B shared\n",
        w->m->name, way->what, seq, clusters, made.b.busy_units, us, tbs, tbs / 4.5 * 100, layer,
        single - layer, way->kind.shared);
    fflush(stdout);
}
#endif

int main(int argc, char **argv)
{
    bool checks = true;
    [[maybe_unused]] bool times = true;
    const char *only = "";
    int wrong = 0, alone = 0, fewer = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--check"))
            times = false;
        else if (!strcmp(argv[i], "--time"))
            checks = false;
        else if (!strcmp(argv[i], "--unasked"))
            unasked = true;
        else if (!strcmp(argv[i], "--seq") && i + 1 < argc)
            alone = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--clusters") && i + 1 < argc)
            fewer = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
    }
#ifndef CUDA_HOST_LAYER
    cudaStream_t stream;
    cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess || p.major != 9 || p.minor != 0) {
        printf("no device of compute capability 9.0\n");
        return 77;
    }
    must(cudaStreamCreate(&stream), "stream");
#endif
    for (const struct model &m : models) {
        if (*only && strcmp(only, m.name))
            continue;
        struct weights w(&m);
        for (const struct way &way : ways) {
            if (way.kind.width != m.width)
                continue;
            int clusters = fewer ? fewer : way.kind.active();
            if (clusters < m.heads) {
                printf("%-10s %s: only %d clusters fit\n", m.name, way.what, clusters);
                continue;
            }
            if (checks && way.kind.left_out == GPT_DECODE_ALL)
                for (int seq : { 1, 18, m.block - 1, m.block })
                    wrong += alone && seq != alone ? 0 : check(&way, &w, seq, clusters);
#ifndef CUDA_HOST_LAYER
            if (times)
                for (int seq : { m.block / 16, m.block / 4, m.block })
                    if (!alone || seq == alone)
                        time_one(&way, &w, seq, clusters, stream);
            if (times && way.kind.left_out == GPT_DECODE_ALL && clusters > m.heads)
                time_one(&way, &w, m.block, m.heads, stream);
#endif
        }
    }
    printf(wrong ? "%d cases WRONG\n" : "all ok\n", wrong);
    return wrong > 0;
}
