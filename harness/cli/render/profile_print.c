/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/render/profile_counters.h"
#include "cli/render/profile_view.h"
#include "gputrace/kernel_name.h"
#include "terminal/terminal.h"
#include "text/escape.h"
#include "text/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void profile_folder_name(struct strbuf *path, const char *name)
{
    for (const char *p = name; *p; p++)
        strbuf_addc(path, *p == '/' || *p == ' ' ? '-' : *p);
}

int profile_folder(const struct profile_output *o, const char *what, struct strbuf *path,
                   struct error *err)
{
    strbuf_adds(path, o->folder ? o->folder : "profile-");
    if (!o->folder)
        profile_folder_name(path, what);
    return file_make_directory(path->data, err);
}

int profile_subfolder(const char *name, struct strbuf *path, struct error *err)
{
    strbuf_addc(path, '/');
    profile_folder_name(path, name);
    return file_make_directory(path->data, err);
}

int profile_show(const struct profile_output *o, const struct profile_view *view,
                 const char *folder, struct cJSON *list, struct error *err)
{
    struct strbuf text;

    if (profile_write(view, folder, o->top, err))
        return -1;
    if (o->json) {
        cJSON *json = profile_to_json(view, o->top, err);
        if (!json)
            return -1;
        cJSON_AddStringToObject(json, "folder", folder);
        cJSON_AddItemToArray(list, json);
        return 0;
    }
    strbuf_init(&text);
    profile_print(view, o->top, &text);
    strbuf_addf(&text,
                "\nin %s: profile.json; trace.json for ui.perfetto.dev and speedscope.app; "
                "stacks.folded for flame graphs\n",
                folder);
    return profile_say(&text, err);
}

int profile_say(struct strbuf *text, struct error *err)
{
    int rc = output_page(text, NULL, err);

    strbuf_release(text);
    return rc;
}

static int derive_view(struct profile_view *v, struct error *err)
{
    const struct advice_evidence known = {
        .trace = &v->trace,
        .summary = &v->summary,
        .roofs = &v->roofs,
        .cost = &v->cost,
        .gap_ns = v->gap_ns,
    };

    if (timeline_main(&v->trace, &v->main, err))
        return -1;
    if (prof_summarise(&v->main, &v->summary))
        return error_set(err, "no memory for a summary");
    return timeline_find(&v->main, &known, &v->found, err);
}

int profile_view_init(struct profile_view *v, const char *title, struct prof_trace *trace,
                      const struct timeline_roofs *roofs, const struct prof_cost *cost,
                      int64_t gap_ns, struct error *err)
{
    *v = (struct profile_view) { .trace = *trace, .gap_ns = gap_ns };
    prof_trace_init(trace);
    prof_trace_init(&v->main);
    snprintf(v->title, sizeof(v->title), "%s", title);
    if (roofs)
        v->roofs = *roofs;
    if (cost)
        v->cost = *cost;
    return derive_view(v, err);
}

void profile_view_release(struct profile_view *v)
{
    timeline_findings_release(&v->found);
    prof_summary_release(&v->summary);
    prof_trace_release(&v->main);
    prof_trace_release(&v->trace);
}

static const char *const by_words[] = { [PROF_BY_SELF] = "self", [PROF_BY_TOTAL] = "total" };

/* Empty where there is none. */
static void add_profile_rate(struct table *t, double work, double ns, const char *unit)
{
    char text[TEXT_UNIT_SIZE];

    if (work > 0 && ns > 0)
        table_cell(t, TABLE_PLAIN, "%s", text_rate(1e9 * work / ns, unit, text));
    else
        table_empty(t);
}

static void add_profile_rates(const struct profile_view *v, const struct prof_row *row,
                              struct table *t)
{
    double ns = timeline_row_ns(&v->found, row);
    struct timeline_roof roof = timeline_row_roof(&v->found, &v->roofs, row);

