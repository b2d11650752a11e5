/* SPDX-License-Identifier: MIT */
/*
 * What is measured: filters, models, dims against the real registry, with counts found by a slower
 * way; names that match nothing; suites. Features: U-03, U-04, S0-01, S0-14, S2-05.
 */
#include "testing.h"

#include "base/file.h"
#include "base/resource.h"
#include "launch/selection.h"
#include "plugin/guests.h"

#include <stdlib.h>

static const struct device cpu = { .kind = DEVICE_CPU, .spec = "cpu", .label = "cpu-2t" };
static const struct device fake = { .kind = DEVICE_FAKE, .spec = "fake", .label = "fake" };
static const char suite_path[] = HARNESS_TEST_DIR "/measure_selection.json";

/* "filters=gemm,gpt models=nano variants=simd maths=fp32 batch=1,4 seq=16:64:*2": what is none of
 * the first four is a dim. */
static struct selection select_by(const char *text)
{
    struct selection s = { 0 };
    char copy[256], *rest = copy, *word;
    struct error err;

    snprintf(copy, sizeof(copy), "%s", text);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = '\0';
        struct string_list *list = strcmp(word, "filters") == 0    ? &s.filters
                                   : strcmp(word, "models") == 0   ? &s.models
                                   : strcmp(word, "variants") == 0 ? &s.variants
                                   : strcmp(word, "maths") == 0    ? &s.maths
                                                                   : NULL;
        if (list) {
            string_list_add_split(list, value, ',');
            continue;
        }
        struct int_list values = { 0 };
        assert_ok(text_parse_ints(value, 1, DIM_LIMIT, word, &values, &err), &err);
        assert_ok(selection_add_dim(&s, word, &values, &err), &err);
        array_release(&values);
    }
    return s;
}

static struct benchmark_list expand_of(const char *text, const struct registry *registry,
                                       const struct device *device)
{
    struct selection s = select_by(text);
    struct benchmark_list list = { 0 };
    struct error err;

    assert_ok(selection_expand(&s, registry, device, &list, &err), &err);
    selection_release(&s);
    return list;
}

static struct benchmark_list expand(const char *text, const struct device *device)
{
    return expand_of(text, registry_builtin(), device);
}

static size_t count_of(const char *text, const struct registry *registry,
                       const struct device *device)
{
    struct benchmark_list list = expand_of(text, registry, device);
    size_t nr = list.nr;

    array_release(&list);
    return nr;
}

static size_t count(const char *text, const struct device *device)
{
    return count_of(text, registry_builtin(), device);
}

static void assert_no_repeats(const struct benchmark_list *list)
{
    for (size_t i = 0; i < list->nr; i++)
        for (size_t j = 0; j < i; j++)
            if (list->items[i].variant == list->items[j].variant &&
                list->items[i].cache == list->items[j].cache &&
                list->items[i].inputs == list->items[j].inputs &&
                shape_equal(&list->items[i].shape, &list->items[j].shape))
                fail_msg("%s is there twice", list->items[i].variant->kernel->name);
}

/* No word: every default shape of every variant of the device but the peers, and of no other
 * device. */
TEST(nothing_said_is_everything)
{
    const struct registry *r = registry_builtin();
    struct benchmark_list list = expand("", &cpu);
    const struct variant *v;
    size_t expected = 0;

    for (size_t i = 0; (v = registry_variant_at(r, i)); i++)
        if (v->device == DEVICE_CPU && !(v->flags & VARIANT_PEER))
            expected += v->kernel->nr_shapes;
    assert_int_equal(list.nr, expected);
    for (size_t i = 0; i < list.nr; i++) {
        assert_int_equal(list.items[i].variant->device, DEVICE_CPU);
        assert_int_equal(list.items[i].cache, CACHE_WARM);
    }
    assert_no_repeats(&list);
    array_release(&list);
}

