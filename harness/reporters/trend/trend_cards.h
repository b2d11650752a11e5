/* SPDX-License-Identifier: MIT */
/* The words of a card (struct trend_card), the same on a terminal, in JSON, on the page and beside
 * a figure; and the cards of a terminal and of Markdown. */
#ifndef HARNESS_REPORTERS_TREND_TREND_CARDS_H
#define HARNESS_REPORTERS_TREND_TREND_CARDS_H

#include "base/strbuf.h"
#include "trend/trend.h"

#include <stdbool.h>
#include <stddef.h>

/* "+13.0 % slower", "drift, +19.1 % slower" */
void trend_card_title(const struct trends *t, const struct trend_card *card, struct strbuf *out);
/* "2.002 µs → 2.201 µs, 95 %: +9.8 to +10.2 %, p 7.9e-12" */
void trend_card_evidence(const struct trends *t, const struct trend_card *card, struct strbuf *out);
/* "came between 3f2a91c (2026-10-30) and 9be01aa (2026-10-31)", "grew from ... to ..." */
void trend_card_when(const struct trends *t, const struct trend_card *card, struct strbuf *out);
/* "still there", "still there, 60 % of it", "went back at 9be01aa, 2026-11-21" */
void trend_card_state(const struct trends *t, const struct trend_card *card, struct strbuf *out);
/* "accepted by Ada, 2026-11-02: larger tables"; nothing where nobody did */
void trend_card_accepted(const struct trends *t, const struct trend_card *card, struct strbuf *out);
/* trend_doubts() of a step */
void trend_card_doubts(const struct trends *t, const struct trend_card *card, struct strbuf *out);

struct trend_cards_options {
    size_t width; /* of the terminal; 0: any */
    bool colour;
};

/* Appends one card; `name` is that of its benchmark, plain text. */
void trend_card_text(const struct trends *t, const struct trend_card *card, const char *name,
                     const struct trend_cards_options *options, struct strbuf *out);
/* The same as an item of a list; `name` is Markdown. */
void trend_card_markdown(const struct trends *t, const struct trend_card *card, const char *name,
                         struct strbuf *out);

#endif
