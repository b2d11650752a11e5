/* SPDX-License-Identifier: MIT */
#include "reporters/comment/findings.h"

#include "base/digest.h"
#include "base/json.h"
#include "reporters/compare_words.h"

#include <string.h>

enum finding_rule { FINDING_SLOWER, FINDING_BROKEN, FINDING_RULES };

static const struct finding_words {
    const char *id, *text;
    const char *severity; /* of Code Quality: info, minor, major, critical, blocker */
    const char *category; /* of Code Climate, whose report Code Quality reads */
    const char *level;    /* of SARIF: note, warning, error */
} finding_words[FINDING_RULES] = {
    [FINDING_SLOWER] = { "performance-regression", "A benchmark got slower", "major", "Performance",
                         "warning" },
    [FINDING_BROKEN] = { "benchmark-broken", "A benchmark fails that worked before", "critical",
                         "Bug Risk", "error" },
};

static const struct finding_words *words_of_finding(const struct compare_row *row)
{
    return &finding_words[row->verdict == VERDICT_BROKEN ? FINDING_BROKEN : FINDING_SLOWER];
}

/* What all findings of one report are told by. */
struct findings {
    const struct comparison *c;
    const struct finding_place *places;
    bool machines; /* there are several classes: a finding says its own */
};

static struct findings findings_of(const struct comparison *c, const struct finding_place *places)
{
    return (struct findings) { c, places, compare_several(c).machines };
}

/* "BM_sort n=8: +20.0 % (+19.7 to +20.2 %), 60.02 us -> 71.99 us, median latency". */
static void describe_finding(const struct findings *f, const struct compare_row *row,
                             struct strbuf *text)
{
    char change[QUANTITY_TEXT_SIZE], interval[QUANTITY_TEXT_SIZE];
    char base[QUANTITY_TEXT_SIZE], head[QUANTITY_TEXT_SIZE];

    strbuf_clear(text);
    strbuf_addf(text, "%s%s%s: ", row->item->bench->key, f->machines ? " on " : "",
                f->machines ? row->item->machine : "");
    if (row->verdict == VERDICT_BROKEN) {
        strbuf_addf(text, "broken%s%s", row->why[0] ? ": " : "", row->why);
        return;
    }
    compare_interval(row, interval);
    compare_change(row, change); /* none where the base has 0 */
    strbuf_addf(text, "%s%s%s%s%s%s -> %s, %s", change, *interval ? " (" : "", interval,
                *interval ? ")" : "", *change ? ", " : "",
                compare_value(row, row->base.value, base),
                compare_value(row, row->head.value, head), row->item->metric->label);
}

/* Forges keep these: what has one machine class has the print that it always had. */
static void fingerprint_finding(const struct findings *f, const struct compare_row *row,
                                char text[DIGEST_TEXT_SIZE])
{
    struct digest digest;

    digest_init(&digest);
    digest_add_text(&digest, words_of_finding(row)->id);
    digest_add_text(&digest, row->item->bench->key);
    digest_add_text(&digest, row->item->metric->id);
    if (f->machines)
        digest_add_text(&digest, row->item->machine);
    digest_text(&digest, text);
}

static cJSON *codequality_of(const struct findings *f, size_t nth)
{
    const struct compare_row *row = &f->c->rows[nth];
    const struct finding_place *place = &f->places[nth];
    cJSON *finding = cJSON_CreateObject(), *categories, *location, *lines;
    char fingerprint[DIGEST_TEXT_SIZE];
    struct strbuf text;

    strbuf_init(&text);
    describe_finding(f, row, &text);
    fingerprint_finding(f, row, fingerprint);
    cJSON_AddStringToObject(finding, "type", "issue");
    categories = cJSON_AddArrayToObject(finding, "categories");
    cJSON_AddItemToArray(categories, cJSON_CreateString(words_of_finding(row)->category));
    cJSON_AddStringToObject(finding, "description", text.data);
    cJSON_AddStringToObject(finding, "check_name", words_of_finding(row)->id);
    cJSON_AddStringToObject(finding, "fingerprint", fingerprint);
    cJSON_AddStringToObject(finding, "severity", words_of_finding(row)->severity);
    location = cJSON_AddObjectToObject(finding, "location");
    cJSON_AddStringToObject(location, "path", place->file);
    lines = cJSON_AddObjectToObject(location, "lines");
    json_add_int(lines, "begin", place->line);
    json_add_int(lines, "end", place->line);
    strbuf_release(&text);
    return finding;
}

cJSON *findings_codequality(const struct comparison *c, const struct finding_place *places)
{
    const struct findings f = findings_of(c, places);
    cJSON *list = cJSON_CreateArray();

    for (size_t i = 0; i < c->nr; i++)
        if (compare_row_is_alarm(&c->rows[i]) && places[i].file)
            cJSON_AddItemToArray(list, codequality_of(&f, i));
    return list;
}

