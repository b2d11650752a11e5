/* SPDX-License-Identifier: MIT */
#include "analysis/run_label.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACT_SIZE = 128 };

struct run_fact {
    const char *name;
    void (*tell)(const struct run *run, char text[FACT_SIZE]); /* "" where it is not known */
};

static void copy(char text[FACT_SIZE], const char *from)
{
    snprintf(text, FACT_SIZE, "%s", from);
}

static void cut_out(char *text, const char *word)
{
    char *at;

    while ((at = strstr(text, word)))
        memmove(at, at + strlen(word), strlen(at + strlen(word)) + 1);
}

/* "Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz" is "Intel Xeon Platinum 8488C" to people. */
static void tell_machine(const struct run *run, char text[FACT_SIZE])
{
    static const char *const noise[] = { "(R)", "(TM)", "(r)", "(tm)", " CPU", " Processor" };
    const struct machine *m = &run->machine;

    copy(text, m->gpu[0] ? m->gpu : m->cpu[0] ? m->cpu : m->class_name);
    for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
        cut_out(text, noise[i]);
    char *clock = strstr(text, " @");
    if (clock)
        *clock = '\0';
}

/* Two machines of one processor differ in their class or at last in their id. */
static void tell_class(const struct run *run, char text[FACT_SIZE])
{
    copy(text, run->machine.class_name);
}

static void tell_gpu(const struct run *run, char text[FACT_SIZE])
{
    copy(text, run->machine.gpu[0] ? run->machine.gpu : "no GPU");
}

static void tell_cuda(const struct run *run, char text[FACT_SIZE])
{
    cJSON *environment = run->environment ? cJSON_Parse(run->environment) : NULL;
    const char *runtime = json_string(environment, "cuda_runtime", NULL);
    const char *driver = json_string(environment, "gpu_driver", NULL);

    snprintf(text, FACT_SIZE, "%s%s%s%s",
             runtime  ? "CUDA "
             : driver ? ""
                      : "no CUDA",
             runtime ? runtime : "", driver ? " driver " : "", driver ? driver : "");
    cJSON_Delete(environment);
}

static void tell_label(const struct run *run, char text[FACT_SIZE])
{
    copy(text, run->label);
}

static void tell_branch(const struct run *run, char text[FACT_SIZE])
{
    copy(text, run->build.branch);
}

static void tell_commit(const struct run *run, char text[FACT_SIZE])
{
    snprintf(text, FACT_SIZE, "%.7s%s", run->build.commit,
             run->build.commit[0] && run->build.dirty ? "+" : "");
}

static void tell_compiler(const struct run *run, char text[FACT_SIZE])
{
    copy(text, run->build.compiler);
}

static void tell_flags(const struct run *run, char text[FACT_SIZE])
{
    snprintf(text, FACT_SIZE, "%.100s", run->build.flags[0] ? run->build.flags : "no flags");
}

static void tell_build(const struct run *run, char text[FACT_SIZE])
{
    copy(text, run->build.build_type);
}

static void tell_suite(const struct run *run, char text[FACT_SIZE])
{
    copy(text, run->suite);
}

static void tell_id(const struct run *run, char text[FACT_SIZE])
{
    if (run->id > 0)
        snprintf(text, FACT_SIZE, "run %lld", (long long)run->id);
}

static void tell_time(const struct run *run, char text[FACT_SIZE])
{
    text_timestamp(run->started_ms, text);
}

static void tell_uuid(const struct run *run, char text[FACT_SIZE])
{
    copy(text, run->uuid);
}

/* In the order in which they are said. Those past `suite` are no groups, and make names unique. */
static const struct run_fact facts[] = {
    { "machine", tell_machine },   { "label", tell_label }, { "branch", tell_branch },
    { "commit", tell_commit },     { "gpu", tell_gpu },     { "cuda", tell_cuda },
    { "compiler", tell_compiler }, { "flags", tell_flags }, { "build", tell_build },
    { "suite", tell_suite },       { "class", tell_class }, { "id", tell_id },
    { "time", tell_time },         { "uuid", tell_uuid },
};

enum { NR_FACTS = sizeof(facts) / sizeof(facts[0]), NR_GROUPS = 10 };

