/* SPDX-License-Identifier: MIT */
/* What called what, as wide as it took long, the outermost on top. Of two profiles the widths are
 * the newer one's and the colours say what changed. */
#include "chart/profile/profile_base.h"
#include "timeline/timeline_diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 2000, ROW_HEIGHT = 21, DEPTH_MAX = 60 };

/* Of a frame's total time, after over before. */
enum tone { TONE_LESS, TONE_BIT_LESS, TONE_SAME, TONE_BIT_MORE, TONE_MORE, TONE_NEW, TONE_NR };

static const struct {
    const char *label;
    double below; /* this ratio */
    enum ink ink;
    double opacity;
} tones[TONE_NR] = {
    [TONE_LESS] = { "shorter by 10 % or more", 0.9, INK_BLUE, 0.6 },
    [TONE_BIT_LESS] = { "shorter by 3 to 10 %", 0.97, INK_BLUE, 0.25 },
    [TONE_SAME] = { "within 3 %", 1.03, INK_LIGHT, 0.8 },
    [TONE_BIT_MORE] = { "longer by 3 to 10 %", 1.1, INK_VERMILLION, 0.25 },
    [TONE_MORE] = { "longer by 10 % or more", INFINITY, INK_VERMILLION, 0.6 },
    [TONE_NEW] = { "not there before", NAN, INK_PURPLE, 0.5 },
};

struct flame {
    const struct diff_frame *frames;
    size_t nr;
    enum prof_side side;
    bool compares;
    double *low;   /* where a frame begins */
    double *inner; /* what its children have taken so far */
    double all;    /* of the outermost frames together */
    int depth;
    size_t drawn, wanted, gone; /* gone: frames that are no more */
    double lost;                /* their self time */
};

static enum tone flame_tone_of(const struct diff_frame *frame)
{
    if (!(frame->total[0] > 0))
        return TONE_NEW;
    double ratio = frame->total[1] / frame->total[0];
    int tone = TONE_LESS;
    while (tone < TONE_MORE && ratio >= tones[tone].below)
        tone++;
    return (enum tone)tone;
}

static struct profile_room flame_room(const struct flame *fl)
{
    double *lengths = memory_zeroed(fl->nr + 1, sizeof(*lengths));

    for (size_t i = 0; i < fl->nr; i++)
        lengths[i] = fl->frames[i].total[1];
    struct profile_room room = profile_room(lengths, fl->nr, MOST);
    free(lengths);
    return room;
}

/* The name as it is shown is `shown`; a name that was cut stands whole in the last line. */
static void flame_frame_words(const struct flame *fl, const struct diff_frame *frame,
                              const char *shown, struct strbuf *out)
{
    char total[QUANTITY_TEXT_SIZE], self[QUANTITY_TEXT_SIZE], share[QUANTITY_TEXT_SIZE],
        change[QUANTITY_TEXT_SIZE], whole[PROFILE_WHOLE_SIZE];

    strbuf_clear(out);
    strbuf_addf(out, "%.200s\n%s, %s of all, self %s", shown,
                quantity_text(QUANTITY_TIME, "", frame->total[1], total),
                quantity_text(QUANTITY_SHARE, "", frame->total[1] / fl->all, share),
                quantity_text(QUANTITY_TIME, "", frame->self[1], self));
    if (fl->compares && frame->total[0] > 0)
        strbuf_addf(
            out, ", before %s (%s)", quantity_text(QUANTITY_TIME, "", frame->total[0], total),
            quantity_text(QUANTITY_PERCENT, "", frame->total[1] / frame->total[0] - 1, change));
    else if (fl->compares)
        strbuf_adds(out, ", not there before");
    strbuf_adds(out, profile_whole_line(shown, frame->name, whole));
}

enum { SEAM = 1000 };

/* Bars by change; names go over them as in any other blocks. */
static void tone_layers(struct panel *p, struct layer *layers[TONE_NR])
{
    for (int tone = 0; tone < TONE_NR; tone++) {
        layers[tone] = panel_bars(p, tones[tone].label, tones[tone].ink);
        layers[tone]->thickness = 0.92;
        layers[tone]->style.opacity = tones[tone].opacity;
    }
}

/* One profile: a hue for each of the operations that take most time themselves, grey for the rest;
 * neighbours alternate in tone. */
struct flame_hues {
    const char *names[PALETTE_HUES];
    double self[PALETTE_HUES];
    size_t nr;
    struct layer *layers[PALETTE_HUES + 1][2]; /* the last: all others */
};

