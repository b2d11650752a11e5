/* SPDX-License-Identifier: MIT */
/* Benchmarks found by key and launch, and how they become records. */
#include "importers/base/import_base.h"

#include "base/digest.h"
#include "core/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cases ---- */

/* Limits of what is stored. A sample must be exact as a double, too (2^53 ns are 104 days). */
static const double sample_max = 0x1p53, batch_max = 1e9, time_min = 1e-6;
/* A sample of so many ns is rounded by less than a billionth of it. */
static const double sample_enough = 1e9;

static size_t case_hash(const char *key, int launch)
{
    struct digest d;

    digest_init(&d);
    digest_add_text(&d, key);
    digest_add(&d, &launch, sizeof(launch));
    return (size_t)(d.low ^ d.high);
}

/* Where the case is, or the free slot where it belongs. */
static size_t *case_slot(const struct import_build *b, const char *key, int launch)
{
    size_t i = case_hash(key, launch) & (b->nr_slots - 1);

    for (; b->slots[i]; i = (i + 1) & (b->nr_slots - 1)) {
        const struct import_case *c = &b->cases.items[b->slots[i] - 1];
        if (c->launch == launch && strcmp(c->m.bench.key, key) == 0)
            break;
    }
    return &b->slots[i];
}

/* Keeps at least half of the slots free. */
static void case_make_room(struct import_build *b)
{
    if (2 * (b->cases.nr + 1) <= b->nr_slots)
        return;
    free(b->slots);
    b->nr_slots = b->nr_slots ? 2 * b->nr_slots : 64;
    b->slots = memory_zeroed(b->nr_slots, sizeof(*b->slots));
    for (size_t i = 0; i < b->cases.nr; i++)
        *case_slot(b, b->cases.items[i].m.bench.key, b->cases.items[i].launch) = i + 1;
}

/* Its number from 1 on; 0: it is not there. */
static size_t case_number(const struct import_build *b, const char *key, int launch)
{
    return b->nr_slots ? *case_slot(b, key, launch) : 0;
}

struct import_case *import_case_find(struct import_build *b, const char *key, int launch)
{
    size_t found = case_number(b, key, launch);

    return found ? &b->cases.items[found - 1] : NULL;
}

struct import_case *import_case_of(struct import_build *b, const struct benchmark_name *name,
                                   int launch)
{
    size_t found = case_number(b, name->key, launch);

    if (found)
        return &b->cases.items[found - 1];
    if (b->cases.nr == IMPORT_CASES_MOST) { /* import_end() refuses it all */
        b->crowded = true;
        return &b->cases.items[b->cases.nr - 1];
    }
    case_make_room(b);
    size_t *slot = case_slot(b, name->key, launch);
    struct import_case *c = array_push(&b->cases);
    *slot = b->cases.nr;
    c->launch = launch;
    c->m = (struct measurement) {
        .bench = *name,
        .max_error = NAN,
        .tolerance = NAN,
        .checked = NAN,
        .tokens = NAN,
        .seconds = NAN,
    };
    import_copy(c->m.clock, sizeof(c->m.clock), b->clock ? b->clock : "");
    return c;
}

struct import_case *import_case(struct import_build *b, struct import_name *name)
{
    struct benchmark_name key;

    import_name_key(name, b->options->project, &key);
    import_name_release(name);
    return import_case_of(b, &key, 0);
}

void import_note_again(struct import_build *b, const struct import_case *c)
{
    if (c->times.nr)
        import_count(b,
                     "%zu benchmark%s there more than once (\"%s\"): what is of one name is put "
                     "together",
                     c->m.bench.key);
}

int import_time(struct import_build *b, struct import_case *c, const cJSON *at, double ns,
                double iterations)
{
    if (!(isfinite(ns) && ns >= 0))
        return import_refuse(b, at, "%.100s: %g ns is no time", c->m.bench.key, ns);
    if (ns > sample_max)
        return import_refuse(b, at, "%.100s: %g ns for one iteration is more than 100 days",
                             c->m.bench.key, ns);
    if (ns < time_min) {
        b->zeros++;
        return 0;
    }
    *array_push(&c->times) = ns;
    c->iterations = fmax(c->iterations, fmin(floor(iterations), batch_max));
    return 0;
}

int import_statistic(struct import_build *b, struct import_case *c, const cJSON *at, double ns)
{
    size_t before = c->times.nr;
    int rc = import_time(b, c, at, ns, 1);

    b->summaries += c->times.nr > before;
    c->stands |= c->times.nr > before;
    return rc;
}

int import_statistic_of(struct import_build *b, struct import_case *c, const cJSON *object,
                        const char *key, double unit)
{
    double value = 0;

    return import_number(b, object, key, 0, &value)
               ? -1
               : import_statistic(b, c, import_member(object, key), value * unit);
}

void import_work(struct import_case *c, double flops, double bytes)
{
    if (flops > 0 && isfinite(flops))
        c->m.flops = flops;
    if (bytes > 0 && isfinite(bytes))
        c->m.bytes = bytes;
}

void import_fail(struct import_case *c, enum outcome outcome, const char *why)
{
    char text[1024];

    import_copy(text, sizeof(text), why);
    c->m.outcome = outcome;
    free(c->m.message);
    c->m.message = memory_string(text);
}

void import_timeless(struct import_case *c)
{
    c->timeless = true;
}

/* ---- samples ---- */

struct case_range {
    double low, high;
};

static struct case_range case_range(const struct import_case *c)
{
    struct case_range r = { INFINITY, 0 };

    for (size_t i = 0; i < c->times.nr; i++) {
        r.low = fmin(r.low, c->times.items[i]);
        r.high = fmax(r.high, c->times.items[i]);
    }
    return r;
}