const struct run_fact *run_fact_find(const char *name, struct error *err)
{
    const char *names[NR_GROUPS + 1] = { NULL };

    for (size_t i = 0; i < NR_GROUPS; i++) {
        names[i] = facts[i].name;
        if (strcmp(names[i], name) == 0)
            return &facts[i];
    }
    const char *nearest = text_nearest(name, names);
    error_set(err,
              "runs cannot be named by \"%.60s\"%s%s%s; there are machine, gpu, cuda, label, "
              "branch, commit, compiler, flags, build, suite",
              name, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
              nearest ? "\"?" : "");
    return NULL;
}

/* The runs whose names are alike so far, and what has been said of them. */
struct naming {
    const struct run *const *runs;
    struct strbuf *names;
    size_t nr;
};

static void say(struct strbuf *name, const char *text)
{
    if (*text)
        strbuf_addf(name, "%s%s", name->length ? " · " : "", text);
}

typedef char fact_text[FACT_SIZE];

/* What the fact says of each run; NULL where it says the same of all. */
static fact_text *tell_all(const struct naming *n, const struct run_fact *fact)
{
    fact_text *texts = memory_zeroed(n->nr, sizeof(*texts));
    bool differs = false;

    for (size_t i = 0; i < n->nr; i++) {
        fact->tell(n->runs[i], texts[i]);
        differs |= strcmp(texts[i], texts[0]) != 0;
    }
    if (differs)
        return texts;
    free(texts);
    return NULL;
}

/* Does the fact differ among the runs that are named like the nth? */
static bool divides(const struct naming *n, size_t nth, fact_text *texts)
{
    for (size_t i = 0; i < n->nr; i++)
        if (i != nth && strcmp(n->names[i].data, n->names[nth].data) == 0 &&
            strcmp(texts[i], texts[nth]) != 0)
            return true;
    return false;
}

/* All at once, so that every name is held against those of the step before. */
static void add_fact(struct naming *n, const struct run_fact *fact)
{
    fact_text *texts = tell_all(n, fact);

    if (!texts)
        return;
    bool *divided = memory_zeroed(n->nr, sizeof(*divided));
    for (size_t i = 0; i < n->nr; i++)
        divided[i] = divides(n, i, texts);
    for (size_t i = 0; i < n->nr; i++)
        if (divided[i])
            say(&n->names[i], texts[i]);
    free(divided);
    free(texts);
}

static void name_alone(struct naming *n, size_t i)
{
    char text[FACT_SIZE] = "";

    tell_branch(n->runs[i], text);
    say(&n->names[i], text);
    tell_commit(n->runs[i], text);
    if (n->names[i].length && *text)
        strbuf_addf(&n->names[i], " %s", text);
    else
        say(&n->names[i], text);
    for (size_t k = 0; k < NR_FACTS && n->names[i].length == 0; k++) {
        text[0] = '\0';
        facts[k].tell(n->runs[i], text);
        say(&n->names[i], text);
    }
}

static bool is_taken(const struct naming *n, size_t nth)
{
    for (size_t i = 0; i < nth; i++)
        if (strcmp(n->names[i].data, n->names[nth].data) == 0)
            return true;
    return false;
}

/* What nothing told apart: the same run twice, or texts that are alike when joined. */
static void number_alike(struct naming *n)
{
    for (size_t i = 1; i < n->nr; i++)
        while (is_taken(n, i))
            strbuf_addf(&n->names[i], " (%zu)", i + 1);
}

char **run_labels_create(const struct run *const *runs, size_t nr, const struct run_fact *first)
{
    char **labels = memory_zeroed(nr + 1, sizeof(*labels));
    struct naming n = { runs, memory_zeroed(nr + 1, sizeof(*n.names)), nr };
    char text[FACT_SIZE];

    for (size_t i = 0; i < nr; i++) {
        strbuf_init(&n.names[i]);
        text[0] = '\0';
        if (first)
            first->tell(runs[i], text);
        say(&n.names[i], text);
    }
    for (size_t k = 0; k < NR_FACTS; k++)
        if (&facts[k] != first)
            add_fact(&n, &facts[k]);
    for (size_t i = 0; i < nr; i++)
        if (n.names[i].length == 0)
            name_alone(&n, i);
    number_alike(&n);
    for (size_t i = 0; i < nr; i++)
        labels[i] = strbuf_detach(&n.names[i]);
    free(n.names);
    return labels;
}

void run_labels_free(char **labels, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        free(labels[i]);
    free(labels);
}
