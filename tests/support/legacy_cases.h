/* SPDX-License-Identifier: MIT */
/* What records of before schema 5 were known for: the same of JSON (core/record.h) and of the rows
 * of a history (store/facts.sql). */
#ifndef HARNESS_TESTS_LEGACY_CASES_H
#define HARNESS_TESTS_LEGACY_CASES_H

#include "core/record.h"

#include <math.h>

struct legacy_run {
    const char *label, *settings;
    enum run_kind kind;
    struct run_ab ab;
    struct run_shard shard;
};

#define LEGACY_LONG "0123456789012345678901234567890123456789"

static const struct legacy_run legacy_runs[] = {
    { .label = "", .settings = NULL, .kind = RUN_MEASURED },
    { .label = "nightly", .settings = "{\"launches\":3}", .kind = RUN_MEASURED },
    { .label = "selftest", .settings = "{\"launches\":3}", .kind = RUN_TRIAL },
    { .label = "selftest of mine", .settings = NULL, .kind = RUN_TRIAL },
    { .label = "selftests", .settings = NULL, .kind = RUN_MEASURED },
    { .label = "Selftest", .settings = NULL, .kind = RUN_MEASURED },
    { .label = "", .settings = "{\"planted\":true}", .kind = RUN_TRIAL },
    { .label = "", .settings = "{\"planted\":false}", .kind = RUN_MEASURED },
    { .label = "", .settings = "{\"planted\":1}", .kind = RUN_MEASURED },
    { .label = "",
      .settings = "{\"command\":\"\\\"ab\\\"\",\"x\":{\"ab\":1}}",
      .kind = RUN_MEASURED },
    { .label = "", .settings = "{\"profile\":true}", .kind = RUN_PROFILE },
    { .label = "", .settings = "{\"profile\":true,\"planted\":true}", .kind = RUN_TRIAL },
    { .label = "", .settings = "{\"profile\":\"yes\"}", .kind = RUN_MEASURED },
    { .label = "", .settings = "{\"import\":{\"tool\":\"x\"}}", .kind = RUN_IMPORTED },
    { .label = "", .settings = "{\"ab\":null}", .kind = RUN_TRIAL },
    { .label = "", .settings = "[1,2]", .kind = RUN_MEASURED },
    { .label = "", .settings = "{\"ab\":", .kind = RUN_MEASURED },
    { .label = "ab base",
      .settings = "{\"ab\":{\"id\":\"u-1\",\"side\":\"base\",\"partner\":\"p\"}}",
      .kind = RUN_TRIAL,
      .ab = { "u-1", "base", 2 } },
    { .label = "",
      .settings = "{\"in_turn\":\"night\",\"import\":{}}",
      .kind = RUN_IMPORTED,
      .ab = { "night", "", 1 } },
    { .label = "",
      .settings = "{\"in_turn\":\"" LEGACY_LONG "\",\"import\":{}}",
      .kind = RUN_IMPORTED,
      .ab = { "012345678901234567890123456789012345678", "", 1 } },
    { .label = "",
      .settings = "{\"sweep\":\"s\",\"shard\":\"2/4\",\"shard_plan\":\"0123456789abcdef\"}",
      .kind = RUN_MEASURED,
      .shard = { "s", 2, 4, "0123456789abcdef" } },
    { .label = "",
      .settings = "{\"shard\":\"12/100\"}",
      .kind = RUN_MEASURED,
      .shard = { "", 12, 100, "" } },
    { .label = "",
      .settings = "{\"sweep\":\"s\"}",
      .kind = RUN_MEASURED,
      .shard = { .sweep = "s" } },
    { .label = "", .settings = "{\"shard\":\"5/4\"}", .kind = RUN_MEASURED },
    { .label = "", .settings = "{\"shard\":\"0/4\"}", .kind = RUN_MEASURED },
    { .label = "", .settings = "{\"shard\":\"two/4\"}", .kind = RUN_MEASURED },
    { .label = "", .settings = "{\"shard\":2,\"sweep\":7}", .kind = RUN_MEASURED },
};

enum { LEGACY_RUNS = sizeof(legacy_runs) / sizeof(legacy_runs[0]) };

static const struct {
    const char *key;
    double tokens;
} legacy_tokens_of[] = {
    { "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-2t/warm", 256 },
    { "gpt/nano/decode/simd/fp32/batch=4,seq=64/cpu-2t/warm", 4 },
    { "gpt/nano/other/simd/fp32/batch=4,seq=64/cpu-2t/warm", 256 },
    { "gpt/nano/prefill:head/simd/fp32/batch=4,seq=64/cpu-2t/warm", 256 },
    { "gpt/nano/decode:all/simd/fp32/batch=4,seq=64/cpu-2t/warm", 4 },
    { "gpt/nano/prefill/simd/fp32/batch=4/cpu-2t/warm", NAN },
    { "gpt/nano/decode/simd/fp32/batch=4/cpu-2t/warm", 4 },
    { "gpt/nano/prefill/simd/fp32/seq=4/cpu-2t/warm", NAN },
    { "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm", NAN },
    { "gptx/nano/prefill/simd/fp32/batch=4,seq=64/cpu-2t/warm", NAN },
};

enum { LEGACY_TOKENS = sizeof(legacy_tokens_of) / sizeof(legacy_tokens_of[0]) };

#endif