    add_profile_rate(t, row->flops, ns, "FLOP/s");
    add_profile_rate(t, (double)row->bytes, ns, "B/s");
    if (roof.bound == TIMELINE_UNBOUND)
        return;
    table_cell(t, TABLE_PLAIN, "%.0f %% of the %s", 100 * roof.fraction, roof.name);
}

static void add_profile_time(struct table *t, double ns)
{
    char time[PROF_TEXT_SIZE];

    if (isnan(ns) || ns < 0)
        table_empty(t);
    else
        table_cell(t, TABLE_PLAIN, "%s", prof_time_text(ns, time));
}

/* Own time of an iteration, by the table's time: the median, its interval, the mean. */
static void add_profile_medians(const struct profile_view *v, const struct prof_row *row,
                                enum prof_by by, struct table *t)
{
    const struct typical_row *typical = timeline_typical_row(&v->found.typical, row);
    const struct timeline_middle *m = by == PROF_BY_SELF ? &typical->self : &typical->total;
    char low[PROF_TEXT_SIZE], high[PROF_TEXT_SIZE];

    add_profile_time(t, m->median);
    if (isnan(m->low))
        table_empty(t);
    else
        table_cell(t, TABLE_PLAIN, "%s to %s", prof_time_text(m->low, low),
                   prof_time_text(m->high, high));
    add_profile_time(t, m->mean);
}

static void add_profile_part(const struct prof_row *row, int64_t ns, struct table *t)
{
    add_profile_time(t, row->side == PROF_HOST && ns > 0 ? (double)ns : NAN);
}

static void add_profile_memory(int64_t bytes, struct table *t)
{
    char text[TEXT_UNIT_SIZE];

    if (bytes > 0)
        table_cell(t, TABLE_PLAIN, "%s", text_bytes((double)bytes, text));
    else
        table_empty(t);
}

/* What the CPU does itself is known where calls to a GPU's driver are. */
static void add_profile_parts(const struct prof_row *row, struct table *t)
{
    double use = prof_row_utilisation(row);

    add_profile_part(row, row->gpu, t);
    add_profile_part(row, row->launch > 0 ? row->cpu : 0, t);
    add_profile_part(row, row->transfer, t);
    add_profile_part(row, row->launch, t);
    if (use > 0)
        table_cell(t, TABLE_PLAIN, "%.1f %%", 100 * use);
    else
        table_empty(t);
    add_profile_memory(row->memory_mean, t);
    add_profile_memory(row->memory_peak, t);
}

/* Of single calls. */
static void add_profile_calls(const struct prof_row *row, struct table *t)
{
    add_profile_time(t, (double)row->p50);
    add_profile_time(t, (double)row->min);
    add_profile_time(t, (double)row->max);
    add_profile_time(t, row->calls > 1 ? row->sd : NAN);
}

static void add_profile_row(const struct profile_view *v, const struct prof_bottleneck *b,
                            enum prof_by by, struct table *t)
{
    const struct prof_row *row = b->row;
    char name[KERNEL_NAME_SIZE];

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s",
               row->side == PROF_DEVICE ? kernel_name_short(row->name, name) : row->name);
    table_cell(t, TABLE_PLAIN, "%zu", row->calls);
    add_profile_time(t, (double)row->total);
    add_profile_time(t, (double)row->self);
    table_cell(t, TABLE_PLAIN, "%.1f %%", 100 * b->share);
    table_cell(t, TABLE_PLAIN, "%.1f %%", 100 * b->cumulative);
    add_profile_medians(v, row, by, t);
    add_profile_calls(row, t);
    add_profile_parts(row, t);
    add_profile_rates(v, row, t);
}

