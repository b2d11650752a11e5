/* SPDX-License-Identifier: MIT */
/* Ticks, units, text widths, colours, escapes and places under every figure.
 * Covers: S1-28, S2-01, S2-03. */
#include "testing.h"

#include "base/clean.h"
#include "base/memory.h"
#include "chart/base/chart_base.h"
#include "chart/types/roofline_roofs.h"
#include "figure/figure.h"
#include "text/escape.h"
#include "text/palette.h"
#include "text/textwidth.h"
#include "text/ticks.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static void join(const struct ticks *ticks, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < ticks->nr; i++)
        if (ticks->items[i].text[0])
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "",
                                     ticks->items[i].text);
}

/* Any doubles: each of these went on without end, or for longer than anybody waits. */
TEST(ticks_end_for_any_range)
{
    static const struct {
        double low, high;
    } rows[] = {
        { 0, 1e300 },
        { -DBL_MAX, DBL_MAX },
        { 0x1p53, 0x1p53 + 8 },
        { 1, 1 + DBL_EPSILON },
        { 1e17, 1e17 + 16 },
        { 0, INFINITY },
        { -INFINITY, INFINITY },
        { 0, 5e-324 },
        { 5e-324, 1e308 },
        { NAN, 1 },
        { 1, 0 },
        { -3, -1e-320 },
        { 1 + 0x1p-45, 1 + 0x1p-44 }, /* divided by 0 */
    };
    enum { DECADES = 9 * 634 };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ticks ticks = { 0 };
        double low = rows[i].low, high = rows[i].high;
        for (int most = 0; most < 9; most += 4) {
            ticks_linear(&ticks, low, high, most);
            ticks_log(&ticks, low, high, most, QUANTITY_TIME, "");
            ticks_ratio(&ticks, low, high, most);
        }
        assert_true(ticks.nr <= 3 * (256 + DECADES + 2002));
        ticks_release(&ticks);
        ticks_widen(&low, &high, 8);
    }
}

/* A figure of one usual point and one that nothing can show. */
TEST(marks_beyond_are_left_out_and_counted)
{
    static const struct {
        double x, y;
        enum axis_scale scale;
        bool left_out;
    } rows[] = {
        { 1e300, 1, AXIS_LINEAR, true },     { 1, -1e300, AXIS_LINEAR, true },
        { 1, 1e-300, AXIS_LOG, true },       { 1e24, 1, AXIS_LOG, false },
        { 1, 1e-300, AXIS_LINEAR, false },   { 2, 5e-324, AXIS_LINEAR, false },
        { INFINITY, 1, AXIS_LINEAR, false }, { 3, 1 + DBL_EPSILON, AXIS_LINEAR, false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct figure *f = figure_create("f", "F");
        struct panel *p = figure_panel(f);
        axis_set(&p->x, "x", QUANTITY_TIME, "", rows[i].scale);
        axis_set(&p->y, "y", QUANTITY_RATE, "FLOP/s", rows[i].scale);
        struct layer *s = panel_layer(p, MARK_POINTS, NULL);
        layer_add(s, 1, 1);
        layer_add(s, rows[i].x, rows[i].y);
        figure_finish(f);
        assert_null(f->reason);
        bool told = f->caption && strstr(f->caption, "1 mark beyond what a figure can show");
        assert_int_equal(told, rows[i].left_out);
        assert_true(p->x.ticks.nr > 1 && p->y.ticks.nr > 1);
        assert_true(p->x.high <= 1e25 && p->y.high <= 1e25);
        figure_free(f);
    }
}

TEST(linear_ticks_are_round)
{
    static const struct {
        double low, high;
        int most;
        const char *texts;
    } rows[] = {
        { 0, 10, 5, "0 2 4 6 8 10" },
        { 0, 100, 6, "0 20 40 60 80 100" },
        { 0, 1, 4, "0.00 0.25 0.50 0.75 1.00" },
        { -0.13, 0.13, 6, "-0.10 -0.05 0.00 0.05 0.10" },
        { 3.7, 4.6, 4, "3.75 4.00 4.25 4.50" },
        { 0, 6.12e-12, 7, "0 1e-12 2e-12 3e-12 4e-12 5e-12 6e-12" },
        { 0, 1e-8, 5, "0 2e-09 4e-09 6e-09 8e-09 1e-08" },
        { -4e-7, 4e-7, 4, "-4e-07 -2e-07 0 2e-07 4e-07" },
        { 0, 1e-5, 5, "0.000000 0.000002 0.000004 0.000006 0.000008 0.000010" },
        { 0.9999999999, 1.000000009, 4, "1 1.0000000025 1.000000005 1.0000000075" },
        { 12345600, 12345690, 5, "12345600 12345620 12345640 12345660 12345680" },
        { 0, 7e8, 4, "0 2e+08 4e+08 6e+08" },
        { 995, 1005, 5, "996 998 1000 1002 1004" },
        { 5, 5, 5, "5" },
    };
    char texts[512];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ticks ticks = { 0 };
        ticks_linear(&ticks, rows[i].low, rows[i].high, rows[i].most);
        join(&ticks, texts, sizeof(texts));
        assert_string_equal(texts, rows[i].texts);
        ticks_release(&ticks);
    }
}

