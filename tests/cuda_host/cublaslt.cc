/* SPDX-License-Identifier: MIT */
/* A stub of libcublasLt: the same symbols, computed by matmul.cc. */
#include "driver.h"
#include "matmul.h"

#include <cstring>

using namespace cuda_host;

/* What the opaque types hold here. */
struct cublasLtContext {
    int unused;
};

struct lt_layout {
    cudaDataType type;
    int64_t rows, cols, ld, batch, stride;
};

struct lt_desc {
    int32_t compute, scale, transpose_a, transpose_b, epilogue, bias_type;
    const void *bias;
};

struct lt_preference {
    uint64_t workspace;
    uint32_t alignment[4]; /* of A, B, C, D in bytes */
};

/* What the heuristic promised for, kept in an algorithm. */
struct lt_algo {
    uint64_t workspace;
    uint32_t alignment[4];
};

static_assert(sizeof(lt_layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(lt_desc) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(lt_preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));
static_assert(sizeof(lt_algo) <= sizeof(cublasLtMatmulAlgo_t));

enum { NO_TYPE = -1 };
constexpr uint64_t WORKSPACE = 4096;

template <class Mine, class Opaque> static Mine read_opaque(const Opaque *opaque)
{
    Mine mine;

    memcpy(&mine, opaque, sizeof(mine));
    return mine;
}

template <class Opaque, class Mine> static cublasStatus_t create(Opaque **opaque, const Mine &mine)
{
    if (!opaque)
        return CUBLAS_STATUS_INVALID_VALUE;
    *opaque = new Opaque {};
    memcpy(*opaque, &mine, sizeof(mine));
    return CUBLAS_STATUS_SUCCESS;
}

/* An attribute is a member of the struct that is kept: its offset and size. */
struct attribute {
    int id;
    size_t offset, bytes;
};

#define ATTRIBUTE(id, type, member)                                                                \
    {                                                                                              \
        id, offsetof(type, member), sizeof(type::member)                                           \
    }

template <size_t N>
static cublasStatus_t set_attribute(const struct attribute (&known)[N], int id, void *opaque,
                                    const void *value, size_t bytes)
{
    if (!opaque || !value)
        return CUBLAS_STATUS_INVALID_VALUE;
    for (const struct attribute &a : known) {
        if (a.id != id || a.bytes != bytes)
            continue;
        memcpy(static_cast<char *>(opaque) + a.offset, value, bytes);
        return CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

size_t cublasLtGetVersion(void)
{
    return 130000;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasLtContext {};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    delete handle;
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

/* ---- Descriptors ---- */

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t computeType,
                                        cudaDataType_t scaleType)
{
    return create(desc, lt_desc { computeType, scaleType, CUBLAS_OP_N, CUBLAS_OP_N,
                                  CUBLASLT_EPILOGUE_DEFAULT, NO_TYPE, nullptr });
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    delete desc;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes)
{
    static const struct attribute known[] = {
        ATTRIBUTE(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, lt_desc, compute),
        ATTRIBUTE(CUBLASLT_MATMUL_DESC_SCALE_TYPE, lt_desc, scale),
        ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, lt_desc, transpose_a),
        ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, lt_desc, transpose_b),
        ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, lt_desc, epilogue),
        ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, lt_desc, bias),
        ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, lt_desc, bias_type),
    };

    return set_attribute(known, attribute, desc, value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                          uint64_t rows, uint64_t cols, int64_t ld)
{
    return create(layout, lt_layout { type, static_cast<int64_t>(rows), static_cast<int64_t>(cols),
                                      ld, 1, 0 });
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, size_t bytes)
{
    static const struct attribute known[] = {
        ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, lt_layout, stride),
    };
    int32_t count = 0;

    if (attribute != CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
        return set_attribute(known, attribute, layout, value, bytes);
    if (!layout || !value || bytes != sizeof(count))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&count, value, sizeof(count));
    int64_t wide = count;
    memcpy(reinterpret_cast<char *>(layout) + offsetof(lt_layout, batch), &wide, sizeof(wide));
    return CUBLAS_STATUS_SUCCESS;
}

/* Without a word about alignment the heuristic takes 256 bytes for granted. */
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    return create(preference, lt_preference { 0, { 256, 256, 256, 256 } });
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t bytes)
{
    static const struct attribute known[] = {
        ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, lt_preference, workspace),
        ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, lt_preference, alignment[0]),
        ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, lt_preference, alignment[1]),
        ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, lt_preference, alignment[2]),
        ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, lt_preference, alignment[3]),
    };

    return set_attribute(known, attribute, preference, value, bytes);
}

/* ---- The product ---- */

static bool epilogue_known(int32_t epilogue)
{
    return epilogue == CUBLASLT_EPILOGUE_DEFAULT || epilogue == CUBLASLT_EPILOGUE_BIAS ||
           epilogue == CUBLASLT_EPILOGUE_GELU || epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
}

/* Sizes come from the layouts; they must agree. */
static bool sizes_agree(const struct product *p, const lt_layout (&l)[4])
{
    int64_t k = p->transpose_b ? l[1].cols : l[1].rows, n = p->transpose_b ? l[1].rows : l[1].cols;

    return k == p->k && n == p->n && (p->transpose_a ? l[0].cols : l[0].rows) == p->m &&
           l[2].rows == p->m && l[2].cols == p->n && l[1].batch == p->batch &&
           l[2].batch == p->batch && l[3].batch == p->batch;
}

