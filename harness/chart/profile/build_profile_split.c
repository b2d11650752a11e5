/* SPDX-License-Identifier: MIT */
/* Time of each operation by kind. Host and device work at the same time, so their times stand side
 * by side and are not added up; each belongs to the innermost scope that it was done or launched
 * in. */
#include "base/array.h"
#include "chart/profile/profile_base.h"
#include "profile/name_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 16, NAMED = 6 };
enum kind { KIND_CPU, KIND_LAUNCH, KIND_KERNEL, KIND_COPY, KIND_IDLE, KIND_NR };

static const struct {
    const char *label;
    enum ink ink;
    bool device;
} parts[KIND_NR] = {
    [KIND_CPU] = { "CPU", INK_BLUE, false },
    [KIND_LAUNCH] = { "launch and other runtime calls", INK_PURPLE, false },
    [KIND_KERNEL] = { "kernels", INK_VERMILLION, true },
    [KIND_COPY] = { "transfer", INK_GREEN, true },
    [KIND_IDLE] = { "idle between them", INK_LIGHT, true },
};

struct split_row {
    const char *name; /* of the trace: equal ones are the same pointer */
    double ns[KIND_NR];
};

struct split {
    const struct prof_trace *trace;
    const int64_t *self;
    struct split_row *items;
    size_t nr, capacity;
    struct prof_map places; /* of the rows, by name */
};

static struct split_row *profile_split_row_of(struct split *s, const char *name)
{
    const int *place = prof_map_name(&s->places, name, 0, (int)s->nr);

    if (!place)
        place = memory_zeroed(SIZE_MAX, sizeof(*place)); /* ends with a message */
    if ((size_t)*place == s->nr)
        *array_push(s) = (struct split_row) { .name = name };
    return &s->items[*place];
}

static const char *profile_split_name_of(const struct split *s, int slice)
{
    int scope = profile_scope_of(s->trace, slice);

    return s->trace->slices[scope < 0 ? slice : scope].name;
}

/* Work that one call of a scope had done on the device. */
struct device_work {
    int scope;
    int64_t start, end;
};

struct works {
    struct device_work *items;
    size_t nr, capacity;
};