static double flame_self_of(const struct flame *fl, const char *name)
{
    double self = 0;

    for (size_t i = 0; i < fl->nr; i++)
        if (strcmp(fl->frames[i].name, name) == 0)
            self += fl->frames[i].self[1];
    return self;
}

static size_t flame_hue_of(const struct flame_hues *hues, const char *name)
{
    size_t k = 0;

    while (k < hues->nr && strcmp(hues->names[k], name) != 0)
        k++;
    return k < hues->nr ? k : PALETTE_HUES;
}

static void flame_rank(struct flame_hues *hues, const char *name, double self)
{
    size_t at = hues->nr;

    if (at == PALETTE_HUES && !(self > hues->self[at - 1]))
        return;
    at = at == PALETTE_HUES ? at - 1 : hues->nr++;
    for (; at > 0 && hues->self[at - 1] < self; at--) {
        hues->names[at] = hues->names[at - 1];
        hues->self[at] = hues->self[at - 1];
    }
    hues->names[at] = name;
    hues->self[at] = self;
}

/* Of the longest stacks alone: what is narrower than they has no time to be coloured for. */
static void flame_find_hues(const struct flame *fl, struct panel *p, struct flame_hues *hues)
{
    double narrowest = fl->all / SEAM;
    char shown[KERNEL_NAME_SIZE];

    for (size_t i = 0; i < fl->nr; i++)
        if (fl->frames[i].self[1] > narrowest &&
            flame_hue_of(hues, fl->frames[i].name) == PALETTE_HUES)
            flame_rank(hues, fl->frames[i].name, flame_self_of(fl, fl->frames[i].name));
    for (size_t k = 0; k <= PALETTE_HUES; k++)
        for (int odd = 0; odd < 2; odd++) {
            bool named = k < hues->nr;
            const char *label =
                named ? profile_shown_name(fl->side, hues->names[k], shown) : "other operations";
            hues->layers[k][odd] = panel_bars(p, label, named ? (enum ink)k : INK_GREY);
            hues->layers[k][odd]->thickness = 0.92;
            hues->layers[k][odd]->style.opacity = (named ? 0.62 : 0.3) - 0.12 * odd;
        }
}

/* Neighbours in one tone would run together. */
static void flame_add_frames(struct flame *fl, struct panel *p)
{
    size_t *count = memory_zeroed(DEPTH_MAX, sizeof(*count));
    struct profile_room room = flame_room(fl);
    double seam = fl->all / SEAM;
    struct layer *layers[TONE_NR];
    struct flame_hues hues = { .nr = 0 };
    struct profile_blocks blocks;
    char shown[KERNEL_NAME_SIZE];
    struct strbuf words;

    strbuf_init(&words);
    if (fl->compares)
        tone_layers(p, layers);
    else
        flame_find_hues(fl, p, &hues);
    profile_blocks_init(&blocks, p, fl->all, 0); /* for its names; kinds tell nothing apart here */
    for (size_t i = 0; i < fl->nr; i++) {
        const struct diff_frame *frame = &fl->frames[i];
        double low = fl->low[i], high = low + frame->total[1];
        if (!(frame->total[1] > 0) || frame->depth >= DEPTH_MAX ||
            !profile_room_takes(&room, frame->total[1]))
            continue;
        fl->drawn++;
        const char *name = profile_shown_name(fl->side, frame->name, shown);
        flame_frame_words(fl, frame, name, &words);
        struct layer *bars =
            fl->compares ? layers[flame_tone_of(frame)]
                         : hues.layers[flame_hue_of(&hues, frame->name)][count[frame->depth]++ % 2];
        struct datum *d = layer_add(
            bars, fl->compares ? high - fmin(seam, frame->total[1] / 4) : high, frame->depth);
        d->low = low;
        d->text = memory_string(words.data);
        profile_block_name(&blocks, frame->depth, low, high, name);
    }
    strbuf_release(&words);
    free(count);
}

static void flame_set_axes(const struct flame *fl, struct panel *p)
{
    const char *names[DEPTH_MAX];

    for (int i = 0; i < fl->depth; i++)
        names[i] = "";
    axis_names(&p->y, names, (size_t)fl->depth, true);
    p->y.bare = true;
    axis_set(&p->x, fl->compares ? "time of an iteration" : "time", QUANTITY_TIME, "", AXIS_LINEAR);
    p->x.tight = true;
    p->plot_height = fmax(ROW_HEIGHT * (double)fl->depth + 6, 36);
}

