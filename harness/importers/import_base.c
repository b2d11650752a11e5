/* SPDX-License-Identifier: MIT */
/* What the formats share: reading JSON, benchmarks found by key and launch, then made records. */
#include "importers/import_base.h"

#include "base/digest.h"
#include "base/text.h"
#include "core/names.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* Length of a number that JSON does not have, as C++ and Python print it; 0: there is none here. */
static size_t import_no_number(const char *at, const char *end)
{
    static const char *const words[] = { "NaN", "nan", "Infinity", "inf" };
    size_t sign = at < end && *at == '-';

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - at) >= sign + length && memcmp(at + sign, words[i], length) == 0)
            return sign + length;
    }
    return 0;
}

/* Puts "" and blanks in their place, which are as long, so that lines and columns stay. */
static void import_hide_no_numbers(char *text, size_t length)
{
    char *end = text + length;
    bool quoted = false;

    for (char *p = text; p < end; p++) {
        if (quoted && *p == '\\') {
            p++;
        } else if (*p == '"') {
            quoted = !quoted;
        } else if (!quoted && strchr("Nn-Ii", *p) && *p) {
            size_t nr = import_no_number(p, end);
            if (!nr)
                continue;
            memset(p, ' ', nr);
            p[0] = p[1] = '"';
            p += nr - 1;
        }
    }
}

const cJSON *import_first(const cJSON *root, const char *key)
{
    const cJSON *list = import_member(root, key);

    return cJSON_IsArray(list) || cJSON_IsObject(list) ? list->child : NULL;
}

int import_read(struct import_build *b, const char *text, size_t length, struct error *err)
{
    char *copy = memory_resize(NULL, length + 1, 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    import_hide_no_numbers(copy, length);
    json_source_release(&b->source);
    int rc = json_source_parse(&b->source, copy, length, b->what, err);
    free(copy);
    return rc;
}

int import_refuse(struct import_build *b, const cJSON *at, const char *format, ...)
{
    char message[sizeof(b->err->message)];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return error_set(b->err, "%s:%d:%d: %.800s", b->what, json_source_line(&b->source, at),
                     json_source_column(&b->source, at), message);
}

bool import_value(const cJSON *item, double *value)
{
    char *end;

    if (cJSON_IsNumber(item)) {
        *value = item->valuedouble;
        return isfinite(*value);
    }
    if (!cJSON_IsString(item) || !strchr("-0123456789.", item->valuestring[0]) ||
        !item->valuestring[0])
        return false;
    *value = strtod(item->valuestring, &end);
    return *end == '\0' && isfinite(*value);
}

int import_number(struct import_build *b, const cJSON *object, const char *key, double low,
                  double *value)
{
    const cJSON *item = import_member(object, key);

    if (!item)
        return import_refuse(b, object, "\"%s\" is missing", key);
    if (!import_value(item, value))
        return import_refuse(b, item, "\"%s\" is not a finite number", key);
    if (*value < low)
        return import_refuse(b, item, "\"%s\" is %g, less than %g", key, *value, low);
    return 0;
}

double import_optional(const cJSON *object, const char *key)
{
    double value;

    return import_value(import_member(object, key), &value) ? value : NAN;
}

int import_text(struct import_build *b, const cJSON *object, const char *key, const char **value)
{
    const cJSON *item = import_member(object, key);

    if (!item)
        return import_refuse(b, object, "\"%s\" is missing", key);
    if (!cJSON_IsString(item) || !item->valuestring[0])
        return import_refuse(b, item, "\"%s\" is no text, or an empty one", key);
    *value = item->valuestring;
    return 0;
}

int import_list(struct import_build *b, const cJSON *object, const char *key, const cJSON **list)
{
    *list = import_member(object, key);
    return cJSON_IsArray(*list) ? 0 : import_refuse(b, object, "\"%s\" is missing or no list", key);
}

int import_each(struct import_build *b, const cJSON *list, const char *what, import_item_fn *read,
                void *context)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        if (what && !cJSON_IsObject(item))
            return import_refuse(b, item, "%s is no object", what);
        if (read(context, item))
            return -1;
    }
    return 0;
}

