/* SPDX-License-Identifier: MIT */
/*
 * Presets and harness.json: every key, what they refuse and where, what goes over what, and that
 * what is printed reads back as the same.
 * Covers: S1-29, S1-34, S1-38, S1-39, S1-44, S1-45, S1-51, S2-08.
 */
#include "testing.h"

#include "base/file.h"
#include "chart/chapter.h"
#include "chart/config.h"
#include "chart/default_figures.h"
#include "chart/places.h"
#include "core/registry.h"
#include "output_records.h"

#include <stdlib.h>
#include <unistd.h>

static const char whole[] =
    "{ \"name\": \"mine\", \"title\": \"Mine\", \"description\": \"d\", \"how\": \"h\",\n"
    "  \"type\": \"scatter\", \"mode\": [\"single\", \"multi\"], \"section\": \"sizes\",\n"
    "  \"chapter\": \"machine\",\n"
    "  \"x\": \"p50\", \"y\": \"tokens / layers\", \"panels\": [\"p50\", \"gflops\"],\n"
    "  \"size\": \"width\", \"colour\": \"tokens\", \"group\": \"variant\",\n"
    "  \"x_label\": \"xl\", \"y_label\": \"yl\", \"x_scale\": \"log\", \"y_scale\": \"linear\",\n"
    "  \"filter\": [\"gpt\", \"!gpt/gpt2\"], \"limit\": 9, \"rolling_window\": 201,\n"
    "  \"highlight_pareto\": true, \"show_legend\": false, \"_why\": \"because\" }\n";

static void parse_preset(struct preset *preset, const char *text)
{
    struct error err;

    assert_ok(preset_parse(preset, text, strlen(text), "t.json", &err), &err);
}

TEST(every_key_is_read)
{
    struct preset p;

    parse_preset(&p, whole);
    assert_string_equal(p.name, "mine");
    assert_string_equal(p.how, "h");
    assert_string_equal(p.section, "sizes");
    assert_string_equal(p.chapter, "machine");
    assert_string_equal(p.type->name, "scatter");
    assert_int_equal(p.modes, PLOT_SINGLE | PLOT_MULTI);
    assert_string_equal(p.y, "tokens / layers");
    assert_int_equal(p.panels.nr, 2);
    assert_string_equal(p.size, "width");
    assert_string_equal(p.colour, "tokens");
    assert_string_equal(p.group, "variant");
    assert_int_equal(p.x_scale, SCALE_LOG);
    assert_int_equal(p.y_scale, SCALE_LINEAR);
    assert_int_equal(p.limit, 9);
    assert_int_equal(p.rolling_window, 201);
    assert_true(p.highlight_pareto && !p.show_legend);
    preset_release(&p);
}

static char *print_preset(const struct preset *preset)
{
    return json_take_text(preset_to_json(preset));
}

static void check_round_trip(const struct preset *preset)
{
    char *first = print_preset(preset);
    struct preset again;

    parse_preset(&again, first);
    char *second = print_preset(&again);
    assert_string_equal(first, second);
    assert_int_equal(again.modes, preset->modes);
    preset_release(&again);
    free(first);
    free(second);
}

TEST(presets_read_back)
{
    struct presets presets = { 0 };
    struct preset p;
    struct error err;

    parse_preset(&p, whole);
    check_round_trip(&p);
    preset_release(&p);
    assert_ok(presets_load_embedded(&presets, &err), &err);
    assert_true(presets.nr > 20);
    for (size_t i = 0; i < presets.nr; i++)
        check_round_trip(&presets.items[i]);
    presets_release(&presets);
}

#define BEGIN "{ \"name\": \"a\", \"title\": \"A\",\n \"type\": \"scatter\", \"y\": \"p50\",\n"