TEST(filters_choose_by_key)
{
    assert_int_equal(count("filters=null/copy/right", &fake), 6);
    assert_int_equal(count("filters=null/copy/right,null/copy/inexact", &fake), 12);
    assert_int_equal(count("filters=null,null/copy/right", &fake), count("filters=null", &fake));
    assert_int_equal(count("filters=*batch=3*", &fake) * 6, count("", &fake));
    assert_int_equal(count("filters=!*batch=3*", &fake) * 6, count("", &fake) * 5);
    assert_int_equal(count("filters=null,!null/copy/right", &fake),
                     count("filters=null", &fake) - 6);
    assert_int_equal(count("filters=*/warm", &cpu), count("", &cpu));
    struct benchmark_list list = expand("filters=gemm", &cpu);
    for (size_t i = 0; i < list.nr; i++)
        assert_memory_equal(list.items[i].variant->kernel->name, "gemm/", 5);
    array_release(&list);
}

/* What remains beside whole keys, which are no filters any more. */
TEST(beside_keys_nothing_else_is_chosen)
{
    static const struct {
        const char *text;
        size_t nr;
    } rows[] = {
        { "filters=!null/copy/inexact", 0 },
        { "filters=null/copy/right,!*/batch=3*", 5 },
        { "filters=!*/batch=3*,null/copy/right", 6 },
    };
    const struct variant *right = registry_variant(registry_builtin(), "null/copy", "right");
    static const char key[] = "null/copy/right/fp32/batch=3,seq=16/fake/warm";
    static const bool taken[] = { false, false, true };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct selection s = select_by(rows[i].text);
        struct benchmark_list list = { 0 };
        struct error err;
        s.beside_keys = true;
        assert_ok(selection_expand(&s, registry_builtin(), &fake, &list, &err), &err);
        assert_int_equal(list.nr, rows[i].nr);
        assert_int_equal(selection_takes(&s, right, key), taken[i]);
        selection_release(&s);
        array_release(&list);
    }
}

static size_t count_peers(const char *text)
{
    struct benchmark_list list = expand(text, &cpu);
    size_t nr = 0;

    for (size_t i = 0; i < list.nr; i++)
        nr += (list.items[i].variant->flags & VARIANT_PEER) != 0;
    array_release(&list);
    return nr;
}

/* Other people's programs are measured where they are asked for, never along with the rest. */
TEST(peers_are_selected_by_name_only)
{
    static const char *const unnamed[] = {
        "",
        "filters=gemm",
        "filters=gemm/nn/*",
        "filters=*blis*",
        "filters=gemm/nn/bl[i]s",
        "filters=gemm/nn/bli",
        "filters=gemm variants=simd,openblas",
        "models=nano",
    };
    static const struct {
        const char *text;
        size_t peers; /* of each shape */
    } named[] = {
        { "filters=gemm/nn/blis", 1 },
        { "filters=gemm/nn variants=simd,blis", 1 },
        { "filters=gemm/nn/blis,gemm/nn/onednn", 2 },
        { "filters=gemm/nn,gemm/nn/blis", 1 },
        { "filters=*/nn/blis", 1 },
    };
    size_t shapes = registry_kernel(registry_builtin(), "gemm/nn")->nr_shapes;

    for (size_t i = 0; i < 3; i++)
        assert_int_equal(count_peers(unnamed[i]), 0);
    assert_int_equal(count_peers(unnamed[6]) + count_peers(unnamed[7]), 0);
    for (size_t i = 3; i < 6; i++) { /* nothing else fits these */
        struct selection s = select_by(unnamed[i]);
        struct benchmark_list list = { 0 };
        struct error err;
        assert_int_not_equal(selection_expand(&s, registry_builtin(), &cpu, &list, &err), 0);
        selection_release(&s);
        array_release(&list);
    }
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        assert_int_equal(count_peers(named[i].text), named[i].peers * shapes);
    assert_int_equal(count("filters=gemm/nn/blis/fp32/batch=4*", &cpu) > 0, 1);
    assert_int_equal(count_peers("models=nano variants=torch"), 2);
}

