/* SPDX-License-Identifier: MIT */
/* The tables of a plugin, as it was compiled, in the form that this harness works with. An older
 * ABI's structs are the beginnings of today's: members are only ever added at their ends, and a
 * table's entries are as far apart as the plugin says they are. */
#include "plugin/plugin_parts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct plugin_taken {
    struct harness_plugin plugin;
    struct harness_kernel *kernels;
    struct harness_variant **variants; /* of each of these */
};

static const char rebuild[] =
    "rebuild the plugin against the <harness/plugin.h> of this harness, or run the harness that it "
    "was built for";

/* Bytes of the structs in each ABI; of all others they are the same in every one. */
static const struct {
    size_t plugin, kernel, variant, call;
} abi_sizes[HARNESS_PLUGIN_ABI] = {
    { offsetof(struct harness_plugin, fault), offsetof(struct harness_kernel, like),
      offsetof(struct harness_variant, params), offsetof(struct harness_call, stream) },
    { sizeof(struct harness_plugin), sizeof(struct harness_kernel),
      offsetof(struct harness_variant, params), sizeof(struct harness_call) },
    { sizeof(struct harness_plugin), sizeof(struct harness_kernel), sizeof(struct harness_variant),
      sizeof(struct harness_call) },
};

static int check_abi(const struct harness_plugin *t, struct error *err)
{
    if (t->abi < 1 || t->abi > HARNESS_PLUGIN_ABI)
        return error_set(err, "it speaks plugin ABI %u, this harness speaks ABI 1 to %d: %s",
                         t->abi, HARNESS_PLUGIN_ABI, rebuild);
    const struct {
        const char *name;
        size_t theirs, ours;
    } sizes[] = {
        { "harness_plugin", t->size, abi_sizes[t->abi - 1].plugin },
        { "harness_kernel", t->kernel_size, abi_sizes[t->abi - 1].kernel },
        { "harness_variant", t->variant_size, abi_sizes[t->abi - 1].variant },
        { "harness_tensor", t->tensor_size, sizeof(struct harness_tensor) },
        { "harness_call", t->call_size, abi_sizes[t->abi - 1].call },
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].theirs != sizes[i].ours)
            return error_set(err,
                             "its struct %s has %zu bytes, that of this harness %zu, although both "
                             "are ABI %u: %s",
                             sizes[i].name, sizes[i].theirs, sizes[i].ours, t->abi, rebuild);
    return 0;
}

/* `nr` entries of `theirs` bytes each as ones of `ours`, which is as many or more. */
static void *widen_entries(const void *entries, size_t nr, size_t theirs, size_t ours)
{
    char *wide = memory_zeroed(nr + 1, ours);

    for (size_t i = 0; i < nr; i++)
        memcpy(wide + i * ours, (const char *)entries + i * theirs, theirs);
    return wide;
}

/* Lists that cannot be right stay as they are: plugin_check() says what is wrong. */
int plugin_take(struct plugin_own *own, const struct harness_plugin *theirs, struct error *err)
{
    if (check_abi(theirs, err))
        return -1;
    struct plugin_taken *taken = own->taken = memory_zeroed(1, sizeof(*taken));
    memcpy(&taken->plugin, theirs, theirs->size);
    own->table = &taken->plugin;
    if (!theirs->kernels || theirs->nr_kernels > PLUGIN_KERNELS_MAX)
        return 0;
    taken->kernels = widen_entries(theirs->kernels, theirs->nr_kernels, theirs->kernel_size,
                                   sizeof(struct harness_kernel));
    taken->plugin.kernels = taken->kernels;
    taken->variants = memory_zeroed(theirs->nr_kernels + 1, sizeof(struct harness_variant *));
    for (size_t i = 0; i < theirs->nr_kernels; i++) {
        struct harness_kernel *k = &taken->kernels[i];
        if (!k->variants || k->nr_variants > PLUGIN_VARIANTS_MAX)
            continue;
        taken->variants[i] = widen_entries(k->variants, k->nr_variants, theirs->variant_size,
                                           sizeof(struct harness_variant));
        k->variants = taken->variants[i];
    }
    return 0;
}

void plugin_taken_drop(struct plugin_own *own)
{
    struct plugin_taken *taken = own->taken;

    for (size_t i = 0; taken && taken->variants && i < taken->plugin.nr_kernels; i++)
        free(taken->variants[i]);
    if (taken) {
        free(taken->variants);
        free(taken->kernels);
    }
    free(taken);
    own->taken = NULL;
}
