/* SPDX-License-Identifier: MIT */
/* What looks like a secret in a command is not stored, all else is. Covers: U-05. */
#include "testing.h"

#include "text/redact.h"

#include <stdlib.h>

/* Of texts: `sEcReT` is what must go, whatever else goes with it. */
static const struct {
    const char *text, *shown;
} texts[] = {
    { "sort -n --parallel=2 numbers", NULL }, /* NULL: as it is */
    { "", NULL },
    { "train --tokens 512 --max-tokens=64 --tokenizer=bpe --keys=3 --key up", NULL },
    { "GITHUB_TOKENS=3 author=ada", NULL },
    { "curl http://example.org:8080/a@b?c=d", NULL },
    { "--password-file path", NULL },
    { "API_TOKEN=sEcReT ./prog --n=3", "API_TOKEN=*** ./prog --n=3" },
    { "a && DB_PASSWORD=\"sEcReT sEcReT\" b; c", "a && DB_PASSWORD=*** b; c" },
    { "a && DB_PASSWORD='sEcReT", "a && DB_PASSWORD=***" },
    { "prog --password sEcReT --n 3", "prog --password *** --n 3" },
    { "prog --password --n 3", NULL },
    { "prog --client-secret=sEcReT;x", "prog --client-secret=***;x" },
    { "(export Api_Key=sEcReT)", "(export Api_Key=***)" },
    { "aws --secret-access-key sEcReT", "aws --secret-access-key ***" },
    { "curl -H 'Authorization: Bearer sEcReT' -o out", "curl -H 'Authorization: ***' -o out" },
    { "curl -d '{\"password\": \"sEcReT\", \"n\": 3}'", "curl -d '{\"password\": ***, \"n\": 3}'" },
    { "git fetch https://ada:sEcReT@example.org/x.git y@z",
      "git fetch https://***@example.org/x.git y@z" },
    { "https://sEcReT@sEcReT@host", "https://***@host" },
    { "token", NULL },
    { "token=", NULL },
    { "token=sEcReT", "token=***" },
};

TEST(a_text)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char *shown = redact_text(texts[i].text);
        assert_string_equal(shown, texts[i].shown ? texts[i].shown : texts[i].text);
        free(shown);
    }
    assert_null(redact_text(NULL));
}

/* A word may hold blanks, and a secret may be a word by itself. */
TEST(words)
{
    static const char *const given[] = {
        "env", "A_TOKEN=sEcReT sEcReT", "--token",  "sEcReT sEcReT", "--token", "--quick", "sh",
        "-c",  "x PASSWORD=sEcReT; y",  "--secret",
    };
    static const char *const shown[] = {
        "env", "A_TOKEN=***", "--token",           "***",      "--token", "--quick",
        "sh",  "-c",          "x PASSWORD=***; y", "--secret",
    };
    enum { NR = sizeof(given) / sizeof(given[0]) };
    struct string_list all = { 0 }, hidden = { 0 };

    for (size_t i = 0; i < NR; i++)
        string_list_add(&all, given[i]);
    redact_words(&all, &hidden);
    assert_int_equal(hidden.nr, NR);
    for (size_t i = 0; i < NR; i++)
        assert_string_equal(hidden.items[i], shown[i]);
    string_list_release(&all);
    string_list_release(&hidden);
}

RUN_TESTS(NULL, NULL)
