/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { PLAIN_EVERY_S = 30, KEY_SHOWN = 56 };

void progress_init(struct progress *p)
{
    *p = (struct progress) { .terminal = isatty(STDERR_FILENO) == 1 };
}

static void show_time(double seconds)
{
    if (isfinite(seconds))
        terminal_note("%d:%02d", (int)seconds / 60, (int)seconds % 60);
    else
        terminal_note("-:--");
}

/* Plain lines: one a round, and now and then within it. */
static bool is_time(struct progress *p, int round, double elapsed)
{
    if (round == p->last_round && elapsed < p->last_told + PLAIN_EVERY_S)
        return false;
    p->last_round = round;
    p->last_told = elapsed;
    return true;
}

void progress_show(struct progress *p, const struct sweep_progress *s)
{
    if (p->terminal) {
        terminal_note("\r\033[K%3d %%  launch %d/%d  left ",
                      s->total ? (int)(100 * s->done / s->total) : 0, s->launch, s->launches);
        show_time(s->left);
        terminal_note("  %.*s", KEY_SHOWN, s->key);
        p->drawn = true;
        return;
    }
    if (!is_time(p, s->launch, s->elapsed))
        return;
    terminal_note("launch %d/%d: %zu of %zu done, left ", s->launch, s->launches, s->done,
                  s->total);
    show_time(s->left);
    terminal_note("\n");
}

void progress_show_ab(struct progress *p, const struct ab_progress *a)
{
    if (p->terminal) {
        terminal_note("\r\033[Kblock %d  %zu of %zu left  ", a->block, a->left, a->of);
        show_time(a->elapsed);
        if (a->budget > 0) {
            terminal_note(" of ");
            show_time(a->budget);
        }
        terminal_note("  %.*s", KEY_SHOWN, a->key);
        p->drawn = true;
        return;
    }
    if (!is_time(p, a->block, a->elapsed))
        return;
    terminal_note("block %d: %zu of %zu benchmarks left", a->block, a->left, a->of);
    if (a->done > 0) {
        terminal_note(", %zu of %zu measured, ", a->done, a->total);
        show_time(a->elapsed);
    }
    terminal_note("\n");
}

void progress_clear(struct progress *p)
{
    if (p->drawn)
        terminal_note("\r\033[K");
    p->drawn = false;
}
