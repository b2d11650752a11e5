/* SPDX-License-Identifier: MIT */
#include "reporters/trend/trend_cards.h"

#include "base/clean.h"
#include "base/text.h"
#include "chart/base/chart_base.h"
#include "metrics/epoch.h"
#include "reporters/compare_words.h"
#include "reporters/trend/trend_command.h"
#include "text/escape.h"
#include "text/sparkline.h"
#include "text/wrap.h"

#include <math.h>
#include <string.h>

/* ---- words ---- */

static enum verdict verdict_of_card(const struct trend_card *card)
{
    return card->worse ? VERDICT_REGRESSED : VERDICT_IMPROVED;
}

/* "▲" for the worse, "▼" for the better, whatever the metric: colour is never the only sign. */
static const char *sign_of_card(const struct trend_card *card)
{
    return verdict_look(verdict_of_card(card))->sign;
}

void trend_card_title(const struct trends *t, const struct trend_card *card, struct strbuf *out)
{
    char change[QUANTITY_TEXT_SIZE];

    strbuf_addf(
        out, "%s%s", card->step ? "" : "drift, ",
        compare_change_words(card->change, verdict_of_card(card), t->settings.metric, change));
}

void trend_card_evidence(const struct trends *t, const struct trend_card *card, struct strbuf *out)
{
    struct chart_metric metric = chart_metric_of(t->settings.metric);
    char before[QUANTITY_TEXT_SIZE], after[QUANTITY_TEXT_SIZE], interval[TEXT_UNIT_SIZE];

    strbuf_addf(out, "%s → %s, 95 %%: %s, p %.2g",
                chart_text(&metric, card->before * metric.factor, before),
                chart_text(&metric, card->after * metric.factor, after),
                text_percent_range(card->interval.low, card->interval.high, interval), card->p);
}

/* "3f2a91c+ (2026-10-30)", or the day alone */
static void add_card_run(const struct run *run, struct strbuf *out)
{
    char when[TEXT_UNIT_SIZE];

    text_timestamp(run->started_ms, when);
    if (run->build.commit[0])
        strbuf_addf(out, "%.7s%s (%.10s)", run->build.commit, run->build.dirty ? "+" : "", when);
    else
        strbuf_addf(out, "%.10s", when);
}

void trend_card_when(const struct trends *t, const struct trend_card *card, struct strbuf *out)
{
    strbuf_adds(out, card->step ? "came between " : "grew from ");
    add_card_run(trend_card_good(t, card), out);
    strbuf_adds(out, card->step ? " and " : " to ");
    add_card_run(trend_card_bad(t, card), out);
}

void trend_card_state(const struct trends *t, const struct trend_card *card, struct strbuf *out)
{
    if (card->step)
        trend_state(t, card->trend, card->step, out);
    else
        strbuf_adds(out, "still there");
}

void trend_card_accepted(const struct trends *t, const struct trend_card *card, struct strbuf *out)
{
    const struct acceptance *accepted = trend_card_acceptance(card);
    char when[TEXT_UNIT_SIZE];

    (void)t;
    if (!accepted)
        return;
    strbuf_adds(out, "accepted");
    if (accepted->author && accepted->author[0])
        strbuf_addf(out, " by %s", accepted->author);
    if (accepted->accepted_ms)
        strbuf_addf(out, ", %.10s", text_timestamp(accepted->accepted_ms, when));
    strbuf_addf(out, ": %s", accepted->reason);
}

void trend_card_doubts(const struct trends *t, const struct trend_card *card, struct strbuf *out)
{
    if (card->step)
        trend_doubts(t, card->trend, card->step, out);
}

/* ---- the terminal ---- */

/* Of a card: what is behind the change has its colour, orange for the worse, blue for the better;
 * what does not count any more is dim. */
static const char *colour_of(const struct trend_card *card)
{
    if (card->rank == TREND_ACCEPTED || card->rank == TREND_GONE)
        return "\033[2m";
    return card->worse ? "\033[38;5;208m" : "\033[38;5;75m";
}

static void add_coloured(const struct trend_cards_options *o, const struct trend_card *card,
                         const char *text, struct strbuf *out)
{
    strbuf_addf(out, "%s%s%s", o->colour ? colour_of(card) : "", text, o->colour ? "\033[0m" : "");
}

static void add_card_date(const struct trend_card *card, size_t point, struct strbuf *out)
{
    char when[TEXT_UNIT_SIZE];

    strbuf_addf(out, "%.10s", text_timestamp(card->trend->series->items[point].time_ms, when));
}

/* "2026-09-22 ▁▁▂▁▁│▇█▇▇ 2026-11-30": all columns on one scale, cut at the step. */
static void add_card_line(const struct trend_card *card, const struct trend_cards_options *o,
                          struct strbuf *out)
{
    enum { DATES = 26, MOST = 48, LEAST = 8, BLOCK = 3 };
    static const double least = 0.01; /* to each side of the middle: noise stays low */
    size_t room = o->width && o->width < MOST + DATES ? o->width - DATES : MOST;
    struct trend_line line;
    struct strbuf blocks;

    if (o->width && o->width < DATES + LEAST)
        return;
    strbuf_init(&blocks);
    trend_line_init(&line, card, room);
    sparkline_add(&blocks, line.values, line.nr, sqrt(card->before * card->after), least);
    strbuf_adds(out, "  ");
    add_card_date(card, 0, out);
    strbuf_addc(out, ' ');
    strbuf_add(out, blocks.data, BLOCK * line.at); /* each block has as many bytes */
    strbuf_adds(out, line.at ? "│" : "");
    add_coloured(o, card, blocks.data + BLOCK * line.at, out);
    strbuf_addc(out, ' ');
    add_card_date(card, card->trend->series->nr - 1, out);
    strbuf_addc(out, '\n');
    trend_line_release(&line);
    strbuf_release(&blocks);
}

