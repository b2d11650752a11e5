/* SPDX-License-Identifier: MIT */
/*
 * A figure as JSON: all that a painter needs, and nothing where there is nothing.
 * Covers: S1-28.
 */
#include "testing.h"

#include "base/json.h"
#include "figure/figure.h"

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

static const char *string(const cJSON *json, const char *key)
{
    return json_string(json, key, "");
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

static void axes_say_what_their_numbers_mean(void **state)
{
    struct figure *f = made();

    figure_finish(f);
    cJSON *json = json_of(f);
    const cJSON *panel = nth(json, "panels", 0), *x = at(panel, "x"), *y = at(panel, "y");
    assert_string_equal(string(x, "quantity"), "rate");
    assert_string_equal(string(x, "base"), "FLOP/s");
    assert_close(json_number(x, "factor", 0), 1e9, 0);
    assert_string_equal(string(x, "label"), "work (GFLOP/s, log scale)");
    assert_string_equal(string(y, "scale"), "category");
    assert_null(cJSON_GetObjectItem(y, "quantity"));
    assert_true(json_bool(y, "bare", false) && json_bool(y, "reversed", false));
    bool minor = false, major = false;
    const cJSON *tick;
    cJSON_ArrayForEach(tick, at(x, "ticks"))
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

static void data_have_sizes_and_colours_of_their_own(void **state)
{
    struct figure *f = made();

    figure_finish(f);
    cJSON *json = json_of(f);
    const cJSON *panel = nth(json, "panels", 0), *bars = nth(panel, "layers", 0);
    const cJSON *points = nth(panel, "layers", 1), *texts = nth(panel, "layers", 2);
    assert_close(json_number(bars, "thickness", 0), 0.3, 1e-9);
    assert_null(cJSON_GetObjectItem(bars, "colour"));
    assert_string_equal(nth(points, "colour", 0)->valuestring, "#fde725");
    assert_true(cJSON_IsNull(nth(points, "colour", 1)));
    assert_close(nth(points, "size", 1)->valuedouble, 20, 0);
    assert_true(json_bool(texts, "outside", false));
    assert_null(cJSON_GetObjectItem(texts, "follow"));
    cJSON_Delete(json);
    figure_free(f);
}

static const cJSON *text_of_role(const cJSON *json, const char *role)
{
    const cJSON *text;

    cJSON_ArrayForEach(text, at(json, "texts"))
    {
        if (strcmp(string(text, "role"), role) == 0)
            return text;
    }
    fail_msg("no text is a %s", role);
    return NULL;
}

static void the_sheet_has_texts_and_legend(void **state)
{
    struct figure *f = made();

    figure_set(&f->caption, "How to read it.");
    figure_finish(f);
    cJSON *json = json_of(f);
    const cJSON *title = text_of_role(json, "title"), *sample = nth(json, "samples", 1);
    assert_string_equal(string(title, "text"), "Made");
    assert_true(json_bool(title, "bold", false));
    assert_string_equal(string(text_of_role(json, "caption"), "text"), "How to read it.");
    assert_string_equal(string(text_of_role(json, "legend"), "text"), "bars");
    assert_close(json_number(sample, "panel", -1), 0, 0);
    assert_close(json_number(sample, "layer", -1), 1, 0);
    assert_null(cJSON_GetObjectItem(json, "scale"));
    cJSON_Delete(json);
    figure_free(f);
}

static void the_scale_of_colours_has_its_stops(void **state)
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
    assert_true(strncmp(string(scale, "label"), "throughput", 10) == 0);
    assert_true(json_bool(scale, "log", false));
    assert_string_equal(nth(scale, "colours", 0)->valuestring, "#440154");
    assert_string_equal(nth(scale, "colours", 10)->valuestring, "#fde725");
    assert_true(cJSON_GetArraySize(at(scale, "ticks")) >= 2);
    assert_true(json_number(at(scale, "box"), "height", 0) > 30);
    cJSON_Delete(json);
    figure_free(f);
}

static void numbers_have_one_zero(void **state)
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

static void what_cannot_be_drawn_has_a_reason_alone(void **state)
{
    struct figure *f = figure_create("none", "None");

    figure_panel(f);
    figure_finish(f);
    cJSON *json = json_of(f);
    assert_string_equal(string(json, "reason"), "there is no finite number to draw");
    assert_null(cJSON_GetObjectItem(json, "panels"));
    assert_null(cJSON_GetObjectItem(json, "texts"));
    cJSON_Delete(json);
    figure_free(f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_say_what_their_numbers_mean),
        cmocka_unit_test(data_have_sizes_and_colours_of_their_own),
        cmocka_unit_test(the_sheet_has_texts_and_legend),
        cmocka_unit_test(the_scale_of_colours_has_its_stops),
        cmocka_unit_test(numbers_have_one_zero),
        cmocka_unit_test(what_cannot_be_drawn_has_a_reason_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
