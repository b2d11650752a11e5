/* SPDX-License-Identifier: MIT */
/*
 * A figure as JSON: all that a painter needs, and nothing where there is nothing.
 * Covers: S1-28.
 */
#include "testing.h"

#include "figure/figure.h"
#include "json_facts.h"

#include <math.h>
#include <stdlib.h>

/* As a reader gets it: printed and parsed, because numbers are added as text. */
static cJSON *json_of(const struct figure *f)
{
    struct error err;
    char *text = json_take_text(figure_to_json(f));
    cJSON *json = json_parse(text, strlen(text), "figure", &err);

    if (!json)
        fail_msg("%s", err.message);
    free(text);
    return json;
}

static const cJSON *at(const cJSON *json, const char *key)
{
    const cJSON *member = cJSON_GetObjectItem(json, key);

    if (!member)
        fail_msg("no member \"%s\"", key);
    return member;
}

static const cJSON *nth(const cJSON *json, const char *key, int i)
{
    const cJSON *item = cJSON_GetArrayItem(at(json, key), i);

    if (!item)
        fail_msg("no member \"%s\"[%d]", key, i);
    return item;
}

static struct figure *made(void)
{
    static const char *const names[] = { "a", "b" };
    struct figure *f = figure_create("made", "Made");
    struct panel *p = figure_panel(f);

    axis_names(&p->y, names, 2, true);
    p->y.bare = true;
    axis_set(&p->x, "work", QUANTITY_RATE, "FLOP/s", AXIS_LOG);
    struct layer *bars = panel_layer(p, MARK_BARS, "bars");
    bars->across = true;
    bars->thickness = 0.3;
    layer_add(bars, 2e9, 0);
    layer_add(bars, 8e9, 1);
    struct layer *points = panel_layer(p, MARK_POINTS, "points");
    layer_add(points, 2e9, 0)->share = 1;
    struct datum *plain = layer_add(points, 8e9, 1);
    plain->size = 20;
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    texts->outside = true;
    layer_add_text(texts, 0, 0, ANCHOR_LEFT, "two");
    return f;
}

TEST(axes_say_what_their_numbers_mean)
{
    struct figure *f = made();

    figure_finish(f);
    cJSON *json = json_of(f);
    assert_facts(nth(json, "panels", 0),
                 "x.quantity=rate; x.base=FLOP/s; x.factor=1000000000; "
                 "x.label=work (GFLOP/s, log scale); y.scale=category; !y.quantity; y.bare=true; "
                 "y.reversed=true");
    bool minor = false, major = false;
    const cJSON *tick;
    cJSON_ArrayForEach(tick, at(at(nth(json, "panels", 0), "x"), "ticks"))
    {
        bool is_minor = json_bool(tick, "minor", false);
        assert_int_equal(is_minor, cJSON_GetObjectItem(tick, "text") == NULL);
        minor |= is_minor;
        major |= !is_minor;
    }
    assert_true(minor && major);
    cJSON_Delete(json);
    figure_free(f);
}

/* Names of places that are seen where a part of the axis is shown; not of an axis of numbers. */
TEST(axes_say_what_stands_between_their_ticks)
{
    struct figure *f = made();
    struct axis *axis = &f->panels[0]->x;

    ticks_add(&axis->ticks, 2e9, "first", false);
    ticks_add(&axis->places, 2e9, "first", false);
    ticks_add(&axis->places, 8e9, "last", false);
    figure_finish(f);
    cJSON *json = json_of(f);
    assert_facts(
        nth(json, "panels", 0),
        "x.ticks.0.text=first; !x.ticks.1; x.places.0.at=2000000000; x.places.1.text=last; "
        "!x.places.2; !y.places");
    cJSON_Delete(json);
    figure_free(f);
}

TEST(data_have_sizes_and_colours_of_their_own)
{
    struct figure *f = made();

    figure_finish(f);
    cJSON *json = json_of(f);
    assert_facts(at(nth(json, "panels", 0), "layers"),
                 "0.thickness=0.3; !0.colour; 1.colour.0=#fde725; 1.colour.1=null; 1.size.1=20; "
                 "2.outside=true; !2.follow");
    cJSON_Delete(json);
    figure_free(f);
}

TEST(the_sheet_has_texts_and_legend)
{
    struct figure *f = made();

    figure_set(&f->caption, "How to read it.");
    figure_finish(f);
    cJSON *json = json_of(f);
    assert_facts(json,
                 "texts.role:title.text=Made; texts.role:title.bold=true; "
                 "texts.role:caption.text=How to read it.; texts.role:legend.text=bars; "
                 "samples.1.panel=0; samples.1.layer=1; !scale");
    cJSON_Delete(json);
    figure_free(f);
}

TEST(the_scale_of_colours_has_its_stops)
{
    struct figure *f = made();

    figure_set(&f->bar.label, "throughput");
    f->bar.quantity = QUANTITY_RATE;
    snprintf(f->bar.base, sizeof(f->bar.base), " tokens/s");
    f->bar.low = 1e3;
    f->bar.high = 1e6;
    f->bar.log = true;
    figure_finish(f);
    cJSON *json = json_of(f);
    const cJSON *scale = at(json, "scale");
    assert_facts(scale, "label~throughput; log=true; colours.0=#440154; colours.10=#fde725");
    assert_true(cJSON_GetArraySize(at(scale, "ticks")) >= 2);
    assert_true(json_number(at(scale, "box"), "height", 0) > 30);
    cJSON_Delete(json);
    figure_free(f);
}

