/* SPDX-License-Identifier: MIT */
/* Features: U-07, S0-29: steps, drifts, acceptances and annotations in the trend figure. */
#include "trend_testing.h"

#include "chart/chart.h"
#include "chart/presets.h"

static const struct preset *trend_preset(const struct presets *presets)
{
    for (size_t i = 0; i < presets->nr; i++)
        if (strcmp(presets->items[i].name, "trend") == 0)
            return &presets->items[i];
    fail_msg("no trend");
    return NULL;
}

static struct figure *draw_part(const struct made *made, const struct preset *preset,
                                const struct string_list *only)
{
    struct chart chart = {
        .preset = preset, .records = &made->records, .run = RUNS - 1, .only = only
    };

    chart.accepted = &made->accepted;
    chart.nr_accepted = 1;
    chart.annotations = annotations;
    chart.nr_annotations = 4;
    return chart_build(&chart);
}

static struct figure *draw(const struct made *made, const struct presets *presets)
{
    return draw_part(made, trend_preset(presets), NULL);
}

static const struct layer *find_layer(const struct figure *f, const char *label,
                                      const struct panel **panel)
{
    const struct layer *found = NULL;

    for (size_t i = 0; i < f->nr_panels; i++)
        for (size_t k = 0; k < f->panels[i]->nr; k++) {
            const struct layer *layer = f->panels[i]->layers[k];
            if (layer->label && strncmp(layer->label, label, strlen(label)) == 0) {
                assert_null(found); /* in one panel alone */
                found = layer;
                *panel = f->panels[i];
            }
        }
    assert_non_null(found);
    return found;
}

static bool has_text(const struct panel *panel, const char *text)
{
    for (size_t i = 0; i < panel->nr; i++)
        for (size_t k = 0; panel->layers[i]->mark == MARK_TEXT && k < panel->layers[i]->nr; k++)
            if (strstr(panel->layers[i]->items[k].text, text))
                return true;
    return false;
}

/* Each panel has them: a run is all benchmarks'. */
static void check_annotations(const struct figure *f)
{
    for (size_t i = 0; i < f->nr_panels; i++) {
        const struct panel *panel = f->panels[i];
        size_t k = 0;
        while (k < panel->nr &&
               (!panel->layers[k]->label || strcmp(panel->layers[k]->label, "annotated") != 0))
            k++;
        assert_true(k < panel->nr);
        assert_int_equal(panel->layers[k]->nr, 2 * 3); /* two at one run share the place */
        assert_close(panel->layers[k]->items[0].x, 2, 1e-9);
        assert_close(panel->layers[k]->items[3].x, AT, 1e-9);
    }
    check_lines(f->caption,
                (const char *const[]) { " 1: early <b> | words. 2: and more. 3: new BIOS.", NULL });
}

/* Few runs have ticks; each has a name for who looks at a part of the history. */
static void check_places_of_runs(const struct axis *axis)
{
    assert_in_range(axis->ticks.nr, 2, 5);
    assert_int_equal(axis->places.nr, RUNS);
    assert_has(axis->places.items[AT].text, "10-31 abc0029");
}

MADE_TEST(test_chart_)
{
    struct presets presets = { 0 };
    const struct panel *panel;
    struct error err;
    assert_ok(presets_load_embedded(&presets, &err), &err);
    made_init(made);
    struct figure *f = draw(made, &presets);
    assert_null(f->reason);
    assert_has(f->title, ": 1 slower (worst drift, +12.1 %)");
    assert_string_equal(f->panels[0]->title, "batch=3"); /* the drift is the worst that stands */
    check_places_of_runs(&f->panels[0]->x);
    const struct layer *rule = find_layer(f, "accepted", &panel);
    assert_int_equal(rule->nr, 1);
    assert_close(rule->items[0].x, AT - 0.5, 1e-9);
    assert_true(has_text(panel, "%, accepted: checks <bo"));
    const struct layer *levels = find_layer(f, "level", &panel);
    assert_int_equal(levels->nr, 3); /* a line and what ends it */
    assert_true(has_text(panel, "abc0028..abc0029, 2026-10-31"));
    const struct layer *drift = find_layer(f, "drift", &panel);
    assert_int_equal(drift->nr, RUNS);
    assert_close(drift->items[RUNS - 1].y / drift->items[0].y, 1.12, 0.01);
    assert_true(has_text(panel, "drift, +"));
    assert_has(f->caption, "Upright line: a step");
    check_annotations(f);
    figure_free(f);
    made->accepted.key = RAMP; /* the other one */
    made->accepted.change = 0.12;
    f = draw(made, &presets);
    assert_has(f->title, ": 1 slower (worst +");
    assert_int_equal(find_layer(f, "drift, accepted", &panel)->style.ink, INK_GREY);
    assert_true(has_text(panel, " in all, accepted"));
    figure_free(f);
    presets_release(&presets);
}