TEST(refusals_name_the_line)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { BEGIN "\"colr\": \"p50\" }", "t.json:3: unknown key \"colr\"; did you mean \"colour\"?" },
        { BEGIN "\"x\": \"p59\" }", "t.json:3: \"p59\" is no metric" },
        { BEGIN "\"x\": \"p99 / p5x\" }", "t.json:3: \"p5x\" is no metric" },
        { BEGIN "\"x\": \"p99 /\" }", "t.json:3: column 6" },
        { BEGIN "\"size\": \"variant\" }", "t.json:3: \"variant\" is no number" },
        { BEGIN "\"panels\": [\n\"p50\",\n\"bacth\"] }", "t.json:5: \"bacth\" is no metric" },
        { BEGIN "\"group\": \"varint\" }", "t.json:3: \"varint\" is no way to group" },
        { BEGIN "\"section\": \"sped\" }", "did you mean \"speed\"?" },
        { BEGIN "\"chapter\": \"kernel\" }",
          "t.json:3: \"kernel\" is unknown; did you mean \"kernels\"?" },
        { BEGIN "\"chapter\": 1 }", "t.json:3: a string is expected here" },
        { BEGIN "\"where\": \"modles\" }", "did you mean \"models\"?" },
        { BEGIN "\"mode\": [\"single\",\n\"mutli\"] }", "t.json:4: \"mutli\" is unknown" },
        { BEGIN "\"mode\": [1] }", "t.json:3: \"mode\" holds something" },
        { BEGIN "\"x_scale\": \"logg\" }", "t.json:3: \"logg\" is unknown; did you mean \"log\"?" },
        { BEGIN "\"limit\": 1.5 }", "t.json:3: \"limit\" is no whole number from 0 to 64" },
        { BEGIN "\"limit\": 1e99 }", "t.json:3: \"limit\"" },
        { BEGIN "\"limit\": 1, \"limit\": 2 }", "t.json:3: \"limit\" is there twice" },
        { BEGIN "\"show_legend\": 1 }", "t.json:3: \"show_legend\" is neither true nor false" },
        { BEGIN "\"filter\": { } }", "t.json:3: \"filter\" is neither a string nor a list" },
        { "{\n\"name\": \"a/b\", \"title\": \"A\", \"type\": \"trend\" }", "t.json:2: the name" },
        { "{\n\"name\": \"\", \"title\": \"A\", \"type\": \"trend\" }", "t.json:2: the name" },
        { "{\n\"name\": \"a\", \"title\": \"A\", \"type\": \"tred\" }", "did you mean \"trend\"?" },
        { "{\n\"name\": \"a\", \"title\": \"A\" }", "t.json:1: \"name\", \"title\" and \"type\"" },
        { "{\n\"name\": \"a\", \"title\": \"A\",\n\"type\": \"lines\" }", "t.json:3: \"y\" must" },
        { "{\n\"name\": \"a\", \"title\": \"A\",\n\"type\": \"trend\", \"y\": \"gflops\" }",
          "t.json:3: \"trend\" draws p50 alone: leave \"y\": \"gflops\" out" },
        { "{\n\"name\": \"a\", \"title\": \"A\",\n\"type\": \"grouped\", \"y\": \"branch_misses\" "
          "}",
          "t.json:3: \"grouped\" without \"group\" draws p50 alone: leave \"y\": "
          "\"branch_misses\"" },
        { "{\n\"name\": \"a\", \"title\": \"A\",\n\"type\": \"sides\", \"y\": \"p99 / p50\" }",
          "t.json:3: \"sides\" draws p50 alone: leave \"y\": \"p99 / p50\" out" },
        { "7", "t.json:1: a JSON object" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct preset p;
        struct error err = { "" };
        if (preset_parse(&p, rows[i].text, strlen(rows[i].text), "t.json", &err) == 0)
            fail_msg("%s was taken", rows[i].text);
        if (!strstr(err.message, rows[i].says))
            fail_msg("%s: \"%s\" does not say %s", rows[i].text, err.message, rows[i].says);
    }
}

