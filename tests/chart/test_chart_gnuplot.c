/* SPDX-License-Identifier: MIT */
/*
 * The gnuplot painter: scripts, pictures, hostile names, places. Pictures are skipped with a line
 * where gnuplot is not installed. Covers: S0-04, S0-21, S0-31, S1-05, S1-06, S1-39.
 */
#include "testing.h"

#include "output_records.h"

#include "base/file.h"
#include "base/json.h"
#include "chart/plots.h"
#include "chart/presets.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define FOLDER HARNESS_TEST_DIR "/pictures"

static const char hostile[] =
    "x'; system 'touch pwned'\n`touch pwned` \"$(touch pwned)\" %d %s "
    "</script><script> @me | <b> \\n {/Symbol a}^2_3 caf\xc3\xa9 \xff";

static bool have_gnuplot(void)
{
    struct error err;
    char version[128];

    if (paint_gnuplot_version(version, sizeof(version), &err) == 0)
        return true;
    print_message("skipped: %s\n", err.message);
    return false;
}

static struct figure *hostile_figure(void)
{
    struct figure *f = figure_create("hostile", hostile);
    struct panel *p = figure_panel(f);
    const char *names[] = { hostile, "EOD", "50% %d" };

    figure_set(&f->subtitle, "%s", hostile);
    figure_set(&f->caption, "%s", hostile);
    figure_set(&f->alt, "%s", hostile);
    figure_set(&p->title, "%s", hostile);
    axis_set(&p->x, hostile, QUANTITY_TIME, "", AXIS_LINEAR);
    axis_names(&p->y, names, 3, true);
    struct layer *bars = panel_layer(p, MARK_BARS, hostile);
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    bars->across = true;
    for (int i = 0; i < 3; i++) {
        layer_add(bars, 1000.0 * (i + 1), i);
        layer_add_text(texts, 1000.0 * (i + 1), i, ANCHOR_RIGHT, hostile);
    }
    figure_finish(f);
    return f;
}

/* Outside of single quotes and data blocks there is nothing that came from a name. */
TEST(names_stay_in_quotes)
{
    struct figure *f = hostile_figure();
    struct strbuf script;
    bool quoted = false;

    strbuf_init(&script);
    paint_gnuplot_script(f, &script);
    const char *own = strstr(script.data, "set multiplot");
    assert_non_null(own);
    for (; *own; own++) {
        if (*own == '\'')
            quoted = !quoted;
        else if (!quoted && strchr("`\"@|", *own))
            fail_msg("unquoted: %.60s", own);
        if (*own == '\n')
            assert_false(quoted); /* no quote runs over a line */
    }
    assert_has(script.data, "'50%% %%d'");
    strbuf_release(&script);
    figure_free(f);
}

static char *read_picture(const char *name)
{
    struct error err;
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", FOLDER, name);
    char *bytes = file_read(path, FILE_RECORDS_MOST, NULL, &err);
    if (!bytes)
        fail_msg("%s", err.message);
    return bytes;
}

TEST(hostile_names_run_nothing)
{
    struct figure *f = hostile_figure();
    struct error err;

    if (have_gnuplot()) {
        assert_ok(paint_gnuplot(f, FOLDER, 7, &err), &err);
        assert_false(file_exists(FOLDER "/pwned"));
        assert_false(file_exists("pwned"));
        char *svg = read_picture("hostile.svg"), *png = read_picture("hostile.png");
        char *pdf = read_picture("hostile.pdf");
        assert_memory_equal(png, "\x89PNG\r\n", 6);
        assert_memory_equal(pdf, "%PDF", 4);
        assert_lacks(svg, "<script>");
        assert_lacks(svg, "</script>");
        assert_has(svg, "&lt;/script&gt;");
        assert_has(svg, "<title>x&#39;; system");
        assert_lacks(svg, "Produced by");
        free(svg);
        free(png);
        free(pdf);
    }
    figure_free(f);
}

