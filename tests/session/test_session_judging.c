/* SPDX-License-Identifier: MIT */
/* What is judged, and at which sizes: settings that are given, and those that are kept. How a judge
 * finds out is in tests/judge and tests/cli. */
#include "session_testing.h"

#include "core/registry.h"
#include "machine/environment.h"
#include "session/measure/judging.h"
#include "session/tune/tuned_key.h"
#include "session/tune/tuned_workload.h"
#include "store/tuned.h"

enum { KEPT_MOST = 3 };

/* A setting that is kept for a product of so many rows of 64. */
struct kept_setting {
    int seq;
    const char *setting;
    const char *digest; /* NULL: that of this build */
};

static void keep_setting(struct store *store, const struct kept_setting *k)
{
    const struct variant *simd = registry_variant(registry_builtin(), "gemm/nn", "simd");
    struct machine machine;
    struct store_tuned t = { .setting = memory_string(k->setting),
                             .decided = true,
                             .tuned_ms = 1,
                             .run = "r",
                             .result = memory_string("{}") };
    struct error err;

    assert_ok(environment_machine(&machine, &err), &err);
    snprintf(t.key, sizeof(t.key), "gemm/nn/simd/fp32/batch=1,seq=%d,n=32,k=64/cpu-1t/warm",
             k->seq);
    memcpy(t.machine, machine.id, sizeof(t.machine));
    snprintf(t.code, sizeof(t.code), "%s", TUNED_BUILTIN);
    tuned_key_digest(simd, t.digest);
    if (k->digest)
        snprintf(t.digest, sizeof(t.digest), "%s", k->digest);
    assert_ok(store_tuned_add(store, &t, &err), &err);
    free(t.setting);
    free(t.result);
}

/* "simd:depth=16 at 8,16; simd at 24" */
static char *judged_words(const struct judging *g)
{
    struct strbuf out;

    strbuf_init(&out);
    for (size_t i = 0; i < g->variants.nr; i++) {
        const struct judging_variant *v = &g->variants.items[i];
        strbuf_addf(&out, "%s%s at ", i ? "; " : "", v->variant->name);
        for (size_t s = 0; s < v->shapes.nr; s++)
            strbuf_addf(&out, "%s%lld", s ? "," : "", (long long)v->shapes.items[s].dim[1]);
    }
    return strbuf_detach(&out);
}

struct judged_case {
    struct kept_setting kept[KEPT_MOST];
    bool tuned;
    const char *param;           /* NULL: none */
    const char *judged, *refuse; /* one of them */
};

static const struct judged_case judged_cases[] = {
    { { { 0 } }, false, NULL, "simd at 8,16", NULL },
    { { { 0 } }, false, "depth=16", "simd at 8,16; simd:depth=16 at 8,16", NULL },
    { { { 8, "depth=16", NULL } }, false, NULL, "simd at 8,16", NULL },
    { { { 8, "depth=16", NULL }, { 16, "depth=16", NULL } },
      true,
      NULL,
      "simd:depth=16 at 8,16",
      NULL },
    { { { 8, "depth=16", NULL }, { 16, "depth=32", NULL } },
      true,
      NULL,
      "simd:depth=32 at 16; simd:depth=16 at 8",
      NULL },
    { { { 0 } }, true, NULL, NULL, "no setting is kept for gemm/nn/simd/" },
    { { { 8, "depth=16", NULL } }, true, NULL, NULL, "seq=16,n=32,k=64/cpu-1t/warm of harness" },
    { { { 8, "depth=16", NULL } },
      true,
      NULL,
      NULL,
      "`harness tune gemm/nn --device cpu:1` with these sizes" },
    { { { 8, "depth=16", "00" }, { 16, "depth=16", "00" } },
      true,
      NULL,
      NULL,
      "is of another build" },
    { { { 8, "depth=16", NULL } }, true, "depth=64", NULL, "--param gives others" },
};

static void check_judged(const struct judged_case *c, struct judging *g, int rc,
                         const struct error *err)
{
    if (c->refuse) {
        if (rc == 0 || !strstr(err->message, c->refuse))
            fail_msg("%d \"%s\" lacks \"%s\"", rc, err->message, c->refuse);
        return;
    }
    assert_ok(rc, err);
    char *words = judged_words(g);
    assert_string_equal(words, c->judged);
    free(words);
}

PLACE_TEST(settings_and_the_sizes_they_are_judged_at)
{
    struct scratch *scratch = *state;

    for (size_t i = 0; i < sizeof(judged_cases) / sizeof(judged_cases[0]); i++) {
        const struct judged_case *c = &judged_cases[i];
        struct judging_options o = { .spec = "gemm/nn", .tuned = c->tuned };
        struct judging g = { .options = &o };
        struct tuned tuned = { .sink = NULL };
        struct error err = { "" };
        char path[160];
        snprintf(path, sizeof(path), "%s/%zu.db", scratch->folder, i);
        struct store *store = open_history(path, STORE_WRITE);
        for (size_t k = 0; k < KEPT_MOST && c->kept[k].setting; k++)
            keep_setting(store, &c->kept[k]);
        o.workload.device = "cpu:1";
        string_list_add(&o.workload.variants, "simd");
        string_list_add(&o.workload.dims, "batch=1");
        string_list_add(&o.workload.dims, "seq=8,16");
        string_list_add(&o.workload.dims, "n=32");
        string_list_add(&o.workload.dims, "k=64");
        if (c->param)
            string_list_add(&o.workload.params, c->param);
        int rc = c->tuned ? tuned_open(&tuned, &o.workload, store, NULL, &err) : 0;
        if (rc == 0)
            rc = judging_open(&g, &o, &err);
        check_judged(c, &g, rc, &err);
        judging_close(&g);
        tuned_close(&tuned);
        string_list_release(&o.workload.variants);
        string_list_release(&o.workload.dims);
        string_list_release(&o.workload.params);
        store_close(store);
    }
}

RUN_TESTS(NULL, NULL)
