/* A variant of KERNEL, whose kernel is to be written: it fills the outputs.
TENSORS
 * nvcc -shared -Xcompiler -fPIC -O3 -arch=native -o blank.so blank.cu */
#include <cuda_runtime.h>
#include <harness/plugin.h>

__global__ static void compute(void)
{
}

static void launch(const struct harness_call *call)
{
    dim3 grid(1), block(32); /* of call->size[], harness_param(call, "BM", 64) */
    /* Or compute<<<grid, block, 0, (cudaStream_t)call->stream>>>(...) */
    cudaLaunchConfig_t config = { grid, block, 0, (cudaStream_t)call->stream, nullptr, 0 };
    cudaLaunchKernelEx(&config, compute); /* with call->tensor[].data, device memory */
}

static const struct harness_variant variants[] = {
    HARNESS_VARIANT("my_blank", "to be written", HARNESS_CUDA, HARNESS_FP32, launch),
};
static const struct harness_kernel kernels[] = { HARNESS_LIKE("KERNEL", variants) };
HARNESS_PLUGIN(kernels);