TEST(log_ticks_are_decades)
{
    static const struct {
        double low, high;
        int most;
        enum quantity quantity;
        const char *texts;
    } rows[] = {
        { 1, 1000, 6, QUANTITY_PLAIN, "1 10 100 1000" },
        { 8, 120, 12, QUANTITY_PLAIN, "10 20 50 100" },
        { 0.03, 2, 9, QUANTITY_PLAIN, "0.05 0.1 0.2 0.5 1 2" },
        { 500, 5e9, 8, QUANTITY_TIME, "1 µs 10 µs 100 µs 1 ms 10 ms 100 ms 1 s" },
        { 1, 1e12, 5, QUANTITY_PLAIN, "1 1000 1 M 1 G 1 T" },
        { 14.7, 224, 6, QUANTITY_PLAIN, "20 50 100 200" }, /* one decade alone would be one text */
        { 0.35, 90, 8, QUANTITY_PLAIN, "0.5 1 2 5 10 20 50" },
        { 120, 620, 6, QUANTITY_PLAIN, "200 300 400 500 600" },
    };
    char texts[512];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ticks ticks = { 0 };
        ticks_log(&ticks, rows[i].low, rows[i].high, rows[i].most, rows[i].quantity, "");
        join(&ticks, texts, sizeof(texts));
        assert_string_equal(texts, rows[i].texts);
        for (size_t k = 0; k < ticks.nr; k++)
            assert_true(ticks.items[k].at >= rows[i].low * 0.999 &&
                        ticks.items[k].at <= rows[i].high * 1.001);
        ticks_release(&ticks);
    }
}

TEST(ratio_ticks_hold_one)
{
    static const struct {
        double low, high;
        const char *texts;
    } rows[] = {
        { 0.9, 1.15, "0.90× 0.95× 1.00× 1.05× 1.10× 1.15×" },
        { 0.65, 2.8, "0.8× 1.0× 1.5× 2.0× 2.5×" }, /* some on both sides */
        { 0.97, 2.8, "1.0× 1.5× 2.0× 2.5×" },
        { 0.4, 1.04, "0.4× 0.6× 0.8× 1.0×" },
        { 1.1, 2.1, "1.2× 1.4× 1.6× 1.8× 2.0×" },
        { 0.2, 5, "1/4× 1/2× 1× 2× 4×" },
        { 1.0 / 1024, 3, "1/1024× 1/256× 1/64× 1/16× 1/4× 1×" },
    };
    char texts[512];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ticks ticks = { 0 };
        ticks_ratio(&ticks, rows[i].low, rows[i].high, 6);
        join(&ticks, texts, sizeof(texts));
        assert_string_equal(texts, rows[i].texts);
        ticks_release(&ticks);
    }
}