static int by_scope_and_start(const void *x, const void *y)
{
    const struct device_work *a = x, *b = y;

    if (a->scope != b->scope)
        return a->scope < b->scope ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

/* What a call leaves between its work, whichever streams that was on. */
static void profile_split_add_idle(struct split *s, struct works *works)
{
    int64_t until = 0;

    if (works->nr)
        qsort(works->items, works->nr, sizeof(*works->items), by_scope_and_start);
    for (size_t i = 0; i < works->nr; i++) {
        const struct device_work *w = &works->items[i];
        bool is_first = i == 0 || w[-1].scope != w->scope;
        if (!is_first && w->start > until)
            profile_split_row_of(s, s->trace->slices[w->scope].name)->ns[KIND_IDLE] +=
                (double)(w->start - until);
        until = is_first || w->end > until ? w->end : until;
    }
}

static void profile_split_add_host(struct split *s)
{
    for (size_t i = 0; i < s->trace->nr_slices; i++) {
        const struct prof_slice *slice = &s->trace->slices[i];
        if (profile_on_device(s->trace, slice) || slice->flags & PROF_INSTANT_POINT)
            continue;
        profile_split_row_of(s, profile_split_name_of(s, (int)i))
            ->ns[profile_is_call(slice) ? KIND_LAUNCH : KIND_CPU] += (double)s->self[i];
    }
}

/* A scope as its stream saw it is no work: what is in it is. */
static bool profile_split_is_work(const struct split *s, size_t i)
{
    const struct prof_slice *slice = &s->trace->slices[i];

    return profile_on_device(s->trace, slice) && !(slice->flags & PROF_INSTANT_POINT) &&
           (s->self[i] > 0 || strcmp(slice->category, PROF_GPU_SCOPES) != 0);
}

static void profile_split_add_device(struct split *s)
{
    int *launches = memory_zeroed(s->trace->nr_slices + 1, sizeof(*launches));
    struct works works = ARRAY_EMPTY;

    profile_launches(s->trace, launches);
    for (size_t i = 0; i < s->trace->nr_slices; i++) {
        const struct prof_slice *slice = &s->trace->slices[i];
        if (!profile_split_is_work(s, i))
            continue;
        int scope = launches[i] < 0 ? -1 : profile_scope_of(s->trace, launches[i]);
        struct split_row *row =
            profile_split_row_of(s, scope < 0 ? slice->name : s->trace->slices[scope].name);
        row->ns[profile_is_transfer(slice) ? KIND_COPY : KIND_KERNEL] += (double)s->self[i];
        if (scope >= 0)
            *array_push(&works) =
                (struct device_work) { scope, slice->start, slice->start + slice->duration };
    }
    profile_split_add_idle(s, &works);
    array_release(&works);
    free(launches);
}

static double profile_split_weight(const struct split_row *row)
{
    return fmax(row->ns[KIND_CPU] + row->ns[KIND_LAUNCH],
                row->ns[KIND_KERNEL] + row->ns[KIND_COPY] + row->ns[KIND_IDLE]);
}

static int profile_split_by_weight(const void *x, const void *y)
{
    double a = profile_split_weight(x), b = profile_split_weight(y);

    return (a < b) - (a > b);
}

static void profile_split_fill(struct split *s, const struct profile_data *data)
{
    *s = (struct split) { .trace = &data->main, .self = data->self };
    profile_split_add_host(s);
    profile_split_add_device(s);
    if (s->nr)
        qsort(s->items, s->nr, sizeof(*s->items), profile_split_by_weight);
    prof_map_release(&s->places);
}

/* What is drawn: no bar shorter than this share of the longest row, which no eye would see. */
static const double least_share = 0.0005;

static size_t rows_drawn(const struct split *s, size_t limit)
{
    size_t nr = s->nr < limit ? s->nr : limit;

    while (nr > 1 && profile_split_weight(&s->items[nr - 1]) <
                         least_share * profile_split_weight(&s->items[0]))
        nr--;
    return nr;
}

/* A row that is no scope's is one of kernels that none is known to have started. */
static enum prof_side profile_split_side_of(const struct split_row *row)
{
    for (int kind = 0; kind < KIND_NR; kind++)
        if (row->ns[kind] > 0 && !parts[kind].device)
            return PROF_HOST;
    return PROF_DEVICE;
}

/* " Left out, ...: embed, ln_f and 3 more." of the rows from `nr` on, in their order. */
static void profile_split_add_left_out(const struct split *s, size_t nr, size_t limit,
                                       struct strbuf *out)
{
    size_t left = s->nr - nr, named = left < NAMED ? left : NAMED;
    char shown[KERNEL_NAME_SIZE];

    if (!left)
        return;
    strbuf_addf(out, " Left out, %s:",
                nr < limit ? "each below 0.05 % of the longest" : "shorter than these");
    for (size_t i = 0; i < named; i++) {
        const struct split_row *row = &s->items[nr + i];
        strbuf_addf(out, "%s %.60s", i ? "," : "",
                    profile_shown_name(profile_split_side_of(row), row->name, shown));
    }
    if (left > named)
        strbuf_addf(out, " and %zu more", left - named);
    strbuf_addc(out, '.');
}

/* Returns the time of its rows, that of parts too short to be drawn included. */
static double profile_split_add_panel(struct figure *f, const struct split *s, size_t nr,
                                      bool device)
{
    struct prof_row *names = memory_zeroed(nr + 1, sizeof(*names));
    double *ends = memory_zeroed(nr + 1, sizeof(*ends)), all = 0;
    char text[QUANTITY_TEXT_SIZE];

    for (size_t i = 0; i < nr; i++)
        names[i] = (struct prof_row) { .name = s->items[i].name,
                                       .side = profile_split_side_of(&s->items[i]) };
    struct panel *p = profile_rows_panel(f, &(struct profile_rows) { names, nr, nr }, device);
    figure_set(&p->title, "%s", profile_side_name(device ? PROF_DEVICE : PROF_HOST));
    axis_set(&p->x, "time", QUANTITY_TIME, "", AXIS_LINEAR);
    for (int part = 0; part < KIND_NR; part++) {
        if (parts[part].device != device)
            continue;
        struct layer *bars = panel_bars(p, parts[part].label, parts[part].ink);
        for (size_t i = 0; i < nr; i++) {
            if (!(s->items[i].ns[part] > 0))
                continue;
            if (s->items[i].ns[part] >= least_share * profile_split_weight(&s->items[0]))
                layer_add(bars, ends[i] + s->items[i].ns[part], (double)i)->low = ends[i];
            ends[i] += s->items[i].ns[part];
            all += s->items[i].ns[part];
        }
    }
    struct layer *texts = panel_outside(p);
    for (size_t i = 0; i < nr; i++)
        layer_add_outside(texts, i,
                          ends[i] > 0 ? quantity_text(QUANTITY_TIME, "", ends[i], text) : "–");
    free(names);
    free(ends);
    return all;
}

/* Is there a bar of this kind among the first `nr` rows? */
static bool profile_split_draws(const struct split *s, size_t nr, enum kind kind)
{
    for (size_t i = 0; i < nr; i++)
        if (s->items[i].ns[kind] > 0 &&
            s->items[i].ns[kind] >= least_share * profile_split_weight(&s->items[0]))
            return true;
    return false;
}

static bool profile_split_has_device(const struct split *s)
{
    for (size_t i = 0; i < s->nr; i++)
        if (s->items[i].ns[KIND_KERNEL] + s->items[i].ns[KIND_COPY] > 0)
            return true;
    return false;
}

void build_profile_split(const struct chart *chart, struct figure *f)
{
    char host[QUANTITY_TEXT_SIZE], device[QUANTITY_TEXT_SIZE];
    struct strbuf left_out;
    struct split s;

    profile_split_fill(&s, chart->profile);
    size_t limit = chart_limit(chart->preset, LIMIT), nr = rows_drawn(&s, limit);
    if (!profile_split_has_device(&s)) {
        chart_absent(f, "no device was recorded: all time is the CPU's, see bottlenecks");
        free(s.items);
        return;
    }
    f->columns = 2;
    quantity_text(QUANTITY_TIME, "", profile_split_add_panel(f, &s, nr, false), host);
    quantity_text(QUANTITY_TIME, "", profile_split_add_panel(f, &s, nr, true), device);
    strbuf_init(&left_out);
    profile_split_add_left_out(&s, nr, limit, &left_out);
    profile_caption(f, chart,
                    "Host and device work at the same time: left and right do not add up.%s Each "
                    "time belongs to the innermost scope in which it was spent or launched.%s",
                    profile_split_draws(&s, nr, KIND_IDLE)
                        ? " Idle is what one call of a scope leaves between its kernels."
                        : "",
                    left_out.data);
    strbuf_release(&left_out);
    figure_set(&f->alt,
               "Bars of time by kind for %zu operations: %s on the host, %s on "
               "the device.",
               nr, host, device);
    free(s.items);
}
