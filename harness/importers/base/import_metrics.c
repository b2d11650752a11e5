/* SPDX-License-Identifier: MIT */
/* Numbers beside the times: which are metrics, and of each whether lower or higher is better. */
#include "importers/base/import_base.h"

#include "base/digest.h"
#include "core/names.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Those that say of themselves which way is better, whatever program they come from. Without a way
 * they are kept under the name by which a metric of ours reads them. */
static const struct import_known {
    const char *said, *name, *unit;
    enum better better;
} import_known[] = {
    { "B/op", "allocated_bytes", "B", BETTER_LOWER }, /* Go */
    { "allocs/op", "allocations", "", BETTER_LOWER },
    { "allocated_bytes", "allocated_bytes", "B", BETTER_LOWER },         /* BenchmarkDotNet */
    { "gc.alloc.rate.norm B/op", "allocated_bytes", "B", BETTER_LOWER }, /* JMH */
    { "throughput", "throughput", "ops/s", BETTER_HIGHER },              /* Bencher */
    { "file-size", "file_size", "B", BETTER_LOWER },
    { "build-time", "build_time", "s", BETTER_LOWER },
    { "memory_bytes", "memory_bytes", "B", BETTER_LOWER },       /* asv */
    { "EstimatedCycles", "estimated_cycles", "", BETTER_LOWER }, /* valgrind */
    { "Ir", "instructions", NULL, BETTER_NONE },
};

static const struct import_known *find_known(const char *said)
{
    for (size_t i = 0; i < sizeof(import_known) / sizeof(import_known[0]); i++)
        if (strcmp(import_known[i].said, said) == 0)
            return &import_known[i];
    return NULL;
}

/* What the user said of it by its name, else, where `open`, of whatever is not known; -1: nothing.
 */
static int import_said_better(const struct import_build *b, const char *said, bool open)
{
    const struct string_list *texts = b->options->betters;
    int found = -1;

    for (size_t i = 0; texts && i < texts->nr; i++) {
        const char *text = texts->items[i], *equals = strrchr(text, '=');
        if (equals && strlen(said) == (size_t)(equals - text) &&
            strncmp(said, text, strlen(said)) == 0)
            return better_find(equals + 1);
        if (!equals && open)
            found = better_find(text);
    }
    return found;
}

/* "l1-accesses" as "l1_accesses"; what harness knows as something else gets "own_" before it, as
 * does what begins with no letter. */
static void import_number_name(const struct import_build *b, const char *said,
                               char name[NUMBER_NAME_SIZE])
{
    struct strbuf legal, whole;

    strbuf_init(&legal);
    strbuf_init(&whole);
    for (; *said; said++) {
        bool fits = (unsigned char)*said < 128 && isalnum((unsigned char)*said);
        if (fits || legal.length == 0 || legal.data[legal.length - 1] != '_')
            strbuf_addc(&legal, fits ? *said : '_');
    }
    bool taken = !isalpha((unsigned char)legal.data[0]) ||
                 (b->options->is_word && b->options->is_word(legal.data));
    strbuf_addf(&whole, "%s%s", taken ? "own_" : "", legal.data);
    import_cut(&whole, NUMBER_NAME_SIZE - 1, '_');
    import_copy(name, NUMBER_NAME_SIZE, whole.data);
    strbuf_release(&whole);
    strbuf_release(&legal);
}

static uint64_t import_sum(const char *said)
{
    return checksum_xxh64(said, strlen(said), 0);
}

/* Is the metric that of another number of the file? "a-b" and "a.b" would both be "a_b". */
static bool import_is_of_another(struct import_build *b, const struct number_kind *kind,
                                 const char *said)
{
    for (size_t i = 0; i < b->metrics.nr; i++)
        if (b->metrics.items[i].kind == kind)
            return b->metrics.items[i].said != import_sum(said);
    *array_push(&b->metrics) = (struct import_metric) { kind, import_sum(said) };
    return false;
}

/* Values of one benchmark that is there several times are all kept. False: there is no room. */
static bool import_number_add(struct import_case *c, const struct number_kind *kind, double value)
{
    struct number *number = NULL;

    for (int i = 0; i < c->m.nr_numbers; i++)
        if (c->m.numbers[i].kind == kind)
            number = &c->m.numbers[i];
    if (!number && c->m.nr_numbers == NUMBERS_MAX)
        return false;
    if (!number) {
        number = &c->m.numbers[c->m.nr_numbers++];
        *number = (struct number) { .kind = kind };
    }
    number->values = memory_resize(number->values, number->nr + 1, sizeof(*number->values));
    number->values[number->nr++] = value;
    return true;
}

