/* SPDX-License-Identifier: MIT */
/* What to type to get a page's runs, figures and verdicts again. Covers: S1-31. */
#include "testing.h"

#include "page_fixture.h"

/* Each is asked for what it has options for, and for nothing else. */
TEST_WITH_A(test_commands_ask_for_the_same, struct view, view, view_release)
{
    static const struct {
        const char *command, *text;
    } cases[] = {
        { "plot",
          "harness plot 1 --filter '*n=64*' --filter '!gpt' --delta 0.2 --group-by compiler "
          "--preset a.json,b.json --db old.db --config 'my view.json' --only {figure}" },
        { "config",
          "harness plot 1 --filter '*n=64*' --filter '!gpt' --delta 0.2 --group-by "
          "compiler --preset a.json,b.json --db old.db --config {file}" },
        { "report",
          "harness report 1 --filter '*n=64*' --filter '!gpt' --delta 0.2 --group-by "
          "compiler --preset a.json,b.json --db old.db --config 'my view.json' --profile "
          "'old,the new'" },
        { "options",
          "--filter '*n=64*' --filter '!gpt' --delta 0.2 --group-by compiler --preset "
          "a.json,b.json" },
        { "run_one", "harness run {key}" },
    };
    struct page_asked asked = { .group_by = "compiler", .config = "my view.json", .delta = 0.2 };
    const struct page_options options = { .generator = "harness 0.1.0",
                                          .history = "old.db",
                                          .asked = &asked };
    struct page page;

    view_made(view, 0);
    made_run(&view->records, 0, "1f3a9c2", "gcc 12.2.0");
    string_list_add(&asked.filters, "*n=64*");
    string_list_add(&asked.filters, "!gpt");
    string_list_add_split(&asked.presets, "a.json,b.json", ',');
    string_list_add_split(&asked.profiles, "old,the new", ',');
    page_init(&page, view, &options);
    cJSON *core = core_of(&page, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(member(member(core, "commands"), cases[i].command)->valuestring,
                            cases[i].text);
    cJSON_Delete(core);
    page_release(&page);
    string_list_release(&asked.filters);
    string_list_release(&asked.presets);
    string_list_release(&asked.profiles);
}

RUN_TESTS(NULL, NULL)