/* What is drawn anyway may be said; with a "group" it is "y" that is drawn. */
TEST(the_metric_that_a_type_draws_may_be_named)
{
    static const char *const rows[] = {
        "\"type\": \"trend\", \"y\": \"p50\"",
        "\"type\": \"dumbbell\", \"y\": \"median\"",
        "\"type\": \"table\"",
        "\"type\": \"grouped\", \"y\": \"gflops\", \"group\": \"variant\"",
        "\"type\": \"speedup\", \"y\": \"gflops\", \"group\": \"variant\"",
        "\"type\": \"runs\", \"y\": \"gflops\"",
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct preset p;
        char text[256];
        snprintf(text, sizeof(text), "{ \"name\": \"a\", \"title\": \"A\", %s }", rows[i]);
        parse_preset(&p, text);
        preset_release(&p);
    }
}

/* As the preset says, or by what it shows. */
TEST(a_figure_stands_in_a_chapter)
{
    static const struct {
        const char *keys, *chapter;
    } rows[] = {
        { "\"where\": \"models\"", "models" },
        { "\"where\": \"decode\"", "models" },
        { "\"where\": \"kernels\"", "kernels" },
        { "\"filter\": \"gpt\"", "models" },
        { "\"filter\": \"gpt/nano/*\"", "models" },
        { "\"filter\": \"gptq/nano\"", "kernels" },
        { "\"filter\": \"gemm/linear\"", "kernels" },
        { "\"filter\": [\"!gemm\", \"gpt\"]", "kernels" },
        { "\"limit\": 1", "kernels" },
        { "\"section\": \"run\"", "machine" },
        { "\"section\": \"models\"", "models" },
        { "\"section\": \"verdict\", \"where\": \"models\"", "comparison" },
        { "\"chapter\": \"models\"", "models" },
        { "\"chapter\": \"kernels\", \"filter\": \"gpt\"", "kernels" },
        { "\"chapter\": \"history\", \"section\": \"run\"", "history" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct preset p;
        char text[256];
        snprintf(text, sizeof(text),
                 "{ \"name\": \"a\", \"title\": \"A\", \"type\": \"trend\", %s }", rows[i].keys);
        parse_preset(&p, text);
        if (strcmp(chapter_of(&p), rows[i].chapter) != 0)
            fail_msg("%s: %s", rows[i].keys, chapter_of(&p));
        preset_release(&p);
    }
}

#define FAMILY                                                                                     \
    "{ \"name\": \"mine\", \"title\": \"Rate of {where}\", \"type\": \"bars\", \"y\": \"p50\",\n"

static int add_family(struct presets *presets, const char *text, struct error *err)
{
    struct json_source source;

    if (json_source_parse(&source, text, strlen(text), "t.json", err))
        return -1;
    int rc = presets_add_json(presets, &source, source.root, "t.json", err);
    json_source_release(&source);
    return rc;
}

/* A part's keys go over those of the file; a name means a figure, a file's figures, a former name.
 */
TEST(a_split_is_several_figures)
{
    static const struct {
        const char *name, *means; /* figures, in their order */
    } rows[] = {
        { "mine-kernels", "mine-kernels " },
        { "mine", "mine-kernels rates " },
        { "rates", "rates " },
        { "rates-old", "rates " },
        { "mine-decode", "" },
    };
    struct presets presets = { 0 };
    struct error err;

    assert_ok(add_family(&presets,
                         FAMILY "\"split\": [{ \"where\": \"kernels\", \"filter\": \"!gemm\" },\n"
                                "{ \"name\": \"rates\", \"where\": \"prefill\", \"y\": \"tokens\","
                                " \"formerly\": \"rates-old\" }] }",
                         &err),
              &err);
    assert_int_equal(presets.nr, 2);
    assert_string_equal(presets.items[0].title, "Rate of the kernels");
    assert_string_equal(presets.items[1].title, "Rate of the models' prefill");
    assert_string_equal(presets.items[1].y, "tokens");
    assert_true(preset_takes(&presets.items[0], "embedding/simd/fp32/n=1/cpu-1t/warm"));
    assert_false(preset_takes(&presets.items[0], "gemm/nn/simd/fp32/n=1/cpu-1t/warm"));
    assert_false(preset_takes(&presets.items[0], "gpt/nano/prefill/simd/fp32/batch=1/cpu-1t/warm"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char means[64] = "";
        for (size_t k = 0; k < presets.nr; k++)
            if (presets_mean(&presets, rows[i].name, &presets.items[k]))
                strcat(strcat(means, presets.items[k].name), " ");
        assert_string_equal(means, rows[i].means);
        assert_int_equal(presets_is_former(&presets, rows[i].name), i == 3);
    }
    presets_release(&presets);
}

TEST(refusals_of_a_split_name_the_line)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { FAMILY "\"split\": [] }", "t.json:2: \"split\" is no list of parts" },
        { FAMILY "\"split\": \"kernels\" }", "t.json:2: \"split\" is no list of parts" },
        { FAMILY "\"split\": [\n7] }", "t.json:3: a JSON object" },
        { FAMILY "\"split\": [\n{ \"y\": \"p95\" }] }", "t.json:3: a part of \"split\" needs" },
        { FAMILY "\"split\": [\n{ \"where\": \"kernel\" }] }",
          "t.json:3: \"kernel\" is unknown; did you mean \"kernels\"?" },
        { FAMILY "\"split\": [\n{ \"where\": \"kernels\",\n\"colr\": \"p50\" }] }",
          "t.json:4: unknown key \"colr\"" },
        { FAMILY "\"split\": [\n{ \"name\": \"a\", \"split\": [] }] }", "t.json:3: unknown key" },
        { FAMILY "\"split\": [\n{ \"name\": \"../a\" }] }", "t.json:3: the name" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct presets presets = { 0 };
        struct error err = { "" };
        assert_int_equal(add_family(&presets, rows[i].text, &err), -1);
        if (!strstr(err.message, rows[i].says))
            fail_msg("%s: \"%s\" does not say %s", rows[i].text, err.message, rows[i].says);
        presets_release(&presets);
    }
}

/* A dim that is no word of presets could not be drawn over. */
TEST(every_dim_is_known)
{
    const struct registry *registry = registry_builtin();
    const struct kernel *k;

    for (size_t i = 0; (k = registry_kernel_at(registry, i)); i++) {
        for (int d = 0; d < kernel_nr_dims(k); d++) {
            struct chart_metric m;
            struct error err;
            assert_ok(chart_metric_init(&m, k->dims[d], &err), &err);
            if (strcmp(k->dims[d], "n") != 0) /* the number of samples; the dim is "dim_n" */
                assert_non_null(m.parameter);
            chart_metric_release(&m);
        }
    }
}

/* One item of a run that was sampled for 20 ms at least. */
TEST(values_of_words)
{
    static const struct {
        const char *text;
        double value; /* in base units */
    } rows[] = {
        { "batch", 4 },           { "layers", 3 },     { "flops", 1e6 },
        { "footprint", 2e6 },     { "threads", 4 },    { "launches", 1 },
        { "min_time", 2e7 },      { "n", 20 },         { "batch * seq", 256 },
        { "dim_seq", 64 },        { "dim_tile", NAN }, { "seq / layers", 64.0 / 3 },
        { "flops / bytes", 0.5 }, { "log2(seq)", 6 },  { "p50 / p50", 1 },
        { "batch / dim_n", NAN }, { "variant", NAN },
    };
    static const struct plot_model models[] = {
        { .name = "nano", .layers = 3, .kernels = { "gpt/nano/prefill" } }
    };
    static const char preset_text[] = "{\"name\":\"a\",\"title\":\"A\",\"type\":\"trend\"}";
    struct records r = { 0 };
    struct preset preset;
    struct chart_items items;

    made_run(&r, 0, "feedbeef", "gcc");
    r.runs[0].settings = memory_string("{\"sampling\":{\"min_time\":0.02}}");
    made_work(made_measurement(&r, 0, 0, "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm",
                               1000, 0.01, 20, 1),
              1e6, 2e6);
    parse_preset(&preset, preset_text);
    struct chart chart = { .preset = &preset, .records = &r, .models = models, .nr_models = 1 };
    chart_items_init(&items, &chart);
    assert_int_equal(items.nr, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct chart_metric m;
        struct error err;
        assert_ok(chart_metric_init(&m, rows[i].text, &err), &err);
        double value = chart_value_of(&m, &items.items[0], &items.context).value;
        if (isnan(rows[i].value) ? !isnan(value) : fabs(value / rows[i].value - 1) > 1e-12)
            fail_msg("%s is %g, not %g", rows[i].text, value, rows[i].value);
        chart_metric_release(&m);
    }
    chart_items_release(&items);
    preset_release(&preset);
    records_release(&r);
}

/* A key of the schema is one that presets take; their values are checked elsewhere. */
static void check_known(const char *key)
{
    char text[256];
    struct preset p;
    struct error err = { "" };

    snprintf(text, sizeof(text), "{\"name\":\"a\",\"title\":\"A\",\"%s\":{}}", key);
    assert_int_equal(preset_parse(&p, text, strlen(text), "t.json", &err), -1);
    if (strstr(err.message, "unknown key"))
        fail_msg("the schema has \"%s\": %s", key, err.message);
}

static bool lists(const cJSON *array, const char *word)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, array)
    {
        if (strcmp(item->valuestring, word) == 0)
            return true;
    }
    return false;
}

