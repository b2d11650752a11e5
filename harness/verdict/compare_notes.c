/* SPDX-License-Identifier: MIT */
/* What a reader must know beside the verdicts. */
#include "verdict/compare_parts.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "metrics/epoch.h"
#include "verdict/machine_probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMPARE_FLOOR_METRICS = 64,
    MORE_MOST = 10, /* times the change that would do: a hundred times the launches */
};

/* Of one machine class; NULL: of any. */
static const struct run *newest_of_class(const struct records *records, const char *class_name)
{
    const struct run *best = NULL;

    for (size_t i = 0; i < records->nr_runs; i++) {
        const struct run *run = &records->runs[i];
        if ((!class_name || strcmp(run->machine.class_name, class_name) == 0) &&
            (!best || run->started_ms >= best->started_ms))
            best = run;
    }
    return best;
}

static bool has_class(const struct records *records, const char *class_name)
{
    for (size_t i = 0; i < records->nr_runs; i++)
        if (strcmp(records->runs[i].machine.class_name, class_name) == 0)
            return true;
    return false;
}

/* Machine classes that only one side has. */
static void note_machines(struct comparison *c, const struct records *one,
                          const struct records *other, const char *one_name, const char *other_name)
{
    for (size_t i = 0; i < one->nr_runs; i++) {
        const char *name = one->runs[i].machine.class_name;
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen |= strcmp(one->runs[j].machine.class_name, name) == 0;
        if (seen || has_class(other, name))
            continue;
        if (c->settings.any_machine)
            comparison_note(c,
                            "The %s has runs of machine class %s, the %s has none: "
                            "differences may be the machines'.",
                            one_name, name, other_name);
        else
            comparison_note(c,
                            "The %s has runs of machine class %s, the %s has none; "
                            "they were left out.",
                            one_name, name, other_name);
    }
}

/* Where an imported run is from, as far as its file says: "laptop at 5000 MHz". */
struct origin {
    char host[100];
    double mhz; /* NaN: unknown */
};

static void origin_of(const struct run *run, struct origin *o)
{
    cJSON *json = run->environment ? cJSON_Parse(run->environment) : NULL;

    snprintf(o->host, sizeof(o->host), "%.90s", json_string(json, "host", ""));
    o->mhz = json_number(json, "cpu_mhz", NAN);
    cJSON_Delete(json);
}

static void origin_tell(const struct origin *o, struct strbuf *out)
{
    strbuf_addf(out, "%s%s", o->host[0] ? "host " : "a host without a name", o->host);
    if (!isnan(o->mhz))
        strbuf_addf(out, " at %.0f MHz", o->mhz);
}

/* Clocks that differ by more are not the same reading of one that moves a little. */
static const double origin_mhz_apart = 0.05;

/* One class may have machines that are not alike. `where`: "", or " on machine class ...". */
static void note_origins(struct comparison *c, const struct run *base, const struct run *head,
                         const char *where)
{
    struct origin a, b;
    struct strbuf text;

    if (base->kind != RUN_IMPORTED || head->kind != RUN_IMPORTED)
        return;
    origin_of(base, &a);
    origin_of(head, &b);
    bool hosts = a.host[0] && b.host[0] && strcmp(a.host, b.host) != 0;
    bool clocks = fabs(log(a.mhz / b.mhz)) > log1p(origin_mhz_apart); /* false for a NaN */
    if (!hosts && !clocks)
        return;
    strbuf_init(&text);
    origin_tell(&a, &text);
    strbuf_adds(&text, ", the head on ");
    origin_tell(&b, &text);
    comparison_note(c, "The base was measured%s on %s: what differs may be the machines' work.",
                    where, text.data);
    strbuf_release(&text);
    c->nr_warnings = c->nr_notes;
}

/* A different environment. */
static void note_epochs(struct comparison *c, const struct run *base, const struct run *head,
                        const char *where)
{
    struct strbuf text;

    strbuf_init(&text);
    if (epoch_difference(base, head, &text) > 0)
        comparison_note(c, "The environment differs between base and head%s: %s.", where,
                        text.data);
    strbuf_release(&text);
    compare_guest_notes(c, base, head, where);
}