/* One shape of gemm/nn by simd, as it is and with two settings of the build's own. */
TEST(a_variants_name_is_that_of_its_settings)
{
    static const struct {
        const char *text;
        size_t nr;
    } rows[] = {
        { "filters=gemm/nn/simd", 3 },           { "filters=gemm/nn/simd/fp32", 3 },
        { "filters=gemm/nn/s?md/*", 3 },         { "filters=gemm/nn/simd:depth=64", 1 },
        { "filters=gemm/nn/simd:*", 2 },         { "filters=gemm/nn/simd,!gemm/nn/simd:*", 1 },
        { "filters=gemm/nn variants=simd", 3 },  { "filters=gemm/nn variants=simd:depth=64", 1 },
        { "filters=gemm/nn variants=naive", 1 },
    };
    struct string_list settings = { 0 };
    const struct guests_asked asked = { .settings = &settings };
    struct guests g;
    struct error err;
    char text[128];

    string_list_add_split(&settings, "depth=64;depth=128", ';');
    assert_ok(guests_open(&g, registry_builtin(), &asked, &err), &err);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(text, sizeof(text), "%s batch=1 seq=16 n=16 k=16", rows[i].text);
        if (rows[i].nr != count_of(text, &g.all, &cpu))
            fail_msg("%s: %zu", rows[i].text, count_of(text, &g.all, &cpu));
    }
    guests_close(&g);
    string_list_release(&settings);
}

/* Replaced dims: every combination of the lists with each different rest of a default shape. */
TEST(dims_multiply)
{
    static const struct {
        const char *text;
        size_t nr;
    } cases[] = {
        { "filters=null/copy/right batch=1,2", 2 },
        { "filters=null/copy/right batch=1,2 seq=16,32,64", 6 },
        { "filters=null/copy/right seq=8", 6 },
        { "filters=null/copy/right seq=8,16", 12 },
        { "filters=null/copy/right batch=7,7,7", 1 },
        { "filters=null/copy/right batch=7 batch=7,8", 2 }, /* adds up */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(count(cases[i].text, &fake), cases[i].nr);
}

/* Different rests of the default shapes, counted pair by pair. */
static size_t different_rests(const struct kernel *k, int replaced_a, int replaced_b)
{
    size_t nr = 0;

    for (size_t i = 0; i < k->nr_shapes; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++) {
            bool same = true;
            for (int d = 0; d < SHAPE_MAX; d++)
                same &= d == replaced_a || d == replaced_b ||
                        k->shapes[i].dim[d] == k->shapes[j].dim[d];
            seen |= same;
        }
        nr += !seen;
    }
    return nr;
}

TEST(dims_multiply_with_real_shapes)
{
    static const char *const kernels[] = { "gemm/linear", "attention/causal", "layernorm/plain",
                                           "embedding/gpt", "gpt/nano/prefill" };

    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        const struct kernel *k = registry_kernel(registry_builtin(), kernels[i]);
        char text[128];
        assert_non_null(k);
        snprintf(text, sizeof(text), "filters=%s variants=simd batch=1,4 seq=64,128,256",
                 kernels[i]);
        struct benchmark_list list = expand(text, &cpu);
        size_t rests = different_rests(k, kernel_dim_index(k, "batch"), kernel_dim_index(k, "seq"));
        assert_int_equal(list.nr, 6 * rests);
        assert_no_repeats(&list);
        for (size_t n = 0; n < list.nr; n++) {
            int64_t batch = kernel_dim(k, &list.items[n].shape, "batch", 0);
            int64_t seq = kernel_dim(k, &list.items[n].shape, "seq", 0);
            assert_true(batch == 1 || batch == 4);
            assert_true(seq == 64 || seq == 128 || seq == 256);
        }
        array_release(&list);
    }
}

TEST(models_restrict_to_their_kernels)
{
    struct benchmark_list list = expand("models=nano,tile-large variants=simd", &cpu);
    bool nano = false, large = false;

    for (size_t i = 0; i < list.nr; i++) {
        const char *name = list.items[i].variant->kernel->name;
        bool is_nano = strncmp(name, "gpt/nano/", 9) == 0;
        assert_true(is_nano || strncmp(name, "gpt/tile-large/", 15) == 0);
        nano |= is_nano;
        large |= !is_nano;
    }
    assert_true(nano && large);
    array_release(&list);
}