/* Of plots/places.json: whole, and all of them in the schema. */
static void check_places(const cJSON *words)
{
    size_t nr = 0;

    for (const struct place *place; (place = place_at(nr)); nr++) {
        bool known = false;
        for (size_t i = 0; chapter_names[i]; i++)
            known |= strcmp(chapter_names[i], place->chapter) == 0;
        if (!known || !*place->filter || !*place->words || !lists(words, place->name))
            fail_msg("%s", place->name);
    }
    assert_int_equal(nr, cJSON_GetArraySize(words));
}

TEST(the_schema_keeps_step)
{
    struct error err;
    struct preset p;
    cJSON *schema = json_parse_file(HARNESS_SOURCE_DIR "/plots/schema/preset.schema.json",
                                    FILE_RECORDS_MOST, &err);

    if (!schema)
        fail_msg("%s", err.message);
    const cJSON *keys = cJSON_GetObjectItem(schema, "properties"), *key;
    cJSON_ArrayForEach(key, keys)
    {
        if (key->string[0] != '$' && strcmp(key->string, "split") != 0)
            check_known(key->string);
    }
    parse_preset(&p, whole);
    cJSON *json = preset_to_json(&p);
    cJSON_ArrayForEach(key, json)
    {
        if (!cJSON_HasObjectItem(keys, key->string))
            fail_msg("the schema lacks \"%s\"", key->string);
    }
    const cJSON *types = cJSON_GetObjectItem(cJSON_GetObjectItem(keys, "type"), "enum");
    for (size_t i = 0; plot_type_at(i); i++)
        if (!lists(types, plot_type_at(i)->name))
            fail_msg("the schema lacks the type \"%s\"", plot_type_at(i)->name);
    const cJSON *sections = cJSON_GetObjectItem(cJSON_GetObjectItem(keys, "section"), "enum");
    for (size_t i = 0; preset_sections[i]; i++)
        assert_true(lists(sections, preset_sections[i]));
    const cJSON *chapters = cJSON_GetObjectItem(cJSON_GetObjectItem(keys, "chapter"), "enum");
    for (size_t i = 0; chapter_names[i]; i++)
        assert_true(lists(chapters, chapter_names[i]));
    check_places(cJSON_GetObjectItem(cJSON_GetObjectItem(keys, "where"), "enum"));
    cJSON_Delete(json);
    cJSON_Delete(schema);
    preset_release(&p);
}

