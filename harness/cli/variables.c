/* SPDX-License-Identifier: MIT */
#include "cli/variables.h"

#include "base/clean.h"
#include "device/devices.h"
#include "kernels/simd.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int check_isa(const char *value, struct error *err)
{
    for (unsigned isa = 0; isa < SIMD_NR; isa++)
        if (strcmp(value, simd_isa_name((enum simd_isa)isa)) == 0)
            return 0;
    return error_set(err, "there is no instruction set of that name");
}

static int check_roofs(const char *value, struct error *err)
{
    if (strcmp(value, "quick") == 0 || strcmp(value, "full") == 0)
        return 0;
    return error_set(err, "roofs are measured quick or full");
}

/* The device itself says what is wrong with its settings. */
static int check_fake(const char *value, struct error *err)
{
    struct device device;

    (void)value;
    if (device_open(&device, "fake", err) != 0)
        return -1;
    device_close(&device);
    return 0;
}

static int check_name_variable(const char *value, struct error *err)
{
    enum { LONGEST = 200 };

    if (!clean_is(value))
        return error_set(err,
                         "a control character, a mark that nobody sees, or no UTF-8 in a name");
    return strlen(value) > LONGEST ? error_set(err, "longer than %d bytes", LONGEST) : 0;
}

#define LIBRARY(of) "a file; where it does not load, variants that need " of " say so"

const struct variable variables[] = {
    { "HARNESS_DB", "a file", "the history, where --db does not name it", "harness", NULL },
    { "HARNESS_ISA", "portable, avx2, avx512, avx512_vnni, avx512_bf16 or avx512_amx",
      "an instruction set below the machine's best; one that it lacks makes variants UNSUPPORTED",
      "harness", check_isa },
    { "HARNESS_ROOFS", "quick or full",
      "how the roofs of a CPU are measured: quick ones are rough, for tests and for trying out",
      "harness", check_roofs },
    { "HARNESS_TOKEN", "a text", "what clients of `harness serve` must know", "harness", NULL },
    { "HARNESS_SWEEP", "a name of at most 200 bytes",
      "what the parts of `run --shard I/N` have in common, where --sweep does not say it",
      "harness", check_name_variable },
    { "HARNESS_OPENBLAS", "a file", LIBRARY("OpenBLAS"), "harness", NULL },
    { "HARNESS_BLIS", "a file", LIBRARY("BLIS"), "harness", NULL },
    { "HARNESS_ONEDNN", "a file", LIBRARY("oneDNN"), "harness", NULL },
    { "HARNESS_GGML", "a folder or a file",
      "ggml's libggml-cpu-*.so, of which the best for this processor is taken, or one of them; "
      "where "
      "none loads, variants that need ggml say so",
      "harness", NULL },
    { "HARNESS_PYTHON", "a file",
      "the Python of --python, a program or a libpython; variants that need PyTorch say so where "
      "it is no library that loads",
      "harness", NULL },
    { "HARNESS_CUBLAS", "a file", LIBRARY("cuBLAS"), "harness", NULL },
    { "HARNESS_NVML", "a file", "NVML; where it does not load there is no telemetry of GPUs",
      "harness", NULL },
    { "HARNESS_CUPTI", "a file", "CUPTI; where it does not load profiles say that they lack it",
      "harness", NULL },
    { "HARNESS_LIBCUDA", "a file", "the CUDA driver, which a guest waits for",
      "programs with profile_cuda.h", NULL },
    { "HARNESS_FAKE", "NAME=VALUE,...", "further settings of the device `fake`, for tests",
      "harness", check_fake },
    { "HARNESS_BENCH", "a command", "what measures in place of `harness run`",
      "ci/pr.sh, ci/nightly.sh, ci/alert.sh", NULL },
    { "HARNESS_BENCH_BUILD", "a command", "what builds it", "ci/pr.sh, ci/nightly.sh, ci/alert.sh",
      NULL },
    { "HARNESS_UNDECIDED", "pass or fail", "what a comparison without a verdict is", "ci/pr.sh",
      NULL },
    { "HARNESS_PERF_AGAINST", "a branch or commit",
      "tests of speed build and measure the commit where HEAD left it, and HEAD, in turn",
      "ctest -L perf", NULL },
    { "HARNESS_PERF_LAUNCHES", "a number", "launches of each recording", "ctest -L perf", NULL },
    { "HARNESS_BOT", "accounts, with blanks between them",
      "whose comments and issues are ours; the token's is the first", "ci/forge.sh", NULL },
    { "HARNESS_GITLAB_TOKEN", "a token", "of the project, for GitLab's API", "ci/forge.sh", NULL },
    { "HARNESS_URL", "a URL", "where the workflows of others fetch harness from",
      "ci/github, ci/gitlab", NULL },
    { "HARNESS_REF", "a branch or tag", "which version of it", "ci/github, ci/gitlab", NULL },
    { "HARNESS_GPU", "yes", "the night also measures on a runner with a GPU",
      "ci/github, ci/gitlab", NULL },
    { .name = NULL },
};

