/* SPDX-License-Identifier: MIT */
#include "cli/render/compare_print.h"

#include "machine/environment.h"
#include "metrics/run_rows.h"
#include "reporters/comment/findings.h"
#include "reporters/compare_json.h"
#include "reporters/compare_table.h"
#include "reporters/ctest.h"
#include "reporters/explain_report.h"
#include "reporters/junit.h"
#include "session/bench/locate.h"
#include "terminal/terminal.h"

int compare_choose_format(const char *name, const struct compare_comment_options *options,
                          enum compare_format *format, struct error *err)
{
    static const char *const names[] = {
        [COMPARE_TEXT] = "text",
        [COMPARE_MARKDOWN] = "markdown",
        [COMPARE_GITHUB] = "github",
        [COMPARE_JSON] = "json",
        [COMPARE_JUNIT] = "junit",
        [COMPARE_CODEQUALITY] = "codequality",
        [COMPARE_SARIF] = "sarif",
        [COMPARE_CTEST] = "ctest",
        NULL,
    };
    int chosen = output_choose_format(name, names, err);

    if (chosen < 0)
        return -1;
    *format = (enum compare_format)chosen;
    return compare_comment_check(options, *format == COMPARE_GITHUB, err);
}

static void write_compare_junit(const struct compare_print *p, const struct comparison *c,
                                struct strbuf *text)
{
    const struct history_side *head = &p->comment.compared->head;
    int newest = run_newest(&head->records);
    const struct run *run = newest < 0 ? NULL : &head->records.runs[newest];
    const struct junit_options options = {
        .base_name = p->comment.compared->base.what,
        .head_name = head->what,
        .machine = run ? run->machine.class_name : NULL,
        .measured_ms = run ? run->started_ms : 0,
    };

    junit_write(c, &options, text);
}

static void write_why_markdown(const struct compare_print *p, struct strbuf *text)
{
    const struct explanations *why = &p->comment.compared->explanations;

    if (why->items.nr == 0)
        return;
    strbuf_adds(text, "\n### Why it got slower\n\n");
    explain_markdown(why, why->items.nr, text);
}

static void write_compare_table(const struct compare_print *p, const struct comparison *c,
                                struct strbuf *text)
{
    struct compare_table_options table = {
        .all = p->all,
        .base_name = p->comment.compared->base.what,
        .head_name = p->comment.compared->head.what,
    };

    if (p->format == COMPARE_MARKDOWN) {
        compare_table_markdown(c, &table, text);
        write_why_markdown(p, text);
        return;
    }
    table.width = output_width(p->output);
    table.colour = output_colour(p->output);
    compare_table_text(c, &table, text);
    explain_text(&p->comment.compared->explanations, text);
}

static void write_compare_ctest(const struct compare_print *p, const struct comparison *c,
                                struct strbuf *text)
{
    const struct compare_request *r = p->comment.request;
    const struct ctest_options options = {
        .filters = (const char *const *)r->filters,
        .nr_filters = compare_request_measures(r) ? 0 : r->nr_filters,
    };

    ctest_write(&p->comment.compared->head.records, c, &options, text);
}

static cJSON *findings_json_of(enum compare_format format, const struct comparison *c,
                               const struct finding_place *places)
{
    struct build own;

    if (format == COMPARE_CODEQUALITY)
        return findings_codequality(c, places);
    environment_build(&own);
    return findings_sarif(c, places, own.version);
}

/* Where nothing was compared a side may have no name but the one it was asked for by. */
static cJSON *comparison_json(const struct compare_print *p, const struct comparison *c)
{
    const struct compare_request *r = p->comment.request;
    const struct compared *compared = p->comment.compared;
    const char *base = compared->base.what, *head = compared->head.what;

    cJSON *json =
        compare_to_json(c, *base ? base : r->baseline, *head || !r->head ? head : r->head);
    if (r->explain)
        cJSON_AddItemToObject(json, "explanations", explain_json(&compared->explanations));
    return json;
}

/* NULL: the form is no JSON. */
static cJSON *compare_json_of(const struct compare_print *p, const struct comparison *c)
{
    cJSON *json;

    if (p->format == COMPARE_JSON)
        return comparison_json(p, c);
    if (p->format != COMPARE_CODEQUALITY && p->format != COMPARE_SARIF)
        return NULL;
    if (p->places)
        return findings_json_of(p->format, c, p->places);
    struct finding_place *places = places_find(c, &p->comment.compared->head.records);
    json = findings_json_of(p->format, c, places);
    places_release(places, c->nr);
    return json;
}

static int print_comparison(const struct compare_print *p, const struct comparison *c,
                            struct error *err)
{
    cJSON *json = compare_json_of(p, c);
    struct strbuf text;

    if (json)
        return output_json(json, p->output, err);
    strbuf_init(&text);
    if (p->format == COMPARE_GITHUB)
        compare_comment_write(&p->comment, &text);
    else if (p->format == COMPARE_JUNIT)
        write_compare_junit(p, c, &text);
    else
        write_compare_table(p, c, &text);
    if (p->format == COMPARE_CTEST)
        write_compare_ctest(p, c, &text);
    int rc = p->format == COMPARE_TEXT ? output_page(&text, p->output, err)
                                       : output_text(&text, p->output, err);
    strbuf_release(&text);
    return rc;
}

int compare_print(const struct compare_print *p, struct error *err)
{
    return print_comparison(p, &p->comment.compared->comparison, err);
}

/* A file of an earlier comparison would pass for this one's. */
static int print_no_rows(const struct compare_print *p, const char *reason, enum exit_status status,
                         struct error *err)
{
    struct comparison c;
    int rc = compare_decide(NULL, 0, &p->comment.compared->rule.settings, &c, err);

    if (rc == 0) {
        c.exit_status = (int)status;
        comparison_note(&c, "%s", reason);
        rc = print_comparison(p, &c, err);
    }
    comparison_release(&c);
    return rc;
}

static bool is_for_programs(enum compare_format format)
{
    return format == COMPARE_JSON || format == COMPARE_JUNIT || format == COMPARE_CODEQUALITY ||
           format == COMPARE_SARIF;
}

int compare_print_nothing(const struct compare_print *p, const char *reason,
                          enum exit_status status, struct error *err)
{
    struct strbuf text;

    if (is_for_programs(p->format))
        return print_no_rows(p, reason, status, err);
    if (p->format == COMPARE_TEXT && output_is_standard(p->output))
        return 0;
    strbuf_init(&text);
    if (p->format == COMPARE_CTEST)
        write_compare_ctest(p, NULL, &text);
    else if (p->format == COMPARE_GITHUB)
        compare_comment_nothing(&p->comment, reason, &text);
    else
        strbuf_addf(&text, "%s\n", reason);
    int rc = output_text(&text, p->output, err);
    strbuf_release(&text);
    return rc;
}