static void load(struct config *c, const char *text, const char *what)
{
    struct error err;

    assert_ok(config_parse(c, text, strlen(text), what, &err), &err);
}

static const struct preset *figure(const struct config *c, const char *name)
{
    struct error err;
    const struct preset *found = presets_find(&c->presets, name, &err);

    if (!found)
        fail_msg("%s", err.message);
    return found;
}

TEST(later_files_go_over_earlier_ones)
{
    struct config c;
    struct error err;

    assert_ok(config_init(&c, &err), &err);
    assert_true(default_figure_in(&c, figure(&c, "roofline"), PLOT_SINGLE));
    assert_false(default_figure_in(&c, figure(&c, "comparison"), PLOT_SINGLE));
    load(
        &c,
        "{ \"presets\": [ { \"name\": \"mine\", \"title\": \"Mine\", \"type\": \"trend\","
        " \"limit\": 3 } ],\n"
        " \"defaults\": { \"single\": [\"mine\", \"trend\"], \"_from\": { } }, \"delta\": \"5%\",\n"
        " \"formats\": [\"pdf\"], \"peaks\": { \"cpu-2t\": { \"flops.fp32\": 1e11 } } }",
        "/home/u/harness.json");
    load(&c,
         "{ \"presets\": [ { \"name\": \"mine\", \"title\": \"Mine\", \"type\": \"trend\","
         " \"limit\": 4 } ],\n"
         " \"defaults\": { \"multi\": [] }, \"peaks\": { \"cpu-2t\": { \"bandwidth.dram\": 2e10 } "
         "} }",
         "/project/harness.json");
    assert_int_equal(figure(&c, "mine")->limit, 4);
    assert_string_equal(figure(&c, "mine")->from, "/project/harness.json");
    assert_string_equal(c.formats.names.items[0], "pdf");
    assert_string_equal(c.formats.from, "/home/u/harness.json");
    assert_close(c.delta, 0.05, 0);
    assert_int_equal(c.nr_peaks, 2);
    assert_true(default_figure_in(&c, figure(&c, "mine"), PLOT_SINGLE));
    assert_false(default_figure_in(&c, figure(&c, "roofline"), PLOT_SINGLE));
    assert_false(default_figure_in(&c, figure(&c, "runs-latency"), PLOT_MULTI));
    assert_true(default_figure_in(&c, figure(&c, "comparison"), PLOT_COMPARE));
    config_release(&c);
}

