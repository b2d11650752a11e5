/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include "terminal/interrupt.h"
#include "terminal/terminal.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { PLAIN_EVERY_S = 30, KEY_SHOWN = 56 };

static void show_progress_time(double seconds)
{
    if (isfinite(seconds))
        terminal_note("%d:%02d", (int)seconds / 60, (int)seconds % 60);
    else
        terminal_note("-:--");
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

static void show_sweep(void *context, const struct sweep_progress *s)
{
    struct progress *p = context;

    if (p->sink.rewrites) {
        terminal_note("\r\033[K%3d %%  launch %d/%d  left ",
                      s->total ? (int)(100 * s->done / s->total) : 0, s->launch, s->launches);
        show_progress_time(s->left);
        terminal_note("  %.*s", KEY_SHOWN, s->key);
        p->drawn = true;
        return;
    }
    if (!is_time_to_tell(p, s->launch, s->elapsed))
        return;
    terminal_note("launch %d/%d: %zu of %zu done, left ", s->launch, s->launches, s->done,
                  s->total);
    show_progress_time(s->left);
    terminal_note("\n");
}

static void show_blocks(void *context, const struct ab_progress *a)
{
    struct progress *p = context;

    if (p->sink.rewrites) {
        terminal_note("\r\033[Kblock %d  %zu of %zu left  ", a->block, a->left, a->of);
        show_progress_time(a->elapsed);
        if (a->budget > 0) {
            terminal_note(" of ");
            show_progress_time(a->budget);
        }
        terminal_note("  %.*s", KEY_SHOWN, a->key);
        p->drawn = true;
        return;
    }
    if (!is_time_to_tell(p, a->block, a->elapsed))
        return;
    terminal_note("block %d: %zu of %zu benchmarks left", a->block, a->left, a->of);
    if (a->done > 0) {
        terminal_note(", %zu of %zu measured, ", a->done, a->total);
        show_progress_time(a->elapsed);
    }
    terminal_note("\n");
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
                                       .rewrites = isatty(STDERR_FILENO) == 1 } };
    m->sink = &p->sink;
    if (watch)
        m->interrupted = interrupt_watch();
}
