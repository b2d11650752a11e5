/* SPDX-License-Identifier: MIT */
/* Numbers beside the times: which are metrics, and of each whether lower or higher is better. */
#include "importers/base/import_base.h"

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
    char legal[NUMBER_NAME_SIZE];
    size_t nr = 0;

    for (; *said && nr + 1 < sizeof(legal); said++) {
        bool fits = (unsigned char)*said < 128 && isalnum((unsigned char)*said);
        if (fits || nr == 0 || legal[nr - 1] != '_')
            legal[nr++] = fits ? *said : '_';
    }
    legal[nr] = '\0';
    bool taken = !isalpha((unsigned char)legal[0]) || b->options->is_word(legal);
    snprintf(name, NUMBER_NAME_SIZE, "%s%.27s", taken ? "own_" : "", legal);
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
static bool import_judge(struct import_case *c, const char *name, const char *unit, int better,
                         double value)
{
    struct error ignored;
    const struct number_kind *kind =
        better <= BETTER_NONE ? NULL : number_kind_of(name, unit, (enum better)better, &ignored);

    return kind && fact_is_finite(value) && import_number_add(c, kind, value);
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
        if (import_judge(c, own, copy, better, value))
            return;
    }
    if (better < 0 && !known)
        import_count(b,
                     "%zu number%s kept and not judged, because nobody says which way is better "
                     "(%s): --better higher or lower does",
                     said);
    import_beside(b, c, said, value);
}

void import_beside(struct import_build *b, struct import_case *c, const char *name, double value)
{
    const struct import_known *known = find_known(name);
    int better = import_said_better(b, name, false);
    char own[NUMBER_NAME_SIZE];
    const struct telemetry *t = NULL;
    char copy[sizeof(t->name)];

    if (known && known->better != BETTER_NONE) {
        if (import_judge(c, known->name, known->unit, better < 0 ? (int)known->better : better,
                         value))
            return;
    } else if (better > BETTER_NONE) {
        import_number_name(b, known ? known->name : name, own);
        if (import_judge(c, own, "", better, value))
            return;
    }
    if (known && known->better == BETTER_NONE)
        name = known->name;
    import_copy(copy, sizeof(copy), name);
    if (isnan(value) || !copy[0] || !isnan(measurement_telemetry(&c->m, copy)))
        return;
    measurement_add_telemetry(&c->m, copy, value);
    if (isnan(measurement_telemetry(&c->m, copy)))
        import_count(b,
                     "%zu number%s beside the times left out: too many of one benchmark, or "
                     "beyond all reason (%s)",
                     copy);
}
