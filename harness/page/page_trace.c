/* SPDX-License-Identifier: MIT */
/* All slices of a profile as columns, for the timeline of the page: as text at once, because a tree
 * of millions of numbers is slow to make and to print. */
#include "base/json.h"
#include "base/memory.h"
#include "chart/base/profile_data.h"
#include "chart/profile/profile_base.h"
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

/* What the page shows first: as the figure "timeline" does. */
enum { WINDOW_SLICES = 3000, WINDOW_CALLS = 2 };

/* What is written of a trace, and where. */
struct trace_columns {
    const struct profile_data *data;
    struct profile_window window;
    size_t *slices, nr; /* those that are written, in the order of the trace */
    int *place;         /* of each slice of the trace in `slices`; -1: left out */
    size_t all;         /* slices with a duration or none, points aside */
    int64_t shortest;   /* those that are shorter are left out, and some as long */
};

static int trace_columns_longer(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;

    return (*a < *b) - (*a > *b);
}

/* Which slices there is room for beside those of the window: all that are longer than `length`, and
 * `some` of the `equal` ones that are as long, evenly spread. */
struct trace_cut {
    int64_t length;
    size_t some, equal;
};

static bool trace_columns_has(const struct prof_slice *s)
{
    return !(s->flags & PROF_INSTANT_POINT);
}

static bool trace_columns_shown_first(const struct trace_columns *c, const struct prof_slice *s)
{
    return s->start >= c->window.low && s->start < c->window.high;
}

static struct trace_cut trace_columns_cut(struct trace_columns *c, size_t most)
{
    const struct prof_trace *trace = &c->data->trace;
    int64_t *lengths = memory_zeroed(trace->nr_slices + 1, sizeof(*lengths));
    struct trace_cut cut = { .length = -1 };
    size_t nr = 0, first = 0;

    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        if (trace_columns_has(s) && trace_columns_shown_first(c, s))
            first++;
        else if (trace_columns_has(s))
            lengths[nr++] = s->duration;
    }
    c->all = nr + first;
    size_t room = most > first ? most - first : 0;
    if (nr > room) {
        qsort(lengths, nr, sizeof(*lengths), trace_columns_longer);
        cut.length = lengths[room];
        for (size_t i = 0; i < nr; i++) {
            cut.equal += lengths[i] == cut.length;
            cut.some += lengths[i] == cut.length && i < room;
        }
    }
    free(lengths);
    return cut;
}

/* What holds a slice is no shorter, so hardly a slice that is written has lost the one around it.
 */
static void trace_columns_init(struct trace_columns *c, const struct profile_data *data,
                               size_t most)
{
    const struct prof_trace *trace = &data->trace;
    size_t seen = 0;

    *c = (struct trace_columns) { .data = data };
    c->window = profile_window_of(data, WINDOW_SLICES, WINDOW_CALLS);
    const struct trace_cut cut = trace_columns_cut(c, most);
    c->shortest = cut.length < 0 ? 0 : cut.length;
    c->slices = memory_zeroed(trace->nr_slices + 1, sizeof(*c->slices));
    c->place = memory_zeroed(trace->nr_slices + 1, sizeof(*c->place));
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        c->place[i] = -1;
        if (!trace_columns_has(s))
            continue;
        bool written = s->duration > cut.length || trace_columns_shown_first(c, s);
        if (!written && cut.equal && s->duration == cut.length) {
            written = seen * cut.some / cut.equal < (seen + 1) * cut.some / cut.equal;
            seen++;
        }
        if (written) {
            c->place[i] = (int)c->nr;
            c->slices[c->nr++] = i;
        }
    }
}

static void trace_columns_release(struct trace_columns *c)
{
    free(c->slices);
    free(c->place);
}

static const struct prof_slice *trace_columns_at(const struct trace_columns *c, size_t k)
{
    return &c->data->trace.slices[c->slices[k]];
}

/* ---- texts: equal ones are one pointer, and stand once ---- */

struct trace_text {
    const char *text;
    size_t first; /* the place of its first slice, which gives it its number */
};

struct trace_texts {
    struct trace_text *items; /* by pointer */
    size_t nr;
};

static int trace_text_order(const void *x, const void *y)
{
    const struct trace_text *a = x, *b = y;

    return (a->text > b->text) - (a->text < b->text);
}

static const char *trace_name_of(const struct prof_slice *s)
{
    return s->name;
}

static const char *trace_backend_of(const struct prof_slice *s)
{
    return s->backend;
}