double import_unit_ns(const char *unit)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = { { "ns", 1 }, { "us", 1e3 }, { "µs", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].name, unit) == 0)
            return units[i].ns;
    return 0;
}

int import_date(struct import_build *b, const cJSON *object, const char *key)
{
    const cJSON *item = import_member(object, key);
    struct error why;
    int64_t ms;

    if (!item || cJSON_IsNull(item))
        return 0;
    if (!cJSON_IsString(item) || text_parse_date(item->valuestring, key, &ms, &why))
        return import_refuse(b, item, "\"%s\" is no date such as 2026-01-31T12:30:00Z", key);
    if (ms <= 0)
        return import_refuse(b, item, "\"%s\" is before 1970", key);
    b->run->started_ms = ms;
    return 0;
}

void import_fact(struct import_build *b, const char *key, const char *text)
{
    char copy[256];

    if (!text || !*text)
        return;
    import_copy(copy, sizeof(copy), text);
    json_add_string(b->facts, key, copy);
}

void import_fact_of(struct import_build *b, const char *key, const cJSON *object,
                    const char *member)
{
    import_fact(b, key, json_string(object, member, ""));
}

void import_note(struct import_build *b, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    string_list_add(&b->out->notes, text);
}

/* ---- machines ---- */

void import_processors(struct machine *m, double nr)
{
    if (nr >= 1 && nr < 1e6)
        m->threads = m->cores = (int)nr;
}

static void machine_add_cache(struct strbuf *out, const char *name, int64_t bytes)
{
    if (bytes > 0)
        strbuf_addf(out, " %s %lldk", name, (long long)(bytes >> 10));
}

/* Not the host's name: runners of a CI system have a new one each day, and are alike. */
static void machine_describe(const struct machine *m, struct strbuf *out)
{
    strbuf_addf(out, "%s %s", m->cpu, m->gpu);
    if (m->threads > 0)
        strbuf_addf(out, " %dc", m->threads);
    machine_add_cache(out, "l1", m->l1d);
    machine_add_cache(out, "l2", m->l2);
    machine_add_cache(out, "l3", m->l3);
}

void import_machine_name(struct machine *m)
{
    struct strbuf text;
    struct digest digest;
    char id[DIGEST_TEXT_SIZE];

    strbuf_init(&text);
    machine_describe(m, &text);
    if (m->class_name[0] == '\0')
        text_slug(text.data, m->class_name, sizeof(m->class_name));
    if (m->class_name[0] == '\0')
        snprintf(m->class_name, sizeof(m->class_name), "unknown");
    if (m->cpu[0] == '\0')
        snprintf(m->cpu, sizeof(m->cpu), "unknown processor");
    digest_init(&digest);
    digest_add_text(&digest, text.data);
    digest_add_text(&digest, m->class_name);
    digest_text(&digest, id);
    snprintf(m->id, sizeof(m->id), "%.16s", id);
    strbuf_release(&text);
}

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

void import_note_again(struct import_build *b, const struct import_case *c, const char *what)
{
    if (c->times.nr)
        import_note(b, "\"%.80s\" is there more than once: its %s are put together", c->m.bench.key,
                    what);
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

void import_beside(struct import_case *c, const char *name, double value)
{
    const struct telemetry *t = NULL;
    char copy[sizeof(t->name)];

    import_copy(copy, sizeof(copy), name);
    if (copy[0] && isnan(measurement_telemetry(&c->m, copy)))
        measurement_add_telemetry(&c->m, copy, value);
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

static void import_note_all(struct import_build *b)
{
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
        if (c->times.nr == 0)
            return;
        case_make_samples(c);
    }
    case_bound_work(b, &c->m.flops);
    case_bound_work(b, &c->m.bytes);
    c->m.started_ms = b->run->started_ms;
    records_add(&b->out->records, 0, c->launch)->m = c->m;
    c->m = (struct measurement) { .outcome = OUTCOME_OK };
}

int import_end(struct import_build *b, const char *tool)
{
    if (b->crowded)
        return error_set(b->err,
                         "%s: more than %d benchmarks, each launch counted; import it in parts",
                         b->what, IMPORT_CASES_MOST);
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
    free(b->slots);
    cJSON_Delete(b->facts);
    json_source_release(&b->source);
}
