/* SPDX-License-Identifier: MIT */
/*
 * What `go test -bench` prints, -benchmem and units of one's own included:
 *
 *     pkg: example.com/sort
 *     BenchmarkSort/n=64-8    1000000    1042 ns/op    61.4 MB/s    512 B/op    3 allocs/op
 *
 * The number behind the last '-' is GOMAXPROCS, which is not there where it is 1.
 *
 * go prints the name first and the result when it has it, so what a benchmark prints itself stands
 * between them, and the result in a line of its own.
 */
#include "importers/base/import_base.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct go {
    struct import_build *b;
    char package[200];
    bool ended;            /* the last package has its "ok" or "FAIL" */
    struct strbuf pending; /* the name of which no result has come yet; "": none */
};

static const char go_prefix[] = "Benchmark";

/* "     100\t": behind the number of iterations, of no fewer columns than `least`. NULL: there is
 * none. */
static const char *go_behind_count(const char *text, size_t least)
{
    size_t blanks = strspn(text, " "), digits = strspn(text + blanks, "0123456789");
    const char *rest = text + blanks + digits;

    return digits > 0 && blanks + digits >= least && (*rest == '\t' || *rest == '\0') ? rest : NULL;
}

/* "\t      1042 ns/op". */
static bool go_is_pair(const char *text)
{
    char *end;

    if (*text != '\t')
        return false;
    strtod(text, &end);
    return end > text && *end == ' ' && end[1] != '\0' && end[1] != ' ';
}

/* go writes the number of iterations in eight columns. */
enum { GO_COLUMNS = 8 };

static bool go_is_bare_result(const char *line)
{
    const char *rest = go_behind_count(line, GO_COLUMNS);

    return rest && go_is_pair(rest);
}

/* Behind the tab that go writes with the name. What the benchmark prints may begin with a number,
 * too ("3 of 5", a date of log's), so more than a digit is asked for: go's columns, or a value. */
static bool go_is_result_behind_tab(const char *text)
{
    const char *rest = go_behind_count(text, 1);

    return rest && (go_behind_count(text, GO_COLUMNS) || go_is_pair(rest));
}

static bool go_is_result(const char *line)
{
    size_t name = strcspn(line, " \t"), spaces = strspn(line + name, " ");
    const char *rest = line + name + spaces;

    if (strncmp(line, go_prefix, sizeof(go_prefix) - 1) != 0)
        return false;
    return *rest == '\t' ? go_is_result_behind_tab(rest + 1)
                         : spaces > 0 && isdigit((unsigned char)*rest);
}

/* Of "BenchmarkSort-8   \t" with something else than a result behind the tab: that; NULL: it is no
 * such line. */
static char *go_behind_name(char *line)
{
    size_t length = sizeof(go_prefix) - 1;

    if (strncmp(line, go_prefix, length) != 0 || islower((unsigned char)line[length]))
        return NULL;
    char *rest = line + strcspn(line, " \t");
    rest += strspn(rest, " ");
    return *rest == '\t' ? rest + 1 : NULL;
}

/* A text of go's has one of these among its first lines. */
static bool go_fits(const char *text, size_t length)
{
    const char *end = text + length;

    for (int i = 0; i < 1000 && text < end; i++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t nr = (size_t)((newline ? newline : end) - text);
        char line[600];
        snprintf(line, sizeof(line), "%.*s", (int)(nr < 500 ? nr : 500), text);
        if (strncmp(line, "goos: ", 6) == 0 || (go_is_result(line) && strstr(line, "ns/op")))
            return true;
        text += nr + 1;
    }
    return false;
}

/* "Sort/n=64/quick-8": parts that say what they are become dims. */
static void go_read_name(const struct go *g, char *text, struct import_name *name)
{
    char *procs = strrchr(text, '-'), *rest = text, *part;
    int64_t nr = 0;

    import_name_init(name, g->package);
    if (procs && import_whole(procs + 1, &nr) && nr > 0)
        *procs = '\0';
    while ((part = strsep(&rest, "/"))) {
        char *value = strchr(part, '=');
        if (value && value > part) {
            *value = '\0';
            import_name_parameter(name, part, value + 1);
        } else
            import_name_part(name, part);
    }
    if (nr > 0)
        import_name_dim(name, "procs", nr);
}

/* "1042 ns/op", then what stands beside it under its unit. */
static int go_read_pair(struct go *g, struct import_case *c, double iterations, double value,
                        const char *unit, double *ns)
{
    if (strcmp(unit, "ns/op") == 0) {
        *ns = value;
        return import_time(g->b, c, NULL, value, iterations);
    }
    if (strcmp(unit, "MB/s") == 0 && *ns > 0)
        import_work(c, 0, value * 1e6 * *ns * 1e-9);
    import_beside(g->b, c, unit, value);
    return 0;
}