/* The beginning of a value, fit for one line of a message. */
static const char *shown_value(const char *value, char text[44])
{
    enum { MOST = 40 };
    size_t i = 0;

    for (; value[i] && i < MOST; i++)
        text[i] = (char)(iscntrl((unsigned char)value[i]) ? '?' : value[i]);
    memcpy(text + i, value[i] ? "..." : "", value[i] ? 4 : 1);
    return text;
}

static int check_one(const struct variable *v, struct error *err)
{
    const char *value = getenv(v->name);
    struct error why = { "" };
    char text[44];

    if (!v->check || !value || !*value || v->check(value, &why) == 0)
        return 0;
    return error_set(err, "%s is '%s': %s; it may be %s", v->name, shown_value(value, text),
                     why.message, v->values);
}

/* Is one made of the other by a slip: a letter more, less or another, or two exchanged? */
static bool is_slip(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b), front = 0, back = 0;

    while (a[front] && a[front] == b[front])
        front++;
    while (back < na - front && back < nb - front && a[na - 1 - back] == b[nb - 1 - back])
        back++;
    size_t left_a = na - front - back, left_b = nb - front - back;
    if (left_a == 2 && left_b == 2)
        return a[front] == b[front + 1] && a[front + 1] == b[front];
    return left_a <= 1 && left_b <= 1;
}

/* Of "NAME=value" in the environment. */
static void warn_of_slip(const char *setting, struct strbuf *warnings)
{
    static const char prefix[] = "HARNESS_";
    const struct variable *slip = NULL;
    char name[64];
    size_t length = strcspn(setting, "=");

    if (strncmp(setting, prefix, sizeof(prefix) - 1) != 0 || length >= sizeof(name))
        return;
    memcpy(name, setting, length);
    name[length] = '\0';
    for (const struct variable *v = variables; v->name; v++) {
        if (strcmp(name, v->name) == 0)
            return;
        if (!slip && is_slip(name, v->name))
            slip = v;
    }
    if (slip && check_name_variable(name, &(struct error) { "" }) == 0)
        strbuf_addf(warnings, "nothing reads %s; did you mean %s?\n", name, slip->name);
}

int variables_check(struct strbuf *warnings, struct error *err)
{
    for (const struct variable *v = variables; v->name; v++)
        if (check_one(v, err))
            return -1;
    for (char *const *setting = environ; setting && *setting; setting++)
        warn_of_slip(*setting, warnings);
    return 0;
}

void variables_print(struct strbuf *out)
{
    strbuf_adds(out,
                "environment variables; an empty one is as none, other HARNESS_* are ignored\n");
    for (const struct variable *v = variables; v->name; v++)
        strbuf_addf(out, "\n  %s=%s\n      %s\n      read by %s\n", v->name, v->values, v->meaning,
                    v->reader);
}