TEST(numbers_have_one_zero)
{
    struct figure *f = figure_create("zero", "Zero");
    struct layer *line = panel_layer(figure_panel(f), MARK_LINE, NULL);

    layer_add(line, -0.0, 1);
    layer_add(line, 1, 2);
    figure_finish(f);
    char *text = json_take_text(figure_to_json(f));
    assert_lacks(text, "-0,");
    assert_lacks(text, "[-0");
    free(text);
    figure_free(f);
}

/* Counts that differ by a few of a billion have an axis, and places on it. */
TEST(numbers_keep_the_digits_in_which_they_differ)
{
    static const struct {
        double from, step;
    } rows[] = { { 1234567890, 3 }, { 1234567890, 1e5 }, { 3, 1e-11 }, { -7e12, 20 } };

    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        struct figure *f = figure_create("narrow", "Narrow");
        struct panel *p = figure_panel(f);
        struct layer *line = panel_layer(p, MARK_LINE, NULL);
        axis_set(&p->y, "instructions", QUANTITY_PLAIN, "", AXIS_LINEAR);
        for (int i = 0; i < 4; i++)
            layer_add(line, i, rows[row].from + i * rows[row].step);
        figure_finish(f);
        cJSON *json = json_of(f);
        const cJSON *axis = at(nth(json, "panels", 0), "y"), *tick;
        double span = json_number(axis, "high", 0) - json_number(axis, "low", 0),
               before = -INFINITY;
        assert_close(span / (p->y.high - p->y.low), 1, 1e-2);
        cJSON_ArrayForEach(tick, at(axis, "ticks"))
        {
            assert_true(json_number(tick, "at", NAN) > before);
            before = json_number(tick, "at", NAN);
        }
        const cJSON *layer = nth(nth(json, "panels", 0), "layers", 0);
        for (int i = 0; i < 4; i++)
            assert_close(nth(layer, "y", i)->valuedouble, line->items[i].y, span * 1e-2);
        cJSON_Delete(json);
        figure_free(f);
    }
}

TEST(days_keep_their_seconds)
{
    struct figure *f = figure_create("days", "Days");
    struct panel *p = figure_panel(f);
    struct layer *line = panel_layer(p, MARK_LINE, NULL);
    const double second = 1 / 86400.0;

    p->x.since_ms = INT64_C(1793538000123);
    for (int i = 0; i < 4; i++)
        layer_add(line, 1000 + 300 * i + i * second, i);
    figure_finish(f);
    cJSON *json = json_of(f);
    assert_facts(nth(json, "panels", 0), "x.since_ms=1793538000123; !y.since_ms");
    const cJSON *layer = nth(nth(json, "panels", 0), "layers", 0);
    for (int i = 0; i < 4; i++)
        assert_close(nth(layer, "x", i)->valuedouble, line->items[i].x, second / 2);
    cJSON_Delete(json);
    figure_free(f);
}

TEST(marks_say_what_they_stand_for)
{
    struct figure *f = figure_create("about", "About");
    struct panel *p = figure_panel(f);
    struct layer *one = panel_layer(p, MARK_LINE, NULL), *each = panel_layer(p, MARK_POINTS, NULL);
    char key[16];

    panel_row_is_about(p, 2, "row", NULL);
    figure_about(f, "a", "run 1");
    layer_add(one, 1, 1);
    layer_add(one, 2, 1);
    for (int i = 0; i < 200; i++) { /* more than there are slots at first */
        snprintf(key, sizeof(key), "b%d", i % 100);
        figure_about(f, key, i < 100 ? "run 1" : "run 2");
        layer_add(each, i, 1);
    }
    figure_about(f, NULL, NULL);
    layer_add(each, 200, 1);
    figure_finish(f);
    cJSON *json = json_of(f);
    const cJSON *panel = nth(json, "panels", 0);
    assert_facts(json,
                 "benchmarks.0=row; benchmarks.1=a; benchmarks.2=b0; benchmarks.101=b99; "
                 "!benchmarks.102; runs.0=run 1; runs.1=run 2; !runs.2");
    assert_facts(panel,
                 "rows.benchmark.2=0; rows.benchmark.0=null; !rows.run; "
                 "layers.0.benchmark=1; layers.0.run=0; layers.1.benchmark.0=2; "
                 "layers.1.benchmark.99=101; layers.1.benchmark.100=2; layers.1.run.99=0; "
                 "layers.1.run.100=1; layers.1.benchmark.200=null");
    cJSON_Delete(json);
    figure_free(f);
}

TEST(what_cannot_be_drawn_has_a_reason_alone)
{
    struct figure *f = figure_create("none", "None");

    figure_panel(f);
    figure_finish(f);
    cJSON *json = json_of(f);
    assert_facts(json, "reason=there is no finite number to draw; !panels; !texts");
    cJSON_Delete(json);
    figure_free(f);
}

RUN_TESTS(NULL, NULL)