TEST(one_saved_figure_is_drawn_alone)
{
    struct config c;
    struct error err;

    assert_ok(config_init(&c, &err), &err);
    load(&c, whole, "view.json");
    assert_string_equal(c.alone, "mine");
    assert_true(default_figure_in(&c, figure(&c, "mine"), PLOT_SINGLE));
    assert_false(default_figure_in(&c, figure(&c, "roofline"), PLOT_SINGLE));
    config_release(&c);
}

TEST(bad_files_are_refused)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "{\n\"default\": {} }", "h.json:2: unknown key \"default\"; did you mean \"defaults\"?" },
        { "{ \"defaults\": {\n\"single\": [\"rooflin\"] } }", "h.json:2: unknown figure" },
        { "{ \"defaults\": {\n\"singel\": [] } }", "h.json:2: unknown key \"singel\"" },
        { "{ \"defaults\": { \"single\": 1 } }", "h.json:1: \"single\" is no list" },
        { "{\n\"formats\": [\"gif\"] }", "h.json:2: " },
        { "{\n\"delta\": \"lots\" }", "h.json:2: " },
        { "{\n\"delta\": 0 }", "h.json:2: \"delta\"" },
        { "{ \"peaks\": { \"cpu-2t\": {\n\"flop\": 1 } } }", "h.json:2: \"flop\" is no roof" },
        { "{ \"peaks\": { \"cpu-2t\": {\n\"flops.fp32\": -1 } } }", "h.json:2: \"flops.fp32\"" },
        { "{ \"peaks\": { \"cpu-2t\": 3 } }", "h.json:1: \"cpu-2t\"" },
        { "{\n\"presets\": [\n{ \"name\": \"a\", \"title\": \"A\", \"type\": \"tred\" } ] }",
          "h.json:3: unknown plot type" },
        { "{ \"presets\": [\n\"none.json\" ] }", "h.json:2: /no/where/none.json" },
        { "[]", "h.json:1: a JSON object" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct config c;
        struct error err = { "" };
        assert_ok(config_init(&c, &err), &err);
        if (config_parse(&c, rows[i].text, strlen(rows[i].text), "/no/where/h.json", &err) == 0)
            fail_msg("%s was taken", rows[i].text);
        if (!strstr(err.message, rows[i].says))
            fail_msg("%s: \"%s\" does not say %s", rows[i].text, err.message, rows[i].says);
        config_release(&c);
    }
}