static int go_read_pairs(struct go *g, struct import_case *c, char *rest)
{
    double iterations = strtod(rest, &rest), ns = 0;
    char *number;

    while ((number = strtok_r(NULL, " \t", &rest))) {
        char *unit = strtok_r(NULL, " \t", &rest), *end;
        double value = strtod(number, &end);
        if (*end || !unit)
            return import_refuse(g->b, NULL, "\"%.40s\" is no number with a unit: truncated?",
                                 number);
        if (go_read_pair(g, c, iterations, value, unit, &ns))
            return -1;
    }
    if (c->times.nr == 0)
        import_timeless(c); /* ns/op was taken off by the benchmark */
    return 0;
}

static int go_read_result(struct go *g, char *text, char *rest)
{
    struct import_name name;

    go_read_name(g, text, &name);
    struct import_case *c = import_case(g->b, &name);
    g->ended = false;
    return go_read_pairs(g, c, rest) || g->b->crowded ? (g->b->crowded ? import_crowded(g->b) : -1)
                                                      : 0;
}

/* What was begun has no result: another begins, or all is over. */
static void go_give_up(struct go *g)
{
    if (g->pending.length)
        import_count(g->b, "%zu benchmark%s left out: there is no result in what was printed (%s)",
                     g->pending.data);
    strbuf_clear(&g->pending);
}

/* "BenchmarkSort-8" waits for its result. In go's first try of it the name has no GOMAXPROCS. */
static bool go_is_pending(const struct go *g, const char *name)
{
    size_t length = strlen(name);
    int64_t nr;

    if (strncmp(g->pending.data, name, length) != 0)
        return false;
    const char *rest = g->pending.data + length;
    return *rest == '\0' || (*rest == '-' && import_whole(rest + 1, &nr));
}

/* "--- FAIL: BenchmarkSort/n=64-8", "--- SKIP: ...". */
static void go_read_failure(struct go *g, char *line)
{
    bool skipped = strncmp(line, "--- SKIP", 8) == 0;
    struct import_name name;
    char *text = line + sizeof("--- FAIL: ") - 1;

    text[strcspn(text, " \t")] = '\0';
    if (strncmp(text, go_prefix, sizeof(go_prefix) - 1) != 0)
        return; /* a test */
    if (go_is_pending(g, text))
        strbuf_clear(&g->pending);
    go_give_up(g); /* of another one */
    go_read_name(g, text, &name);
    import_fail(import_case(g->b, &name), skipped ? OUTCOME_UNSUPPORTED : OUTCOME_FAILED,
                skipped ? "skipped" : "failed");
}

/* "cpu: AMD EPYC 7B13", "goos: linux". */
static void go_read_fact(struct go *g, const char *line)
{
    struct machine *m = &g->b->run->machine;

    if (strncmp(line, "pkg: ", 5) == 0)
        snprintf(g->package, sizeof(g->package), "%s", line + 5);
    else if (strncmp(line, "cpu: ", 5) == 0)
        import_copy(m->cpu, sizeof(m->cpu), line + 5);
    else if (strncmp(line, "goos: ", 6) == 0)
        import_fact(g->b, "system", line + 6);
    else if (strncmp(line, "goarch: ", 8) == 0)
        import_fact(g->b, "goarch", line + 8);
}

static int go_read_pending(struct go *g, char *line)
{
    int rc = go_read_result(g, g->pending.data, line);

    strbuf_clear(&g->pending);
    return rc;
}

/* Of a package. */
static bool go_is_end(const char *line)
{
    return strncmp(line, "ok  \t", 5) == 0 || strncmp(line, "FAIL\t", 5) == 0 ||
           strcmp(line, "PASS") == 0;
}

static int go_read_line(struct go *g, char *line)
{
    size_t name = strcspn(line, " \t");
    char *rest = go_behind_name(line);

    if (g->pending.length && go_is_bare_result(line))
        return go_read_pending(g, line);
    if (rest || go_is_result(line) || go_is_end(line))
        go_give_up(g);
    if (go_is_result(line)) {
        line[name] = '\0';
        return go_read_result(g, line, line + name + 1);
    }
    if (rest)
        strbuf_add(&g->pending, line, name);
    line = rest ? rest : line;
    if (strncmp(line, "--- FAIL: ", 10) == 0 || strncmp(line, "--- SKIP: ", 10) == 0)
        go_read_failure(g, line);
    else if (go_is_end(line))
        g->ended = true;
    else
        go_read_fact(g, line);
    return 0;
}

static int go_parse(struct import_build *b)
{
    struct go g = { .b = b };
    const char *at = NULL;
    struct strbuf line;
    int rc = 0;

    b->clock = "Go testing";
    strbuf_init(&line);
    strbuf_init(&g.pending);
    while (rc == 0 && import_next_line(b, &at, &line))
        rc = go_read_line(&g, line.data);
    b->line = 0;
    go_give_up(&g);
    strbuf_release(&g.pending);
    strbuf_release(&line);
    if (rc == 0 && !g.ended)
        import_note(b, "the text ends before go's last word, \"ok\" or \"FAIL\": truncated?");
    return rc;
}

const struct import_format_row import_go = { .fits_text = go_fits, .parse = go_parse };