/* A metric of its own. False: it has to be kept otherwise. */
static bool import_make_metric(struct import_build *b, struct import_case *c, const char *said,
                               const struct import_known *as, enum better better, double value)
{
    struct error ignored;
    const struct number_kind *kind = number_kind_of(as->name, as->unit, better, &ignored);

    if (!kind || !fact_is_finite(value))
        return false;
    if (!import_is_of_another(b, kind, said))
        return import_number_add(c, kind, value);
    import_count(b,
                 "%zu number%s kept beside the times alone, because another one has its name as a "
                 "metric (%s)",
                 said);
    return false;
}

/* The same of what one way is better of. */
static bool import_judge(struct import_build *b, struct import_case *c, const char *said,
                         const struct import_known *as, int better, double value)
{
    return better > BETTER_NONE && import_make_metric(b, c, said, as, (enum better)better, value);
}

/* Telemetry, once: the first of a benchmark that is there several times. */
static void import_keep_beside(struct import_build *b, struct import_case *c, const char *name,
                               double value)
{
    const struct telemetry *t = NULL;
    char copy[sizeof(t->name)];
    struct strbuf whole;
    int i = 0;

    strbuf_init(&whole);
    strbuf_adds(&whole, name);
    import_cut(&whole, sizeof(copy) - 1, '~');
    import_copy(copy, sizeof(copy), whole.data);
    strbuf_release(&whole);
    if (isnan(value) || !copy[0])
        return;
    while (i < c->m.nr_telemetry && strcmp(c->m.telemetry[i].name, copy) != 0)
        i++;
    if (i == c->m.nr_telemetry) {
        measurement_add_telemetry(&c->m, copy, value);
        if (i == c->m.nr_telemetry)
            import_count(b,
                         "%zu number%s beside the times left out: too many of one benchmark, or "
                         "beyond all reason (%s)",
                         copy);
        else
            c->said[i] = import_sum(name);
    } else if (c->said[i] != import_sum(name)) {
        import_count(b,
                     "%zu number%s beside the times left out, because another one has its name "
                     "(%s)",
                     name);
    }
}

void import_main_number(struct import_build *b, struct import_case *c, const char *said,
                        const char *name, const char *unit, double value)
{
    char own[NUMBER_NAME_SIZE], copy[NUMBER_UNIT_SIZE];
    bool known = find_known(said) != NULL;
    int better = import_said_better(b, said, !known);

    if (better > BETTER_NONE && !known) {
        import_number_name(b, name, own);
        import_copy(copy, sizeof(copy), unit);
        const struct import_known as = { .name = own, .unit = copy };
        if (!import_judge(b, c, said, &as, better, value))
            import_keep_beside(b, c, said, value);
        return;
    }
    if (better < 0 && !known)
        import_count(b,
                     "%zu number%s kept and not judged, because nobody says which way is better "
                     "(%s): --better higher or lower does",
                     said);
    import_beside(b, c, said, value);
}

void import_metric(struct import_build *b, struct import_case *c, const char *said,
                   const char *unit, enum better better, double value)
{
    int own_better = import_said_better(b, said, better == BETTER_NONE);
    char name[NUMBER_NAME_SIZE], copy[NUMBER_UNIT_SIZE];

    import_number_name(b, said, name);
    import_copy(copy, sizeof(copy), unit);
    const struct import_known as = { .name = name, .unit = copy };
    if (!import_make_metric(b, c, said, &as, own_better < 0 ? better : (enum better)own_better,
                            value))
        import_keep_beside(b, c, said, value);
}

void import_beside(struct import_build *b, struct import_case *c, const char *name, double value)
{
    const struct import_known *known = find_known(name);
    int better = import_said_better(b, name, false);
    char own[NUMBER_NAME_SIZE];
    const struct import_known as = { .name = own, .unit = "" };

    if (known && known->better != BETTER_NONE) {
        if (import_judge(b, c, name, known, better < 0 ? (int)known->better : better, value))
            return;
    } else if (better > BETTER_NONE) {
        import_number_name(b, known ? known->name : name, own);
        if (import_judge(b, c, name, &as, better, value))
            return;
    }
    import_keep_beside(b, c, known && known->better == BETTER_NONE ? known->name : name, value);
}
