/* SPDX-License-Identifier: MIT */
/*
 * What `cargo bench` prints of #[bench] functions, and criterion with --output-format bencher:
 *
 *     test sort::bench_64 ... bench:       1,042.17 ns/iter (+/- 12.50) = 61 MB/s
 *     test sort::bench_80 ... FAILED
 *
 * Tests are "ignored" there, so what failed is a benchmark.
 */
#include "importers/base/import_base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char libtest_mark[] = " ... bench:", libtest_failed[] = " ... FAILED";

static bool libtest_fits(const char *text, size_t length)
{
    const char *end = text + length;

    for (const char *p = text; p < end; p++) {
        p = memchr(p, '.', (size_t)(end - p));
        if (!p)
            return false;
        if (p > text && (size_t)(end - p) >= sizeof(libtest_mark) - 2 &&
            memcmp(p - 1, libtest_mark, sizeof(libtest_mark) - 1) == 0)
            return true;
    }
    return false;
}

/* "1,234.5"; `*at` moves behind it. */
static bool libtest_number(const char **at, double *value)
{
    const char *p = *at + strspn(*at, " ");
    char digits[64];
    size_t nr = 0;

    for (; *p && strchr("0123456789.,", *p) && nr + 1 < sizeof(digits); p++)
        if (*p != ',')
            digits[nr++] = *p;
    digits[nr] = '\0';
    *at = p;
    return import_value(&(cJSON) { .type = cJSON_String, .valuestring = digits }, value);
}

/* Of "test NAME ... ", where `rest` is " ... ". Names are padded to one length. */
static struct import_case *libtest_read_name(struct import_build *b, char *line, const char *rest)
{
    struct import_name name;
    size_t length = strlen(line) - strlen(rest);

    while (length > 0 && line[length - 1] == ' ')
        length--;
    line[length] = '\0';
    import_name_path(&name, line + sizeof("test ") - 1);
    return import_case(b, &name);
}

static int libtest_read_result(struct import_build *b, char *line, const char *rest)
{
    double ns, value;
    struct import_case *c = libtest_read_name(b, line, rest);

    rest += sizeof(libtest_mark) - 1;
    import_note_again(b, c);
    if (!libtest_number(&rest, &ns) || strncmp(rest, " ns/iter", 8) != 0)
        return import_refuse(b, NULL, "\"%.40s\" is no time in ns/iter: truncated?", rest);
    const char *range = strstr(rest, "(+/- "), *rate = strstr(rest, ") = ");
    b->statistic = "the median";
    if (import_statistic(b, c, NULL, ns))
        return -1;
    if (range && (range += 5, libtest_number(&range, &value)))
        import_beside(b, c, "summary_range_ns", value);
    if (rate && (rate += 4, libtest_number(&rate, &value)) && strncmp(rate, " MB/s", 5) == 0)
        import_work(c, 0, value * 1e6 * ns * 1e-9);
    return b->crowded ? import_crowded(b) : 0;
}

/* 1: it is a result, or a failure; 0: any other line; -1: refused. */
static int libtest_read_line(struct import_build *b, char *line)
{
    const char *mark = strstr(line, libtest_mark), *failed = strstr(line, libtest_failed);

    if (strncmp(line, "test ", 5) != 0 || (!mark && !failed))
        return 0;
    if (mark)
        return libtest_read_result(b, line, mark) ? -1 : 1;
    import_fail(libtest_read_name(b, line, failed), OUTCOME_FAILED, "failed");
    return b->crowded ? import_crowded(b) : 1;
}

static int libtest_parse(struct import_build *b)
{
    const char *at = NULL;
    struct strbuf line;
    int rc = 0;
    bool ended = false;

    b->clock = "libtest";
    strbuf_init(&line);
    while (rc >= 0 && import_next_line(b, &at, &line)) {
        rc = libtest_read_line(b, line.data);
        ended = (ended && rc == 0) || strncmp(line.data, "test result:", 12) == 0;
    }
    b->line = 0;
    strbuf_release(&line);
    if (rc >= 0 && !ended)
        import_note(b, "there is no \"test result:\" at the end: criterion's output, or truncated");
    return rc < 0 ? -1 : 0;
}

const struct import_format_row import_libtest = { .fits_text = libtest_fits,
                                                  .parse = libtest_parse };