/* The numbers in the middle say of what a time is the median. */
static const struct table_column columns[] = {
    { "operation", TABLE_LEFT, TABLE_NAME, 0 },
    { "calls", TABLE_RIGHT, TABLE_FIRM, 3 },
    { "total", TABLE_RIGHT, TABLE_FIRM, 2 },
    { "self", TABLE_RIGHT, TABLE_FIRM, 1 },
    { "share", TABLE_RIGHT, TABLE_FIRM, 0 },
    { "cumulative", TABLE_RIGHT, TABLE_FIRM, 10 },
    { "median iteration", TABLE_RIGHT, TABLE_FIRM, 6 },
    { "95 % interval", TABLE_RIGHT, TABLE_FIRM, 8 },
    { "mean iteration", TABLE_RIGHT, TABLE_FIRM, 12 },
    { "median call", TABLE_RIGHT, TABLE_FIRM, 11 },
    { "min", TABLE_RIGHT, TABLE_FIRM, 13 },
    { "max", TABLE_RIGHT, TABLE_FIRM, 14 },
    { "sd", TABLE_RIGHT, TABLE_FIRM, 15 },
    { "GPU", TABLE_RIGHT, TABLE_FIRM, 7 },
    { "CPU", TABLE_RIGHT, TABLE_FIRM, 16 },
    { "transfer", TABLE_RIGHT, TABLE_FIRM, 17 },
    { "overhead", TABLE_RIGHT, TABLE_FIRM, 18 },
    { "GPU used (estimate)", TABLE_RIGHT, TABLE_FIRM, 19 },
    { "mean memory", TABLE_RIGHT, TABLE_FIRM, 20 },
    { "peak memory", TABLE_RIGHT, TABLE_FIRM, 21 },
    { "compute", TABLE_RIGHT, TABLE_FIRM, 5 },
    { "bandwidth", TABLE_RIGHT, TABLE_FIRM, 9 },
    { "roof", TABLE_LEFT, TABLE_FIRM, 4 },
};

/* Text for a terminal or Markdown. */
enum profile_form { PROFILE_TEXT, PROFILE_MARKDOWN };

static void print_bottleneck_table(const struct profile_view *v, const struct table *t,
                                   enum prof_side side, enum prof_by by, enum profile_form form,
                                   struct strbuf *out)
{
    bool typical = side == PROF_HOST && v->found.typical.nr_iterations > 1;

    strbuf_addf(out, form == PROFILE_TEXT ? "\nBy %s time%s\n" : "\n### By %s time%s\n\n",
                by_words[by],
                side == PROF_DEVICE ? ", on GPUs"
                : typical           ? "; order and shares are the median iteration's"
                                    : "");
    if (form == PROFILE_TEXT)
        table_text(t, terminal_width(), terminal_colour(), out);
    else
        table_markdown(t, out);
}

/* A scope as its stream saw it, all of whose time is that of the kernels in it. */
static bool is_covered(const struct prof_bottleneck *b, enum prof_by by)
{
    return by == PROF_BY_SELF && b->row->side == PROF_DEVICE && b->row->self == 0;
}

static void print_bottlenecks(const struct profile_view *v, enum prof_side side, enum prof_by by,
                              size_t top, enum profile_form form, struct strbuf *out)
{
    struct prof_bottleneck *list = memory_zeroed(top + 1, sizeof(*list));
    size_t nr = timeline_typical_bottlenecks(&v->found.typical, &v->main, side, by, list, top);
    struct table t;

    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < nr; i++)
        if (!is_covered(&list[i], by))
            add_profile_row(v, &list[i], by, &t);
    if (nr > 0)
        print_bottleneck_table(v, &t, side, by, form, out);
    table_release(&t);
    free(list);
}

/* How much of the iterations the operations cover: the rest is between them. */
static void print_iterations(const struct profile_view *v, struct strbuf *out)
{
    const struct timeline_layers *l = &v->found.layers;
    double covered = timeline_covered(l);
    char time[PROF_TEXT_SIZE];

    if (l->nr_iterations == 0)
        return;
    strbuf_addf(out, "%zu iteration%s of %s (median)", l->nr_iterations,
                l->nr_iterations == 1 ? "" : "s",
                prof_time_text(timeline_iteration_median(l), time));
    if (isfinite(covered))
        strbuf_addf(out, "; its operations cover %.1f %%", 100 * covered);
    if (v->launches > 1)
        strbuf_addf(out, "; the last of %d launches", v->launches);
    strbuf_addc(out, '\n');
}