/* By its commit, else by as much of its time as that takes. */
MADE_TEST(names_of_a_part_tell_each_run_from_the_next)
{
    static const struct {
        int seconds; /* from run to run */
        bool one_commit;
        const char *first, *second;
    } rows[] = {
        { 86400, true, "09-21", "09-22" },
        { 28800, true, "09-21 14:13", "09-21 22:13" },
        { 28800, false, "09-21 abc0001", "09-21 abc0002" },
        { 600, true, "09-21 14:13", "09-21 14:23" },
        { 120, true, "14:13", "14:15" },
        { 20, true, "14:13:20", "14:13:40" },
        { 20, false, "14:13 abc0001", "14:13 abc0002" },
        { 10 * 86400, true, "2026-09-21", "2026-10-01" },
    };
    struct presets presets = { 0 };
    struct error err;

    assert_ok(presets_load_embedded(&presets, &err), &err);
    made_init(made);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run *runs = made->records.runs;
        for (int k = 0; k < RUNS; k++) {
            runs[k].started_ms = runs[0].started_ms + k * INT64_C(1000) * rows[i].seconds;
            snprintf(runs[k].build.commit, sizeof(runs[k].build.commit), "%07x",
                     0xabc0001 + (rows[i].one_commit ? 0 : k));
        }
        struct figure *f = draw(made, &presets);
        assert_null(f->reason);
        const struct ticks *places = &f->panels[0]->x.places;
        assert_string_equal(places->items[0].text, rows[i].first);
        assert_string_equal(places->items[1].text, rows[i].second);
        for (size_t k = 1; k < places->nr; k++)
            assert_string_not_equal(places->items[k].text, places->items[k - 1].text);
        figure_free(f);
    }
    presets_release(&presets);
}

/* The title counts what the figure is about; what a reader called otherwise stays as it is. */
MADE_TEST(titles_are_of_what_the_figure_takes)
{
    static const struct {
        const char *takes;
        bool filter; /* of the preset; else the condition of the live page */
        const char *from, *title;
    } rows[] = {
        { RAMP, false, NULL, "Latency over the history: 1 slower (worst drift, +12.1 %)" },
        { SLOWER, false, NULL, "Latency over the history: what changed is accepted, or went back" },
        { QUIET, false, NULL, "Latency over the history: no step, no drift" },
        { QUIET, true, NULL, "Latency over the history: no step, no drift" },
        { RAMP, true, "mine.json", "Latency over the history" },
    };
    struct presets presets = { 0 };
    struct error err;

    assert_ok(presets_load_embedded(&presets, &err), &err);
    made_init(made);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct preset preset = *trend_preset(&presets);
        struct string_list takes = { 0 };
        string_list_add(&takes, rows[i].takes);
        preset.from = (char *)rows[i].from;
        if (rows[i].filter)
            preset.filter = takes;
        struct figure *f = draw_part(made, &preset, rows[i].filter ? NULL : &takes);
        assert_int_equal(f->nr_panels, 1);
        assert_string_equal(f->title, rows[i].title);
        figure_free(f);
        string_list_release(&takes);
    }
    presets_release(&presets);
}

RUN_TESTS(NULL, NULL)