/* What the SVG shows at the ticks is what the figure says, in order. */
TEST(tick_texts_are_drawn)
{
    struct figure *f = figure_create("ticks", "Ticks");
    struct panel *p = figure_panel(f);
    struct error err;

    axis_set(&p->x, "size", QUANTITY_PLAIN, "", AXIS_LOG);
    axis_set(&p->y, "share", QUANTITY_SHARE, "", AXIS_LINEAR);
    struct layer *line = panel_layer(p, MARK_LINE, "line");
    for (int i = 0; i < 5; i++)
        layer_add(line, pow(10, i + 3), 0.1 * i);
    p->x.low = 1e3; /* ticks at both ends */
    p->x.high = 1e7;
    figure_finish(f);
    if (have_gnuplot()) {
        assert_ok(paint_gnuplot(f, FOLDER, 1u << PICTURE_SVG, &err), &err);
        char *svg = read_picture("ticks.svg");
        const struct axis *axes[] = { &p->y, &p->x };
        for (size_t i = 0; i < 2; i++)
            for (size_t k = 0; k < axes[i]->ticks.nr; k++) {
                char text[64];
                if (!axes[i]->ticks.items[k].text[0])
                    continue;
                snprintf(text, sizeof(text), ">%s<", axes[i]->ticks.items[k].text);
                if (!strstr(svg, text))
                    fail_msg("tick %s is not drawn", text);
            }
        free(svg);
    }
    figure_free(f);
}

/* Is a text like this drawn at x (or where that is NaN, with its middle at y)? Its place is that of
 * the group that it is in. */
static bool text_is_at(const char *svg, const char *text, double x, double y)
{
    static const char group[] = "<g transform=\"translate(";
    char wanted[64];
    double at_x = NAN, at_y = NAN;

    snprintf(wanted, sizeof(wanted), "<text>%s</text>", text);
    for (const char *at = svg; *at; at++) {
        if (strncmp(at, group, sizeof(group) - 1) == 0)
            sscanf(at + sizeof(group) - 1, "%lf,%lf)", &at_x, &at_y);
        else if (strncmp(at, wanted, strlen(wanted)) == 0 &&
                 (isnan(x) ? fabs(at_y - 3.9 - y) <= 1 : fabs(at_x - x) <= 1))
            return true;
    }
    return false;
}

/* A share by nines is written as the share, and the picture has it where the figure says; the panel
 * after it has its own scale again. */
TEST(nines_are_written_as_shares)
{
    struct figure *f = figure_create("nines", "Nines");
    struct error err;
    struct strbuf script;

    for (int k = 0; k < 2; k++) {
        struct panel *p = figure_panel(f);
        axis_set(&p->x, "share", QUANTITY_SHARE, "", k ? AXIS_LINEAR : AXIS_NINES);
        axis_set(&p->y, "time", QUANTITY_TIME, "", AXIS_LINEAR);
        p->x.low = 0;
        p->x.high = k ? 1 : 0.9999;
        ticks_add(&p->x.ticks, 0, "min", false);
        ticks_add(&p->x.ticks, 99.9, k ? "late" : "99.9 %", false);
        struct layer *line = panel_layer(p, MARK_LINE, NULL);
        for (int i = 0; i < 4; i++)
            layer_add(line, 1 - pow(10, -i), 100 * i);
    }
    figure_finish(f);
    strbuf_init(&script);
    paint_gnuplot_script(f, &script);
    assert_has(script.data, "\n99.9\t300\n");
    strbuf_release(&script);
    if (have_gnuplot()) {
        assert_ok(paint_gnuplot(f, FOLDER, 1u << PICTURE_SVG, &err), &err);
        char *svg = read_picture("nines.svg");
        const struct panel *nines = f->panels[0], *linear = f->panels[1];
        assert_close(panel_x(nines, 99.9), nines->area.x + 0.75 * nines->area.width, 1e-6);
        assert_true(text_is_at(svg, "99.9 %", panel_x(nines, 99.9), NAN));
        assert_true(text_is_at(svg, "late", panel_x(linear, 99.9), NAN));
        free(svg);
    }
    figure_free(f);
}

