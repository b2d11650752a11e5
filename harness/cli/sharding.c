/* SPDX-License-Identifier: MIT */
#include "cli/sharding.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/durations.h"
#include "cli/terminal.h"
#include "measure/shard.h"

#include <stdio.h>
#include <stdlib.h>

enum { COUNT_MAX = 100000 };

int sharding_parse(const char *text, struct sharding *s, struct error *err)
{
    long index, count;
    char rest;

    *s = (struct sharding) { .count = 0 };
    if (!text)
        return 0;
    if (sscanf(text, "%ld/%ld%c", &index, &count, &rest) != 2 || index < 1 || index > count ||
        count > COUNT_MAX)
        return error_set(err, "--shard: \"%s\" is not I/N with 1 <= I <= N", text);
    s->index = (size_t)index;
    s->count = (size_t)count;
    return 0;
}

/* What a division works on. */
struct division {
    struct benchmark_name *names;
    struct shard_item *items;
    const char **keys;
    double *seconds;
    size_t *owner;
};

static void division_init(struct division *d, const struct choice *choice)
{
    size_t nr = choice->list.nr;

    d->names = memory_zeroed(nr + 1, sizeof(*d->names));
    d->items = memory_zeroed(nr + 1, sizeof(*d->items));
    d->keys = memory_zeroed(nr + 1, sizeof(*d->keys));
    d->seconds = memory_zeroed(nr + 1, sizeof(*d->seconds));
    d->owner = memory_zeroed(nr + 1, sizeof(*d->owner));
    for (size_t i = 0; i < nr; i++) {
        benchmark_name_of(&choice->list.items[i], &choice->device, &d->names[i]);
        d->keys[i] = d->names[i].key;
    }
}

static void division_release(struct division *d)
{
    free(d->names);
    free(d->items);
    free(d->keys);
    free(d->seconds);
    free(d->owner);
}

static void divide(struct sharding *s, struct division *d, struct benchmark_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->nr; i++)
        d->items[i] = (struct shard_item) { d->keys[i], d->names[i].kernel, d->seconds[i] };
    shard_assign(d->items, list->nr, s->count, d->owner, d->seconds);
    s->plan = shard_digest(d->items, list->nr, s->count, d->owner);
    s->whole = list->nr;
    for (size_t i = 0; i < list->nr; i++) {
        s->all += d->seconds[i];
        if (d->owner[i] != s->index - 1)
            continue;
        s->seconds += d->seconds[i];
        list->items[kept++] = list->items[i];
    }
    list->nr = kept;
}

/* However they are divided, the first parts get something each. */
int sharding_check(const struct sharding *s, size_t nr, const char *durations, struct error *err)
{
    if (durations && s->count == 0)
        return error_set(err, "--durations goes with --shard");
    return s->index <= nr
               ? 0
               : error_set(err, "--shard %zu/%zu leaves nothing to measure", s->index, s->count);
}

int sharding_keep(struct sharding *s, struct choice *choice, const char *durations,
                  struct store *store, struct error *err)
{
    struct division d;
    size_t nr = choice->list.nr;

    if (s->count == 0)
        return 0;
    division_init(&d, choice);
    int rc = durations ? durations_of_file(durations, d.keys, nr, d.seconds, err)
             : store   ? durations_of_store(store, d.keys, nr, d.seconds, err)
                       : 0;
    if (rc && durations)
        error_prefix(err, "--durations");
    if (rc == 0)
        divide(s, &d, &choice->list);
    division_release(&d);
    return rc;
}

enum { PLAN_SIZE = 17 };

static void print_plan(const struct sharding *s, char text[PLAN_SIZE])
{
    snprintf(text, PLAN_SIZE, "%016llx", (unsigned long long)s->plan);
}

void sharding_describe(const struct sharding *s, cJSON *settings)
{
    char part[64], plan[PLAN_SIZE];

    if (s->count == 0)
        return;
    snprintf(part, sizeof(part), "%zu/%zu", s->index, s->count);
    print_plan(s, plan);
    cJSON_AddStringToObject(settings, "shard", part);
    cJSON_AddStringToObject(settings, "shard_plan", plan);
}

void sharding_tell(const struct sharding *s, size_t kept)
{
    char part[TEXT_UNIT_SIZE], all[TEXT_UNIT_SIZE], plan[PLAN_SIZE];

    if (s->count == 0)
        return;
    print_plan(s, plan);
    terminal_note("shard %zu/%zu: %zu of %zu benchmarks", s->index, s->count, kept, s->whole);
    if (s->all > 0)
        terminal_note(", %s of %s a launch by what they last took",
                      text_time(s->seconds * 1e9, part), text_time(s->all * 1e9, all));
    terminal_note("; plan %s\n", plan);
}
