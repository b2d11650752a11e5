/* SPDX-License-Identifier: MIT */
/* What a profile answers on the page: sentences, cards and lists of traces whose numbers are
 * known.
 * Covers: S4-17, S4-22, S4-30, S4-32, S4-33. */
#include "testing.h"

#include "base/json.h"
#include "page/page_parts.h"
#include "profile_fixture.h"
#include "text/ticks.h"

static const char *text_of(const cJSON *json, const char *key)
{
    return json_string(json, key, "");
}

static const cJSON *list_of(const cJSON *json, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(json, key);
}

static void assert_words(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, text);
}

static const char *card_of(const cJSON *json, const char *label)
{
    const cJSON *card;

    cJSON_ArrayForEach(card, list_of(json, "cards"))
    {
        if (strcmp(text_of(card, "label"), label) == 0)
            return text_of(card, "value");
    }
    return NULL;
}

static bool says(const cJSON *json, const char *words)
{
    const cJSON *sentence;

    cJSON_ArrayForEach(sentence, list_of(json, "words"))
    {
        if (strstr(sentence->valuestring, words))
            return true;
    }
    return false;
}

static void take(struct profile_data *data, struct prof_trace *trace, const char *name,
                 const struct profile_facts *facts)
{
    struct error err;

    assert_ok(profile_data_init(data, trace, name, facts, &err), &err);
}

/* Released by its caller. */
static cJSON *answer_of(const struct profile_data *data, const struct profile_data *base)
{
    const struct view view = { .head = -1, .profile = data, .profile_base = base };
    cJSON *json = page_profile(&view);

    assert_non_null(json);
    return json;
}

/* `nr` forwards of 1 ms on a thread: head has 655 us of it and 3.9e7 FLOPs, qkv 300 us. */
static void make_small(struct prof_trace *trace, int nr)
{
    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    for (int i = 0; i < nr; i++) {
        int64_t at = (int64_t)i * 1000000;
        add_slice(trace, track, at, at + 1000000, "gpt/tiny/prefill", PROF_SCOPES);
        add_slice(trace, track, at, at + 300000, "qkv", PROF_SCOPES);
        int head = add_slice(trace, track, at + 300000, at + 955000, "head", PROF_SCOPES);
        trace->slices[head].flops = 3.9e7;
    }
    trace->meta = (struct prof_meta) { .end = nr * 1000000, .rate = 1 };
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
}

/* Of `nr` such forwards. */
static cJSON *answer_of_small(int nr, const struct profile_facts *facts)
{
    struct prof_trace trace;
    struct profile_data data;

    make_small(&trace, nr);
    take(&data, &trace, "profile-tiny", facts);
    cJSON *json = answer_of(&data, NULL);
    profile_data_release(&data);
    return json;
}

TEST(headline_names_the_operation_its_share_and_roof)
{
    static const struct {
        const char *label, *value;
    } cards[] = {
        { "operations recorded", "12" },
        { "different operations", "3" },
        { "total time", "4.000 ms" },
        { "own time of a call, on average", "333.3 µs" },
        { "iterations", "4" },
        { "of the time went into recording", "< 0.1 %" }, /* 12 scopes of 50 ns in 4 ms */
    };
    /* 3.9e7 FLOPs in 655 us are 59.54e9 a second: 93 % of 64.02e9 */
    const struct profile_facts facts = { .benchmark =
                                             "gpt/tiny/prefill/simd/fp32/batch=1/cpu-1t/warm",
                                         .launches = 3,
                                         .roofs = { .math = "fp32", .flops = 64.02e9 },
                                         .cost = { .on = 50 } };

    cJSON *json = answer_of_small(4, &facts);
    assert_string_equal(text_of(json, "headline"),
                        "head takes 65.5 % of gpt/tiny/prefill and runs at 93 % of the FMA roof.");
    assert_true(says(json,
                     "4 iterations of 1.000 ms (median); the operations cover 95.5 %; the last "
                     "of 3 launches."));
    assert_string_equal(text_of(json, "benchmark"), facts.benchmark);
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++)
        assert_string_equal(card_of(json, cards[i].label), cards[i].value);
    cJSON_Delete(json);
}

TEST(worst_operations_have_their_metrics)
{
    const struct profile_facts facts = { .roofs = { .math = "fp32", .flops = 64.02e9 } };

    cJSON *json = answer_of_small(4, &facts);
    const cJSON *top = list_of(json, "top");
    assert_int_equal(cJSON_GetArraySize(top), 3);
    assert_string_equal(text_of(cJSON_GetArrayItem(top, 0), "operation"), "head");
    assert_string_equal(text_of(cJSON_GetArrayItem(top, 0), "words"),
                        "2.620 ms, 65.5 % of the time, 4 calls of 655.0 µs (median), "
                        "59.54 GFLOP/s, 93 % of the FMA roof");
    assert_string_equal(text_of(cJSON_GetArrayItem(top, 1), "operation"), "qkv");
    cJSON_Delete(json);
}