static void flame_add_side(struct figure *f, struct flame *fl, const struct timeline_diff *diff,
                           enum prof_side side)
{
    *fl = (struct flame) { .frames = diff->frames[side],
                           .nr = diff->nr_frames[side],
                           .side = side,
                           .compares = fl->compares };
    fl->low = memory_zeroed(fl->nr + 1, sizeof(*fl->low));
    fl->inner = memory_zeroed(fl->nr + 1, sizeof(*fl->inner));
    /* A frame comes after the one that it is in, and begins where those before it there end. */
    for (size_t i = 0; i < fl->nr; i++) {
        const struct diff_frame *frame = &fl->frames[i];
        double *taken = frame->parent < 0 ? &fl->all : &fl->inner[frame->parent];
        fl->low[i] = (frame->parent < 0 ? 0 : fl->low[frame->parent]) + *taken;
        *taken += frame->total[1];
        fl->wanted += frame->total[1] > 0;
        if (frame->total[1] > 0 && frame->depth < DEPTH_MAX && frame->depth + 1 > fl->depth)
            fl->depth = frame->depth + 1;
        if (!(frame->total[1] > 0) && frame->total[0] > 0) {
            fl->gone++;
            fl->lost += frame->self[0];
        }
    }
    if (fl->all > 0) {
        struct panel *p = figure_panel(f);
        figure_set(&p->title, "%s", profile_side_name(side));
        flame_set_axes(fl, p);
        flame_add_frames(fl, p);
    }
    free(fl->low);
    free(fl->inner);
}

static void flame_add_words(const struct flame *fl, struct figure *f, const struct chart *chart)
{
    char left[PROFILE_WORDS_SIZE] = "", gone[PROFILE_WORDS_SIZE + QUANTITY_TEXT_SIZE] = "",
         text[QUANTITY_TEXT_SIZE];

    if (fl->drawn < fl->wanted)
        snprintf(left, sizeof(left), " Showing the %zu longest of %zu stacks.", fl->drawn,
                 fl->wanted);
    if (fl->gone)
        snprintf(gone, sizeof(gone), " %zu stacks are no more; they took %s.", fl->gone,
                 quantity_text(QUANTITY_TIME, "", fl->lost, text));
    if (chart->profile_base)
        profile_caption(f, chart,
                        "Widths are the time of %s, colours what changed since %s, both for one "
                        "iteration. Two profiles are no verdict: `harness compare` judges by "
                        "several launches.%s%s",
                        chart->profile->name, chart->profile_base->name, gone, left);
    else
        profile_caption(f, chart,
                        "All calls of the same stack together, in the order of their first; what "
                        "is called stands below its caller. Colours: the operations that take "
                        "most time themselves.%s",
                        left);
}

static void flame_draw(struct figure *f, const struct chart *chart,
                       const struct timeline_diff *diff)
{
    struct flame host = { .compares = chart->profile_base != NULL }, device = host;
    char all[QUANTITY_TEXT_SIZE], before[QUANTITY_TEXT_SIZE];

    f->view = "flame";
    flame_add_side(f, &host, diff, PROF_HOST);
    flame_add_side(f, &device, diff, PROF_DEVICE);
    flame_add_words(host.all > 0 ? &host : &device, f, chart);
    quantity_text(QUANTITY_TIME, "", host.all > 0 ? host.all : device.all, all);
    if (host.compares)
        figure_set(&f->alt,
                   "Flame graph of %s an iteration in %zu stacks, coloured by change from %s.", all,
                   host.drawn + device.drawn,
                   quantity_text(QUANTITY_TIME, "", diff->total[host.all > 0 ? 0 : 1][0], before));
    else
        figure_set(&f->alt, "Flame graph of %s in %zu stacks, at most %d deep.", all,
                   host.drawn + device.drawn,
                   host.depth > device.depth ? host.depth : device.depth);
}

void build_profile_flame(const struct chart *chart, struct figure *f)
{
    static const double once[2] = { 1, 1 };
    struct timeline_diff diff;
    struct error err;

    if (!profile_has_slices(f, chart))
        return;
    const struct prof_trace *after = &chart->profile->trace;
    const struct prof_trace *before = chart->profile_base ? &chart->profile_base->trace : after;
    if (timeline_diff(before, after, chart->profile_base ? NULL : once, &diff, &err)) {
        chart_absent(f, "%s", err.message);
        return;
    }
    flame_draw(f, chart, &diff);
    timeline_diff_release(&diff);
}