TEST(caches_and_test_shapes)
{
    struct selection s = select_by("filters=null/copy/right");
    struct benchmark_list list = { 0 };
    struct error err;

    s.caches[CACHE_COLD] = true;
    assert_ok(selection_expand(&s, registry_builtin(), &fake, &list, &err), &err);
    assert_int_equal(list.nr, 6);
    assert_int_equal(list.items[0].cache, CACHE_COLD);
    s.caches[CACHE_WARM] = true;
    list.nr = 0;
    assert_ok(selection_expand(&s, registry_builtin(), &fake, &list, &err), &err);
    assert_int_equal(list.nr, 12);
    assert_no_repeats(&list);
    s.test_shapes = true;
    assert_ok(selection_expand(&s, registry_builtin(), &fake, &list, &err), &err);
    assert_int_equal(list.nr, 16); /* appended: two test shapes, warm and cold */
    array_release(&list);
    selection_release(&s);
}

TEST(fills_are_benchmarks_of_their_own)
{
    static const char path[] = HARNESS_TEST_DIR "/fill.npy";
    const float data[] = { 1, 2, 3 };
    const int64_t nr = 3;
    struct selection s = select_by("filters=null/copy/right");
    struct benchmark_list list = { 0 };
    struct string_list texts = { 0 };
    struct fill_list fills;
    struct error err;

    assert_ok(npy_write(path, data, &nr, 1, &err), &err);
    const char *const words[] = { "normal", "zeros", path, "zeros", path };
    for (size_t i = 0; i < 5; i++)
        string_list_add(&texts, words[i]);
    assert_ok(fill_list_parse(&fills, "--fill", &texts, &err), &err);
    assert_int_equal(fills.nr, 3); /* each once, a file by its content */
    s.fills = &fills;
    assert_ok(selection_expand(&s, registry_builtin(), &fake, &list, &err), &err);
    assert_int_equal(list.nr, 18);
    assert_no_repeats(&list);
    assert_null(list.items[0].inputs);
    assert_string_equal(list.items[1].inputs->name, "zeros");
    assert_ptr_equal(list.items[2].inputs, fill_list_find(&fills, list.items[2].inputs->name));
    assert_null(fill_list_find(&fills, ""));
    array_release(&list);
    selection_release(&s);
    fill_list_release(&fills);
    string_list_release(&texts);
}

/* Words of tensors that stand side by side are one fill, whose name does not depend on their order.
 */
TEST(fills_of_single_tensors)
{
    static const struct {
        const char *words, *names; /* of the list, each with a blank */
        const char *says;          /* or why not */
    } rows[] = {
        { "x=zeros,weight=uniform", "weight=uniform,x=zeros ", NULL },
        { "weight=uniform,x=zeros,zeros,x=zeros,weight=uniform", "weight=uniform,x=zeros zeros ",
          NULL },
        { "weight=normal,x=zeros", "x=zeros ", NULL },
        { "normal,weight=normal", "- - ", NULL },
        { "aLongNameOfATensor=uniform,anotherLongName=zeros,x=zeros", "each-0fc69682 ", NULL },
        { "ones", NULL, "--fill: \"ones\" is neither normal nor uniform nor zeros" },
        { "x=ones", NULL, "--fill: x: \"ones\" is neither" },
        { "x=zeros,x=uniform", NULL, "--fill: tensor \"x\" is filled twice" },
        { "=zeros", NULL, "--fill: \"\" is no name of a tensor" },
        { "x=gone.npy", NULL, "--fill: x: gone.npy: cannot open" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct string_list texts = { 0 };
        struct fill_list fills;
        struct strbuf names;
        struct error err;
        string_list_add_split(&texts, rows[i].words, ',');
        strbuf_init(&names);
        int rc = fill_list_parse(&fills, "--fill", &texts, &err);
        for (int j = 0; rc == 0 && j < fills.nr; j++)
            strbuf_addf(&names, "%s ",
                        fills.items[j] && *fills.items[j]->name ? fills.items[j]->name : "-");
        assert_int_equal(rc == 0, rows[i].says == NULL);
        if (rows[i].says)
            assert_non_null(strstr(err.message, rows[i].says));
        else
            assert_string_equal(names.data, rows[i].names);
        strbuf_release(&names);
        fill_list_release(&fills);
        string_list_release(&texts);
    }
}

TEST(what_a_key_says_of_tensors_is_taken)
{
    static const struct {
        const char *name;
        bool known;
    } rows[] = {
        { "weight=uniform,x=zeros", true },  { "zeros", true },
        { "x=zeros,weight=uniform", false }, { "x=file-1f3a55c0", false },
        { "each-1f3a55c0", false },          { "x=zeros,", false },
    };
    struct fill_list fills = { .nr = 0 };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct input_fill *f = fill_list_take(&fills, rows[i].name);
        assert_int_equal(f != NULL, rows[i].known);
        if (f)
            assert_string_equal(f->name, rows[i].name);
        assert_ptr_equal(fill_list_take(&fills, rows[i].name), f);
    }
    fill_list_release(&fills);
}

