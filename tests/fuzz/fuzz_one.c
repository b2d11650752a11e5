/* SPDX-License-Identifier: MIT */
/* One target (FUZZ_NAME) as libFuzzer wants it. */
#include <stddef.h>
#include <stdint.h>

void FUZZ_NAME(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_NAME(data, size);
    return 0;
}
