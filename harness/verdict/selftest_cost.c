/* SPDX-License-Identifier: MIT */
#include "verdict/selftest_cost.h"

#include "base/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Blocks of evidence by number: where each begins on either side. */
struct blocks {
    const struct evidence *e;
    size_t base[COST_BLOCKS_MAX + 1], head[COST_BLOCKS_MAX + 1];
    size_t nr;
};

static size_t block_end(const struct evidence_side *s, size_t at)
{
    size_t end = at;

    while (end < s->nr && s->values[end].run == s->values[at].run)
        end++;
    return end;
}

/* Only blocks in which both sides have a value. */
static void find_blocks(const struct evidence *e, struct blocks *b)
{
    size_t i = 0, j = 0;

    *b = (struct blocks) { .e = e };
    while (i < e->base.nr && j < e->head.nr && b->nr < COST_BLOCKS_MAX) {
        int base = e->base.values[i].run, head = e->head.values[j].run;
        if (base == head) {
            b->base[b->nr] = i;
            b->head[b->nr++] = j;
        }
        i = base <= head ? block_end(&e->base, i) : i;
        j = head <= base ? block_end(&e->head, j) : j;
    }
}

static void add_value(struct evidence_side *side, struct evidence_value v, int block, double factor)
{
    side->values = array_grow(side->values, side->nr, &side->capacity, sizeof(*side->values));
    v.run = block;
    v.value *= factor;
    side->values[side->nr++] = v;
}

static void add_side(const struct evidence_side *from, size_t at, int block, double factor,
                     struct evidence_side *to)
{
    for (size_t end = block_end(from, at); at < end; at++)
        add_value(to, from->values[at], block, factor);
}

/* One simulated comparison: which block comes when, and whether its sides change places. */
struct course {
    size_t block[COST_BLOCKS_MAX];
    bool swapped[COST_BLOCKS_MAX];
};

static void draw_course(const struct blocks *b, struct random *r, struct course *c)
{
    for (int i = 0; i < COST_BLOCKS_MAX; i++) {
        c->block[i] = (size_t)random_below(r, b->nr);
        c->swapped[i] = random_below(r, 2) != 0;
    }
}

static const struct benchmark_name nameless;

/* The verdict after so many blocks of the course. */
static int decide_by_blocks(const struct blocks *b, const struct course *course, int nr,
                            double size, double delta, enum verdict *verdict, struct error *err)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct compare_item *item = memory_zeroed(1, sizeof(*item));
    struct evidence *e = &item->evidence;
    struct comparison c;

    settings.delta = delta;
    *item = (struct compare_item) { .bench = &nameless,
                                    .machine = "",
                                    .metric = metric_find("p50", err) };
    e->design = DESIGN_BLOCKS;
    e->base.present = e->head.present = true;
    for (int i = 0; i < nr; i++) {
        size_t at = course->block[i];
        const struct evidence_side *one = &b->e->base, *other = &b->e->head;
        bool swapped = course->swapped[i];
        add_side(swapped ? other : one, swapped ? b->head[at] : b->base[at], i, 1, &e->base);
        add_side(swapped ? one : other, swapped ? b->base[at] : b->head[at], i, 1 + size, &e->head);
    }
    if (compare_decide(item, 1, &settings, &c, err))
        return -1;
    *verdict = c.rows[0].verdict;
    comparison_release(&c);
    return 0;
}

/* The first number of blocks with which the change is called; 0: not within the most. What is
 * called stays called (compare.h, DESIGN_BLOCKS), so it is searched by halves. */
static int blocks_needed(const struct blocks *b, const struct course *course, double size,
                         double delta, int *needed, struct error *err)
{
    int low = COMPARE_LAUNCHES_MIN - 1, high = COMPARE_LAUNCHES_MIN;
    enum verdict v;

    for (;; low = high, high = 2 * high < COST_BLOCKS_MAX ? 2 * high : COST_BLOCKS_MAX) {
        if (decide_by_blocks(b, course, high, size, delta, &v, err))
            return -1;
        if (v == VERDICT_REGRESSED)
            break;
        if (high == COST_BLOCKS_MAX) {
            *needed = 0;
            return 0;
        }
    }
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (decide_by_blocks(b, course, middle, size, delta, &v, err))
            return -1;
        *(v == VERDICT_REGRESSED ? &high : &low) = middle;
    }
    *needed = high;
    return 0;
}

static int order_needed(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    /* 0 is more than any. */
    return ((x == 0) - (y == 0)) ? (x == 0) - (y == 0) : (x > y) - (x < y);
}

