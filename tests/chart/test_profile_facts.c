/* SPDX-License-Identifier: MIT */
/* What profile.json adds to a trace: written, read back, and refused where it is none. Covers:
 * S4-32. */
#include "testing.h"

#include "base/file.h"
#include "base/json.h"
#include "chart/base/profile_facts.h"

#include <string.h>

static const char path[] = HARNESS_TEST_DIR "/profile_facts.json";

static void assert_words(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, text);
}

static void write_text(const char *text)
{
    struct error err;

    assert_ok(file_write(path, text, strlen(text), &err), &err);
}

TEST(facts_are_read_back)
{
    const struct timeline_roofs roofs = { .math = "fp32",
                                          .flops = 61.25e9,
                                          .bandwidth = { 19e9, 0, 84.5e9, 0 } };
    struct profile_facts facts;
    struct error err;
    cJSON *json = cJSON_Parse(
        "{\"schema_version\":1,\"profile\":\"gpt/nano\",\"launches\":3,"
        "\"summary\":{\"cost\":{\"on\":41.5,\"off\":1,\"clock\":20}}}");

    profile_roofs_to_json(&roofs, json);
    assert_ok(json_write_file(json, path, true, &err), &err);
    cJSON_Delete(json);
    assert_ok(profile_facts_read(path, &facts, &err), &err);
    assert_string_equal(facts.benchmark, "gpt/nano");
    assert_int_equal(facts.launches, 3);
    assert_close(facts.cost.on, 41.5, 0);
    assert_close(facts.roofs.flops, 61.25e9, 0);
    assert_string_equal(facts.roofs.math, "fp32");
    assert_close(facts.roofs.bandwidth[0], 19e9, 0);
    assert_close(facts.roofs.bandwidth[1], 0, 0);
    assert_close(facts.roofs.bandwidth[2], 84.5e9, 0);
}

TEST(no_roofs_are_no_member)
{
    const struct timeline_roofs roofs = { .math = "fp32" };
    cJSON *json = cJSON_CreateObject();

    profile_roofs_to_json(&roofs, json);
    assert_null(json->child);
    cJSON_Delete(json);
}

/* An import has a file's name, no benchmark; hostile numbers are no roofs. */
TEST(odd_facts)
{
    struct profile_facts facts;
    struct error err;

    write_text(
        "{\"schema_version\":1,\"profile\":\"x.json\",\"launches\":0,\"summary\":{},"
        "\"roofs\":{\"math\":7,\"flops\":-1,\"bandwidth\":[1]}}");
    assert_ok(profile_facts_read(path, &facts, &err), &err);
    assert_string_equal(facts.benchmark, "");
    assert_close(facts.roofs.flops, 0, 0);
    assert_close(facts.roofs.bandwidth[0], 0, 0);
    write_text("{\"schema_version\":1,\"profile\":\"gpt/nano\",\"launches\":-3,\"summary\":{}}");
    assert_ok(profile_facts_read(path, &facts, &err), &err);
    assert_int_equal(facts.launches, 0); /* not known */
    assert_string_equal(facts.benchmark, "");
    write_text("{\"schema_version\":2,\"summary\":{}}");
    assert_int_equal(profile_facts_read(path, &facts, &err), -1);
    assert_words(err.message, "profile_facts.json: it is no profile.json that this harness knows");
    write_text("{\"schema_version\":1");
    assert_int_equal(profile_facts_read(path, &facts, &err), -1);
    assert_words(err.message, "profile_facts.json");
    assert_int_equal(profile_facts_read(HARNESS_TEST_DIR "/nowhere.json", &facts, &err), -1);
}

RUN_TESTS(NULL, NULL)
