/* A variant of KERNEL, whose launch() is to be written: it fills the outputs.
TENSORS
 * cc -shared -fPIC -O2 -o blank.so blank.c */
#include <harness/plugin.h>

static void launch(const struct harness_call *call)
{
    (void)call; /* call->size[], call->tensor[].data, harness_param(call, "BM", 64) */
}

static const struct harness_variant variants[] = {
    HARNESS_VARIANT("my_blank", "to be written", HARNESS_CPU, HARNESS_FP32, launch),
};
static const struct harness_kernel kernels[] = { HARNESS_LIKE("KERNEL", variants) };
HARNESS_PLUGIN(kernels);