TEST(units_fit)
{
    static const struct {
        enum quantity quantity;
        const char *base;
        double largest;
        const char *name;
        double factor;
    } rows[] = {
        { QUANTITY_TIME, "", 999, "ns", 1 },
        { QUANTITY_TIME, "", 1000, "µs", 1e3 },
        { QUANTITY_TIME, "", 5e12, "s", 1e9 },
        { QUANTITY_RATE, "FLOP/s", 4.2e11, "GFLOP/s", 1e9 },
        { QUANTITY_RATE, " tokens/s", 12000, "k tokens/s", 1e3 },
        { QUANTITY_RATE, " tokens/s", 12, "tokens/s", 1 },
        { QUANTITY_BYTES, "", 3 << 20, "MiB", 1 << 20 },
        { QUANTITY_SHARE, "", 0.4, "%", 0.01 },
    };
    char text[QUANTITY_TEXT_SIZE];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct unit unit = unit_for(rows[i].quantity, rows[i].base, rows[i].largest);
        assert_string_equal(unit.name, rows[i].name);
        assert_close(unit.factor, rows[i].factor, 0);
    }
    assert_string_equal(quantity_text(QUANTITY_TIME, "", 12300, text), "12.30 µs");
    assert_string_equal(quantity_text(QUANTITY_PERCENT, "", 0.032, text), "+3.2 %");
    assert_string_equal(quantity_text(QUANTITY_SHARE, "", 0.45, text), "45.0 %");
    assert_string_equal(quantity_text(QUANTITY_RATE, "FLOP/s", NAN, text), "n/a");
    assert_string_equal(quantity_text(QUANTITY_RATE, " tokens/s", 528.1, text), "528.1 tokens/s");
    assert_string_equal(quantity_text(QUANTITY_RATE, " tokens/s", 52810, text), "52.81 k tokens/s");
}

/* In the room of a text. */
static void check_cut(const char *name, const char *room, const char *wanted)
{
    char *cut = text_cut(name, 12, text_width(room, 12, false));

    assert_string_equal(cut, wanted);
    free(cut);
}

TEST(widths_and_cuts)
{
    static const char key[] = "gemm/linear/simd/fp32/batch=4,seq=64,n=50257,k=256/cpu-2t/warm";
    static const struct {
        const char *name, *room, *cut;
    } cuts[] = {
        { "attention_kernel", "attention_ker", "attention…" }, /* after a word */
        { "attention_kernel", "atten", "att…" },
        { "k_attention_kernel", "k_attenti", "k_atte…" }, /* a word of one letter tells nothing */
        { "softmaxForward", "softmaxFor", "softmax…" },
        { "中中中中", "中中", "中…" }, /* whole characters */
        { "short", "shorter", "short" },
    };

    assert_close(text_width("H", 1000, false), 752, 0);
    assert_true(text_width("iiii", 12, false) < text_width("WWWW", 12, false));
    assert_true(text_width("é", 12, false) < text_width("中", 12, false));
    for (double room = 60; room < 500; room += 20) {
        char *cut = text_elide(key, 12, room);
        assert_true(text_width(cut, 12, false) <= room);
        free(cut);
    }
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
        check_cut(cuts[i].name, cuts[i].room, cuts[i].cut);
    char *whole = text_elide("short", 12, 500);
    assert_string_equal(whole, "short");
    free(whole);
    assert_int_equal(text_line("one two three", 10, text_width("one two t", 10, false)), 7);
    assert_true(text_line("中中中中", 10, 1) == 3); /* whole characters, at least one */
}

/* What a title calls a benchmark: without what it has not, cut between characters. */
TEST(names_in_sentences)
{
    static const struct {
        const char *kernel, *variant, *called;
    } rows[] = {
        { "gemm/nn", "simd", "gemm/nn simd" },
        { "BM_Sort", "", "BM_Sort" },
        { "BM_Sort", "-", "BM_Sort" },
        { "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", "a",
          "abcdefghijklmnopqrstuvw…klmnopqrstuvwxyz a" },
        { "k", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
          "k abcdefghijklmnopq…opqrstuvwxyz" },
        { "中中中中中中中中中中中中中中中中中中中中", "simd",
          "中中中中中中中中中中中中中中中中中中中中 simd" },
        { "中中中中中中中中中中中中中中中中中中中中中", "simd",
          "中中中中中中中中中中中…中中中中中中中中 simd" },
    };
    char text[CHART_NAME_SIZE];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct benchmark_name name = { 0 };
        snprintf(name.kernel, sizeof(name.kernel), "%s", rows[i].kernel);
        snprintf(name.variant, sizeof(name.variant), "%s", rows[i].variant);
        assert_string_equal(chart_name_of(&name, text), rows[i].called);
    }
}

/* WCAG 2.1, 1.4.11: graphics need 3:1 against what is beside them. */
TEST(colours_can_be_seen)
{
    char colour[COLOUR_SIZE];

    for (int ink = 0; ink <= INK_GREY; ink++)
        assert_true(palette_contrast(palette_ink((enum ink)ink), "#ffffff") >= 3);
    assert_close(palette_contrast("#000000", "#ffffff"), 21, 1e-9);
    assert_string_equal(palette_scale(0, colour), "#440154");
    assert_string_equal(palette_scale(1, colour), "#fde725");
    assert_string_equal(palette_scale(NAN, colour), palette_ink(INK_LIGHT));
    for (double share = 0; share <= 1; share += 0.01) {
        palette_scale(share, colour);
        assert_true(palette_contrast(colour, palette_text_on(colour)) >= 4.5);
    }
}