/* ---- SARIF ---- */

static void add_sarif_text(cJSON *object, const char *member, const char *text)
{
    cJSON *message = cJSON_AddObjectToObject(object, member);

    cJSON_AddStringToObject(message, "text", text);
}

/* A URI reference: what a path may hold and a URI may not is written as %XX (RFC 3986). */
static void add_sarif_uri(cJSON *artifact, const char *path)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    struct strbuf uri;

    strbuf_init(&uri);
    for (; *path; path++) {
        if (strchr(plain, *path))
            strbuf_addc(&uri, *path);
        else
            strbuf_addf(&uri, "%%%02X", (unsigned char)*path);
    }
    cJSON_AddStringToObject(artifact, "uri", uri.data);
    strbuf_release(&uri);
}

static void add_sarif_place(cJSON *result, const struct finding_place *place)
{
    cJSON *locations = cJSON_AddArrayToObject(result, "locations");
    cJSON *location = cJSON_CreateObject();
    cJSON *physical = cJSON_AddObjectToObject(location, "physicalLocation");

    add_sarif_uri(cJSON_AddObjectToObject(physical, "artifactLocation"), place->file);
    json_add_int(cJSON_AddObjectToObject(physical, "region"), "startLine", place->line);
    cJSON_AddItemToArray(locations, location);
}

static cJSON *sarif_of(const struct findings *f, size_t nth)
{
    const struct compare_row *row = &f->c->rows[nth];
    const struct finding_place *place = &f->places[nth];
    cJSON *result = cJSON_CreateObject();
    char fingerprint[DIGEST_TEXT_SIZE];
    struct strbuf text;

    strbuf_init(&text);
    describe_finding(f, row, &text);
    fingerprint_finding(f, row, fingerprint);
    cJSON_AddStringToObject(result, "ruleId", words_of_finding(row)->id);
    cJSON_AddStringToObject(result, "level", words_of_finding(row)->level);
    add_sarif_text(result, "message", text.data);
    cJSON *prints = cJSON_AddObjectToObject(result, "partialFingerprints");
    cJSON_AddStringToObject(prints, "benchmark/v1", fingerprint);
    add_sarif_place(result, place);
    strbuf_release(&text);
    return result;
}

static cJSON *add_sarif_notices(cJSON *run)
{
    cJSON *invocation = cJSON_CreateObject();

    cJSON_AddItemToArray(cJSON_AddArrayToObject(run, "invocations"), invocation);
    cJSON_AddBoolToObject(invocation, "executionSuccessful", true);
    return cJSON_AddArrayToObject(invocation, "toolExecutionNotifications");
}

/* One result without a location has GitHub refuse the whole file, so what has no place is a notice
 * of the run: that needs none. */
static void add_sarif_unplaced(cJSON *run, const struct findings *f)
{
    cJSON *list = NULL;
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < f->c->nr; i++) {
        if (!compare_row_is_alarm(&f->c->rows[i]) || f->places[i].file)
            continue;
        cJSON *notice = cJSON_CreateObject();
        list = list ? list : add_sarif_notices(run);
        cJSON_AddStringToObject(notice, "level", "note");
        describe_finding(f, &f->c->rows[i], &text);
        add_sarif_text(notice, "message", text.data);
        cJSON_AddItemToArray(list, notice);
    }
    strbuf_release(&text);
}

static void add_sarif_tool(cJSON *run, const char *version)
{
    cJSON *driver = cJSON_AddObjectToObject(cJSON_AddObjectToObject(run, "tool"), "driver");
    cJSON *rules;

    cJSON_AddStringToObject(driver, "name", "harness");
    json_add_string(driver, "version", version);
    rules = cJSON_AddArrayToObject(driver, "rules");
    for (size_t i = 0; i < FINDING_RULES; i++) {
        cJSON *rule = cJSON_CreateObject();
        cJSON_AddStringToObject(rule, "id", finding_words[i].id);
        add_sarif_text(rule, "shortDescription", finding_words[i].text);
        cJSON_AddItemToArray(rules, rule);
    }
}

cJSON *findings_sarif(const struct comparison *c, const struct finding_place *places,
                      const char *version)
{
    const struct findings f = findings_of(c, places);
    cJSON *json = cJSON_CreateObject(), *run = cJSON_CreateObject(), *results;

    cJSON_AddStringToObject(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    cJSON_AddStringToObject(json, "version", "2.1.0");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "runs"), run);
    add_sarif_tool(run, version);
    cJSON_AddStringToObject(run, "columnKind", "utf16CodeUnits");
    results = cJSON_AddArrayToObject(run, "results");
    for (size_t i = 0; i < c->nr; i++)
        if (compare_row_is_alarm(&c->rows[i]) && places[i].file)
            cJSON_AddItemToArray(results, sarif_of(&f, i));
    add_sarif_unplaced(run, &f);
    return json;
}
