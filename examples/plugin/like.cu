/* c = a b, as gemm/nn: nvcc -shared -Xcompiler -fPIC -O3 -arch=native -o like.so like.cu */
#include <cuda_runtime.h>
#include <harness/plugin.h>

__global__ static void product(const float *a, const float *b, float *c, int m, int n, int k)
{
    int column = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    float sum = 0;

    if (row >= m || column >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += a[(size_t)row * k + i] * b[(size_t)i * n + column];
    c[(size_t)row * n + column] = sum;
}

static void launch(const struct harness_call *call)
{
    int m = (int)(call->size[0] * call->size[1]), n = (int)call->size[2], k = (int)call->size[3];
    int wide = (int)harness_param(call, "wide", 32), high = 256 / wide;
    dim3 grid((unsigned)((n + wide - 1) / wide), (unsigned)((m + high - 1) / high));
    dim3 block((unsigned)wide, (unsigned)high); /* or product<<<grid, block, 0, stream>>>() */
    cudaLaunchConfig_t config = { grid, block, 0, (cudaStream_t)call->stream, nullptr, 0 };
    cudaLaunchKernelEx(&config, product, (const float *)call->tensor[0].data,
                       (const float *)call->tensor[1].data, (float *)call->tensor[2].data, m, n, k);
}

static const char *const params[] = { "wide=8,16,32,64", NULL }; /* what `harness tune` tries */
static const struct harness_variant variants[] = {
    HARNESS_TUNABLE("my_like", "a thread an element", HARNESS_CUDA, HARNESS_FP32, launch, params),
};
static const struct harness_kernel kernels[] = { HARNESS_LIKE("gemm/nn", variants) };
HARNESS_PLUGIN(kernels);