static int count_alarms(const struct blocks *b, size_t trials, int blocks, struct random *r,
                        struct selftest_cost_row *row, struct error *err)
{
    for (size_t i = 0; i < trials; i++) {
        struct course course;
        enum verdict v;
        draw_course(b, r, &course);
        if (decide_by_blocks(b, &course, blocks, 0, row->delta, &v, err))
            return -1;
        row->alarms.of++;
        row->alarms.hits += v == VERDICT_REGRESSED || v == VERDICT_IMPROVED;
    }
    return 0;
}

int selftest_cost_simulate(const struct evidence *e, double size, size_t trials, struct random *r,
                           struct selftest_cost_row *row, struct error *err)
{
    int *needed = memory_zeroed(trials + 1, sizeof(*needed)), rc = 0;
    struct course course;
    struct blocks b;

    find_blocks(e, &b);
    *row = (struct selftest_cost_row) { .size = size, .delta = size / 2, .trials = trials };
    for (size_t i = 0; rc == 0 && i < trials; i++) {
        draw_course(&b, r, &course);
        rc = blocks_needed(&b, &course, size, row->delta, &needed[i], err);
    }
    if (rc == 0) {
        qsort(needed, trials, sizeof(*needed), order_needed);
        row->blocks = needed[(size_t)ceil(COST_POWER * (double)trials) - 1];
        rc = count_alarms(&b, trials, row->blocks ? row->blocks : COST_BLOCKS_MAX, r, row, err);
    }
    free(needed);
    return rc;
}

static double mean_log(const struct evidence_side *s, size_t at, double *squares, double *df)
{
    size_t end = block_end(s, at);
    double mean = 0, n = (double)(end - at);

    for (size_t i = at; i < end; i++)
        mean += log(s->values[i].value) / n;
    for (size_t i = at; i < end; i++)
        *squares += (log(s->values[i].value) - mean) * (log(s->values[i].value) - mean);
    *df += n - 1;
    return mean;
}

int selftest_cost_measure(const struct evidence *e, double seconds, struct selftest_cost *c,
                          struct error *err)
{
    double differences[COST_BLOCKS_MAX], squares = 0, df = 0, level = 0;
    struct blocks b;

    find_blocks(e, &b);
    if (b.nr < COST_BLOCKS_MIN)
        return error_set(err,
                         "%zu block%s measured, fewer than %d: too few to tell from, give it more "
                         "time (--budget)",
                         b.nr, b.nr == 1 ? " was" : "s were", COST_BLOCKS_MIN);
    for (size_t i = 0; i < b.nr; i++) {
        double base = mean_log(&e->base, b.base[i], &squares, &df);
        differences[i] = mean_log(&e->head, b.head[i], &squares, &df) - base;
        level += (base + differences[i] / 2) / (double)b.nr;
    }
    c->ns = exp(level);
    c->launch_noise = df > 0 ? sqrt(squares / df) : (double)NAN;
    c->block_noise = stats_sd(differences, b.nr);
    c->blocks = (int)b.nr;
    c->block_seconds = seconds / (double)b.nr;
    return 0;
}

static cJSON *row_to_json(const struct selftest_cost *c, const struct selftest_cost_row *row)
{
    cJSON *json = cJSON_CreateObject();

    json_add_number(json, "size", row->size);
    json_add_number(json, "delta", row->delta);
    json_add_int(json, "trials", (int64_t)row->trials);
    json_add_int(json, "blocks", row->blocks);
    json_add_number(json, "seconds", row->blocks ? row->blocks * c->block_seconds : (double)NAN);
    cJSON *alarms = cJSON_AddObjectToObject(json, "alarms");
    json_add_int(alarms, "hits", (int64_t)row->alarms.hits);
    json_add_int(alarms, "of", (int64_t)row->alarms.of);
    if (row->real_blocks) {
        cJSON *real = cJSON_AddObjectToObject(json, "real");
        json_add_string(real, "verdict", verdict_name(row->real));
        json_add_int(real, "blocks", row->real_blocks);
        json_add_number(real, "seconds", row->real_seconds);
    }
    return json;
}

cJSON *selftest_cost_to_json(const struct selftest_cost *c)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "key", c->key);
    json_add_number(json, "ns", c->ns);
    json_add_number(json, "launch_noise", c->launch_noise);
    json_add_number(json, "block_noise", c->block_noise);
    json_add_int(json, "blocks", c->blocks);
    json_add_number(json, "block_seconds", c->block_seconds);
    cJSON *rows = cJSON_AddArrayToObject(json, "sizes");
    for (size_t i = 0; i < c->nr; i++)
        cJSON_AddItemToArray(rows, row_to_json(c, &c->rows[i]));
    return json;
}
