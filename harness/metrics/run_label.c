/* SPDX-License-Identifier: MIT */
#include "metrics/run_label.h"

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
    size_t member; /* a text of struct run, which is the fact; 0: tell() says it */
    void (*tell)(const struct run *run, char text[FACT_SIZE]); /* "" where it is not known */
};

static void fact_copy(char text[FACT_SIZE], const char *from)
{
    snprintf(text, FACT_SIZE, "%s", from);
}

static void fact_cut_out(char *text, const char *word)
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

    fact_copy(text, m->gpu[0] ? m->gpu : m->cpu[0] ? m->cpu : m->class_name);
    for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
        fact_cut_out(text, noise[i]);
    char *clock = strstr(text, " @");
    if (clock)
        *clock = '\0';
}

static void tell_gpu(const struct run *run, char text[FACT_SIZE])
{
    fact_copy(text, run->machine.gpu[0] ? run->machine.gpu : "no GPU");
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

static void tell_commit(const struct run *run, char text[FACT_SIZE])
{
    snprintf(text, FACT_SIZE, "%.7s%s", run->build.commit,
             run->build.commit[0] && run->build.dirty ? "+" : "");
}

static void tell_flags(const struct run *run, char text[FACT_SIZE])
{
    snprintf(text, FACT_SIZE, "%.100s", run->build.flags[0] ? run->build.flags : "no flags");
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

/* In the order in which they are said. Those past `suite` are no groups, and make names unique. */
#define TEXT_FACT(name, member)                                                                    \
    {                                                                                              \
        name, offsetof(struct run, member), NULL                                                   \
    }
static const struct run_fact facts[] = {
    { "machine", 0, tell_machine },
    TEXT_FACT("label", label),
    TEXT_FACT("branch", build.branch),
    { "commit", 0, tell_commit },
    { "gpu", 0, tell_gpu },
    { "cuda", 0, tell_cuda },
    TEXT_FACT("compiler", build.compiler),
    { "flags", 0, tell_flags },
    TEXT_FACT("build", build.build_type),
    TEXT_FACT("suite", suite),
    TEXT_FACT("class", machine.class_name), /* of two machines of one processor, or at last ... */
    { "id", 0, tell_id },
    { "time", 0, tell_time },
    TEXT_FACT("uuid", uuid),
};

enum { NR_FACTS = sizeof(facts) / sizeof(facts[0]), NR_GROUPS = 10 };

static void fact_tell(const struct run_fact *fact, const struct run *run, char text[FACT_SIZE])
{
    text[0] = '\0';
    if (fact->tell)
        fact->tell(run, text);
    else
        fact_copy(text, (const char *)run + fact->member);
}

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

static void naming_say(struct strbuf *name, const char *text)
{
    if (*text)
        strbuf_addf(name, "%s%s", name->length ? " · " : "", text);
}

typedef char fact_text[FACT_SIZE];

/* What the fact says of each run; NULL where it says the same of all. */
static fact_text *naming_tell_all(const struct naming *n, const struct run_fact *fact)
{
    fact_text *texts = memory_zeroed(n->nr, sizeof(*texts));
    bool differs = false;

    for (size_t i = 0; i < n->nr; i++) {
        fact_tell(fact, n->runs[i], texts[i]);
        differs |= strcmp(texts[i], texts[0]) != 0;
    }
    if (differs)
        return texts;
    free(texts);
    return NULL;
}

/* Does the fact differ among the runs that are named like the nth? */
static bool naming_divides(const struct naming *n, size_t nth, fact_text *texts)
{
    for (size_t i = 0; i < n->nr; i++)
        if (i != nth && strcmp(n->names[i].data, n->names[nth].data) == 0 &&
            strcmp(texts[i], texts[nth]) != 0)
            return true;
    return false;
}

/* All at once, so that every name is held against those of the step before. */
static void naming_add_fact(struct naming *n, const struct run_fact *fact)
{
    fact_text *texts = naming_tell_all(n, fact);

    if (!texts)
        return;
    bool *divided = memory_zeroed(n->nr, sizeof(*divided));
    for (size_t i = 0; i < n->nr; i++)
        divided[i] = naming_divides(n, i, texts);
    for (size_t i = 0; i < n->nr; i++)
        if (divided[i])
            naming_say(&n->names[i], texts[i]);
    free(divided);
    free(texts);
}

static void naming_name_alone(struct naming *n, size_t i)
{
    char text[FACT_SIZE] = "";

    naming_say(&n->names[i], n->runs[i]->build.branch);
    tell_commit(n->runs[i], text);
    if (n->names[i].length && *text)
        strbuf_addf(&n->names[i], " %s", text);
    else
        naming_say(&n->names[i], text);
    for (size_t k = 0; k < NR_FACTS && n->names[i].length == 0; k++) {
        fact_tell(&facts[k], n->runs[i], text);
        naming_say(&n->names[i], text);
    }
}

static bool naming_is_taken(const struct naming *n, size_t nth)
{
    for (size_t i = 0; i < nth; i++)
        if (strcmp(n->names[i].data, n->names[nth].data) == 0)
            return true;
    return false;
}

/* What nothing told apart: the same run twice, or texts that are alike when joined. */
static void naming_number_alike(struct naming *n)
{
    for (size_t i = 1; i < n->nr; i++)
        while (naming_is_taken(n, i))
            strbuf_addf(&n->names[i], " (%zu)", i + 1);
}

char **run_labels_create(const struct run *const *runs, size_t nr, const struct run_fact *first)
{
    char **labels = memory_zeroed(nr + 1, sizeof(*labels));
    struct naming n = { runs, memory_zeroed(nr + 1, sizeof(*n.names)), nr };
    char text[FACT_SIZE];

    for (size_t i = 0; i < nr; i++) {
        strbuf_init(&n.names[i]);
        if (first) {
            fact_tell(first, runs[i], text);
            naming_say(&n.names[i], text);
        }
    }
    for (size_t k = 0; k < NR_FACTS; k++)
        if (&facts[k] != first)
            naming_add_fact(&n, &facts[k]);
    for (size_t i = 0; i < nr; i++)
        if (n.names[i].length == 0)
            naming_name_alone(&n, i);
    naming_number_alike(&n);
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
