/* SPDX-License-Identifier: MIT */
/*
 * What the number of rows and their place decide in the CUDA layer norms, as a parameter, for
 * `harness verify --all-settings`: rows are cut as few of them are, or as many, or go by elements.
 * The width decides the rest, and test shapes have each. What a case cannot have is UNSUPPORTED.
 * With 0 the variant decides, so that `harness tune` holds it against all others.
 *
 * No variant's code is in this file, and no variant needs it: what a device has verified stays so.
 */
#include "kernels/layernorm/layernorm_cuda_elements.h"
#include "kernels/layernorm/layernorm_cuda_rows.h"

extern "C" {
#include "kernels/layernorm/layernorm_call.h"
}

enum { BY_ITSELF, AS_FEW_ROWS, AS_MANY_ROWS, BY_ELEMENTS };

static const char *const params[] = { "way=0,1,2,3", nullptr };

static struct layernorm_cuda layernorm_cuda_of(const struct call *call)
{
    struct layernorm l = layernorm_of(call);
    struct layernorm_cuda c = {};

    c.rows = l.rows, c.width = l.width;
    c.x = l.x, c.delta = l.delta, c.sum = l.sum, c.gain = l.gain, c.bias = l.bias, c.y = l.y;
    c.stream = c.dtype = call->variant->dtype;
    c.early = true;
    return c;
}

/* The case of the table that is for so many rows; LAYERNORM_ROWS_CASES: there is none. */
static int case_of(const struct layernorm_cuda &l, int64_t way)
{
    int64_t width = LAYERNORM_ROWS_NARROW;

    if (way == BY_ELEMENTS || l.stream != DTYPE_BF16 || l.delta || l.width % cuda_wide<bf16>)
        return LAYERNORM_ROWS_CASES;
    while (width < l.width)
        width *= 2;
    return layernorm_rows_case_of((int)width, way == AS_FEW_ROWS ? 1 : LAYERNORM_ROWS_MANY + 1);
}

static int prepare(struct call *call, struct error *err)
{
    int64_t way = variant_param(call->variant, 0);
    const struct layernorm_cuda l = layernorm_cuda_of(call);

    if (way == BY_ITSELF || way == BY_ELEMENTS || case_of(l, way) < LAYERNORM_ROWS_CASES)
        return 0;
    error_set(err, "rows of %lld such elements are cut in one way, be they few or many",
              (long long)l.width);
    return CALL_UNSUPPORTED;
}

template <int CASE = 0>
static void run_case(const struct layernorm_cuda &l, int found, cudaStream_t stream)
{
    if constexpr (CASE < LAYERNORM_ROWS_CASES) {
        constexpr const layernorm_rows_case &of = layernorm_rows_cases[CASE];
        if (found == CASE)
            layernorm_rows_of<bf16, bf16, of.config, of.width, false>(l, stream);
        else
            run_case<CASE + 1>(l, found, stream);
    }
}

static void launch(const struct call *call)
{
    int64_t way = variant_param(call->variant, 0);
    const struct layernorm_cuda l = layernorm_cuda_of(call);
    cudaStream_t stream = device_cuda_stream(call->device);

    if (way == BY_ITSELF)
        layernorm_rows_cuda(&l, stream);
    else if (way != BY_ELEMENTS)
        run_case(l, case_of(l, way), stream);
    else if (l.stream == DTYPE_BF16)
        layernorm_elements_run<bf16, bf16>(l, stream);
    else
        layernorm_elements_run<float, float>(l, stream);
}

static constexpr struct variant forced(const char *name, const struct kernel *kernel)
{
    struct variant v = {};

    v.name = name, v.kernel = kernel;
    v.params = params;
    v.prepare = prepare, v.launch = launch;
    return v;
}

extern "C" const struct variant layernorm_cuda_forced[];
const struct variant layernorm_cuda_forced[] = {
    forced("cuda_rows", &layernorm_plain_kernel),
    forced("cuda_rows", &layernorm_residual_kernel),
    forced("cuda_rows_bf16", &layernorm_plain_kernel),
    forced("cuda_rows_bf16", &layernorm_residual_kernel),
    {},
};