TEST(what_matches_nothing_is_named)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "filters=gemn", "filter \"gemn\" matches nothing on device cpu; did you mean \"gemm\"?" },
        { "filters=gemm,atention", "did you mean \"attention\"?" },
        { "filters=gemm/liner", "did you mean \"gemm/linear\"?" },
        { "filters=gpt/nanno", "did you mean \"gpt/nano\"?" },
        { "filters=xyzzy-plugh", "there are: " },
        { "filters=null",
          "filter \"null\" matches nothing on device cpu, but on device fake: give --device fake" },
        { "filters=null/copy/right", "give --device fake" },
        { "variants=right",
          "variant \"right\" matches nothing on device cpu, but on device fake: give --device "
          "fake" },
        { "models=nanno", "model \"nanno\" matches nothing on device cpu; did you mean \"nano\"?" },
        { "models=tile-huge", "tile-large" },
        { "variants=smd", "variant \"smd\" matches nothing on device cpu; did you mean \"simd\"?" },
        { "maths=fp31", "dtype \"fp31\" matches nothing on device cpu; did you mean \"fp32\"?" },
        { "bath=4", "dim \"bath\" matches nothing on device cpu; did you mean \"batch\"?" },
        { "filters=layernorm heads=4", "\"heads\"" }, /* a dim, but not of what is selected */
        { "models=nano filters=gemm", "\"gemm\"" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct selection s = select_by(bad[i].text);
        struct benchmark_list list = { 0 };
        struct error err = { "" };
        if (selection_expand(&s, registry_builtin(), &cpu, &list, &err) != -1)
            fail_msg("accepted: %s", bad[i].text);
        assert_has(err.message, bad[i].says);
        array_release(&list);
        selection_release(&s);
    }
}

/* All of it is refused, quickly, before anything is measured. */
TEST(too_much_is_refused)
{
    struct selection s = select_by("batch=1:10000:+1 seq=1:10000:+1");
    struct benchmark_list list = { 0 };
    struct error err = { "" };

    assert_fails(selection_expand(&s, registry_builtin(), &fake, &list, &err), &err,
                 "the selection has more than 100000 benchmarks");
    array_release(&list);
    selection_release(&s);
}

TEST(too_many_dims_are_refused)
{
    static int64_t one[] = { 1 };
    struct int_list values = { one, 1, 1 };
    struct selection s = { 0 };
    struct error err = { "" };
    char name[32];

    for (int i = 0; i < SHAPE_MAX; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        assert_ok(selection_add_dim(&s, name, &values, &err), &err);
    }
    assert_int_equal(selection_add_dim(&s, "d8", &values, &err), -1);
    assert_ok(selection_add_dim(&s, "d7", &values, &err), &err);
    assert_int_equal(selection_add_dim(&s, "a-name-of-many-characters", &values, &err), -1);
    selection_release(&s);
}

static const struct missing_variant missing[] = {
    { "gemm", "openblas", "OpenBLAS was not found" },
    { NULL, NULL, NULL },
};

/* A variant that this build lacks: left out beside others, explained when alone. */
TEST(variants_that_are_not_built)
{
    struct registry r = *registry_builtin();
    struct selection both = select_by("variants=right,openblas"),
                     one = select_by("variants=openblas");
    struct selection wrong = select_by("variants=right,oopsblas");
    struct benchmark_list list = { 0 };
    struct error err;

    r.missing = missing;
    assert_ok(selection_expand(&both, &r, &fake, &list, &err), &err);
    assert_int_equal(list.nr, 6);
    assert_int_equal(selection_expand(&one, &r, &fake, &list, &err), -1);
    assert_string_equal(err.message,
                        "variant openblas is not in this build: OpenBLAS was not found");
    assert_fails(selection_expand(&wrong, &r, &fake, &list, &err), &err,
                 "variant \"oopsblas\" matches nothing");
    array_release(&list);
    selection_release(&both);
    selection_release(&one);
    selection_release(&wrong);
}

