/* SPDX-License-Identifier: MIT */
#include "metrics/epoch.h"

#include "base/json.h"

#include <string.h>

/* One run's facts as name and text. The environment's tree is owned. */
enum { FACTS_MAX = 64 };

struct epoch_fact {
    const char *name, *value;
};

struct epoch_facts {
    struct epoch_fact items[FACTS_MAX];
    int nr;
    cJSON *environment;
};

static void epoch_add_fact(struct epoch_facts *f, const char *name, const char *value)
{
    if (f->nr < FACTS_MAX && value[0])
        f->items[f->nr++] = (struct epoch_fact) { name, value };
}

static void epoch_facts_init(struct epoch_facts *f, const struct run *run)
{
    const cJSON *member;

    *f = (struct epoch_facts) { 0 };
    epoch_add_fact(f, "machine", run->machine.cpu);
    epoch_add_fact(f, "machine id", run->machine.id);
    epoch_add_fact(f, "compiler", run->build.compiler);
    epoch_add_fact(f, "flags", run->build.flags);
    epoch_add_fact(f, "build type", run->build.build_type);
    f->environment = run->environment ? cJSON_Parse(run->environment) : NULL;
    cJSON_ArrayForEach(member, f->environment)
    {
        if (strcmp(member->string, "host") == 0)
            continue; /* another of the same class: a CI system has a new one each day */
        if (cJSON_IsString(member))
            epoch_add_fact(f, member->string, member->valuestring);
        else if (cJSON_IsBool(member))
            epoch_add_fact(f, member->string, cJSON_IsTrue(member) ? "yes" : "no");
    }
}

static void epoch_facts_release(struct epoch_facts *f)
{
    cJSON_Delete(f->environment);
}

static const char *epoch_find_fact(const struct epoch_facts *f, const char *name)
{
    for (int i = 0; i < f->nr; i++)
        if (strcmp(f->items[i].name, name) == 0)
            return f->items[i].value;
    return NULL;
}

static uint64_t epoch_hash(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    while (*text++);
    return hash;
}

uint64_t epoch_id(const struct run *run)
{
    struct epoch_facts f;
    uint64_t sum = 0;

    epoch_facts_init(&f, run);
    /* A sum, so that the order of the environment's members does not matter. */
    for (int i = 0; i < f.nr; i++)
        sum += epoch_hash(epoch_hash(0xcbf29ce484222325U, f.items[i].name), f.items[i].value);
    epoch_facts_release(&f);
    return sum;
}

int epoch_each_difference(const struct run *from, const struct run *to, epoch_take_fn *take,
                          void *context)
{
    struct epoch_facts a, b;
    int nr = 0;

    epoch_facts_init(&a, from);
    epoch_facts_init(&b, to);
    for (int i = 0; i < a.nr; i++) {
        const char *other = epoch_find_fact(&b, a.items[i].name);
        if (other && strcmp(a.items[i].value, other) == 0)
            continue;
        take(context, a.items[i].name, a.items[i].value, other);
        nr++;
    }
    for (int i = 0; i < b.nr; i++) {
        if (epoch_find_fact(&a, b.items[i].name))
            continue;
        take(context, b.items[i].name, NULL, b.items[i].value);
        nr++;
    }
    epoch_facts_release(&a);
    epoch_facts_release(&b);
    return nr;
}

static void epoch_add_difference(void *context, const char *name, const char *from, const char *to)
{
    struct strbuf *out = context;
    const char *absent = "(absent)";

    strbuf_addf(out, "%s%s: %s -> %s", out->length ? "; " : "", name, from ? from : absent,
                to ? to : absent);
}

int epoch_difference(const struct run *from, const struct run *to, struct strbuf *out)
{
    return epoch_each_difference(from, to, epoch_add_difference, out);
}