static void print_split(const struct profile_view *v, struct strbuf *out)
{
    const char *comma = "";
    char time[PROF_TEXT_SIZE];

    if (v->found.split.span <= 0)
        return;
    if (v->found.split.device < 0)
        strbuf_addf(out,
                    "\nThe main thread's %s: ", prof_time_text((double)v->found.split.span, time));
    else
        strbuf_addf(out, "\nGPU %d's %s: ", v->found.split.device,
                    prof_time_text((double)v->found.split.span, time));
    for (int part = 0; part < PART_NR; part++) {
        if (v->found.split.ns[part] == 0)
            continue;
        strbuf_addf(out, "%s%s %.1f %%", comma, timeline_part_name((enum timeline_part)part),
                    100 * timeline_part_share(&v->found.split, (enum timeline_part)part));
        comma = ", ";
    }
    strbuf_addc(out, '\n');
}

static void print_advice(const struct profile_view *v, size_t top, struct strbuf *out)
{
    if (v->found.advice.nr > 0)
        strbuf_adds(out, "\nAdvice\n");
    for (size_t i = 0; i < v->found.advice.nr && i < top; i++) {
        strbuf_adds(out, "- ");
        escape_plain(out, v->found.advice.items[i].text);
        strbuf_addc(out, '\n');
    }
}

/* All threads record: what counts for the time that a user waits is the main thread's part. */
static void print_scope_cost(const struct profile_view *v, struct strbuf *out)
{
    char text[PROF_COST_SIZE];
    size_t scopes = prof_summary_scopes(&v->summary);
    double ns = prof_cost_of(&v->cost, &v->summary) * (double)scopes;

    if (v->cost.on <= 0 || v->summary.total[PROF_HOST] <= 0)
        return;
    strbuf_addf(out, "\nRecording: %s; %zu scopes on the main thread: %.3g %% of its time\n",
                prof_cost_text(&v->cost, &v->summary, text), scopes,
                100 * ns / (double)v->summary.total[PROF_HOST]);
}

void profile_print(const struct profile_view *v, size_t top, struct strbuf *out)
{
    escape_plain(out, v->title);
    strbuf_addc(out, '\n');
    print_iterations(v, out);
    for (int side = PROF_HOST; side <= PROF_DEVICE; side++)
        for (int by = PROF_BY_SELF; by <= PROF_BY_TOTAL; by++)
            print_bottlenecks(v, (enum prof_side)side, (enum prof_by)by, top, PROFILE_TEXT, out);
    print_split(v, out);
    if (v->counters)
        profile_counters_print(v->counters, top, out);
    print_advice(v, top, out);
    print_scope_cost(v, out);
}

void profile_markdown(const struct profile_view *v, size_t top, struct strbuf *out)
{
    strbuf_adds(out, out->length ? "\n## Where the time goes: " : "## Where the time goes: ");
    escape_markdown(out, v->title);
    strbuf_adds(out, "\n\n");
    print_iterations(v, out);
    for (int side = PROF_HOST; side <= PROF_DEVICE; side++)
        print_bottlenecks(v, (enum prof_side)side, PROF_BY_SELF, top, PROFILE_MARKDOWN, out);
    print_split(v, out);
    if (v->found.advice.nr > 0)
        strbuf_adds(out, "\n### Advice\n\n");
    for (size_t i = 0; i < v->found.advice.nr && i < top; i++) {
        strbuf_adds(out, "- ");
        escape_markdown(out, v->found.advice.items[i].text);
        strbuf_addc(out, '\n');
    }
}
