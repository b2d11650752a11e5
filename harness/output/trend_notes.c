/* SPDX-License-Identifier: MIT */
#include "output/trend_notes.h"

#include "analysis/epoch.h"
#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of each kind, in the caption, and bytes of one. */
enum { EXPLAINED_MAX = 6, WORDS_MAX = 120 };

/* ---- changes of the surroundings ---- */

/* The k-th change of epoch is marked by a letter. */
static bool add_epochs(const struct trend_runs *runs, struct panel *p, double top)
{
    struct layer *rules = panel_layer(p, MARK_RULES, "surroundings changed");
    struct layer *letters = panel_layer(p, MARK_TEXT, NULL);
    char letter[2] = "A";

    rules->style =
        (struct style) { .ink = INK_PURPLE, .width = 1.2, .dash = DASH_LONG, .opacity = 1 };
    letters->style.ink = INK_PURPLE;
    for (int i = 1; i < runs->nr; i++) {
        if (epoch_id(trend_run_at(runs, i)) == epoch_id(trend_run_at(runs, i - 1)))
            continue;
        layer_add(rules, i - 0.5, NAN);
        struct datum *d = layer_add_text(letters, i - 0.5, top, ANCHOR_LEFT, letter);
        d->dx = 5;
        d->dy = trend_notes_row(0);
        letter[0] = letter[0] < 'Z' ? (char)(letter[0] + 1) : '+';
    }
    return letters->nr > 0;
}

/* Cut where a character begins. */
static void add_words(const char *words, struct strbuf *out)
{
    size_t length = strlen(words), cut = length;

    if (length > WORDS_MAX)
        for (cut = WORDS_MAX; cut > 0 && ((unsigned char)words[cut] & 0xc0) == 0x80;)
            cut--;
    strbuf_add(out, words, cut);
    strbuf_adds(out, cut < length ? "…." : ".");
}

static void explain_epochs(const struct trend_runs *runs, struct strbuf *out)
{
    int nr = 0;

    for (int i = 1; i < runs->nr && nr < EXPLAINED_MAX; i++) {
        const struct run *from = trend_run_at(runs, i - 1), *to = trend_run_at(runs, i);
        struct strbuf words;
        if (epoch_id(from) == epoch_id(to))
            continue;
        strbuf_init(&words);
        epoch_difference(from, to, &words);
        strbuf_addf(out, " %c: ", 'A' + nr++);
        add_words(words.data, out);
        strbuf_release(&words);
    }
}

/* ---- annotations ---- */

struct placed {
    int position;
    const char *text;
};

struct placed_list {
    struct placed *items;
    size_t nr, capacity;
};

/* From the left to the right. */
static struct placed_list place_remarks(const struct trend_runs *runs, const struct chart *chart)
{
    struct placed_list list = { .nr = 0 };

    for (int i = 0; chart->nr_remarks && i < runs->nr; i++)
        for (size_t k = 0; k < chart->nr_remarks; k++)
            if (chart->remarks[k].run == trend_run_at(runs, i)->id)
                *array_push(&list) = (struct placed) { i, chart->remarks[k].text };
    return list;
}

/* A number at its run; of several of one run the first. */
static bool add_remarks(const struct trend_runs *runs, const struct chart *chart, struct panel *p,
                        double top, int row)
{
    struct placed_list list = place_remarks(runs, chart);

    if (list.nr == 0)
        return false;
    struct layer *rules = panel_layer(p, MARK_RULES, "annotated");
    struct layer *numbers = panel_layer(p, MARK_TEXT, NULL);
    rules->style =
        (struct style) { .ink = INK_GREEN, .width = 1.2, .dash = DASH_DOT, .opacity = 1 };
    numbers->style.ink = INK_GREEN;
    for (size_t i = 0; i < list.nr; i++) {
        char number[24];
        if (i > 0 && list.items[i].position == list.items[i - 1].position)
            continue;
        snprintf(number, sizeof(number), "%zu", i + 1);
        layer_add(rules, list.items[i].position, NAN);
        struct datum *d = layer_add_text(numbers, list.items[i].position, top, ANCHOR_LEFT, number);
        d->dx = 5;
        d->dy = trend_notes_row(row);
    }
    array_release(&list);
    return true;
}

static void explain_remarks(const struct trend_runs *runs, const struct chart *chart,
                            struct strbuf *out)
{
    struct placed_list list = place_remarks(runs, chart);

    for (size_t i = 0; i < list.nr && i < EXPLAINED_MAX; i++) {
        strbuf_addf(out, " %zu: ", i + 1);
        add_words(list.items[i].text, out);
    }
    array_release(&list);
}

double trend_notes_row(int row)
{
    return -9 - 15.0 * row;
}

int trend_notes_add(const struct trend_runs *runs, const struct chart *chart, struct panel *p,
                    double top)
{
    int rows = add_epochs(runs, p, top);

    return rows + add_remarks(runs, chart, p, top, rows);
}

void trend_notes_explain(const struct trend_runs *runs, const struct chart *chart,
                         struct strbuf *out)
{
    explain_epochs(runs, out);
    explain_remarks(runs, chart, out);
}
