/* SPDX-License-Identifier: MIT */
/*
 * What comparisons of a program with itself show of a machine: how often it raises a false alarm,
 * and how small a planted slow-down may be to be found. Counts and intervals from comparisons;
 * pure.
 *
 * Rates have Clopper-Pearson intervals at 95 %. Comparisons that share a run are not independent,
 * so the interval for many of them is a little too narrow.
 *
 * The smallest change found 4 times in 5 is read from the table: found shares by size, made
 * monotone (pooling of neighbours that are out of order, Ayer et al. 1955), then between the last
 * size below 80 % and the next one in a straight line over the log of the size. The limits of its
 * interval are where the upper and the lower limits of the shares cross 80 %. Below the smallest or
 * beyond the largest size nothing is made up: 0 and infinity.
 *
 * A gate. A machine carries a gate of delta if a change of twice the floor is found 4 times in 5.
 * What was tested with another floor still tells something: a larger floor never finds more, and
 * costs no more than what it is larger by. Where that leaves both answers open, nobody can tell.
 *
 * Too few comparisons. 1 of 1 found is 3 to 100 %: that answers nothing. To ask for an interval
 * that lies on one side of 4 in 5 would take 14 of 14, so the answer may be off by a factor of
 * four in the odds, but no more: `carries` needs the curve of lower limits to reach 1 in 2 by twice
 * the floor (odds 1 instead of 4), `cannot` the curve of upper limits to stay below 16 in 17 there
 * (odds 16). 6 of 6 answer, which are three comparisons with two planted; 5 of 5 do not, nor does
 * 0 of 1, but 0 of 2 does. Else nobody can tell, and the text says how many more would, if the
 * shares found stay what they are.
 */
#ifndef HARNESS_VERDICT_SELFTEST_H
#define HARNESS_VERDICT_SELFTEST_H

#include "base/array.h"
#include "stats/stats.h"
#include "verdict/compare.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

enum { SELFTEST_SIZES_MAX = 8 };

#define SELFTEST_POWER  0.8         /* share that counts as found */
#define SELFTEST_LEAST  0.5         /* odds of 4 times less and ... */
#define SELFTEST_MOST   (16.0 / 17) /* ... 4 times more: no answer if the share may be beyond */
#define SELFTEST_ALARMS 0.05        /* share of comparisons that may raise any alarm */

struct selftest_rate {
    size_t hits, of;
};

/* Comparisons in which the same size was planted. */
struct selftest_tally {
    double size;                      /* 0.05: 5 % slower; 0: nothing was planted */
    struct selftest_rate comparisons; /* with any alarm where nothing was planted */
    struct selftest_rate found;       /* planted benchmarks called regressed, of those judged */
    struct selftest_rate alarms;      /* others called regressed or improved; the same */
    size_t same, undecided;           /* others */
    size_t lost;                      /* of both, that were not judged: failed, or too few data */
};

struct selftest {
    char kind[16];   /* "aa", "power"; with "-ab" behind it where sides were interleaved */
    char what[128];  /* the suite or filters, for people */
    double delta, q; /* of the comparisons */
    int launches;    /* a side; with interleaved sides at most */
    size_t benchmarks;
    struct selftest_tally tallies[SELFTEST_SIZES_MAX]; /* by size */
    size_t nr;
    /* Medians over all judged rows, as fractions; NaN: these data cannot tell. */
    double launch_noise, run_noise;
    /* Smallest change that a comparison itself expects to find 4 times in 5; larger ones, up to
     * what no comparison would find, count as SELFTEST_VISIBLE_MOST. */
    double visible;
};
#define SELFTEST_VISIBLE_MOST 9.0

/* Gathers; release it whatever the result. */
struct selftest_builder {
    struct selftest *result;
    ARRAY(double) launch, run, visible;
};

/* `t` has kind, what, delta, q, launches and benchmarks; the rest is filled here. */
void selftest_begin(struct selftest_builder *b, struct selftest *t);
/* Counts one comparison in which `size` was planted in the benchmarks of these keys. -1 where there
 * are too many sizes. */
int selftest_count(struct selftest_builder *b, const struct comparison *c, double size,
                   const char *const *planted, size_t nr, struct error *err);
/* The medians; tallies by size. */
void selftest_end(struct selftest_builder *b);

bool selftest_interleaved(const struct selftest *t);
struct interval selftest_interval(struct selftest_rate r); /* [0, 1] of nothing */
/* All alarms, all comparisons. */
struct selftest_tally selftest_total(const struct selftest *t);
/* NaN where nothing was planted; INFINITY: not even the largest size. `limits` may be NULL. */
double selftest_smallest(const struct selftest *t, struct interval *limits);

enum selftest_answer { SELFTEST_CARRIES, SELFTEST_CANNOT, SELFTEST_UNKNOWN };
/* Whether the machine carries a gate of `delta`, which may be another than the one tested; from
 * what was planted, or else from what the comparisons expect. `text` says so in a sentence or two:
 * what is wrong and what to do. */
enum { SELFTEST_TEXT_SIZE = 384 };
enum selftest_answer selftest_gate(const struct selftest *t, double delta,
                                   char text[SELFTEST_TEXT_SIZE]);
/* False where fewer than 1 in 20 comparisons with an alarm can be excluded. */
bool selftest_quiet(const struct selftest *t);
/* Whether it judged any benchmark. If not, it is not worth keeping. */
bool selftest_tells(const struct selftest *t);

/* The same as selftest_gate() from a stored result (store_selftest.result). Unknown, with an empty
 * text, where it cannot be read. */
enum selftest_answer selftest_kept_gate(const char *result, double delta,
                                        char text[SELFTEST_TEXT_SIZE]);

/* docs/formats/commands.md. */
cJSON *selftest_to_json(const struct selftest *t);
int selftest_from_json(const cJSON *json, struct selftest *t, struct error *err);

#endif
