/* SPDX-License-Identifier: MIT */
/* What the parts of compare share: signs and floors, blocks, notes, and what a family is asked. */
#include "verdict/compare_parts.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Noisier than this against the family's prior: a benchmark keeps its own variance. */
static const double noisy_level = 0.01;

double compare_sign(const struct compare_row *row)
{
    return row->item->metric->direction == HIGHER_IS_BETTER ? -1 : 1;
}

size_t evidence_zeros(const struct evidence_side *side)
{
    size_t zeros = 0;

    for (size_t i = 0; i < side->nr; i++)
        zeros += side->values[i].value == 0;
    return zeros;
}

static bool has_zeros(const struct compare_row *row)
{
    const struct evidence *e = &row->item->evidence;

    return evidence_zeros(&e->base) + evidence_zeros(&e->head) > 0;
}

/* Launches enough on both sides for a verdict, within blocks blocks enough: their first look. */
static bool has_enough(const struct compare_row *row)
{
    if (row->item->evidence.design == DESIGN_BLOCKS)
        return row->looks > 0;
    return row->base.launches >= COMPARE_LAUNCHES_MIN && row->head.launches >= COMPARE_LAUNCHES_MIN;
}

bool compare_by_zeros(const struct compare_row *row)
{
    return has_zeros(row) && has_enough(row);
}

bool compare_below_zero(const struct compare_row *row)
{
    const struct evidence *e = &row->item->evidence;

    return e->base.negatives + e->head.negatives > 0;
}

bool compare_without_ratios(const struct compare_row *row)
{
    return compare_below_zero(row) || compare_by_zeros(row);
}

bool compare_in_family(const struct compare_row *row)
{
    if (row->base.outcome != OUTCOME_OK || row->head.outcome != OUTCOME_OK || has_zeros(row) ||
        compare_below_zero(row))
        return false;
    return has_enough(row);
}

bool compare_floor_fits(const struct compare_floor *floor, const struct metric *metric,
                        const char *key)
{
    const char *id = compare_asked_id(floor->pattern);

    if (id > floor->pattern && metric_find(id, NULL) == metric)
        return compare_asked_fits(floor->pattern, key);
    return metric_find(floor->pattern, NULL) == metric || text_filter_matches(floor->pattern, key);
}

const char *compare_asked_id(const char *asked)
{
    const char *id = asked;
    int depth = 0;

    for (const char *at = asked; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (*at == ':' && depth == 0)
            id = at + 1;
    }
    return id;
}

bool compare_filter_fits(const char *filter, const char *key)
{
    static const char program[] = "command/";

    return text_filter_matches(filter, key) || (strncmp(key, program, strlen(program)) == 0 &&
                                                text_filter_matches(filter, key + strlen(program)));
}

bool compare_asked_fits(const char *asked, const char *key)
{
    const char *id = compare_asked_id(asked);
    char *filter;

    if (id == asked)
        return true;
    filter = memory_string(asked);
    filter[id - asked - 1] = '\0';
    bool fits = compare_filter_fits(filter, key);
    free(filter);
    return fits;
}

size_t evidence_blocks(const struct evidence *e)
{
    size_t i = 0, j = 0, blocks = 0;

    while (i < e->base.nr && j < e->head.nr) {
        int base = e->base.values[i].run, head = e->head.values[j].run;
        blocks += base == head;
        int block = base < head ? base : head;
        while (i < e->base.nr && e->base.values[i].run <= block)
            i++;
        while (j < e->head.nr && e->head.values[j].run <= block)
            j++;
    }
    return blocks;
}

size_t evidence_runs(const struct evidence_side *side)
{
    size_t runs = 0;

    for (size_t i = 0; i < side->nr; i++)
        runs += i == 0 || side->values[i].run != side->values[i - 1].run;
    return runs;
}

void comparison_note(struct comparison *c, const char *format, ...)
{
    struct {
        char **items;
        size_t nr, capacity;
    } notes = { c->notes, c->nr_notes, c->notes_capacity };
    va_list arguments, again;

    va_start(arguments, format);
    va_copy(again, arguments);
    size_t size = (size_t)vsnprintf(NULL, 0, format, arguments) + 1;
    char *text = memory_zeroed(size, 1);
    vsnprintf(text, size, format, again);
    va_end(again);
    va_end(arguments);
    *array_push(&notes) = text;
    c->notes = notes.items;
    c->nr_notes = notes.nr;
    c->notes_capacity = notes.capacity;
}

double family_median(struct compare_row *const *rows, size_t nr,
                     double (*field)(const struct compare_row *row))
{
    double *values = memory_zeroed(nr ? nr : 1, sizeof(*values));
    size_t used = 0;

    for (size_t i = 0; i < nr; i++)
        if (!isnan(field(rows[i])))
            values[used++] = field(rows[i]);
    double median = stats_median(values, used);
    free(values);
    return median;
}

bool family_first_of_metric(struct compare_row *const *rows, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (rows[j]->item->metric == rows[i]->item->metric)
            return false;
    return true;
}

bool family_moderate(const struct variance_prior *prior, double *variance, double *df)
{
    if (!(prior->df > 0) || stats_f_tail(*variance / prior->scale, *df, prior->df) < noisy_level)
        return false;
    *variance = (prior->df * prior->scale + *df * *variance) / (prior->df + *df);
    *df += prior->df;
    return true;
}
