/* SPDX-License-Identifier: MIT */
/* Tables for people. */
#include "profile/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *prof_time_text(double ns, char buffer[PROF_TEXT_SIZE])
{
    static const struct {
        double ns; /* from here on, what rounds to 1000 of the unit before included */
        double scale;
        const char *unit;
    } units[] = {
        { 999.95e6, 1e9, "s" }, { 999.95e3, 1e6, "ms" }, { 999.95, 1e3, "us" }, { 0, 1, "ns" }
    };
    size_t u = 0;

    if (!isfinite(ns)) {
        snprintf(buffer, PROF_TEXT_SIZE, "n/a");
        return buffer;
    }
    while (fabs(ns) < units[u].ns)
        u++;
    double value = ns / units[u].scale, size = fabs(value);
    int decimals = (size < 999.95) + (size < 99.995) + (size < 9.9995);
    snprintf(buffer, PROF_TEXT_SIZE, "%.*f %s", decimals, value, units[u].unit);
    return buffer;
}

/* Columns on the screen: code points, by their first bytes. */
static int text_width(const char *text)
{
    int width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

enum column_kind {
    CALLS,
    TIME,
    TIME_IF_ANY,
    TIME_OF_DOUBLE,
    UTILISATION,
    BANDWIDTH,
    FLOP_RATE,
    MEMORY
};

/* A column is there if any row has it; rows that do not show a dash. */
static const struct column {
    const char *title;
    int width;
    enum column_kind kind;
    size_t member;
} columns[] = {
    { "calls", 8, CALLS, 0 },
    { "total", 9, TIME, offsetof(struct prof_row, total) },
    { "self", 9, TIME, offsetof(struct prof_row, self) },
    { "mean", 9, TIME_OF_DOUBLE, offsetof(struct prof_row, mean) },
    { "min", 9, TIME, offsetof(struct prof_row, min) },
    { "p50", 9, TIME, offsetof(struct prof_row, p50) },
    { "p95", 9, TIME, offsetof(struct prof_row, p95) },
    { "p99", 9, TIME, offsetof(struct prof_row, p99) },
    { "max", 9, TIME, offsetof(struct prof_row, max) },
    { "sd", 9, TIME_OF_DOUBLE, offsetof(struct prof_row, sd) },
    { "gpu", 9, TIME_IF_ANY, offsetof(struct prof_row, gpu) },
    { "transfer", 9, TIME_IF_ANY, offsetof(struct prof_row, transfer) },
    { "launch", 9, TIME_IF_ANY, offsetof(struct prof_row, launch) },
    { "gpu use*", 8, UTILISATION, 0 },
    { "GB/s", 8, BANDWIDTH, 0 },
    { "GFLOP/s", 8, FLOP_RATE, 0 },
    { "mean MiB", 8, MEMORY, offsetof(struct prof_row, memory_mean) },
    { "peak MiB", 8, MEMORY, offsetof(struct prof_row, memory_peak) },
};
enum { NR_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* Four digits, but never an exponent: the unit stands in the title. */
static void figures_text(double value, char out[PROF_TEXT_SIZE])
{
    snprintf(out, PROF_TEXT_SIZE, value < 9999.5 ? "%.4g" : "%.0f", value);
}

/* 0: the row does not have it. */
static int fill_cell(const struct column *c, const struct prof_row *row, char out[PROF_TEXT_SIZE])
{
    const char *member = (const char *)row + c->member;
    double seconds = (double)(row->gpu ? row->gpu : row->total) / 1e9, real;
    int64_t whole;

    switch (c->kind) {
    case CALLS:
        snprintf(out, PROF_TEXT_SIZE, "%zu", row->calls);
        return 1;
    case TIME:
    case TIME_IF_ANY:
        memcpy(&whole, member, sizeof(whole));
        prof_time_text((double)whole, out);
        return c->kind == TIME || whole > 0;
    case TIME_OF_DOUBLE:
        memcpy(&real, member, sizeof(real));
        prof_time_text(real, out);
        return 1;
    case BANDWIDTH:
        figures_text((double)row->bytes / 1e9 / seconds, out);
        return row->bytes > 0 && row->total > 0;
    case FLOP_RATE:
        figures_text(row->flops / 1e9 / seconds, out);
        return row->flops > 0 && row->total > 0;
    case UTILISATION:
        snprintf(out, PROF_TEXT_SIZE, "%.1f %%", 100 * prof_row_utilisation(row));
        return prof_row_utilisation(row) > 0;
    case MEMORY:
        memcpy(&whole, member, sizeof(whole));
        figures_text((double)whole / 0x1p20, out);
        return whole > 0;
    }
    return 0;
}

static int name_width(const struct prof_summary *summary)
{
    int width = text_width("operation");

    for (size_t i = 0; i < summary->nr_rows; i++) {
        int name = text_width(summary->rows[i].name);
        width = name > width ? name : width;
    }
    return width;
}

static void print_name(FILE *file, const char *name, int width)
{
    /* A terminal would obey control bytes. */
    for (const char *p = name; *p; p++)
        fputc((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p, file);
    fprintf(file, "%*s", width - text_width(name), "");
}

static int is_column_shown(const struct prof_summary *summary, enum prof_side side, int column)
{
    char unused[PROF_TEXT_SIZE];

    for (size_t i = 0; i < summary->nr_rows; i++) {
        if (summary->rows[i].side == side && fill_cell(&columns[column], &summary->rows[i], unused))
            return 1;
    }
    return 0;
}

static void print_row(FILE *file, const struct prof_row *row, const int *shown, int width)
{
    char text[PROF_TEXT_SIZE];

    print_name(file, row->name, width);
    for (int c = 0; c < NR_COLUMNS; c++) {
        if (shown[c])
            fprintf(file, "  %*s", columns[c].width,
                    fill_cell(&columns[c], row, text) ? text : "-");
    }
    fputc('\n', file);
}

static void print_side(FILE *file, const struct prof_summary *summary, enum prof_side side)
{
    int shown[NR_COLUMNS], width = name_width(summary);

    if (!summary->calls[side])
        return;
    if (side == PROF_DEVICE)
        fputs("\nOn the device\n", file);
    print_name(file, "operation", width);
    for (int c = 0; c < NR_COLUMNS; c++) {
        shown[c] = is_column_shown(summary, side, c);
        if (shown[c])
            fprintf(file, "  %*s", columns[c].width, columns[c].title);
    }
    fputc('\n', file);
    for (size_t i = 0; i < summary->nr_rows; i++) {
        if (summary->rows[i].side == side)
            print_row(file, &summary->rows[i], shown, width);
    }
}

static void print_losses(FILE *file, const struct prof_meta *meta)
{
    if (meta->rate < 1)
        fprintf(file, "%.4g %% of outermost scopes sampled (%llu left out).\n", meta->rate * 100,
                (unsigned long long)meta->skipped);
    if (meta->replaced)
        fprintf(file, "%llu older scopes were replaced by later ones of the ring.\n",
                (unsigned long long)meta->replaced);
    if (meta->dropped)
        fprintf(file, "%llu scopes found no room and are missing.\n",
                (unsigned long long)meta->dropped);
}

static int uses_gpu(const struct prof_summary *summary)
{
    for (size_t i = 0; i < summary->nr_rows; i++) {
        if (prof_row_utilisation(&summary->rows[i]) > 0)
            return 1;
    }
    return 0;
}

static int follows_memory(const struct prof_summary *summary)
{
    for (size_t i = 0; i < summary->nr_rows; i++) {
        if (summary->rows[i].memory_peak >= 0)
            return 1;
    }
    return 0;
}

double prof_cost_of(const struct prof_cost *cost, const struct prof_summary *summary)
{
    return cost->memory > 0 && follows_memory(summary) ? cost->memory : cost->on;
}

char *prof_cost_text(const struct prof_cost *cost, const struct prof_summary *summary,
                     char buffer[PROF_COST_SIZE])
{
    char on[PROF_TEXT_SIZE], off[PROF_TEXT_SIZE];
    double ns = prof_cost_of(cost, summary);
    int met = ns <= PROF_TARGET_ON && cost->off <= PROF_TARGET_OFF;

    snprintf(buffer, PROF_COST_SIZE, "%s a scope, %s when off (targets: %g and %g ns, %s)",
             prof_time_text(ns, on), prof_time_text(cost->off, off), PROF_TARGET_ON,
             PROF_TARGET_OFF, met ? "met" : "not met");
    return buffer;
}

/* Two digits, never an exponent; what rounds to nothing is called small. */
static void print_share(FILE *file, double percent)
{
    if (percent < 0.0095)
        fputs("less than 0.01 %", file);
    else
        fprintf(file, percent < 99.5 ? "%.2g %%" : "%.0f %%", percent);
}

static void print_cost(FILE *file, const struct prof_summary *summary, const struct prof_cost *cost)
{
    char text[PROF_COST_SIZE];
    double spent = prof_cost_of(cost, summary) * (double)prof_summary_scopes(summary);
    double total = (double)summary->total[PROF_HOST];

    fprintf(file, "Recording cost %s", prof_cost_text(cost, summary, text));
    if (total > 0) {
        fputs(": ", file);
        print_share(file, 100 * spent / total);
        fputs(" of the time above", file);
    }
    fputs(".\n", file);
}

int prof_print_summary(FILE *file, const struct prof_summary *summary, const struct prof_cost *cost)
{
    char total[PROF_TEXT_SIZE];

    print_side(file, summary, PROF_HOST);
    print_side(file, summary, PROF_DEVICE);
    fprintf(file, "\n%zu scopes, %s.\n", summary->calls[PROF_HOST],
            prof_time_text((double)summary->total[PROF_HOST], total));
    if (uses_gpu(summary))
        fputs("* An estimate: the time of the kernels that it started over its own.\n", file);
    print_losses(file, &summary->meta);
    if (cost)
        print_cost(file, summary, cost);
    return ferror(file) ? -1 : 0;
}

int prof_print_bottlenecks(FILE *file, const struct prof_bottleneck *list, size_t n)
{
    int width = text_width("operation");
    char self[PROF_TEXT_SIZE], total[PROF_TEXT_SIZE];

    for (size_t i = 0; i < n; i++) {
        int name = text_width(list[i].row->name);
        width = name > width ? name : width;
    }
    fprintf(file, "  # ");
    print_name(file, "operation", width);
    fprintf(file, "  %8s  %9s  %9s  %7s  %7s\n", "calls", "self", "total", "share", "so far");
    for (size_t i = 0; i < n; i++) {
        const struct prof_row *row = list[i].row;
        fprintf(file, "%3zu ", i + 1);
        print_name(file, row->name, width);
        fprintf(file, "  %8zu  %9s  %9s  %5.1f %%  %5.1f %%\n", row->calls,
                prof_time_text((double)row->self, self), prof_time_text((double)row->total, total),
                100 * list[i].share, 100 * list[i].cumulative);
    }
    return ferror(file) ? -1 : 0;
}