/* Where in the SVG the nth point stands that is drawn by a mark of this name; false past the end.
 */
static bool point_at(const char *svg, const char *mark, size_t nth, double *x, double *y,
                     double *radius)
{
    char use[48];

    snprintf(use, sizeof(use), "<use xlink:href='#%s' transform='translate(", mark);
    const char *at = strstr(svg, use);
    while (at && nth--)
        at = strstr(at + 1, use);
    return at && sscanf(at + strlen(use), "%lf,%lf) scale(%lf)", x, y, radius) == 3;
}

static struct figure *points_figure(void)
{
    struct figure *f = figure_create("points", "Points");

    f->columns = 2;
    for (int k = 0; k < 2; k++) {
        struct panel *p = figure_panel(f);
        axis_set(&p->x, "size", QUANTITY_PLAIN, "", k ? AXIS_LINEAR : AXIS_LOG);
        axis_set(&p->y, "time", QUANTITY_TIME, "", k ? AXIS_LOG : AXIS_LINEAR);
        p->y.reversed = k == 1;
        struct layer *points = panel_layer(p, MARK_POINTS, NULL);
        for (int i = 0; i < 4; i++) {
            struct datum *d = layer_add(points, pow(7, i), 300 * pow(5, i));
            d->size = 8 + 5 * i;
            d->share = i / 3.0;
        }
    }
    figure_scale_bar(f, "rate", QUANTITY_RATE, "FLOP/s", 2e9, 5e11, true);
    figure_finish(f);
    return f;
}

static void check_points(const struct figure *f, const char *svg)
{
    size_t nth = 0;

    for (size_t i = 0; i < f->nr_panels; i++) {
        const struct panel *p = f->panels[i];
        const struct layer *l = p->layers[0];
        for (size_t k = 0; k < l->nr; k++, nth++) {
            double x, y, radius;
            assert_true(point_at(svg, "gpPt6", nth, &x, &y, &radius));
            assert_close(x, panel_x(p, l->items[k].x), 1);
            assert_close(y, panel_y(p, l->items[k].y), 1);
            assert_close(2 * radius, l->items[k].size, 0.5);
        }
    }
}

/* Each number stands where the figure says that its value is: within a pixel, both scales. */
TEST(positions_decode_back)
{
    struct figure *f = points_figure();
    struct error err;

    if (have_gnuplot()) {
        assert_ok(paint_gnuplot(f, FOLDER, 1u << PICTURE_SVG, &err), &err);
        char *svg = read_picture("points.svg");
        const struct panel *p = f->panels[0];
        check_points(f, svg);
        for (size_t i = 0; i < p->x.ticks.nr; i++) {
            const struct tick *t = &p->x.ticks.items[i];
            assert_true(!t->text[0] || text_is_at(svg, t->text, panel_x(p, t->at), NAN));
        }
        for (size_t i = 0; i < p->y.ticks.nr; i++) {
            const struct tick *t = &p->y.ticks.items[i];
            assert_true(!t->text[0] || text_is_at(svg, t->text, NAN, panel_y(p, t->at)));
        }
        free(svg);
    }
    figure_free(f);
}

/* The strip lies beside the panels; its ticks are the values at their share. */
TEST(scale_bar_is_beside)
{
    struct figure *f = points_figure();
    const struct scale_bar *bar = &f->bar;
    const struct rect *last = &f->panels[1]->area;
    size_t texts = 0;

    assert_string_equal(bar->label, "rate (GFLOP/s)");
    assert_true(bar->box.x > last->x + last->width && bar->box.x + bar->box.width < f->width);
    assert_true(bar->box.y >= last->y && bar->box.y + bar->box.height <= last->y + last->height);
    for (size_t i = 0; i < bar->ticks.nr; i++) {
        const struct tick *t = &bar->ticks.items[i];
        if (!t->text[0])
            continue;
        assert_close(t->at, log(atof(t->text) / 2) / log(250), 1e-6);
        texts++;
    }
    assert_true(texts >= 2);
    figure_free(f);
}

