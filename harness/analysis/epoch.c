/* SPDX-License-Identifier: MIT */
#include "analysis/epoch.h"

#include "base/json.h"

#include <string.h>

/* One run's facts as name and text. The environment's tree is owned. */
enum { FACTS_MAX = 64 };

struct fact {
    const char *name, *value;
};

struct facts {
    struct fact items[FACTS_MAX];
    int nr;
    cJSON *environment;
};

static void add(struct facts *f, const char *name, const char *value)
{
    if (f->nr < FACTS_MAX && value[0])
        f->items[f->nr++] = (struct fact) { name, value };
}

static void facts_init(struct facts *f, const struct run *run)
{
    const cJSON *member;

    *f = (struct facts) { 0 };
    add(f, "machine", run->machine.cpu);
    add(f, "machine id", run->machine.id);
    add(f, "compiler", run->build.compiler);
    add(f, "flags", run->build.flags);
    add(f, "build type", run->build.build_type);
    f->environment = run->environment ? cJSON_Parse(run->environment) : NULL;
    cJSON_ArrayForEach(member, f->environment)
    {
        if (cJSON_IsString(member))
            add(f, member->string, member->valuestring);
        else if (cJSON_IsBool(member))
            add(f, member->string, cJSON_IsTrue(member) ? "yes" : "no");
    }
}

static void facts_release(struct facts *f)
{
    cJSON_Delete(f->environment);
}

static const char *facts_find(const struct facts *f, const char *name)
{
    for (int i = 0; i < f->nr; i++)
        if (strcmp(f->items[i].name, name) == 0)
            return f->items[i].value;
    return NULL;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    while (*text++);
    return hash;
}

uint64_t epoch_id(const struct run *run)
{
    struct facts f;
    uint64_t sum = 0;

    facts_init(&f, run);
    /* A sum, so that the order of the environment's members does not matter. */
    for (int i = 0; i < f.nr; i++)
        sum += hash_text(hash_text(0xcbf29ce484222325U, f.items[i].name), f.items[i].value);
    facts_release(&f);
    return sum;
}

static void difference(const char *name, const char *from, const char *to, struct strbuf *out)
{
    const char *absent = "(absent)";

    strbuf_addf(out, "%s%s: %s -> %s", out->length ? "; " : "", name, from ? from : absent,
                to ? to : absent);
}

int epoch_difference(const struct run *from, const struct run *to, struct strbuf *out)
{
    struct facts a, b;
    int nr = 0;

    facts_init(&a, from);
    facts_init(&b, to);
    for (int i = 0; i < a.nr; i++) {
        const char *other = facts_find(&b, a.items[i].name);
        if (!other || strcmp(a.items[i].value, other) != 0) {
            difference(a.items[i].name, a.items[i].value, other, out);
            nr++;
        }
    }
    for (int i = 0; i < b.nr; i++) {
        if (!facts_find(&a, b.items[i].name)) {
            difference(b.items[i].name, NULL, b.items[i].value, out);
            nr++;
        }
    }
    facts_release(&a);
    facts_release(&b);
    return nr;
}
