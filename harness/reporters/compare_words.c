/* SPDX-License-Identifier: MIT */
#include "reporters/compare_words.h"

#include "base/memory.h"
#include "base/text.h"
#include "chart/base/chart_base.h"
#include "metrics/label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define Q_SHOWN 0.001 /* the least that is shown as it is */

const struct verdict_look *verdict_look(enum verdict verdict)
{
    static const struct verdict_look looks[VERDICT_NR] = {
        [VERDICT_REGRESSED] = { "▲", TABLE_BAD }, [VERDICT_BROKEN] = { "✗", TABLE_BAD },
        [VERDICT_FAILING] = { "✗", TABLE_DIM },   [VERDICT_IMPROVED] = { "▼", TABLE_GOOD },
        [VERDICT_FIXED] = { "✓", TABLE_GOOD },    [VERDICT_UNDECIDED] = { "?", TABLE_PLAIN },
        [VERDICT_SAME] = { "●", TABLE_DIM },      [VERDICT_NEW] = { "+", TABLE_DIM },
        [VERDICT_MISSING] = { "-", TABLE_PLAIN },
    };

    return &looks[verdict];
}

char **compare_labels(const struct comparison *c)
{
    struct compare_several several = compare_several(c);
    const struct compare_row **rows = memory_zeroed(c->nr + 1, sizeof(*rows));

    for (size_t i = 0; i < c->nr; i++)
        rows[i] = &c->rows[i];
    char **labels = compare_row_labels(&several, rows, c->nr);
    free(rows);
    return labels;
}

void compare_common(const struct comparison *c, char *text, size_t size)
{
    const struct benchmark_name **names = memory_zeroed(c->nr + 1, sizeof(*names));

    for (size_t i = 0; i < c->nr; i++)
        names[i] = c->rows[i].item->bench;
    labels_common(names, c->nr, text, size);
    free(names);
}

char *compare_value(const struct compare_row *row, double value, char text[QUANTITY_TEXT_SIZE])
{
    struct chart_metric metric = chart_metric_of(row->item->metric);

    if (isfinite(value))
        return quantity_text(metric.quantity, metric.base, value * metric.factor, text);
    text[0] = '\0';
    return text;
}

char *compare_change(const struct compare_row *row, char text[QUANTITY_TEXT_SIZE])
{
    text[0] = '\0';
    return isfinite(row->change) ? text_percent(row->change, text) : text;
}

char *compare_change_words(double change, enum verdict verdict, const struct metric *metric,
                           char text[QUANTITY_TEXT_SIZE])
{
    const char *word = verdict_word(verdict, metric);
    bool says_way = strcmp(word, "slower") == 0 || strcmp(word, "faster") == 0;
    char number[TEXT_UNIT_SIZE];

    snprintf(text, QUANTITY_TEXT_SIZE, "%.30s %s",
             says_way ? text_percent_size(change, number) : text_percent(change, number), word);
    return text;
}

char *compare_interval(const struct compare_row *row, char text[QUANTITY_TEXT_SIZE])
{
    bool known = isfinite(row->interval.low) && isfinite(row->interval.high);

    text[0] = '\0';
    return known ? text_percent_range(row->interval.low, row->interval.high, text) : text;
}

char *compare_q(const struct compare_row *row, char text[QUANTITY_TEXT_SIZE])
{
    text[0] = '\0';
    if (isfinite(row->q))
        snprintf(text, QUANTITY_TEXT_SIZE, row->q < Q_SHOWN ? "≤%.3f" : "%.3f",
                 fmax(row->q, Q_SHOWN));
    return text;
}

char *compare_detectable(double change, char text[QUANTITY_TEXT_SIZE])
{
    text[0] = '\0';
    if (isinf(change))
        snprintf(text, QUANTITY_TEXT_SIZE, "nothing");
    else if (isfinite(change))
        text_share(change, text);
    return text;
}

char *compare_launches(const struct compare_row *row, char text[QUANTITY_TEXT_SIZE])
{
    if (row->item->evidence.design == DESIGN_BLOCKS)
        snprintf(text, QUANTITY_TEXT_SIZE, "%zu blocks", evidence_blocks(&row->item->evidence));
    else
        snprintf(text, QUANTITY_TEXT_SIZE, "%zu/%zu", row->base.launches, row->head.launches);
    return text;
}

void compare_firm(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        strbuf_add(out, *text == ' ' ? "\u00a0" : text, *text == ' ' ? 2 : 1);
}