/* A band across is a polygon with as many corners as it has ends, one for each piece. */
TEST(bands_across_are_outlines)
{
    struct figure *f = figure_create("violin", "Violin");
    struct panel *p = figure_panel(f);
    struct strbuf script;
    struct error err;

    axis_set(&p->x, "time", QUANTITY_TIME, "", AXIS_LINEAR);
    axis_set(&p->y, "row", QUANTITY_PLAIN, "", AXIS_LINEAR);
    struct layer *band = panel_layer(p, MARK_BAND, NULL);
    band->across = true;
    layer_add_interval(band, 0, 10, 20);
    layer_add_interval(band, 1, 12, 22);
    layer_add(band, NAN, NAN);
    layer_add_interval(band, 2, -INFINITY, INFINITY);
    layer_add_interval(band, 3, 40, 50);
    figure_finish(f);
    assert_close(band->items[3].low, p->x.low, 0); /* without an end: that of the axis */
    assert_close(band->items[3].high, p->x.high, 0);
    strbuf_init(&script);
    paint_gnuplot_script(f, &script);
    assert_has(script.data, "EOD\n10\t0\n12\t1\n22\t1\n20\t0\n\n");
    assert_has(script.data, "filledcurves closed");
    if (have_gnuplot())
        assert_ok(paint_gnuplot(f, FOLDER, 7, &err), &err);
    strbuf_release(&script);
    figure_free(f);
}

/* Names with characters that no font has: a box for each, but in SVG, which the viewer's fonts
 * draw.
 */
TEST(what_has_no_font_is_a_box)
{
    struct figure *f = figure_create("boxes", "日本 'a'");
    struct panel *p = figure_panel(f);
    const char *names[] = { "50% 🚀", "plain" };
    struct strbuf script;
    struct error err;

    axis_set(&p->x, "time", QUANTITY_TIME, "", AXIS_LINEAR);
    axis_names(&p->y, names, 2, true);
    struct layer *bars = panel_layer(p, MARK_BARS, "本");
    bars->across = true;
    layer_add(bars, 1000, 0);
    layer_add(bars, 2000, 1);
    figure_finish(f);
    figure_set(&f->boxes, "日🚀");
    strbuf_init(&script);
    paint_gnuplot_script(f, &script);
    assert_has(script.data, "(boxes ? '□本 ''a''' : '日本 ''a''') at screen");
    assert_has(script.data, "((boxes ? '50%% □' : '50%% 🚀') 0 0, 'plain' 1 0)");
    if (have_gnuplot()) {
        assert_ok(paint_gnuplot(f, FOLDER, 7, &err), &err);
        char *svg = read_picture("boxes.svg");
        assert_has(svg, "<text>日本 ");
        assert_has(svg, "<text>50% 🚀</text>");
        free(svg);
    }
    strbuf_release(&script);
    figure_free(f);
}

static size_t count_words(const char *text, const char *word)
{
    size_t nr = 0;

    for (const char *at = text; (at = strstr(at, word)); at++)
        nr++;
    return nr;
}

TEST(booklet_has_a_page_a_figure)
{
    struct figure *absent = figure_create("absent", "Absent"), *wide = points_figure();
    struct figure *hostile_one = hostile_figure();
    const struct figure *figures[] = { wide, absent, hostile_one };
    struct strbuf script;
    struct error err;

    figure_set(&absent->reason, "no data");
    strbuf_init(&script);
    paint_gnuplot_booklet_script(figures, 3, "plots", &script);
    assert_int_equal(count_words(script.data, "\nset multiplot"), 2);
    assert_int_equal(paint_gnuplot_booklet(&figures[1], 1, FOLDER, "plots", &err), -1);
    if (have_gnuplot()) {
        assert_ok(paint_gnuplot_booklet(figures, 3, FOLDER, "plots", &err), &err);
        char *pdf = read_picture("plots.pdf");
        assert_memory_equal(pdf, "%PDF", 4);
        free(pdf);
    }
    strbuf_release(&script);
    figure_free(absent);
    figure_free(wide);
    figure_free(hostile_one);
}

