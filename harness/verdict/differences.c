/* SPDX-License-Identifier: MIT */
/* The JSON form of a run has every fact once; two of them are laid flat and put side by side. */
#include "verdict/differences.h"

#include "base/array.h"
#include "base/json.h"
#include "base/strbuf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fact {
    char *path, *value; /* "build.compiler"; owned */
    bool weather;
};

struct facts {
    struct fact *items;
    size_t nr, capacity;
};

/* What people call it, where that is not the last part of its path. */
static const struct {
    const char *path, *name;
} names[] = {
    { "machine.id", "machine id" },
    { "machine.class_name", "machine" },
    { "machine.cpu", "CPU" },
    { "machine.isa", "instruction set" },
    { "machine.l1d", "L1 data cache (bytes)" },
    { "machine.l2", "L2 cache (bytes)" },
    { "machine.l3", "L3 cache (bytes)" },
    { "machine.l3_shared_by", "cores that share L3" },
    { "machine.memory", "memory (bytes)" },
    { "machine.gpu", "GPU" },
    { "build.version", "harness" },
    { "build.dirty", "uncommitted changes" },
    { "build.build_type", "build type" },
};

static const char *name_of(const char *path)
{
    const char *dot = strchr(path, '.');

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(path, names[i].path) == 0)
            return names[i].name;
    return dot ? dot + 1 : path;
}

char *difference_text(const cJSON *value)
{
    if (cJSON_IsString(value) || cJSON_IsRaw(value))
        return memory_string(value->valuestring);
    if (cJSON_IsBool(value))
        return memory_string(cJSON_IsTrue(value) ? "yes" : "no");
    if (!cJSON_IsNumber(value) || value->valuedouble == rint(value->valuedouble))
        return cJSON_PrintUnformatted(value);
    char number[32];
    snprintf(number, sizeof(number), "%.6g", value->valuedouble);
    return memory_string(number);
}

/* Which files a run came from, which half of which session it is: never the same in two, and no
 * circumstance. */
static bool is_name(const char *path)
{
    static const char *const paths[] = { "settings.import.files", "settings.ab.id",
                                         "settings.ab.side", "settings.ab.partner",
                                         "settings.in_turn" };

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (strcmp(path, paths[i]) == 0)
            return true;
    return false;
}

/* Every member below `json`; lists are one fact. */
static void lay_flat(const cJSON *json, const char *path, struct facts *facts)
{
    const cJSON *member;
    struct strbuf name;

    strbuf_init(&name);
    cJSON_ArrayForEach(member, json)
    {
        strbuf_clear(&name);
        strbuf_addf(&name, "%s.%s", path, member->string);
        if (cJSON_IsObject(member)) {
            lay_flat(member, name.data, facts);
        } else if (!cJSON_IsNull(member) && !is_name(name.data)) {
            *array_push(facts) = (struct fact) {
                .path = memory_string(name.data),
                .value = difference_text(member),
                .weather = strcmp(path, "environment") == 0 && cJSON_IsNumber(member),
            };
        }
    }
    strbuf_release(&name);
}

static void facts_init(struct facts *facts, const struct run *run)
{
    static const char *const parts[] = { "machine", "build", "environment", "settings" };
    cJSON *json = run_to_json(run);

    *facts = (struct facts) { 0 };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        lay_flat(cJSON_GetObjectItemCaseSensitive(json, parts[i]), parts[i], facts);
    cJSON_Delete(json);
}

static void facts_release(struct facts *facts)
{
    for (size_t i = 0; i < facts->nr; i++) {
        free(facts->items[i].path);
        free(facts->items[i].value);
    }
    array_release(facts);
}

static const struct fact *facts_find(const struct facts *facts, const char *path)
{
    for (size_t i = 0; i < facts->nr; i++)
        if (strcmp(facts->items[i].path, path) == 0)
            return &facts->items[i];
    return NULL;
}

static void add_difference(struct differences *out, const struct fact *base,
                           const struct fact *head)
{
    const struct fact *any = base ? base : head;

    *array_push(out) = (struct difference) {
        .name = memory_string(name_of(any->path)),
        .base = base ? memory_string(base->value) : NULL,
        .head = head ? memory_string(head->value) : NULL,
        .weather = any->weather,
    };
}

static void add_all(const struct facts *base, const struct facts *head, bool weather,
                    struct differences *out)
{
    for (size_t i = 0; i < base->nr; i++) {
        const struct fact *one = &base->items[i], *other = facts_find(head, one->path);
        if (one->weather == weather && (!other || strcmp(one->value, other->value) != 0))
            add_difference(out, one, other);
    }
    for (size_t i = 0; i < head->nr; i++)
        if (head->items[i].weather == weather && !facts_find(base, head->items[i].path))
            add_difference(out, NULL, &head->items[i]);
}

void differences_find(const struct run *base, const struct run *head, struct differences *out)
{
    struct facts from, to;

    *out = (struct differences) { 0 };
    facts_init(&from, base);
    facts_init(&to, head);
    add_all(&from, &to, false, out);
    add_all(&from, &to, true, out);
    facts_release(&from);
    facts_release(&to);
}

void differences_release(struct differences *d)
{
    for (size_t i = 0; i < d->nr; i++) {
        free(d->items[i].name);
        free(d->items[i].base);
        free(d->items[i].head);
    }
    array_release(d);
}