/* Texts of a configuration without the "_from", which names the file. */
static char *printed(const struct config *c)
{
    cJSON *json = config_to_json(c), *preset;

    cJSON_DeleteItemFromObject(json, "_from");
    cJSON_DeleteItemFromObject(cJSON_GetObjectItem(json, "defaults"), "_from");
    cJSON_ArrayForEach(preset, cJSON_GetObjectItem(json, "presets"))
        cJSON_DeleteItemFromObject(preset, "_from");
    return json_take_text(json);
}

TEST(what_is_printed_reads_back)
{
    struct config c, again;
    struct error err;

    assert_ok(config_init(&c, &err), &err);
    load(&c, "{ \"defaults\": { \"single\": [\"trend\"] }, \"delta\": 0.07 }", "a.json");
    cJSON *json = config_to_json(&c);
    char *text = json_take_text(json);
    assert_has(text, "\"_from\":\"built in\"");
    assert_has(text, "\"single\":\"a.json\"");
    assert_has(text, "\"delta\":\"a.json\"");
    assert_ok(config_init(&again, &err), &err);
    load(&again, text, "b.json");
    char *first = printed(&c), *second = printed(&again);
    assert_string_equal(first, second);
    free(text);
    free(first);
    free(second);
    config_release(&c);
    config_release(&again);
}

TEST(peaks_become_given_roofs)
{
    struct records r = { 0 };
    struct config c;
    struct error err;

    made_run(&r, 0, "feedbeef", "gcc");
    made_roof(&r, "flops.fp32", "FLOP/s", 420e9, 0);
    assert_ok(config_init(&c, &err), &err);
    assert_null(config_apply_peaks(&c, &r));
    load(&c, "{ \"peaks\": { \"cpu\": { \"flops.fp32\": 5e11 } } }", "other.json");
    made_measurement(&r, 0, 0, "gemm/linear/simd/fp32/batch=1,seq=2,n=3,k=4/cpu-4t/warm", 100, 1, 3,
                     1);
    assert_null(config_apply_peaks(&c, &r)); /* nothing was measured on "cpu" */
    assert_int_equal(r.nr_roofs, 1);
    load(&c, "{ \"peaks\": { \"cpu-4t\": { \"flops.fp32\": 5e11, \"bandwidth.dram\": 6e10 } } }",
         "p.json");
    assert_string_equal(config_apply_peaks(&c, &r), "p.json");
    assert_int_equal(r.nr_roofs, 2);
    assert_close(r.roofs[0].value, 420e9, 0);
    assert_close(r.roofs[0].spec, 5e11, 0);
    assert_string_equal(r.roofs[1].unit, "B/s");
    assert_close(r.roofs[1].value, 0, 0); /* not measured */
    assert_close(r.roofs[1].spec, 6e10, 0);
    config_release(&c);
    records_release(&r);
}

RUN_TESTS(NULL, NULL)
