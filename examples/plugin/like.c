/* c = a b, a variant of gemm/nn. cc -shared -fPIC -O2 -o like.so like.c */
#include <harness/plugin.h>

static void launch(const struct harness_call *call)
{
    const float *a = call->tensor[0].data, *b = call->tensor[1].data;
    float *c = call->tensor[2].data;
    int64_t m = call->size[0] * call->size[1], n = call->size[2], k = call->size[3];

    for (int64_t row = 0; row < m; row++)
        for (int64_t column = 0; column < n; column++) {
            float sum = 0;
            for (int64_t i = 0; i < k; i++)
                sum += a[row * k + i] * b[i * n + column];
            c[row * n + column] = sum;
        }
}

static const struct harness_variant variants[] = {
    HARNESS_VARIANT("my_like", "three loops", HARNESS_CPU, HARNESS_FP32, launch),
};
static const struct harness_kernel kernels[] = { HARNESS_LIKE("gemm/nn", variants) };
HARNESS_PLUGIN(kernels);