static bool has_variants_for(enum device_kind kind)
{
    const struct variant *v;

    for (size_t i = 0; (v = registry_variant_at(registry_builtin(), i)); i++)
        if (v->device == kind)
            return true;
    return false;
}

/* Suites whose names begin with "gpu" are for CUDA; a build without it only reads them. */
TEST(embedded_suites_expand)
{
    static const struct device gpu = { .kind = DEVICE_CUDA, .spec = "cuda", .label = "cuda" };
    int nr = 0;

    for (const struct resource *r = resource_all(); r->name; r++) {
        char name[64];
        struct suite s;
        struct error err;
        if (sscanf(r->name, "suites/%63[^.].json", name) != 1)
            continue;
        assert_ok(suite_load(&s, name, &err), &err);
        assert_string_equal(s.name, name);
        assert_true(s.summary[0] && s.launches >= 1 && s.nr > 0);
        assert_true(s.sampling.min_time <= s.sampling.max_time);
        const struct device *device = strncmp(name, "gpu", 3) == 0 ? &gpu : &cpu;
        for (size_t i = 0; i < s.nr && has_variants_for(device->kind); i++) {
            struct benchmark_list list = { 0 };
            assert_ok(selection_expand(&s.selections[i], registry_builtin(), device, &list, &err),
                      &err);
            assert_true(list.nr > 0);
            assert_no_repeats(&list);
            array_release(&list);
        }
        suite_release(&s);
        nr++;
    }
    assert_true(nr >= 3);
}

TEST(quick_holds_all_six_models)
{
    static const char *const models[] = { "nano",       "micro",       "mini",
                                          "tile-small", "tile-medium", "tile-large" };
    struct benchmark_list list = { 0 };
    struct suite s;
    struct error err;

    assert_ok(suite_load(&s, "quick", &err), &err);
    for (size_t i = 0; i < s.nr; i++)
        assert_ok(selection_expand(&s.selections[i], registry_builtin(), &cpu, &list, &err), &err);
    for (size_t m = 0; m < 6; m++) {
        char name[64];
        bool found = false;
        snprintf(name, sizeof(name), "gpt/%s/prefill", models[m]);
        for (size_t i = 0; i < list.nr; i++)
            found |= strcmp(list.items[i].variant->kernel->name, name) == 0;
        assert_true(found);
    }
    array_release(&list);
    suite_release(&s);
}

TEST(suites_come_from_files_too)
{
    static const char text[] =
        "{\"name\": \"mine\", \"launches\": 2, \"sampling\": {\"iterations\": 4},\n"
        " \"select\": [{\"filters\": [\"null/copy/right\"], \"cache\": [\"cold\", \"warm\"],\n"
        "               \"fill\": [\"normal\", \"zeros\", \"normal\"],\n"
        "               \"dims\": {\"batch\": [1, 2, 2], \"seq\": [8]}}]}";
    struct benchmark_list list = { 0 };
    struct suite s;
    struct error err;

    assert_ok(file_write(suite_path, text, strlen(text), &err), &err);
    assert_ok(suite_load(&s, suite_path, &err), &err);
    assert_string_equal(s.name, "mine");
    assert_string_equal(s.summary, "");
    assert_int_equal(s.launches, 2);
    assert_int_equal(s.sampling.iterations, 4);
    assert_true(s.sampling.max_time == sampling_default.max_time);
    assert_ok(selection_expand(&s.selections[0], registry_builtin(), &fake, &list, &err), &err);
    assert_int_equal(list.nr, 8);
    assert_null(list.items[0].inputs);
    assert_string_equal(list.items[1].inputs->name, "zeros");
    array_release(&list);
    suite_release(&s);
}