/* Advice needs roofs; without them neither it nor the headline speaks of any. */
TEST(advice_has_its_evidence)
{
    const struct profile_facts facts = { .roofs = { .math = "fp32", .flops = 64.02e9 } };

    cJSON *json = answer_of_small(2, &facts);
    const cJSON *first = cJSON_GetArrayItem(list_of(json, "advice"), 0);
    assert_words(text_of(first, "text"), "head: 66 % of the time at 93 % of the FMA roof");
    assert_words(text_of(first, "evidence"),
                 "fraction of its roof: 0.93, told from 0.8 on (rule "
                 "at-limit)");
    cJSON_Delete(json);

    json = answer_of_small(2, NULL);
    assert_string_equal(text_of(json, "headline"), "head takes 65.5 % of gpt/tiny/prefill.");
    assert_int_equal(cJSON_GetArraySize(list_of(json, "advice")), 0);
    assert_null(card_of(json, "of the time went into recording"));
    cJSON_Delete(json);
}

TEST(parts_of_the_time_are_words)
{
    cJSON *json = answer_of_small(2, NULL);
    const cJSON *split = list_of(json, "split"), *parts = list_of(split, "parts");
    assert_string_equal(text_of(split, "title"), "The main thread's 2.000 ms");
    assert_int_equal(cJSON_GetArraySize(parts), 1);
    assert_string_equal(text_of(cJSON_GetArrayItem(parts, 0), "share"), "100 %");
    assert_string_equal(text_of(cJSON_GetArrayItem(parts, 0), "words"),
                        "inside scopes of the main thread");
    cJSON_Delete(json);
}

/* With kernels in it the GPU's time counts, by the scopes that started them. */
TEST(on_a_gpu_its_time_counts)
{
    char share[QUANTITY_TEXT_SIZE], words[160];
    struct prof_trace trace;
    struct profile_data data;

    make_forwards(&trace, 1);
    take(&data, &trace, "forward", NULL);
    cJSON *json = answer_of(&data, NULL);
    double head = 520000.0 * FORWARDS / (double)data.rows.total[PROF_DEVICE];
    snprintf(words, sizeof(words), "head takes %s of the GPU's time in gpt/nano/prefill",
             quantity_text(QUANTITY_SHARE, "", head, share));
    assert_words(text_of(json, "headline"), words);
    assert_words(text_of(json, "headline"), "; the GPU is idle for ");
    assert_true(says(json, "Of 2 threads this is the main one"));
    assert_string_equal(text_of(json, "top_by"), "time on the GPU of the work they started");
    assert_words(text_of(list_of(json, "split"), "title"), "GPU 0's ");
    assert_non_null(card_of(json, "on the GPU"));
    cJSON_Delete(json);
    profile_data_release(&data);
}

TEST(of_two_the_answer_is_the_change)
{
    struct profile_data before, after;
    struct prof_trace trace;

    make_forwards(&trace, 1);
    take(&before, &trace, "old", NULL);
    make_forwards(&trace, 1.25);
    take(&after, &trace, "new", NULL);
    cJSON *json = answer_of(&after, &before);
    const char *headline = text_of(json, "headline");
    assert_true(strncmp(headline, "fc changed most: ", 17) == 0);
    assert_words(headline, " more an iteration (+2"); /* of its own time, launches not counted */
    assert_words(headline, " of all change.");
    assert_string_equal(text_of(json, "base"), "old");
    assert_true(says(json, "An iteration takes 3.5"));
    assert_true(says(json, " of the GPU's time in ")); /* where the time goes comes behind it */
    assert_true(says(json, "One pair of profiles shows no noise"));
    const cJSON *first = cJSON_GetArrayItem(list_of(json, "changes"), 0);
    assert_string_equal(text_of(first, "operation"), "fc");
    assert_words(text_of(first, "words"), " before, ");
    cJSON_Delete(json);

    json = answer_of(&after, &after);
    assert_words(text_of(json, "headline"), "No operation changed");
    assert_int_equal(cJSON_GetArraySize(list_of(json, "changes")), 0);
    cJSON_Delete(json);
    profile_data_release(&before);
    profile_data_release(&after);
}

TEST(what_holds_little_is_said)
{
    struct prof_trace trace;
    struct profile_data data;

    prof_trace_init(&trace);
    take(&data, &trace, "empty", NULL);
    cJSON *json = answer_of(&data, NULL);
    assert_string_equal(text_of(json, "headline"),
                        "Nothing was recorded in empty that took any time.");
    assert_null(list_of(json, "cards"));
    cJSON_Delete(json);
    profile_data_release(&data);

    int track = prof_trace_track(&trace, &(struct prof_track) { .process = 1, .thread = 1 });
    add_slice(&trace, track, 0, 5000, "gemm/linear", PROF_SCOPES);
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    take(&data, &trace, "one", NULL);
    json = answer_of(&data, NULL);
    assert_string_equal(text_of(json, "headline"),
                        "gemm/linear is one operation: nothing inside it was recorded.");
    cJSON_Delete(json);
    profile_data_release(&data);
    const struct view none = { .head = -1 };
    assert_null(page_profile(&none));
}

/* ---- the whole trace ---- */

