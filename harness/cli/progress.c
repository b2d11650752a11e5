/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include "base/clean.h"
#include "terminal/interrupt.h"
#include "terminal/terminal.h"
#include "text/shorten.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLAIN_EVERY_S = 30,
    USUAL_WIDTH = 80, /* of terminals that do not say theirs */
    KEY_LEAST = 8,    /* less says nothing */
};

static void add_progress_time(struct strbuf *line, double seconds)
{
    if (isfinite(seconds))
        strbuf_addf(line, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
    else
        strbuf_adds(line, "-:--");
}

/* Plain lines: one a round, and now and then within it. */
static bool is_time_to_tell(struct progress *p, int round, double elapsed)
{
    if (round == p->last_round && elapsed < p->last_told + PLAIN_EVERY_S)
        return false;
    p->last_round = round;
    p->last_told = elapsed;
    return true;
}

/* In place of the line before. A line that fills the terminal may begin a second one, which nothing
 * would wipe: it is a character shorter. */
static void draw_progress(struct progress *p, const char *facts, const char *key)
{
    size_t width = terminal_note_width(), room = (width ? width : USUAL_WIDTH) - 1;
    char *head = shorten_text(facts, room);
    size_t left = room - clean_columns(head);
    char *tail = shorten_text(key, left > 2 ? left - 2 : 0);

    if (clean_columns(tail) < KEY_LEAST && strlen(tail) < strlen(key))
        tail[0] = '\0';
    terminal_note("\r\033[K%s%s%s", head, *tail ? "  " : "", tail);
    p->drawn = true;
    free(head);
    free(tail);
}

static void show_sweep(void *context, const struct sweep_progress *s)
{
    struct progress *p = context;
    struct strbuf line;

    strbuf_init(&line);
    if (p->sink.rewrites) {
        strbuf_addf(&line, "%3d %%  launch %d/%d  left ",
                    s->total ? (int)(100 * s->done / s->total) : 0, s->launch, s->launches);
        add_progress_time(&line, s->left);
        draw_progress(p, line.data, s->key);
    } else if (is_time_to_tell(p, s->launch, s->elapsed)) {
        strbuf_addf(&line, "launch %d/%d: %zu of %zu done, left ", s->launch, s->launches, s->done,
                    s->total);
        add_progress_time(&line, s->left);
        terminal_note("%s\n", line.data);
    }
    strbuf_release(&line);
}

static void draw_blocks(struct progress *p, const struct ab_progress *a, struct strbuf *line)
{
    strbuf_addf(line, "block %d  %zu of %zu left  ", a->block, a->left, a->of);
    add_progress_time(line, a->elapsed);
    if (a->budget > 0) {
        strbuf_adds(line, " of ");
        add_progress_time(line, a->budget);
    }
    draw_progress(p, line->data, a->key);
}

static void tell_blocks(const struct ab_progress *a, struct strbuf *line)
{
    strbuf_addf(line, "block %d: %zu of %zu benchmarks left", a->block, a->left, a->of);
    if (a->done > 0) {
        strbuf_addf(line, ", %zu of %zu measured, ", a->done, a->total);
        add_progress_time(line, a->elapsed);
    }
    terminal_note("%s\n", line->data);
}

static void show_blocks(void *context, const struct ab_progress *a)
{
    struct progress *p = context;
    struct strbuf line;

    strbuf_init(&line);
    if (p->sink.rewrites)
        draw_blocks(p, a, &line);
    else if (is_time_to_tell(p, a->block, a->elapsed))
        tell_blocks(a, &line);
    strbuf_release(&line);
}

static void wipe_progress(void *context)
{
    struct progress *p = context;

    if (p->drawn)
        terminal_note("\r\033[K");
    p->drawn = false;
}

static void show_note(void *context, const char *text)
{
    (void)context;
    terminal_ready_note(text);
}

const struct session_sink terminal_notes = { .note = show_note };

void progress_attach(struct progress *p, struct measuring *m, bool watch)
{
    *p = (struct progress) { .sink = { .context = p,
                                       .note = show_note,
                                       .sweep = show_sweep,
                                       .blocks = show_blocks,
                                       .progressed = wipe_progress,
                                       .rewrites = terminal_rewrites() } };
    m->sink = &p->sink;
    if (watch)
        m->interrupted = interrupt_watch();
}