static bool case_is_whole(const struct import_case *c, double batch)
{
    for (size_t i = 0; i < c->times.nr; i++) {
        double sample = c->times.items[i] * batch;
        if (fabs(sample - round(sample)) > 1e-9 * sample)
            return false;
    }
    return true;
}

/* Samples are whole ns for `batch` iterations. It is what the tool had, then as many times ten as
 * keep what the file says. */
static double case_batch(const struct import_case *c)
{
    struct case_range r = case_range(c);
    double batch = fmax(c->iterations, 1);

    while (batch > 1 && r.high * batch > sample_max)
        batch = floor(batch / 10);
    batch = fmax(batch, 1);
    while (r.low * batch < sample_enough && !case_is_whole(c, batch) && batch * 10 <= batch_max &&
           r.high * batch * 10 <= sample_max)
        batch *= 10;
    return batch;
}

static void case_make_samples(struct import_case *c)
{
    struct measurement *m = &c->m;
    double batch = case_batch(c);

    m->batch = (unsigned)batch;
    m->samples = memory_resize(NULL, c->times.nr, sizeof(*m->samples));
    for (size_t i = 0; i < c->times.nr; i++)
        m->samples[m->nr_samples++] = (uint64_t)llround(fmax(c->times.items[i] * batch, 1));
}

/* ---- the end ---- */

static void import_note_counts(struct import_build *b)
{
    char text[512];

    for (size_t i = 0; i < b->counts.nr; i++) {
        const struct import_count *c = &b->counts.items[i];
        snprintf(text, sizeof(text), c->format, c->nr, c->nr == 1 ? "" : "s", c->first);
        string_list_add(&b->out->notes, text);
    }
}

static void import_note_left(struct import_build *b)
{
    struct strbuf list;
    size_t nr = 0;

    strbuf_init(&list);
    for (size_t i = 0; i < b->left.nr; i++) {
        const struct import_count *c = &b->left.items[i];
        nr += c->nr;
        strbuf_addf(&list, "%s%.60s (%zu)", i ? ", " : "", c->first, c->nr);
    }
    if (nr)
        import_note(b, "%zu value%s of benchmarks not taken: %.400s", nr, nr == 1 ? "" : "s",
                    list.data);
    strbuf_release(&list);
}

static void import_note_all(struct import_build *b)
{
    import_note_counts(b);
    import_note_left(b);
    if (b->timeless)
        import_note(b, "%zu benchmark%s no time in the file: the other numbers are kept",
                    b->timeless, b->timeless == 1 ? " has" : "s have");
    if (b->rates)
        import_note(b, "%zu rate%s: the time of one stands for %s", b->rates,
                    b->rates == 1 ? "" : "s", b->rates == 1 ? "it" : "each");
    if (b->summaries)
        import_note(b,
                    "no raw samples of %zu benchmark%s: %s stands for them, so percentiles say "
                    "nothing",
                    b->summaries, b->summaries == 1 ? "" : "s",
                    b->statistic ? b->statistic : "one number");
    if (b->zeros)
        import_note(b, "%zu time%s of 0 left out: nothing was measured there", b->zeros,
                    b->zeros == 1 ? "" : "s");
    if (b->beyond)
        import_note(b, "%zu amount%s of work left out: beyond %.0e, nothing does so much",
                    b->beyond, b->beyond == 1 ? "" : "s", FACT_AMOUNT_MAX);
}

/* Files say what they like of work: 0 is not known. */
static void case_bound_work(struct import_build *b, double *amount)
{
    if (record_amount_is_sane(*amount))
        return;
    *amount = 0;
    b->beyond++;
}

static void case_add_record(struct import_build *b, struct import_case *c)
{
    if (c->m.outcome == OUTCOME_OK) {
        bool timeless =
            c->times.nr == 0 && c->timeless && (c->m.nr_telemetry > 0 || c->m.nr_numbers > 0);
        if (c->times.nr == 0 && !timeless)
            return;
        b->timeless += timeless;
        if (!timeless)
            case_make_samples(c);
    }
    case_bound_work(b, &c->m.flops);
    case_bound_work(b, &c->m.bytes);
    for (int i = 0; i < c->m.nr_numbers; i++)
        number_keep(&c->m.numbers[i]);
    c->m.started_ms = b->run->started_ms;
    records_add(&b->out->records, 0, c->launch)->m = c->m;
    c->m = (struct measurement) { .outcome = OUTCOME_OK };
}

int import_crowded(struct import_build *b)
{
    return error_set(b->err, "%s: more than %d benchmarks, each launch counted; import it in parts",
                     b->what, IMPORT_CASES_MOST);
}

int import_end(struct import_build *b, const char *tool)
{
    if (b->crowded)
        return import_crowded(b);
    for (size_t i = 0; i < b->cases.nr; i++)
        case_add_record(b, &b->cases.items[i]);
    if (b->out->records.nr == 0)
        return error_set(b->err, "%s: there is no benchmark with a time in it", b->what);
    import_note_all(b);
    import_fact(b, "tool", tool);
    b->run->environment = json_take_text(b->facts);
    b->facts = NULL;
    import_machine_name(&b->run->machine);
    return 0;
}

void import_build_release(struct import_build *b)
{
    for (size_t i = 0; i < b->cases.nr; i++) {
        measurement_release(&b->cases.items[i].m);
        array_release(&b->cases.items[i].times);
    }
    array_release(&b->cases);
    array_release(&b->counts);
    array_release(&b->left);
    array_release(&b->metrics);
    free(b->slots);
    cJSON_Delete(b->facts);
    json_source_release(&b->source);
}
