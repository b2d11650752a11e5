/* SPDX-License-Identifier: MIT */
#include "reporters/system_table.h"

#include "base/json.h"
#include "base/text.h"
#include "text/table.h"
#include "verdict/differences.h"

#include <stdio.h>
#include <stdlib.h>

static const struct table_column columns[] = {
    { .title = "fact" },
    { .title = "value", .fit = TABLE_PROSE },
};

/* Whoever takes the facts. */
struct taker {
    void (*fact)(void *context, const char *name, const char *value);
    void *context;
};

static void system_add(const struct taker *t, const char *fact, const char *value)
{
    if (value && *value)
        t->fact(t->context, fact, value);
}

static void system_add_bytes(const struct taker *t, const char *fact, int64_t bytes)
{
    char text[TEXT_UNIT_SIZE];

    if (bytes > 0)
        system_add(t, fact, text_bytes((double)bytes, text));
}

void system_facts(const struct run *run,
                  void (*fact)(void *context, const char *name, const char *value), void *context)
{
    const struct taker taker = { fact, context };
    char when[TEXT_UNIT_SIZE];

    system_add(&taker, "started", run->started_ms > 0 ? text_timestamp(run->started_ms, when) : "");
    char cores[64];
    system_add(&taker, "machine", run->machine.class_name);
    system_add(&taker, "CPU", run->machine.cpu);
    snprintf(cores, sizeof(cores), "%d (%d threads)", run->machine.cores, run->machine.threads);
    if (run->machine.cores > 0)
        system_add(&taker, "cores", cores);
    system_add(&taker, "instruction set", run->machine.isa);
    system_add_bytes(&taker, "L1 data cache", run->machine.l1d);
    system_add_bytes(&taker, "L2 cache", run->machine.l2);
    system_add_bytes(&taker, "L3 cache", run->machine.l3);
    system_add_bytes(&taker, "memory", run->machine.memory);
    system_add(&taker, "GPU", run->machine.gpu);
    system_add(&taker, "harness", run->build.version);
    system_add(&taker, "commit", run->build.commit);
    if (run->build.commit[0])
        system_add(&taker, "tree",
                   run->build.dirty ? "dirty: it had uncommitted changes" : "clean");
    system_add(&taker, "branch", run->build.branch);
    system_add(&taker, "compiler", run->build.compiler);
    system_add(&taker, "flags", run->build.flags);
    system_add(&taker, "build type", run->build.build_type);
    /* The environment is an object of facts. */
    cJSON *json = run->environment ? cJSON_Parse(run->environment) : NULL;
    const cJSON *member;
    cJSON_ArrayForEach(member, json)
    {
        char *text = difference_text(member);
        if (!cJSON_IsNull(member))
            system_add(&taker, member->string, text);
        free(text);
    }
    cJSON_Delete(json);
}

static void system_add_row(void *context, const char *name, const char *value)
{
    table_row(context);
    table_cell(context, TABLE_PLAIN, "%s", name);
    table_cell(context, TABLE_PLAIN, "%s", value);
}

void system_table(const struct run *run, bool markdown, struct strbuf *out)
{
    struct table t;

    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    system_facts(run, system_add_row, &t);
    if (markdown)
        table_markdown(&t, out);
    else
        table_text(&t, 0, false, out);
    table_release(&t);
}
