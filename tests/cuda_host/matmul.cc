/* SPDX-License-Identifier: MIT */
#include "matmul.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace cuda_host
{

/* ---- Numbers ---- */

static uint16_t to_bf16(float x)
{
    uint32_t bits = std::bit_cast<uint32_t>(x);

    if (std::isnan(x))
        return 0x7fff;
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float from_bf16(uint16_t bits)
{
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/* 10 bits of mantissa, to nearest, ties away from 0. */
static float to_tf32(float x)
{
    if (!std::isfinite(x))
        return x;
    return std::bit_cast<float>((std::bit_cast<uint32_t>(x) + 0x1000) & 0xffffe000);
}

static float rounded(float x, enum rounding rounding)
{
    switch (rounding) {
    case rounding::TF32:
        return to_tf32(x);
    case rounding::BF16:
        return from_bf16(to_bf16(x));
    case rounding::NONE:
        break;
    }
    return x;
}

/* The tanh form, which is what cuBLASLt's epilogue computes. */
static float gelu(float x)
{
    const float root = 0.7978845608028654f; /* sqrt(2 / pi) */

    return 0.5f * x * (1 + std::tanh(root * (x + 0.044715f * x * x * x)));
}

static float load(const void *data, cudaDataType type, int64_t at)
{
    return type == CUDA_R_32F ? static_cast<const float *>(data)[at]
                              : from_bf16(static_cast<const uint16_t *>(data)[at]);
}

static void store(const struct operand *d, int64_t at, float x)
{
    void *data = const_cast<void *>(d->data);

    if (d->type == CUDA_R_32F)
        static_cast<float *>(data)[at] = x;
    else
        static_cast<uint16_t *>(data)[at] = to_bf16(x);
}

/* ---- The product ---- */

/* op(X) as rows of `cols` floats: element (r, c) at r * cols + c. */
static std::vector<float> unpack(const struct operand *x, int64_t start, bool transpose,
                                 int64_t rows, int64_t cols, enum rounding rounding)
{
    std::vector<float> plain(static_cast<size_t>(rows * cols));
    int64_t down = transpose ? x->ld : 1, across = transpose ? 1 : x->ld;

    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            plain[static_cast<size_t>(r * cols + c)] =
                rounded(load(x->data, x->type, start + r * down + c * across), rounding);
    return plain;
}

static void finish_column(const struct product *p, int64_t batch, int64_t j, const float *sums)
{
    for (int64_t i = 0; i < p->m; i++) {
        float x = p->alpha * sums[i];
        /* C is not read at beta 0: it may hold anything. */
        if (p->beta != 0)
            x += p->beta * load(p->c.data, p->c.type, batch * p->c.stride + i + j * p->c.ld);
        if (p->bias)
            x += load(p->bias, p->d.type, i);
        store(&p->d, batch * p->d.stride + i + j * p->d.ld, p->gelu ? gelu(x) : x);
    }
}

static void run_one(const struct product *p, int64_t batch)
{
    /* op(A) transposed, so that the sums of a column are next to each other. */
    std::vector<float> a =
        unpack(&p->a, batch * p->a.stride, !p->transpose_a, p->k, p->m, p->rounding);
    std::vector<float> b =
        unpack(&p->b, batch * p->b.stride, !p->transpose_b, p->n, p->k, p->rounding);
    std::vector<float> sums(static_cast<size_t>(p->m));

    for (int64_t j = 0; j < p->n; j++) {
        std::fill(sums.begin(), sums.end(), 0.0f);
        for (int64_t x = 0; x < p->k; x++) {
            const float *column = a.data() + x * p->m;
            float factor = b[static_cast<size_t>(j * p->k + x)];
            for (int64_t i = 0; i < p->m; i++)
                sums[static_cast<size_t>(i)] += column[i] * factor;
        }
        finish_column(p, batch, j, sums.data());
    }
}

void product_run(const struct product *p)
{
    for (int64_t batch = 0; batch < p->batch; batch++)
        run_one(p, batch);
}

cublasStatus_t product_enqueue(const struct product *p, cudaStream_t stream)
{
    if (p->m == 0 || p->n == 0 || p->batch == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (!stream)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    cudaError_t rc = stream->enqueue(stream, { cudaGraphNodeTypeKernel, [copy = *p] {
                                                  product_run(&copy);
                                                  return cudaSuccess;
                                              } });
    return rc == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/* ---- What is refused ---- */

static bool bad_pointer(const struct operand *x)
{
    uintptr_t size = x->type == CUDA_R_32F ? 4 : 2;

    return !x->data || reinterpret_cast<uintptr_t>(x->data) % size != 0;
}

static cublasStatus_t check_types(const struct product *p)
{
    cudaDataType in = p->a.type, out = p->d.type;

    if ((in != CUDA_R_32F && in != CUDA_R_16BF) || p->b.type != in || p->c.type != out)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return out == CUDA_R_32F || out == in ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

static bool bad_sizes(const struct product *p)
{
    const int64_t one = 1;

    return p->m < 0 || p->n < 0 || p->k < 0 || p->batch < 0 ||
           p->a.ld < std::max(one, p->transpose_a ? p->k : p->m) ||
           p->b.ld < std::max(one, p->transpose_b ? p->n : p->k) || p->c.ld < std::max(one, p->m) ||
           p->d.ld < std::max(one, p->m);
}

cublasStatus_t product_check(const struct product *p, bool pointers)
{
    if (bad_sizes(p))
        return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t rc = check_types(p);
    if (rc != CUBLAS_STATUS_SUCCESS || !pointers || p->m == 0 || p->n == 0)
        return rc;
    bool bad = bad_pointer(&p->c) || bad_pointer(&p->d) ||
               (p->k > 0 && (bad_pointer(&p->a) || bad_pointer(&p->b)));
    return bad ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t product_rounding(cublasComputeType_t compute, cublasMath_t math,
                                enum rounding *rounding)
{
    switch (compute) {
    case CUBLAS_COMPUTE_32F:
        *rounding = (math & 3) == CUBLAS_TF32_TENSOR_OP_MATH ? rounding::TF32 : rounding::NONE;
        return CUBLAS_STATUS_SUCCESS;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
        *rounding = rounding::NONE;
        return CUBLAS_STATUS_SUCCESS;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
        *rounding = rounding::BF16;
        return CUBLAS_STATUS_SUCCESS;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        *rounding = rounding::TF32;
        return CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

} // namespace cuda_host