TEST(bad_suites_are_refused)
{
#define SUITE(select) "{\"name\": \"s\", \"select\": " select "}"
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "not valid JSON at line 1, column 1" },
        { "{\"name\": \"s\",\n\"select\": }", "not valid JSON at line 2, column 11" },
        { "[1, 2]", "suite: not a JSON object" },
        { "{}", "\"name\" is missing or not a string" },
        { "{\"name\": \"s\"}", "\"select\" must list at least one selection" },
        { SUITE("[]"), "\"select\" must list at least one selection" },
        { SUITE("[5]"), "select: not a JSON object" },
        { SUITE("[[]]"), "select: not a JSON object" },
        { "{\"name\": \"s\", \"lanches\": 3}", "did you mean \"launches\"?" },
        { "{\"name\": \"s\", \"launches\": 0}", "\"launches\" must be from 1 to 1000" },
        { "{\"name\": \"s\", \"launches\": 1001}", "\"launches\" must be from 1 to 1000" },
        { "{\"name\": \"s\", \"launches\": \"five\"}", "\"launches\" is missing or not a number" },
        { "{\"name\": \"s\", \"sampling\": {\"min_time\": -1}}", "sampling times" },
        { "{\"name\": \"s\", \"sampling\": 5}", "sampling: not a JSON object" },
        { SUITE("[{\"filter\": []}]"), "unknown key \"filter\"; did you mean \"filters\"?" },
        { SUITE("[{\"filters\": \"gemm\"}]"), "\"filters\" must be a list of strings" },
        { SUITE("[{\"filters\": [\"gemm\", 5]}]"), "\"filters\" must be a list of strings" },
        { SUITE("[{\"models\": [\"\"]}]"), "\"models\" must be a list of strings" },
        { SUITE("[{\"cache\": [\"cold\", 5]}]"), "\"cache\" must be a list of strings" },
        { SUITE("[{\"cache\": [\"tepid\"]}]"), "\"tepid\" is neither warm nor cold nor rotate" },
        { SUITE("[{\"fill\": \"zeros\"}]"), "\"fill\" must be a list of strings" },
        { SUITE("[{\"fill\": [\"ones\"]}]"), "\"fill\": \"ones\" is neither normal nor uniform" },
        { SUITE("[{\"fill\": [\"a.npy\"]}]"), "\"fill\": \"a.npy\" is a file; in a suite" },
        { SUITE("[{\"dims\": [1]}]"), "\"dims\" must be an object" },
        { SUITE("[{\"dims\": {\"batch\": 4}}]"), "dim \"batch\" must be a list of sizes from 1" },
        { SUITE("[{\"dims\": {\"batch\": []}}]"), "dim \"batch\" must be a list of sizes" },
        { SUITE("[{\"dims\": {\"batch\": [0]}}]"), "dim \"batch\" must be a list of sizes" },
        { SUITE("[{\"dims\": {\"batch\": [1.5]}}]"), "dim \"batch\" must be a list of sizes" },
        { SUITE("[{\"dims\": {\"batch\": [1e12]}}]"), "dim \"batch\" must be a list of sizes" },
        { SUITE("[{\"dims\": {\"batch\": [\"4\"]}}]"), "dim \"batch\" must be a list of sizes" },
    };
#undef SUITE

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct suite s;
        struct error err = { "" };
        assert_ok(file_write(suite_path, bad[i].text, strlen(bad[i].text), &err), &err);
        if (suite_load(&s, suite_path, &err) != -1)
            fail_msg("accepted: %s", bad[i].text);
        assert_has(err.message, bad[i].says);
        assert_has(err.message, suite_path);
        suite_release(&s);
    }
}

TEST(unknown_suites_list_what_there_is)
{
    struct suite s;
    struct error err = { "" };

    assert_fails(suite_load(&s, "quik", &err), &err,
                 "unknown suite \"quik\"; there are ci, cost, full, gpu-anchors, gpu-rates, gpu, "
                 "peers-attention, ");
    suite_release(&s);
    assert_fails(suite_load(&s, "./no-such-suite.json", &err), &err,
                 "./no-such-suite.json: cannot open");
    suite_release(&s);
    assert_int_equal(suite_load(&s, "", &err), -1);
    suite_release(&s);
}

RUN_TESTS(NULL, NULL)
