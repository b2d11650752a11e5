/* SPDX-License-Identifier: MIT */
/* Features: U-07: the cards of steps and drifts, and the commands on them. */
#include "trend_testing.h"

#include "base/clean.h"
#include "reporters/trend/trend_cards.h"
#include "reporters/trend/trend_command.h"

#include <stdlib.h>

/* A step is searched for; of a drift both ends are measured; else there is a reason. */
MADE_TEST(test_commands)
{
    struct trend_command command;
    size_t nr;

    made_init(made);
    made->trends.settings.repository = &repository;
    made->trends.items[0].items[0].accepted = NULL;
    struct trend_card *cards = trends_cards(&made->trends, &nr);
    assert_int_equal(nr, 2);
    trend_command_make(&made->trends, &cards[0], &command);
    assert_string_equal(command.text.data,
                        "harness compare --build --baseline abc0001 --head abc003c " RAMP);
    trend_command_release(&command);
    trend_command_make(&made->trends, &cards[1], &command);
    assert_string_equal(command.text.data, "harness bisect --good abc0028 --bad abc0029 " SLOWER);
    trend_command_release(&command);
    struct strbuf card;
    strbuf_init(&card);
    trend_card_markdown(&made->trends, &cards[1], "slow one", &card);
    assert_has(card.data, "slow one, still there\n");
    assert_has(card.data, "\n    ```sh\n    harness bisect --good abc0028 --bad abc0029 " SLOWER
                          "\n    ```\n");
    strbuf_release(&card);
    struct run *bad = &made->records.runs[AT];
    const struct run own = *bad;
    static const struct {
        enum run_kind kind;
        bool dirty;
        const char *commit, *reason;
    } cases[] = {
        { RUN_IMPORTED, false, "abc0029", "results of another program" },
        { RUN_MEASURED, true, "abc0029", "uncommitted changes" },
        { RUN_MEASURED, false, "", "is not known" },
        { RUN_MEASURED, false, "abc0028", "same commit" },
        { RUN_MEASURED, false, "abc0001", "does not lead" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        *bad = own;
        bad->kind = cases[i].kind;
        bad->build.dirty = cases[i].dirty;
        snprintf(bad->build.commit, sizeof(bad->build.commit), "%s", cases[i].commit);
        trend_command_make(&made->trends, &cards[1], &command);
        assert_int_equal(command.text.length, 0);
        assert_has(command.reason, cases[i].reason);
        trend_command_release(&command);
    }
    *bad = own;
    free(cards);
}

TEST(test_fold)
{
    static const struct {
        size_t width;
        const char *text, *folded;
    } cases[] = {
        { 0, "harness bisect --good a --bad b key", "  harness bisect --good a --bad b key" },
        { 30, "harness bisect --good a --bad b key",
          "  harness bisect --good a \\\n    --bad b key" },
        { 20, "a --all --b 'it is one' c", "  a --all \\\n    --b 'it is one' \\\n    c" },
        { 10, "a a-word-that-is-long", "  a \\\n    a-word-that-is-long" },
    };
    struct strbuf out;

    strbuf_init(&out);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        strbuf_clear(&out);
        trend_command_fold(cases[i].text, 2, cases[i].width, &out);
        assert_string_equal(out.data, cases[i].folded);
    }
    strbuf_release(&out);
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;

    for (const char *end; *text; text = *end ? end + 1 : end) {
        char line[512];
        end = strchrnul(text, '\n');
        snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
        widest = clean_columns(line) > widest ? clean_columns(line) : widest;
    }
    return widest;
}

MADE_TEST(test_width)
{
    struct strbuf out;
    size_t nr;

    made_init(made);
    made->trends.settings.repository = &repository;
    struct trend_card *cards = trends_cards(&made->trends, &nr);
    strbuf_init(&out);
    for (size_t width = 60; width <= 120; width += 20) {
        struct trend_cards_options options = { .width = width };
        strbuf_clear(&out);
        for (size_t i = 0; i < nr; i++)
            trend_card_text(&made->trends, &cards[i], "a name of a benchmark that is a little long",
                            &options, &out);
        assert_true(widest_line(out.data) <= width);
        assert_lacks(out.data, "\033");
    }
    strbuf_clear(&out);
    trend_card_text(&made->trends, &cards[0], "one",
                    &(struct trend_cards_options) { .width = 80, .colour = true }, &out);
    assert_has(out.data, "\033[38;5;208m▲ drift");
    strbuf_release(&out);
    free(cards);
}

RUN_TESTS(NULL, NULL)
