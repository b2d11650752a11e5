/* z = 1.5 x + y: nvcc -shared -Xcompiler -fPIC -O3 -arch=native -o template.so template.cu */
#include <cuda_runtime.h>
#include <harness/plugin.h>

static int32_t layout(const int64_t *n, int32_t dtype, struct harness_tensor *t)
{
    t[0] = harness_vector("x", HARNESS_IN, dtype, *n);
    t[1] = harness_vector("y", HARNESS_IN, dtype, *n);
    t[2] = harness_vector("z", HARNESS_OUT, dtype, *n);
    return 3;
}

static void oracle(const int64_t *n, const struct harness_tensor *t, int32_t, const int64_t *,
                   size_t, double *expected) /* on the host, and so are these tensors */
{
    for (int64_t i = 0; i < *n; i++)
        expected[i] = 1.5 * ((const float *)t[0].data)[i] + ((const float *)t[1].data)[i];
}

__global__ static void add(const float *x, const float *y, float *z, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = 1.5F * x[i] + y[i];
}

static void launch(const struct harness_call *call)
{
    int64_t n = call->size[0], threads = harness_param(call, "threads", 256);
    dim3 grid((unsigned)((n + threads - 1) / threads)), block((unsigned)threads);
    /* Or add<<<grid, block, 0, (cudaStream_t)call->stream>>>(...) */
    cudaLaunchConfig_t config = { grid, block, 0, (cudaStream_t)call->stream, nullptr, 0 };
    cudaLaunchKernelEx(&config, add, (const float *)call->tensor[0].data,
                       (const float *)call->tensor[1].data, (float *)call->tensor[2].data, n);
}

static const char *const dims[] = { "n" };
static const int64_t sizes[] = { 1 << 16, 1 << 20, 1 << 24 };
static const char *const params[] = { "threads=64,128,256,512", NULL }; /* for `harness tune` */
static const struct harness_variant variants[] = {
    HARNESS_TUNABLE("cuda", "a thread an element", HARNESS_CUDA, HARNESS_FP32, launch, params),
};
static const struct harness_kernel kernels[] = { HARNESS_KERNEL(
    "mine/template", "z = 1.5 x + y", dims, sizes, layout, NULL, oracle, variants) };
HARNESS_PLUGIN(kernels);
