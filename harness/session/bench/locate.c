/* SPDX-License-Identifier: MIT */
#include "session/bench/locate.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "core/registry.h"
#include "session/builds/git.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCATE_WORD = 128 };

/* "COMMIT:FILE:LINE:TEXT", as `git grep` tells it. */
static bool read_grep_line(const char *line, size_t commit, struct finding_place *place)
{
    const char *file = line + commit + 1, *colon = strchr(file, '\0');

    /* -z puts NULs where colons could be part of a name. */
    if (strlen(line) <= commit || !colon[1])
        return false;
    place->file = memory_string(file);
    place->line = atoi(colon + 1);
    return place->line > 0;
}

/* The first line of the commit's files that fits; `file` may be NULL: all of them. */
static void grep_now(const char *commit, const char *how, const char *pattern, const char *file,
                     struct finding_place *place)
{
    const char *arguments[] = { "grep", "-n",    "-I",   "-z", "--full-name",      how,
                                "-e",   pattern, commit, "--", file ? file : ":/", NULL };
    struct strbuf out;
    struct error ignored;

    strbuf_init(&out);
    if (git_try(arguments, &out, &ignored) || !read_grep_line(out.data, strlen(commit), place)) {
        free(place->file);
        *place = (struct finding_place) { NULL, 0 };
    }
    strbuf_release(&out);
}

/* What was looked for in one commit, and where it was. A search takes up to seconds in a large
 * project, and hundreds of findings may be sizes of one kernel, which ask for the same. */
struct grep {
    char *asked;
    struct finding_place place;
};

struct greps {
    const char *commit;
    ARRAY(struct grep) done;
};

static const struct finding_place *grep_once(struct greps *g, const char *how, const char *pattern,
                                             const char *file)
{
    struct strbuf asked;

    strbuf_init(&asked);
    strbuf_addf(&asked, "%s\n%s\n%s", how, pattern, file ? file : "");
    for (size_t i = 0; i < g->done.nr; i++) {
        if (strcmp(g->done.items[i].asked, asked.data) == 0) {
            strbuf_release(&asked);
            return &g->done.items[i].place;
        }
    }
    struct grep *grep = array_push(&g->done);
    grep->asked = memory_string(asked.data);
    grep_now(g->commit, how, pattern, file, &grep->place);
    strbuf_release(&asked);
    return &grep->place;
}

static bool grep_commit(struct greps *g, const char *how, const char *pattern, const char *file,
                        struct finding_place *place)
{
    const struct finding_place *found = grep_once(g, how, pattern, file);

    *place = (struct finding_place) { memory_string(found->file), found->line };
    return place->file != NULL;
}

static void greps_release(struct greps *g)
{
    for (size_t i = 0; i < g->done.nr; i++) {
        free(g->done.items[i].asked);
        free(g->done.items[i].place.file);
    }
    array_release(&g->done);
}

/* The word by which source would call it: the last part of "sort/BM_sort<int>". */
static bool word_of_benchmark(const char *kernel, char word[LOCATE_WORD])
{
    const char *from = kernel, *end = kernel + strcspn(kernel, "<([");
    size_t nr = 0;

    for (const char *c = kernel; c < end; c++)
        if (*c == '/' || *c == ':')
            from = c + 1;
    for (const char *c = from; c < end && nr + 1 < LOCATE_WORD; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_')
            break;
        word[nr++] = *c;
    }
    word[nr] = '\0';
    return nr > 2 && !isdigit((unsigned char)word[0]);
}

static bool locate_in_pytest(struct greps *g, const char *kernel, const char *word,
                             struct finding_place *place)
{
    const char *colons = strstr(kernel, "::");
    char file[512], pattern[LOCATE_WORD + 16];

    if (!colons || (size_t)(colons - kernel) >= sizeof(file))
        return false;
    snprintf(file, sizeof(file), ":(top,literal)%.*s", (int)(colons - kernel), kernel);
    snprintf(pattern, sizeof(pattern), "def %s(", word);
    return grep_commit(g, "-F", pattern, file, place);
}

static bool locate_kernel(struct greps *g, const struct benchmark_name *bench,
                          struct finding_place *place)
{
    size_t operation = strcspn(bench->kernel, "/");
    char file[512];

    if (!registry_variant(registry_builtin(), bench->kernel, bench->variant))
        return false;
    snprintf(file, sizeof(file), ":(top,glob)kernels/%.*s/%.*s_%s.c*", (int)operation,
             bench->kernel, (int)operation, bench->kernel, bench->variant);
    return grep_commit(g, "-F", "struct variant ", file, place);
}

static void locate_benchmark(struct greps *g, const struct benchmark_name *bench,
                             struct finding_place *place)
{
    char word[LOCATE_WORD], pattern[LOCATE_WORD + 64];

    if (locate_kernel(g, bench, place) || !word_of_benchmark(bench->kernel, word) ||
        locate_in_pytest(g, bench->kernel, word, place))
        return;
    snprintf(pattern, sizeof(pattern), "BENCHMARK[A-Z_]*(.*\\b%s\\b", word);
    if (!grep_commit(g, "-G", pattern, NULL, place))
        grep_commit(g, "-wF", word, NULL, place);
}

struct finding_place *places_find(const struct comparison *c, const struct records *head)
{
    struct finding_place *places = memory_zeroed(c->nr + 1, sizeof(*places));
    const char *commit = head->nr_runs ? head->runs[head->nr_runs - 1].build.commit : "";
    struct git_commit known;
    struct error ignored;

    if (!*commit || git_resolve(commit, &known, &ignored))
        return places;
    struct greps greps = { .commit = known.hash };
    for (size_t i = 0; i < c->nr; i++)
        if (compare_row_is_alarm(&c->rows[i]))
            locate_benchmark(&greps, c->rows[i].item->bench, &places[i]);
    greps_release(&greps);
    return places;
}

void places_release(struct finding_place *places, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        free(places[i].file);
    free(places);
}