typedef void note_newest_fn(struct comparison *c, const struct run *base, const struct run *head,
                            const char *where);

/* The newest run of each side: of each machine class that both have, as runs of two classes differ
 * in any case. Where any is compared with any, the newest of all. */
static void note_newest(struct comparison *c, const struct records *base,
                        const struct records *head, note_newest_fn *note)
{
    const struct run *first = newest_of_class(head, NULL);
    char where[128];

    if (c->settings.any_machine && first && base->nr_runs > 0)
        note(c, newest_of_class(base, NULL), first, "");
    for (size_t i = 0; i < head->nr_runs && !c->settings.any_machine; i++) {
        const char *name = head->runs[i].machine.class_name;
        const struct run *here = newest_of_class(head, name), *old = newest_of_class(base, name);
        if (here != &head->runs[i] || !old) /* each class once */
            continue;
        snprintf(where, sizeof(where), " on machine class %s", name);
        note(c, old, here, strcmp(first->machine.class_name, name) == 0 ? "" : where);
    }
}

static void note_pooling(struct comparison *c, const struct records *side, const char *name)
{
    bool mixed = false;

    for (size_t i = 1; i < side->nr_runs; i++) {
        const char *class_name = c->settings.any_machine ? NULL : side->runs[i].machine.class_name;
        mixed |= epoch_id(&side->runs[i]) != epoch_id(newest_of_class(side, class_name));
    }
    if (mixed)
        comparison_note(c, "The %s pools %zu runs whose environment differs.", name, side->nr_runs);
}

static void note_dirty(struct comparison *c, const struct records *side, const char *name)
{
    size_t dirty = 0;

    for (size_t i = 0; i < side->nr_runs; i++)
        dirty += side->runs[i].build.dirty;
    if (dirty > 0)
        comparison_note(c, "The %s was measured from a tree with uncommitted changes.", name);
}

static void note_shift(struct comparison *c)
{
    char shift[TEXT_UNIT_SIZE];

    if (c->shifted)
        comparison_note(c,
                        "All benchmarks moved together by %s: suspect the machine before the code.",
                        text_percent(c->common_shift, shift));
    if (fabs(log1p(c->probe_shift)) > log1p(c->settings.delta))
        comparison_note(c,
                        "The machine itself moved: its probe, the same work on both sides, took %s "
                        "time.",
                        text_percent(c->probe_shift, shift));
    if (fabs(log1p(c->vendor_shift)) > log1p(c->settings.delta))
        comparison_note(c, "The reference libraries, whose code did not change, moved by %s.",
                        text_percent(c->vendor_shift, shift));
}

static void note_chance(struct comparison *c)
{
    if (c->family > 0)
        comparison_note(
            c,
            "%zu compared, chance alone would give %.2g alarms at most (false-discovery rate "
            "%g %%).",
            c->family, c->chance, 100 * c->settings.q);
}

static void note_launches(struct comparison *c)
{
    size_t few = 0;

    for (size_t i = 0; i < c->nr; i++)
        few += c->rows[i].verdict == VERDICT_UNDECIDED && !compare_in_family(&c->rows[i]) &&
               !compare_without_ratios(&c->rows[i]);
    if (few > 0)
        comparison_note(c,
                        "%zu benchmark%s fewer than %d launches with a time on a side; measure "
                        "with more launches.",
                        few, few == 1 ? " has" : "s have", COMPARE_LAUNCHES_MIN);
}

/* Where the noise comes from, for people: a part of it, median over the rows that know it. */
static double median_part(const struct comparison *c, double (*part)(const struct compare_noise *))
{
    double *values = memory_zeroed(c->nr ? c->nr : 1, sizeof(*values));
    size_t nr = 0;

    for (size_t i = 0; i < c->nr; i++)
        if (compare_in_family(&c->rows[i]) && isfinite(part(&c->rows[i].noise)))
            values[nr++] = part(&c->rows[i].noise);
    double median = stats_median(values, nr);
    free(values);
    return median;
}