/* A line of words, cleaned, with what does not fit on lines below it. */
static void add_card_words(const char *label, const char *words,
                           const struct trend_cards_options *o, struct strbuf *out)
{
    struct strbuf text;

    if (!*words)
        return;
    strbuf_init(&text);
    strbuf_addf(&text, "  %s", label);
    escape_plain(&text, words);
    strbuf_addc(&text, '\n');
    wrap_text(text.data, o->width, out);
    strbuf_release(&text);
}

/* "▲ +13.0 % slower  simd batch=1 seq=64                               still there" */
static void add_card_head(const struct trends *t, const struct trend_card *card, const char *name,
                          const struct trend_cards_options *o, struct strbuf *out)
{
    struct strbuf title, state;

    strbuf_init(&title);
    strbuf_init(&state);
    strbuf_addf(&title, "%s ", sign_of_card(card));
    trend_card_title(t, card, &title);
    trend_card_state(t, card, &state);
    size_t used = clean_columns(title.data) + 2 + clean_columns(name);
    size_t width = o->width ? o->width : 80;
    bool fits = used + 2 + clean_columns(state.data) <= width;
    add_coloured(o, card, title.data, out);
    if (o->width && used > o->width) { /* a long name goes below */
        strbuf_addc(out, '\n');
        add_card_words("", name, o, out);
    } else {
        strbuf_addf(out, "  %s", name);
    }
    if (fits)
        strbuf_pad(out, out->length + width - used - clean_columns(state.data), ' ');
    if (fits)
        strbuf_adds(out, state.data);
    if (out->data[out->length - 1] != '\n')
        strbuf_addc(out, '\n');
    if (!fits)
        add_card_words("", state.data, o, out);
    strbuf_release(&title);
    strbuf_release(&state);
}

static void add_card_command(const struct trends *t, const struct trend_card *card,
                             const struct trend_cards_options *o, struct strbuf *out)
{
    struct trend_command command;

    trend_command_make(t, card, &command);
    if (command.text.length) {
        add_card_words("", command.purpose, o, out);
        trend_command_fold(command.text.data, 4, o->width, out);
        strbuf_addc(out, '\n');
    } else if (command.reason) {
        add_card_words("no search for the commit: ", command.reason, o, out);
    }
    trend_command_release(&command);
}

static void add_card_part(const struct trends *t, const struct trend_card *card,
                          void (*words)(const struct trends *, const struct trend_card *,
                                        struct strbuf *),
                          const struct trend_cards_options *o, struct strbuf *out)
{
    struct strbuf text;

    strbuf_init(&text);
    words(t, card, &text);
    add_card_words("", text.data, o, out);
    strbuf_release(&text);
}

void trend_card_text(const struct trends *t, const struct trend_card *card, const char *name,
                     const struct trend_cards_options *o, struct strbuf *out)
{
    struct strbuf text;

    strbuf_init(&text);
    add_card_head(t, card, name, o, out);
    add_card_line(card, o, out);
    add_card_part(t, card, trend_card_evidence, o, out);
    add_card_part(t, card, trend_card_when, o, out);
    epoch_difference(trend_card_good(t, card), trend_card_bad(t, card), &text);
    add_card_words("changed with it: ", text.data, o, out);
    add_card_part(t, card, trend_card_accepted, o, out);
    add_card_part(t, card, trend_card_doubts, o, out);
    add_card_command(t, card, o, out);
    strbuf_release(&text);
}

/* ---- Markdown ---- */

static void card_markdown_words(const char *label, const char *words, struct strbuf *out)
{
    if (!*words)
        return;
    strbuf_addf(out, "  - %s", label);
    escape_markdown(out, words);
    strbuf_addc(out, '\n');
}

static void card_markdown_command(const struct trends *t, const struct trend_card *card,
                                  struct strbuf *out)
{
    struct trend_command command;

    trend_command_make(t, card, &command);
    if (command.text.length) {
        card_markdown_words("", command.purpose, out);
        strbuf_adds(out, "    ```sh\n    ");
        escape_plain(out, command.text.data);
        strbuf_adds(out, "\n    ```\n");
    } else if (command.reason) {
        card_markdown_words("no search for the commit: ", command.reason, out);
    }
    trend_command_release(&command);
}

void trend_card_markdown(const struct trends *t, const struct trend_card *card, const char *name,
                         struct strbuf *out)
{
    void (*const parts[])(const struct trends *, const struct trend_card *,
                          struct strbuf *) = { trend_card_evidence, trend_card_when,
                                               trend_card_accepted, trend_card_doubts };
    struct strbuf text;

    strbuf_init(&text);
    trend_card_title(t, card, &text);
    strbuf_addf(out, "- **%s ", sign_of_card(card));
    escape_markdown(out, text.data);
    strbuf_addf(out, "** %s, ", name);
    strbuf_clear(&text);
    trend_card_state(t, card, &text);
    escape_markdown(out, text.data);
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        strbuf_clear(&text);
        parts[i](t, card, &text);
        card_markdown_words("", text.data, out);
    }
    strbuf_clear(&text);
    epoch_difference(trend_card_good(t, card), trend_card_bad(t, card), &text);
    card_markdown_words("changed with it: ", text.data, out);
    card_markdown_command(t, card, out);
    strbuf_release(&text);
}