typedef void escape_fn(struct strbuf *out, const char *text);

TEST(escapes_hold)
{
    static const struct {
        escape_fn *escape;
        const char *from, *to;
    } rows[] = {
        { escape_plain, "a\nb\tc\x1b[31m", "a b c [31m" },
        { escape_plain, "bad \xff\xc3 end", "bad ?? end" },
        { escape_plain,
          "a\xe2\x80\xae"
          "b",
          "a?b" }, /* right-to-left override */
        { escape_plain, "caf\xc3\xa9", "caf\xc3\xa9" },
        { escape_plain, "\xc0\xaf", "??" }, /* overlong */
        { escape_gnuplot, "it's `x` %d \"q\"", "'it''s `x` %d \"q\"'" },
        { escape_gnuplot, "a\n'; !rm", "'a ''; !rm'" },
        { escape_gnuplot, "'a''b'", "'’a''’b'''" },
        { escape_gnuplot, "x]]>y", "'x] ]>y'" },
        { escape_gnuplot_tick, "50% 'x'", "'50%% ''x'''" },
        { escape_plain, "\xef\xbf\xbe\xef\xb7\x90", "??" }, /* no characters: XML refuses them */
        { escape_plain, "a\xf3\xa0\x80\xa1z", "a?z" },      /* a tag, unseen */
        { escape_plain, "::set-output name=x::y", ": :set-output name=x::y" },
        { escape_plain, " :\xe2\x80\x8e:stop", " :?:stop" },
        { escape_plain, "ns::f ##[error]", "ns::f # #[error]" },
        { escape_markdown, "a|b`c<d@e", "a&#124;b&#96;c&lt;d@&#8203;e" },
        { escape_markdown, "x\n| y |", "x &#124; y &#124;" },
        { escape_markdown, "[a](b) *c* #1", "&#91;a&#93;(b) &#42;c&#42; #&#8203;1" },
        { escape_markdown, "see http://a.b www.c.d GH-7 x:tada:y $x$",
          "see http:&#8203;//a.b w&#8203;ww.c.d G&#8203;H-7 x:&#8203;tada:y &#36;x&#36;" },
        { escape_markdown, "::stop:: at 12:30", ":&#8203;:&#8203;stop:: at 12:30" },
        { escape_xml, "</script>&'\"", "&lt;/script&gt;&amp;&#39;&quot;" },
        { escape_csv, "plain", "plain" },
        { escape_csv, "a,\"b\"", "\"a,\"\"b\"\"\"" },
        { escape_xml, "::x ##y", "&#58;:x &#35;#y" },
        { escape_csv, "=cmd()", "\"'=cmd()\"" },
        { escape_csv, "\t=cmd()", "\"' =cmd()\"" },
        { escape_csv, "::stop", "\"'::stop\"" },
        { escape_csv, "two\nlines", "two lines" },
        { escape_csv, "a##[error]b", "a# #[error]b" },
        { escape_openmetrics, "##[x", "\"\\\\x23#[x\"" },
        { escape_openmetrics, "a\"b\\c", "\"a\\\"b\\\\c\"" },
        { escape_openmetrics, "\x1b\n\xe2\x80\xae\xff", "\"\\\\x1b\\\\x0a\\\\u202e\\\\xff\"" },
        { escape_shell, "gemm/linear/fp32/batch=4,n=1", "gemm/linear/fp32/batch=4,n=1" },
        { escape_shell, "it's $(x) `y`", "'it'\\''s $(x) `y`'" },
        { escape_shell, "", "''" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf out;
        strbuf_init(&out);
        rows[i].escape(&out, rows[i].from);
        assert_string_equal(out.data, rows[i].to);
        strbuf_release(&out);
    }
    assert_int_equal(clean_columns("a中é"), 4);
}

/* A panel of bars over long names, side by side: they are turned, and none leaves the figure. */
TEST(turned_names_stay_inside)
{
    static const char *const names[] = { "a-name-that-is-longer-than-its-column/first",
                                         "a-name-that-is-longer-than-its-column/second",
                                         "c",
                                         "d",
                                         "e",
                                         "f" };

    struct figure *f = figure_create("turned", "Turned");
    struct panel *p = figure_panel(f);
    struct layer *bars = panel_layer(p, MARK_BARS, NULL);
    axis_names(&p->x, names, 6, false);
    axis_set(&p->y, "value", QUANTITY_PLAIN, "", AXIS_LINEAR);
    for (int i = 0; i < 6; i++)
        layer_add(bars, i, i + 1);
    figure_finish(f);
    assert_true(p->x.tick_angle > 0);
    for (size_t i = 0; i < p->x.ticks.nr; i++) {
        const struct tick *t = &p->x.ticks.items[i];
        double width = text_width(t->text, 12, false) * cos(p->x.tick_angle * M_PI / 180);
        assert_true(panel_x(p, t->at) - width >= 0);
    }
    figure_free(f);
}

/* An axis that counts has whole numbers alone. */
TEST(counts_are_whole)
{
    for (int nr = 1; nr < 40; nr++) {
        struct figure *f = figure_create("counts", "Counts");
        struct panel *p = figure_panel(f);
        struct layer *points = panel_layer(p, MARK_POINTS, NULL);
        axis_set(&p->x, "sample", QUANTITY_PLAIN, "", AXIS_LINEAR);
        axis_set(&p->y, "value", QUANTITY_PLAIN, "", AXIS_LINEAR);
        p->x.whole = true;
        for (int i = 1; i <= nr; i++)
            layer_add(points, i, i * 0.1);
        figure_finish(f);
        assert_true(p->x.ticks.nr > 0);
        for (size_t i = 0; i < p->x.ticks.nr; i++)
            assert_close(p->x.ticks.items[i].at, round(p->x.ticks.items[i].at), 0);
        figure_free(f);
    }
}

/* Where the label of the compute roof, "fp32 peak ...", ends; `left`: where it begins. */
static double label_of_peak(const struct roof_mark *marks, size_t nr, double *left)
{
    const struct roof peak = { .name = "flops.fp32", .value = 2e11 };
    const struct roof dram = { .name = "bandwidth.dram", .value = 4e10 };
    const struct roof cache = { .name = "bandwidth.l1", .value = 1e12 };
    struct roofs roofs = { .given = "given", .maths = { &peak }, .nr_maths = 1 };
    struct figure *f = figure_create("roofs", "Roofs");
    struct panel *p = figure_panel(f);
    double at = NAN;

    roofs.levels[LEVEL_DRAM] = &dram;
    roofs.levels[LEVEL_L1] = &cache;
    roofs.marks = marks;
    roofs.nr_marks = nr;
    roofs_fit(&roofs, 0.5, 50);
    p->y.low = 1e9;
    roofs_add(&roofs, p);
    for (size_t i = 0; i < p->nr; i++) {
        const struct layer *s = p->layers[i];
        for (size_t k = 0; s->mark == MARK_TEXT && k < s->nr; k++) {
            if (!strstr(s->items[k].text, "fp32 peak"))
                continue;
            double pixels = text_width(s->items[k].text, 12, false);
            at = s->items[k].x;
            *left = at / pow(roofs.high / roofs.low, pixels / 1040);
        }
    }
    figure_free(f);
    return at;
}

/* The label of the compute roof goes where points are not in its way. */
TEST(roof_labels_avoid_points)
{
    static const struct roof_mark near = { 90, 1.95e11 }, far = { 90, 1e10 };
    double left, alone = label_of_peak(NULL, 0, &left);

    assert_true(alone > 100); /* its right end, at the edge */
    assert_close(label_of_peak(&far, 1, &left), alone, 0);
    assert_true(label_of_peak(&near, 1, &left) < near.intensity);
}

/* Points push it to the left step by step; it never comes to lie on the upright line at the ridge,
 * which is at 5 FLOP/byte. */
TEST(roof_labels_avoid_the_ridge)
{
    struct roof_mark marks[40];
    double ridge = 5, left, end = INFINITY;

    for (size_t nr = 0; nr < 40 && end > ridge; nr++) {
        marks[nr] = (struct roof_mark) { 200 * pow(0.9, (double)nr), 1.95e11 };
        end = label_of_peak(marks, nr + 1, &left);
        assert_true(left > ridge || end < ridge);
    }
    assert_true(end < ridge);
}

RUN_TESTS(NULL, NULL)