static double within_of(const struct compare_noise *noise)
{
    return noise->within;
}

static double launch_of(const struct compare_noise *noise)
{
    return noise->launch;
}

static double run_noise_of(const struct compare_noise *noise)
{
    return noise->run;
}

static double placement_of(const struct compare_noise *noise)
{
    return noise->placement;
}

static void note_parts(struct comparison *c)
{
    bool blocks = c->nr > 0 && c->rows[0].item->evidence.design == DESIGN_BLOCKS;
    const struct {
        double value;
        const char *where;
    } parts[] = {
        { median_part(c, within_of), "within launches" },
        { median_part(c, launch_of), "from launch to launch" },
        { median_part(c, placement_of), "from placement in memory (by the self-test)" },
        { median_part(c, run_noise_of), blocks ? "from block to block" : "from run to run" },
    };
    char text[256], share[TEXT_UNIT_SIZE];
    int length = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (isfinite(parts[i].value))
            length +=
                snprintf(text + length, sizeof(text) - (size_t)length, "%s%s %s",
                         length ? ", " : "", text_about(parts[i].value, 2, share), parts[i].where);
    if (length > 0)
        comparison_note(c, "Noise, medians of what each adds: %s.", text);
}

/* Where earlier runs of the machine told what lies between two runs. */
static void note_earlier(struct comparison *c)
{
    size_t most = 0;

    for (size_t i = 0; i < c->nr; i++)
        if (compare_in_family(&c->rows[i]) && c->rows[i].item->evidence.earlier.nr > most)
            most = c->rows[i].item->evidence.earlier.nr;
    if (most > 1)
        comparison_note(c, "What two runs differ by: also judged from %zu earlier runs.", most);
}

/* Where placement alone moves more than the floors that were asked for. */
static void note_placement(struct comparison *c)
{
    size_t of = 0;
    double least = INFINITY, most = 0;
    char from[TEXT_UNIT_SIZE + 4] = "", text[TEXT_UNIT_SIZE];

    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        if (!(row->placed > 0) || row->placed < row->delta)
            continue;
        of++;
        least = fmin(least, row->placed);
        most = fmax(most, row->placed);
    }
    if (least < most)
        snprintf(from, sizeof(from), "%s to ", text_figures(100 * least, 2, text));
    if (of > 0)
        comparison_note(c,
                        "Placement alone moves %zu of the %zu compared (harness selftest "
                        "--placement): changes of them below %s%s are not called.",
                        of, c->nr, from, text_about(most, 2, text));
}

static void note_noise(struct comparison *c)
{
    if (c->noise > c->settings.delta)
        comparison_note(
            c,
            "Launches of one benchmark typically differ by %.1f %%, more than the floor "
            "of %g %%: small changes cannot be seen here.",
            100 * c->noise, 100 * c->settings.delta);
}

/* ---- what would decide the rest ---- */

static double median_open(const struct comparison *c, double (*field)(const struct compare_row *))
{
    double *values = memory_zeroed(c->nr ? c->nr : 1, sizeof(*values));
    size_t nr = 0;

    for (size_t i = 0; i < c->nr; i++)
        if (c->rows[i].verdict == VERDICT_UNDECIDED && compare_in_family(&c->rows[i]))
            values[nr++] = field(&c->rows[i]);
    double median = nr ? stats_median(values, nr) : NAN;
    free(values);
    return median;
}

static double stays_of(const struct compare_row *row)
{
    return row->stays;
}

/* How many times as large a change is seen as would do, in logs, as floors are meant: a rate that
 * gets worse falls, by 1 - exp(-x). */
static double short_of(const struct compare_row *row)
{
    double seen = fabs(log1p(compare_sign(row) * row->detectable));

    return isfinite(row->detectable) ? fmin(seen / log1p(row->delta), MORE_MOST) : MORE_MOST;
}