static void trace_texts_init(struct trace_texts *texts, const struct trace_columns *c,
                             const char *(*of)(const struct prof_slice *))
{
    size_t kept = 0;

    *texts = (struct trace_texts) { .items = memory_zeroed(c->nr + 1, sizeof(*texts->items)) };
    for (size_t k = 0; k < c->nr; k++)
        texts->items[k] = (struct trace_text) { of(trace_columns_at(c, k)), k };
    qsort(texts->items, c->nr, sizeof(*texts->items), trace_text_order);
    for (size_t k = 0; k < c->nr; k++)
        if (kept == 0 || texts->items[k].text != texts->items[kept - 1].text)
            texts->items[kept++] = texts->items[k];
    texts->nr = kept;
}

static size_t trace_text_at(const struct trace_texts *texts, const char *text)
{
    const struct trace_text key = { text, 0 };
    const struct trace_text *found =
        bsearch(&key, texts->items, texts->nr, sizeof(key), trace_text_order);

    return (size_t)(found - texts->items);
}

/* "shown": [...] beside "names": names of kernels as they are shown, null for all others; nothing
 * where there are no such names. */
static void trace_add_shown(struct strbuf *out, const struct trace_columns *c,
                            const struct trace_texts *texts)
{
    bool *others = memory_zeroed(texts->nr + 1, sizeof(*others)), any = false;
    cJSON *list = cJSON_CreateArray();
    char buffer[KERNEL_NAME_SIZE];

    for (size_t k = 0; k < c->nr; k++)
        if (!profile_on_device(&c->data->trace, trace_columns_at(c, k)))
            others[trace_text_at(texts, trace_columns_at(c, k)->name)] = true;
    for (size_t i = 0; i < texts->nr; i++) {
        const char *name = texts->items[i].text ? texts->items[i].text : "";
        const char *shown = profile_shown_name(others[i] ? PROF_HOST : PROF_DEVICE, name, buffer);
        bool differs = strcmp(shown, name) != 0;
        any |= differs;
        cJSON_AddItemToArray(list, differs ? cJSON_CreateString(shown) : cJSON_CreateNull());
    }
    free(others);
    if (any) {
        strbuf_adds(out, ",\"shown\":");
        json_take_script(list, out);
    } else {
        cJSON_Delete(list);
    }
}

/* "names": [...], "name": [...] */
static void trace_add_texts(struct strbuf *out, const struct trace_columns *c, const char *what,
                            const char *(*of)(const struct prof_slice *))
{
    cJSON *list = cJSON_CreateArray();
    struct trace_texts texts;

    trace_texts_init(&texts, c, of);
    for (size_t i = 0; i < texts.nr; i++) {
        const char *text = texts.items[i].text;
        cJSON_AddItemToArray(list, cJSON_CreateString(text ? text : ""));
    }
    strbuf_addf(out, ",\"%ss\":", what);
    json_take_script(list, out);
    strbuf_addf(out, ",\"%s\":[", what);
    for (size_t k = 0; k < c->nr; k++)
        strbuf_addf(out, "%s%zu", k ? "," : "", trace_text_at(&texts, of(trace_columns_at(c, k))));
    strbuf_addc(out, ']');
    if (of == trace_name_of)
        trace_add_shown(out, c, &texts);
    free(texts.items);
}

/* ---- numbers ---- */

/* A column of integers; nothing where all are 0. */
static void trace_add_column(struct strbuf *out, const struct trace_columns *c, const char *name,
                             const int64_t *values)
{
    bool any = false;

    for (size_t k = 0; k < c->nr; k++)
        any |= values[k] != 0;
    if (!any)
        return;
    strbuf_addf(out, ",\"%s\":[", name);
    for (size_t k = 0; k < c->nr; k++)
        strbuf_addf(out, "%s%lld", k ? "," : "", (long long)values[k]);
    strbuf_addc(out, ']');
}

/* By how much each starts later than the one before it, of a lane; the first than `zero`. */
static void trace_starts(const struct trace_columns *c, int64_t zero, int64_t *values)
{
    for (size_t k = 0; k < c->nr; k++) {
        const struct prof_slice *s = trace_columns_at(c, k);
        const struct prof_slice *before = k ? trace_columns_at(c, k - 1) : NULL;
        values[k] = s->start - (before && before->track == s->track ? before->start : zero);
    }
}

