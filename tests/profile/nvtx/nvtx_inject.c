/* SPDX-License-Identifier: MIT */
/* A tool that NVTX itself loads ($NVTX_INJECTION64_PATH), as nsys is: it writes down ranges. */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <string.h>

static char seen[256];

const char *nvtx_inject_seen(void);

const char *nvtx_inject_seen(void)
{
    return seen;
}

static void note(const char *text)
{
    size_t length = strlen(seen);

    snprintf(seen + length, sizeof(seen) - length, "%s", text);
}

static int push(const char *name)
{
    note(name);
    note("(");
    return 0;
}

static int pop(void)
{
    note(")");
    return 0;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
    const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned size;

    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size))
        return 0;
    *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
    return 1;
}