/* What there is on the side that has fewer. */
static double units_of(const struct compare_row *row)
{
    const struct evidence *e = &row->item->evidence;

    if (e->design == DESIGN_BLOCKS)
        return (double)evidence_blocks(e);
    if (e->design == DESIGN_RUNS)
        return fmin((double)evidence_runs(&e->base), (double)evidence_runs(&e->head));
    return fmin((double)e->base.nr, (double)e->head.nr);
}

/* An error falls with the root of what is measured. */
static void note_next(struct comparison *c)
{
    static const char *const units[] = {
        [DESIGN_LAUNCHES] = "launches a side",
        [DESIGN_RUNS] = "runs a side",
        [DESIGN_BLOCKS] = "blocks",
    };
    double units_now = median_open(c, units_of), times = median_open(c, short_of);
    enum compare_design design = c->nr ? c->rows[0].item->evidence.design : DESIGN_LAUNCHES;

    if (isnan(units_now))
        return;
    if (median_open(c, stays_of) > 0.5)
        comparison_note(c,
                        "Undecided: most of the error lies between the two runs, where more "
                        "launches do not help. Measure in turn (--build, --baseline-bin), or "
                        "several runs a side.");
    else if (times >= MORE_MOST)
        comparison_note(c,
                        "Undecided: at this noise no number of %s worth measuring will do; choose "
                        "a larger floor, or a quieter machine.",
                        units[design]);
    else
        comparison_note(c,
                        "Undecided: at this noise about %.0f %s in place of %.0f would tell a "
                        "change as large as the floor.",
                        ceil(units_now * fmax(times * times, 2)), units[design], units_now);
}

static void note_unsupported(struct comparison *c)
{
    if (c->unsupported > 0)
        comparison_note(c, "%zu benchmark%s on neither side.", c->unsupported,
                        c->unsupported == 1 ? " runs" : "s run");
}

static bool only_on(const struct compare_item *item, bool base)
{
    return item->evidence.base.present == base && item->evidence.head.present == !base;
}

/* Alike but for where, or from what state of the memory, they were measured? */
static bool is_moved_benchmark(const struct benchmark_name *a, const struct benchmark_name *b)
{
    bool same = strcmp(a->kernel, b->kernel) == 0 && strcmp(a->variant, b->variant) == 0 &&
                strcmp(a->math, b->math) == 0 && a->nr_dims == b->nr_dims;

    for (int i = 0; same && i < a->nr_dims; i++)
        same = a->dims[i].value == b->dims[i].value;
    bool state = strcmp(a->cache, b->cache) == 0 && strcmp(a->fill, b->fill) == 0;
    return same && (strcmp(a->device, b->device) == 0) != state;
}

/* Device, caches and inputs are part of a benchmark's name: one thread against two compares
 * nothing, nor do zeros against random numbers. */
static void note_moved(struct comparison *c, const struct benchmark_name *base,
                       const struct benchmark_name *head)
{
    if (strcmp(base->device, head->device) != 0)
        comparison_note(c,
                        "The base was measured on %s, the head on %s: nothing is on both. Measure "
                        "with the same --device.",
                        base->device, head->device);
    else if (strcmp(base->fill, head->fill) != 0)
        comparison_note(c,
                        "The inputs of the base hold %s, those of the head %s: nothing is on both. "
                        "Measure with the same --fill.",
                        benchmark_name_fill(base), benchmark_name_fill(head));
    else
        comparison_note(c,
                        "The base was measured %s, the head %s: nothing is on both. Measure with "
                        "the same --cache.",
                        base->cache, head->cache);
}

static void note_devices(struct comparison *c)
{
    const struct benchmark_name *first = NULL;

    for (size_t i = 0; i < c->nr_items; i++) {
        if (!only_on(&c->items[i], true) && !only_on(&c->items[i], false))
            return; /* something is on both sides */
        if (!first && only_on(&c->items[i], true))
            first = c->items[i].bench;
    }
    for (size_t i = 0; first && i < c->nr_items; i++) {
        if (!only_on(&c->items[i], false) || !is_moved_benchmark(first, c->items[i].bench))
            continue;
        note_moved(c, first, c->items[i].bench);
        return;
    }
}