/* Steps of a call and the kernel that it launches; kernels are longer the later they are. */
static void make_launches(struct prof_trace *trace, int nr)
{
    prof_trace_init(trace);
    int host = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    int stream = prof_trace_track(trace, &(struct prof_track) { .kind = PROF_TRACK_STREAM,
                                                                .device = PROF_GPU_AT(0),
                                                                .thread = 7,
                                                                .name = "stream 7" });
    for (int i = 0; i < nr; i++) {
        struct prof_slice s = { .track = host,
                                .parent = PROF_FIND_PARENT,
                                .start = i * 1000,
                                .duration = 900,
                                .name = "step",
                                .category = PROF_SCOPES,
                                .memory_live = -1,
                                .memory_peak = -1 };
        prof_trace_slice(trace, &s);
        s.start += 10;
        s.duration = 20;
        s.name = "launch";
        s.category = PROF_RUNTIME_CALLS;
        int call = prof_trace_slice(trace, &s);
        s.track = stream;
        s.start += 100;
        s.duration = 100 + i;
        s.name = "gemm";
        s.category = PROF_KERNELS;
        s.device = PROF_GPU_AT(0);
        prof_trace_flow(trace, call, prof_trace_slice(trace, &s));
    }
    trace->meta.end = nr * 1000;
    prof_trace_sort(trace, NULL);
}

/* Released by its caller. */
static cJSON *trace_of(const struct profile_data *data, size_t most, size_t *written)
{
    const struct view view = { .head = -1, .profile = data };
    struct strbuf text;
    struct error err;

    strbuf_init(&text);
    *written = page_trace(&view, most, &text);
    cJSON *json = json_parse(text.data, text.length, "the trace", &err);
    assert_non_null(json);
    strbuf_release(&text);
    return json;
}

static int64_t number_in(const cJSON *json, const char *column, size_t i)
{
    return (int64_t)cJSON_GetArrayItem(list_of(json, column), (int)i)->valuedouble;
}

/* The columns say of each slice what the trace does, and what started it. */
TEST(the_whole_trace_is_columns)
{
    static const char *const columns[] = {
        "name", "backend", "start", "duration", "launch", "kind"
    };
    enum { STEPS = 8 };
    struct profile_data data;
    struct prof_trace trace;
    size_t written;
    int64_t last = -1;

    make_launches(&trace, STEPS);
    take(&data, &trace, "launches", NULL);
    cJSON *json = trace_of(&data, 1000, &written);
    assert_int_equal(written, 3 * STEPS);
    for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++)
        assert_int_equal(cJSON_GetArraySize(list_of(json, columns[c])), 3 * STEPS);
    assert_null(list_of(json, "bytes")); /* nobody says any */
    assert_int_equal(json_int(json, "left_out", -1), 0);
    assert_int_equal(json_int(cJSON_GetArrayItem(list_of(json, "lanes"), 1), "slices", 0), STEPS);
    for (size_t i = 0; i < 3 * STEPS; i++) {
        const struct prof_slice *s = &data.trace.slices[i];
        const cJSON *name =
            cJSON_GetArrayItem(list_of(json, "names"), (int)number_in(json, "name", i));
        int64_t step = number_in(json, "launch", i);
        assert_string_equal(name->valuestring, s->name);
        assert_int_equal(number_in(json, "duration", i), s->duration);
        assert_int_equal(step != 0, !strcmp(s->name, "gemm"));
        last += step;
        if (step) /* the call of its own step */
            assert_int_equal(data.trace.slices[last].start, s->start - 100);
    }
    cJSON_Delete(json);
    profile_data_release(&data);
}

/* Without room the part that is shown first stays whole, and of the rest the longest. */
TEST(of_a_long_trace_the_longest_stay)
{
    enum { STEPS = 3000, MOST = 4000 };
    struct profile_data data;
    struct prof_trace trace;
    size_t written;
    int64_t long_ones = 0, steps = 0, shortest;

    make_launches(&trace, STEPS);
    take(&data, &trace, "launches", NULL);
    cJSON *json = trace_of(&data, MOST, &written);
    assert_int_equal(written, MOST);
    assert_int_equal(json_int(json, "left_out", 0), 3 * STEPS - MOST);
    shortest = json_int(json, "shortest", 0);
    assert_true(shortest > 100);
    for (size_t i = 0; i < written; i++) {
        long_ones += number_in(json, "duration", i) >= shortest;
        steps += number_in(json, "duration", i) == 900;
    }
    assert_true(long_ones >= MOST - 10); /* the window has two steps, six slices */
    /* all kernels longer than a step, and of the steps, which are alike, those there is room for */
    assert_true(shortest == 900 && steps > 1500 && steps < STEPS);
    cJSON_Delete(json);
    profile_data_release(&data);
}

TEST(without_slices_there_is_no_trace)
{
    const struct view none = { .head = -1 };
    struct strbuf text;

    strbuf_init(&text);
    assert_int_equal(page_trace(&none, 10, &text), 0);
    assert_int_equal(text.length, 0);
    strbuf_release(&text);
}

RUN_TESTS(NULL, NULL)