TEST(refusals_are_clear)
{
    struct figure *f = hostile_figure();
    struct error err;

    free(f->id);
    f->id = memory_string("../evil");
    assert_fails(paint_gnuplot(f, FOLDER, 1, &err), &err, "file name");
    figure_set(&f->reason, "no data");
    assert_fails(paint_gnuplot(f, FOLDER, 1, &err), &err, "no data");
    figure_free(f);
    assert_fails(picture_format_find("gif", &err), &err, "png, svg and pdf");
}

TEST(missing_gnuplot_is_explained)
{
    char *path = memory_string(getenv("PATH")), version[64];
    struct error err;

    setenv("PATH", "/nowhere", 1);
    assert_fails(paint_gnuplot_version(version, sizeof(version), &err), &err,
                 "apt-get install gnuplot");
    setenv("PATH", path, 1);
    free(path);
}

/* Whoever installs it then has it already. */
TEST(what_else_keeps_gnuplot_from_starting_is_told)
{
    struct rlimit limit, less;
    struct error err;
    char version[64];
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    less = limit;
    less.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
    int rc = paint_gnuplot_version(version, sizeof(version), &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_fails(rc, &err, "Too many open files");
    assert_null(strstr(err.message, "installed"));
}

static void check_summary(const struct plots_summary *summary)
{
    struct error err;
    char *text = read_picture("summary.txt");
    cJSON *json = json_parse_file(FOLDER "/plots.json", FILE_RECORDS_MOST, &err);

    assert_non_null(json);
    const cJSON *plots = cJSON_GetObjectItem(json, "plots"), *item;
    assert_int_equal(cJSON_GetArraySize(plots), summary->nr);
    cJSON_ArrayForEach(item, plots)
    {
        const char *name = json_string(item, "name", "?");
        const cJSON *files = cJSON_GetObjectItem(item, "files"), *file;
        bool drawn = cJSON_GetArraySize(files) > 0;
        char path[256];
        assert_true(drawn != cJSON_HasObjectItem(item, "reason"));
        assert_has(text, name);
        cJSON_ArrayForEach(file, files)
        {
            snprintf(path, sizeof(path), "%s/%s", FOLDER, file->valuestring);
            assert_true(file_exists(path));
        }
    }
    cJSON_Delete(json);
    free(text);
}

static struct plot_request *ask_for_all(const struct presets *presets,
                                        const struct records *records)
{
    struct plot_request *requests = memory_zeroed(presets->nr, sizeof(*requests));

    for (size_t i = 0; i < presets->nr; i++)
        requests[i].chart = (struct chart) { .preset = &presets->items[i],
                                             .records = records,
                                             .run = run_newest(records) };
    requests[0].absence = "it was not wanted";
    return requests;
}

static void draw_all(const struct presets *presets, const struct records *records,
                     struct plots_summary *summary)
{
    struct plots_options options = { .folder = FOLDER,
                                     .formats = 1u << PICTURE_PNG | 1u << PICTURE_PDF };
    struct plot_request *requests = ask_for_all(presets, records);
    struct error err;

    assert_ok(plots_draw(requests, presets->nr, &options, summary, &err), &err);
    assert_int_equal(summary->nr, presets->nr);
    assert_string_equal(summary->items[0].reason, "it was not wanted");
    check_summary(summary);
    free(requests);
}

/* A folder of default plots; a second call on fewer data removes what no longer holds. */
TEST(default_plots_and_summary)
{
    struct records r = { 0 }, empty = { 0 };
    struct presets presets = { 0 };
    struct plots_summary summary;
    struct error err;

    if (!have_gnuplot())
        return;
    assert_ok(presets_load_embedded(&presets, &err), &err);
    made_run(&r, 0, "feedbeef", "gcc");
    made_add_models(&r, 0, 1, 4, 64, 1);
    made_roofs(&r);
    draw_all(&presets, &r, &summary);
    assert_true(summary.drawn >= 4 && summary.absent >= 1);
    assert_true(file_exists(FOLDER "/plots.pdf")); /* all in one */
    plots_summary_release(&summary);
    draw_all(&presets, &empty, &summary);
    assert_int_equal(summary.drawn, 0);
    assert_false(file_exists(FOLDER "/plots.pdf"));
    plots_summary_release(&summary);
    presets_release(&presets);
    records_release(&r);
}

TEST(presets_are_checked)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "{\"name\":\"a\",\"title\":\"A\",\"type\":\"bars\",\"y\":\"p50\"}", NULL },
        { "{\"name\":\"a\",\"title\":\"A\",\"type\":\"bars\",\"y\":\"p50\",\"show_lengend\":true}",
          "\"show_legend\"" },
        { "{\"name\":\"a\",\"title\":\"A\",\"type\":\"bar\",\"y\":\"p50\"}", "\"bars\"" },
        { "{\"name\":\"a\",\"title\":\"A\",\"type\":\"bars\",\"y\":\"p59\"}", "p5" },
        { "{\"name\":\"a\",\"title\":\"A\",\"type\":\"bars\"}", "\"y\"" },
        { "{\"name\":\"../a\",\"title\":\"A\",\"type\":\"bars\",\"y\":\"p50\"}", "file name" },
        { "{\"title\":\"A\",\"type\":\"bars\",\"y\":\"p50\"}", "\"name\"" },
        { "{\"name\":\"a\",\"title\":\"A\",\"type\":\"trend\",\"mode\":\"trned\"}", "\"trend\"" },
        { "{\"name\":\"a\",\"title\":\"A\",\"type\":\"trend\",\"limit\":-1}", "\"limit\"" },
        { "{\"name\":\"a\",\"title\":\"A\",\"type\":\"trend\",\"filter\":[1]}", "\"filter\"" },
        { "{\"name\":\"a\",\"title\":\"A\",\"type\":\"trend\",\"show_legend\":1}", "show_legend" },
        { "[]", "object" },
        { "{", "line 1" },
    };
    struct error err;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct preset preset;
        int rc = preset_parse(&preset, rows[i].text, strlen(rows[i].text), "file.json", &err);
        assert_int_equal(rc, rows[i].says ? -1 : 0);
        if (rows[i].says && !strstr(err.message, rows[i].says))
            fail_msg("%s: \"%s\" does not say %s", rows[i].text, err.message, rows[i].says);
        if (rc == 0)
            preset_release(&preset);
    }
}

TEST(filters_take_and_leave_out)
{
    static const char text[] =
        "{\"name\":\"a\",\"title\":\"A\",\"type\":\"trend\","
        "\"filter\":[\"gpt\",\"!gpt/gpt2\"]}";
    struct preset preset;
    struct error err;

    assert_ok(preset_parse(&preset, text, strlen(text), "t", &err), &err);
    assert_true(preset_takes(&preset, "gpt/nano/prefill/simd"));
    assert_false(preset_takes(&preset, "gpt/gpt2/prefill/simd"));
    assert_false(preset_takes(&preset, "gemm/linear/simd"));
    string_list_release(&preset.filter);
    assert_true(preset_takes(&preset, "anything"));
    string_list_add(&preset.filter, "!gpt");
    assert_true(preset_takes(&preset, "gemm/linear"));
    assert_false(preset_takes(&preset, "gpt/nano"));
    preset_release(&preset);
}

RUN_TESTS(NULL, NULL)