void compare_floor_unfit(const struct compare_floor *floor, char text[COMPARE_FLOOR_TEXT])
{
    const char *ids[COMPARE_FLOOR_METRICS + 1] = { NULL };

    for (size_t i = 0; i < COMPARE_FLOOR_METRICS && metric_at(i); i++)
        ids[i] = metric_at(i)->id;
    const char *nearest =
        metric_find(floor->pattern, NULL) ? NULL : text_nearest(floor->pattern, ids);
    snprintf(text, COMPARE_FLOOR_TEXT,
             "The floor of %.3g %% for \"%.200s\" fits no metric or benchmark that is "
             "compared%s%s%s",
             100 * floor->delta, floor->pattern, nearest ? "; did you mean \"" : ".",
             nearest ? nearest : "", nearest ? "\"?" : "");
}

/* A slip of the pen would leave the general floor in force, unseen. */
static void note_floors(struct comparison *c)
{
    char text[COMPARE_FLOOR_TEXT];

    for (size_t i = 0; i < c->settings.nr_floors && c->nr_items > 0; i++) {
        const struct compare_floor *floor = &c->settings.floors[i];
        bool fits = false;
        for (size_t j = 0; j < c->nr_items && !fits; j++)
            fits = compare_floor_fits(floor, c->items[j].metric, c->items[j].bench->key);
        if (fits)
            continue;
        compare_floor_unfit(floor, text);
        comparison_note(c, "%s", text);
    }
}

/* Where the benchmark failed, nobody knows what it has. */
static bool has_asked(const struct comparison *c, const char *asked, bool *fits)
{
    const struct metric *metric = metric_find(compare_asked_id(asked), NULL);

    *fits = false;
    for (size_t i = 0; i < c->nr_items; i++) {
        const struct compare_item *item = &c->items[i];
        bool fit = compare_asked_fits(asked, item->bench->key);
        *fits |= fit;
        if (fit && (item->metric == metric || item->evidence.base.outcome != OUTCOME_OK ||
                    item->evidence.head.outcome != OUTCOME_OK))
            return true;
    }
    return false;
}

/* What is asked of some benchmarks alone and is of none: it would be judged by the usual metric,
 * unseen. */
static void note_asked(struct comparison *c)
{
    for (const char *const *asked = c->settings.metrics; asked && *asked; asked++) {
        const char *id = compare_asked_id(*asked);
        bool fits;
        if (c->nr_items == 0 || id == *asked || has_asked(c, *asked, &fits))
            continue;
        comparison_note(
            c, "The metric %s was asked of \"%.*s\", %s.", id, (int)(id - *asked) - 1, *asked,
            fits ? "which does not have it" : "which fits no benchmark that is compared");
    }
}

/* By one rule for both sides, but a machine need not have been the same to both. */
static void note_repeats(struct comparison *c, const struct records *side, const char *name)
{
    struct machine_probe_repeats r;
    struct strbuf words;

    machine_probe_repeats_count(side, -1, &r);
    if (r.repeated + r.left == 0)
        return;
    strbuf_init(&words);
    machine_probe_repeats_words(&r, &words);
    comparison_note(c, "Disturbed while the %s was measured: %s.", name, words.data);
    strbuf_release(&words);
}

void compare_run_notes(struct comparison *c, const struct records *base, const struct records *head)
{
    note_newest(c, base, head, note_origins); /* first: they are warnings */
    note_machines(c, base, head, "base", "head");
    note_machines(c, head, base, "head", "base");
    note_newest(c, base, head, note_epochs);
    note_pooling(c, base, "base");
    note_pooling(c, head, "head");
    note_dirty(c, base, "base");
    note_dirty(c, head, "head");
    compare_pair_notes(c, base, head);
    note_repeats(c, base, "base");
    note_repeats(c, head, "head");
    note_unsupported(c);
}

void compare_notes(struct comparison *c)
{
    note_shift(c);
    note_devices(c);
    note_floors(c);
    note_asked(c);
    note_launches(c);
    note_parts(c);
    note_earlier(c);
    note_placement(c);
    note_noise(c);
    note_next(c);
    note_chance(c);
}