/* The place of what started it, behind that of the last one that was started; 0: not known. */
static void trace_launch_steps(const struct trace_columns *c, int64_t *values)
{
    int *launches = memory_zeroed(c->data->trace.nr_slices + 1, sizeof(*launches));
    int64_t last = -1;

    profile_launches(&c->data->trace, launches);
    for (size_t k = 0; k < c->nr; k++) {
        int launch = launches[c->slices[k]];
        int64_t place = launch >= 0 ? c->place[launch] : -1;
        values[k] = place >= 0 ? place - last : 0;
        last = place >= 0 ? place : last;
    }
    free(launches);
}

static void trace_add_numbers(struct strbuf *out, const struct trace_columns *c, int64_t zero)
{
    int64_t *values = memory_zeroed(c->nr + 1, sizeof(*values));

    trace_starts(c, zero, values);
    trace_add_column(out, c, "start", values);
    trace_launch_steps(c, values);
    trace_add_column(out, c, "launch", values);
    for (size_t k = 0; k < c->nr; k++)
        values[k] = trace_columns_at(c, k)->duration;
    trace_add_column(out, c, "duration", values);
    for (size_t k = 0; k < c->nr; k++)
        values[k] = trace_columns_at(c, k)->bytes;
    trace_add_column(out, c, "bytes", values);
    for (size_t k = 0; k < c->nr; k++)
        values[k] = (int64_t)trace_columns_at(c, k)->flops;
    trace_add_column(out, c, "flops", values);
    for (size_t k = 0; k < c->nr; k++)
        values[k] = profile_kind_of(&c->data->trace, trace_columns_at(c, k));
    trace_add_column(out, c, "kind", values);
    free(values);
}

/* ---- lanes ---- */

/* The main thread is on top and the streams below it. */
static int trace_lane_rank(const struct profile_data *data, const struct prof_track *t)
{
    const struct prof_track *main = data->track < 0 ? NULL : &data->main.tracks[data->track];

    if (t->kind == PROF_TRACK_STREAM)
        return 1;
    return main && t->thread == main->thread && t->process == main->process ? 0 : 2;
}

static void trace_add_lanes(struct strbuf *out, const struct trace_columns *c)
{
    const struct prof_trace *trace = &c->data->trace;
    size_t *slices = memory_zeroed(trace->nr_tracks + 1, sizeof(*slices));
    cJSON *list = cJSON_CreateArray();

    for (size_t k = 0; k < c->nr; k++)
        slices[trace_columns_at(c, k)->track]++;
    for (size_t i = 0; i < trace->nr_tracks; i++) {
        const struct prof_track *t = &trace->tracks[i];
        cJSON *lane = cJSON_CreateObject();
        json_add_string(lane, "process", t->owner ? t->owner : "");
        json_add_string(lane, "thread", t->name ? t->name : "");
        json_add_int(lane, "number", t->thread);
        cJSON_AddBoolToObject(lane, "stream", t->kind == PROF_TRACK_STREAM);
        json_add_int(lane, "rank", trace_lane_rank(c->data, t));
        json_add_int(lane, "slices", (int64_t)slices[i]);
        cJSON_AddItemToArray(list, lane);
    }
    strbuf_adds(out, ",\"lanes\":");
    json_take_script(list, out);
    free(slices);
}

static int64_t trace_zero(const struct trace_columns *c)
{
    int64_t zero = c->nr ? trace_columns_at(c, 0)->start : 0;

    for (size_t k = 1; k < c->nr; k++)
        zero = trace_columns_at(c, k)->start < zero ? trace_columns_at(c, k)->start : zero;
    return zero;
}

size_t page_trace(const struct view *view, size_t most, struct strbuf *out)
{
    const struct profile_data *data = view->profile;
    struct trace_columns c;

    if (!data || !data->trace.nr_slices)
        return 0;
    trace_columns_init(&c, data, most);
    int64_t zero = trace_zero(&c);
    cJSON *kinds = cJSON_CreateArray();
    for (int kind = 0; kind < PROFILE_KINDS; kind++)
        cJSON_AddItemToArray(kinds,
                             cJSON_CreateString(profile_kind_label((enum profile_kind)kind)));
    strbuf_addf(out, "{\"window\":[%lld,%lld],\"left_out\":%zu,\"shortest\":%lld,\"kinds\":",
                (long long)(c.window.low - zero), (long long)(c.window.high - zero), c.all - c.nr,
                (long long)c.shortest);
    json_take_script(kinds, out);
    trace_add_lanes(out, &c);
    trace_add_texts(out, &c, "name", trace_name_of);
    trace_add_texts(out, &c, "backend", trace_backend_of);
    trace_add_numbers(out, &c, zero);
    strbuf_addc(out, '}');
    size_t written = c.nr;
    trace_columns_release(&c);
    return written;
}
