/* SPDX-License-Identifier: MIT */
/* One benchmark on one machine class, and on two: every report of a comparison tells them apart. */
#include "testing.h"

#include "output_records.h"

#include "base/json.h"
#include "metrics/label.h"
#include "reporters/comment/findings.h"
#include "reporters/compare_json.h"
#include "reporters/compare_table.h"
#include "reporters/compare_words.h"
#include "reporters/junit.h"
#include "verdict/compare.h"

enum { LAUNCHES = 5 };

static const char key[] = "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm";

struct classes {
    struct records base, head;
    struct comparison c;
    struct strbuf out;
};

/* A run of each of the classes, with times of `ns`. */
static void classes_add_side(struct records *r, const char *const *classes, double ns)
{
    for (int i = 0; classes[i]; i++) {
        int run = made_run(r, i, "feedbeef", "gcc");
        snprintf(r->runs[run].machine.class_name, sizeof(r->runs[run].machine.class_name), "%s",
                 classes[i]);
        for (int launch = 0; launch < LAUNCHES; launch++)
            made_measurement(r, run, launch, key, ns, 0.002, 9, made_seed(run, launch, (int)ns));
    }
}

static void classes_compare(struct classes *k, const char *const *classes)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct error err;

    classes_add_side(&k->base, classes, 1e6);
    classes_add_side(&k->head, classes, 2e6);
    assert_ok(compare_run(&k->base, &k->head, &settings, &k->c, &err), &err);
    strbuf_init(&k->out);
}

static void classes_release(struct classes *k)
{
    comparison_release(&k->c);
    records_release(&k->base);
    records_release(&k->head);
    strbuf_release(&k->out);
}

static const char *const one_class[] = { "epyc", NULL }, *const two_classes[] = { "epyc", "xeon",
                                                                                  NULL };

TEST(labels_have_the_machine)
{
    struct classes k = { 0 };

    classes_compare(&k, two_classes);
    assert_int_equal(k.c.nr, 2);
    char **labels = compare_labels(&k.c);
    assert_has(labels[0], k.c.rows[0].item->machine);
    assert_has(labels[1], k.c.rows[1].item->machine);
    assert_true(strcmp(labels[0], labels[1]) != 0);
    labels_free(labels, k.c.nr);
    compare_table_rows(&k.c, true, &k.out);
    assert_has(k.out.data, "epyc |");
    assert_has(k.out.data, "xeon |");
    classes_release(&k);
}

TEST(junit_cases_have_the_machine)
{
    static const struct {
        const char *const *classes;
        const char *has[2], *lacks;
    } rows[] = {
        { one_class, { "k=8/cpu-4t/warm\"", "k=8/cpu-4t/warm: slower" }, " on " },
        { two_classes, { "k=8/cpu-4t/warm on epyc\"", "k=8/cpu-4t/warm on xeon\"" }, "/warm\"" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct classes k = { 0 };
        classes_compare(&k, rows[i].classes);
        junit_write(&k.c, &(struct junit_options) { .machine = "epyc" }, &k.out);
        assert_has(k.out.data, rows[i].has[0]);
        assert_has(k.out.data, rows[i].has[1]);
        assert_lacks(k.out.data, rows[i].lacks);
        classes_release(&k);
    }
}

TEST(json_rows_have_the_machine)
{
    struct classes k = { 0 };

    classes_compare(&k, two_classes);
    cJSON *json = compare_to_json(&k.c, "base", "head");
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(json, "rows");
    for (int i = 0; i < 2; i++)
        assert_string_equal(json_string(cJSON_GetArrayItem(rows, i), "machine", ""),
                            k.c.rows[i].item->machine);
    cJSON_Delete(json);
    classes_release(&k);
}

static const char *codequality_print(const cJSON *list, int nth)
{
    return json_string(cJSON_GetArrayItem(list, nth), "fingerprint", "");
}

/* Forges keep fingerprints: of one class it is the digest of rule, key and metric, as ever. */
TEST(findings_of_two_machines_are_two)
{
    struct finding_place places[2] = { { .file = (char *)"a.c", .line = 1 },
                                       { .file = (char *)"a.c", .line = 1 } };
    struct classes one = { 0 }, two = { 0 };

    classes_compare(&one, one_class);
    classes_compare(&two, two_classes);
    cJSON *alone = findings_codequality(&one.c, places),
          *both = findings_codequality(&two.c, places);
    assert_int_equal(cJSON_GetArraySize(alone), 1);
    assert_int_equal(cJSON_GetArraySize(both), 2);
    assert_string_equal(codequality_print(alone, 0), "421d1044660bb332f120c9f63f924d5b");
    assert_true(strcmp(codequality_print(both, 0), codequality_print(both, 1)) != 0);
    assert_lacks(json_string(cJSON_GetArrayItem(alone, 0), "description", ""), " on epyc");
    assert_has(json_string(cJSON_GetArrayItem(both, 0), "description", ""), "/warm on ");
    cJSON *sarif = findings_sarif(&two.c, places, "1");
    char *text = cJSON_PrintUnformatted(sarif);
    assert_has(text, codequality_print(both, 0));
    assert_has(text, codequality_print(both, 1));
    assert_has(text, "/warm on epyc: ");
    assert_has(text, "/warm on xeon: ");
    free(text);
    cJSON_Delete(alone);
    cJSON_Delete(both);
    cJSON_Delete(sarif);
    classes_release(&one);
    classes_release(&two);
}

static const cJSON *sarif_of_run(const cJSON *sarif, const char *member)
{
    const cJSON *run = cJSON_GetArrayItem(cJSON_GetObjectItem(sarif, "runs"), 0);

    return cJSON_GetObjectItem(run, member);
}

/* GitHub refuses a whole file for one result without a location. */
TEST(sarif_results_have_places)
{
    static const struct {
        const char *files[2];
        int results, notices;
        size_t first; /* row that is told by the first notice */
    } rows[] = {
        { { "a.c", "b.c" }, 2, 0, 0 },
        { { NULL, "b.c" }, 1, 1, 0 },
        { { "a.c", NULL }, 1, 1, 1 },
        { { NULL, NULL }, 0, 2, 0 },
    };
    struct classes k = { 0 };

    classes_compare(&k, two_classes);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct finding_place places[2] = { { .file = (char *)rows[i].files[0], .line = 1 },
                                           { .file = (char *)rows[i].files[1], .line = 2 } };
        cJSON *sarif = findings_sarif(&k.c, places, "1");
        const cJSON *results = sarif_of_run(sarif, "results"), *result;
        const cJSON *invocation = cJSON_GetArrayItem(sarif_of_run(sarif, "invocations"), 0);
        const cJSON *notices = cJSON_GetObjectItem(invocation, "toolExecutionNotifications");
        const cJSON *first = cJSON_GetArrayItem(notices, 0);
        assert_int_equal(cJSON_GetArraySize(results), rows[i].results);
        cJSON_ArrayForEach(result, results)
            assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(result, "locations")), 1);
        assert_int_equal(cJSON_GetArraySize(notices), rows[i].notices);
        assert_int_equal(json_bool(invocation, "executionSuccessful", false), rows[i].notices > 0);
        if (rows[i].notices)
            assert_has(json_string(cJSON_GetObjectItem(first, "message"), "text", ""),
                       k.c.rows[rows[i].first].item->machine);
        cJSON_Delete(sarif);
    }
    classes_release(&k);
}

RUN_TESTS(NULL, NULL)
