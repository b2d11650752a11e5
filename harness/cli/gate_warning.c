/* SPDX-License-Identifier: MIT */
#include "cli/gate_warning.h"

#include "store/verdicts.h"

bool gate_warning(struct store *store, const char *machine, const char *device, bool interleaved,
                  double delta, char text[SELFTEST_TEXT_SIZE])
{
    static const char *const kinds[2][2] = { { "power", "aa" }, { "power-ab", "aa-ab" } };
    struct error ignored;

    for (int i = 0; i < 2; i++) {
        struct store_selftest test;
        int rc =
            store_selftest_latest(store, machine, device, kinds[interleaved][i], &test, &ignored);
        enum selftest_answer answer = SELFTEST_UNKNOWN;
        if (rc == 0 && test.rule == COMPARE_RULE)
            answer = selftest_kept_gate(test.result, delta, text);
        store_selftest_release(&test);
        if (answer != SELFTEST_UNKNOWN)
            return answer == SELFTEST_CANNOT;
    }
    return false;
}
