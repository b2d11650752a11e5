/* SPDX-License-Identifier: MIT */
/* profile.json: numbers for programs. Rows are lists, because a hundred names of members for each
 * would be most of the file. */
#include "profile/export.h"
#include "profile/json_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static const struct {
    const char *name;
    size_t member;
} numbers[] = {
    { "total", offsetof(struct prof_row, total) },
    { "self", offsetof(struct prof_row, self) },
    { "min", offsetof(struct prof_row, min) },
    { "max", offsetof(struct prof_row, max) },
    { "p50", offsetof(struct prof_row, p50) },
    { "p95", offsetof(struct prof_row, p95) },
    { "p99", offsetof(struct prof_row, p99) },
    { "gpu", offsetof(struct prof_row, gpu) },
    { "cpu", offsetof(struct prof_row, cpu) },
    { "transfer", offsetof(struct prof_row, transfer) },
    { "launch", offsetof(struct prof_row, launch) },
    { "bytes", offsetof(struct prof_row, bytes) },
    { "memory_peak", offsetof(struct prof_row, memory_peak) },
    { "memory_mean", offsetof(struct prof_row, memory_mean) }, /* where memory is followed */
};
enum { NR_NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static int nr_numbers(const struct prof_summary *summary)
{
    for (size_t i = 0; i < summary->nr_rows; i++)
        if (summary->rows[i].memory_mean >= 0)
            return NR_NUMBERS;
    return NR_NUMBERS - 1;
}

static void write_meta(FILE *file, const struct prof_meta *meta)
{
    fprintf(file, "  \"meta\": {\"epoch_ns\": %" PRId64 ", \"duration\": %" PRId64 ", \"rate\": ",
            meta->epoch_ns, meta->end - meta->start);
    prof_json_number(file, meta->rate);
    fprintf(file,
            ", \"seed\": %" PRIu64 ", \"skipped\": %" PRIu64 ", \"dropped\": %" PRIu64
            ", \"lost_samples\": %" PRIu64 ", \"clock\": ",
            meta->seed, meta->skipped, meta->dropped, meta->lost_samples);
    prof_json_text(file, meta->clock);
    if (meta->replaced)
        fprintf(file, ", \"replaced\": %" PRIu64, meta->replaced);
    fputs("},\n", file);
}

static void write_cost(FILE *file, const struct prof_cost *cost)
{
    fprintf(file, "  \"cost\": {\"on\": %.2f, \"off\": %.2f, \"clock\": %.2f, ", cost->on,
            cost->off, cost->clock);
    if (cost->memory > 0)
        fprintf(file, "\"memory\": %.2f, ", cost->memory);
    fprintf(file, "\"target_on\": %g, \"target_off\": %g},\n", PROF_TARGET_ON, PROF_TARGET_OFF);
}

static void write_columns(FILE *file, int nr)
{
    fputs(
        "  \"columns\": [\"name\", \"side\", \"device\", \"backend\", \"calls\", \"mean\", "
        "\"sd\", \"flops\"",
        file);
    for (int i = 0; i < nr; i++)
        fprintf(file, ", \"%s\"", numbers[i].name);
    fputs(", \"category\"],\n", file);
}

/* Scopes of the host and kernels of a device: most rows, which have a 0 for it. */
static bool is_usual_category(const struct prof_row *row)
{
    return !row->category || !row->category[0] ||
           !strcmp(row->category, row->side == PROF_DEVICE ? PROF_KERNELS : PROF_SCOPES);
}

static void write_row(FILE *file, const struct prof_row *row, int nr)
{
    fputs("    [", file);
    prof_json_text(file, row->name);
    fprintf(file, ",%d,%d,", (int)row->side, row->device);
    if (row->backend)
        prof_json_text(file, row->backend);
    else
        fputs("null", file);
    fprintf(file, ",%zu,%.1f,%.1f,", row->calls, row->mean, row->sd);
    prof_json_number(file, row->flops);
    for (int i = 0; i < nr; i++) {
        int64_t value;
        memcpy(&value, (const char *)row + numbers[i].member, sizeof(value));
        fprintf(file, ",%" PRId64, value);
    }
    if (is_usual_category(row)) {
        fputs(",0]", file);
        return;
    }
    fputc(',', file);
    prof_json_text(file, row->category);
    fputc(']', file);
}

int prof_write_summary(FILE *file, const struct prof_summary *summary, const struct prof_cost *cost)
{
    int nr = nr_numbers(summary);

    fputs("{\n  \"schema\": 1,\n  \"unit\": \"ns\",\n  \"sides\": [\"host\", \"device\"],\n", file);
    write_meta(file, &summary->meta);
    if (cost)
        write_cost(file, cost);
    fprintf(file, "  \"total\": [%" PRId64 ", %" PRId64 "],\n", summary->total[PROF_HOST],
            summary->total[PROF_DEVICE]);
    write_columns(file, nr);
    fputs("  \"rows\": [", file);
    for (size_t i = 0; i < summary->nr_rows; i++) {
        fputs(i ? ",\n" : "\n", file);
        write_row(file, &summary->rows[i], nr);
    }
    fputs("\n  ]\n}\n", file);
    return ferror(file) ? -1 : 0;
}