static cublasStatus_t describe_epilogue(struct product *p, const lt_desc &desc)
{
    if (!epilogue_known(desc.epilogue))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    p->gelu = desc.epilogue & CUBLASLT_EPILOGUE_GELU;
    if (!(desc.epilogue & CUBLASLT_EPILOGUE_BIAS))
        return CUBLAS_STATUS_SUCCESS;
    p->bias = desc.bias;
    bool same = desc.bias_type == NO_TYPE || desc.bias_type == static_cast<int32_t>(p->d.type);
    return same ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/* All of it but the pointers. */
static cublasStatus_t describe(struct product *p, const lt_desc &desc, const lt_layout (&l)[4])
{
    *p = {};
    p->transpose_a = desc.transpose_a != CUBLAS_OP_N;
    p->transpose_b = desc.transpose_b != CUBLAS_OP_N;
    p->m = l[3].rows;
    p->n = l[3].cols;
    p->k = p->transpose_a ? l[0].rows : l[0].cols;
    p->batch = l[0].batch;
    struct operand *operands[] = { &p->a, &p->b, &p->c, &p->d };
    for (int i = 0; i < 4; i++)
        *operands[i] = { nullptr, l[i].type, l[i].ld, l[i].stride };
    if (!sizes_agree(p, l))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (desc.scale != CUDA_R_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    cublasStatus_t rc = describe_epilogue(p, desc);
    if (rc != CUBLAS_STATUS_SUCCESS)
        return rc;
    rc = product_rounding(static_cast<cublasComputeType_t>(desc.compute), CUBLAS_DEFAULT_MATH,
                          &p->rounding);
    return rc == CUBLAS_STATUS_SUCCESS ? product_check(p, false) : rc;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t Adesc,
    cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
    cublasLtMatmulPreference_t preference, int requestedAlgoCount,
    cublasLtMatmulHeuristicResult_t results[], int *returnAlgoCount)
{
    struct product p;

    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!desc || !Adesc || !Bdesc || !Cdesc || !Ddesc || !preference || !results ||
        !returnAlgoCount || requestedAlgoCount <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    *returnAlgoCount = 0;
    cudaError_t fault = driver_fault("cublasLtMatmulAlgoGetHeuristic");
    if (fault != cudaSuccess)
        return fault == cudaErrorNotSupported            ? CUBLAS_STATUS_NOT_SUPPORTED
               : fault == cudaErrorInvalidDeviceFunction ? CUBLAS_STATUS_SUCCESS
                                                         : CUBLAS_STATUS_INTERNAL_ERROR;
    lt_layout layouts[] = { read_opaque<lt_layout>(Adesc), read_opaque<lt_layout>(Bdesc),
                            read_opaque<lt_layout>(Cdesc), read_opaque<lt_layout>(Ddesc) };
    cublasStatus_t rc = describe(&p, read_opaque<lt_desc>(desc), layouts);
    if (rc != CUBLAS_STATUS_SUCCESS)
        return rc;
    lt_preference wish = read_opaque<lt_preference>(preference);
    lt_algo algo = { wish.workspace < WORKSPACE ? 0 : WORKSPACE, {} };
    memcpy(algo.alignment, wish.alignment, sizeof(algo.alignment));
    results[0] = {};
    results[0].workspaceSize = algo.workspace;
    results[0].wavesCount = 1;
    memcpy(&results[0].algo, &algo, sizeof(algo));
    *returnAlgoCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

/* An algorithm works with the alignments and the workspace that it was found for. */
static bool algorithm_fits(const lt_algo &algo, const struct product *p, const void *workspace,
                           size_t workspace_bytes)
{
    const void *data[] = { p->a.data, p->b.data, p->c.data, p->d.data };

    for (int i = 0; i < 4; i++)
        if (algo.alignment[i] && reinterpret_cast<uintptr_t>(data[i]) % algo.alignment[i] != 0)
            return false;
    return algo.workspace == 0 || (workspace && workspace_bytes >= algo.workspace);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *A, cublasLtMatrixLayout_t Adesc, const void *B,
                              cublasLtMatrixLayout_t Bdesc, const void *beta, const void *C,
                              cublasLtMatrixLayout_t Cdesc, void *D, cublasLtMatrixLayout_t Ddesc,
                              const cublasLtMatmulAlgo_t *algo, void *workspace,
                              size_t workspaceBytes, cudaStream_t stream)
{
    struct product p;

    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!desc || !Adesc || !Bdesc || !Cdesc || !Ddesc || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    lt_desc how = read_opaque<lt_desc>(desc);
    lt_layout layouts[] = { read_opaque<lt_layout>(Adesc), read_opaque<lt_layout>(Bdesc),
                            read_opaque<lt_layout>(Cdesc), read_opaque<lt_layout>(Ddesc) };
    cublasStatus_t rc = describe(&p, how, layouts);
    if (rc != CUBLAS_STATUS_SUCCESS)
        return rc;
    p.alpha = *static_cast<const float *>(alpha);
    p.beta = *static_cast<const float *>(beta);
    p.a.data = A, p.b.data = B, p.c.data = C, p.d.data = D;
    if ((how.epilogue & CUBLASLT_EPILOGUE_BIAS) && !p.bias)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (algo && !algorithm_fits(read_opaque<lt_algo>(algo), &p, workspace, workspaceBytes))
        return CUBLAS_STATUS_INVALID_VALUE;
    rc = product_check(&p, true);
    return rc == CUBLAS_STATUS_SUCCESS ? product_enqueue(&p, stream) : rc;
}
