/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

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
        fprintf(stderr, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
    else
        fprintf(stderr, "-:--");
}

void progress_show(struct progress *p, const struct sweep_progress *s)
{
    if (p->terminal) {
        fprintf(stderr, "\r\033[K%3d %%  launch %d/%d  left ",
                s->total ? (int)(100 * s->done / s->total) : 0, s->launch, s->launches);
        show_time(s->left);
        fprintf(stderr, "  %.*s", KEY_SHOWN, s->key);
        p->drawn = true;
        return;
    }
    if (s->launch == p->last_launch && s->elapsed < p->last_told + PLAIN_EVERY_S)
        return;
    p->last_launch = s->launch;
    p->last_told = s->elapsed;
    fprintf(stderr, "launch %d/%d: %zu of %zu done, left ", s->launch, s->launches, s->done,
            s->total);
    show_time(s->left);
    fprintf(stderr, "\n");
}

void progress_clear(struct progress *p)
{
    if (p->drawn)
        fprintf(stderr, "\r\033[K");
    p->drawn = false;
}
