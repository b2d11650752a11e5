/* SPDX-License-Identifier: MIT */
/* Characters that no font has: who is asked, and what stands in their place. */
#include "testing.h"

#include "base/file.h"
#include "base/memory.h"
#include "figure/fonts.h"

#include <stdlib.h>
#include <sys/stat.h>

#define FOLDER HARNESS_TEST_DIR "/fonts"

/* The only program that there is: an fc-list with this script; NULL: none. */
static void only_fc_list(const char *script)
{
    struct error err;

    assert_ok(file_make_directory(FOLDER, &err), &err);
    remove(FOLDER "/fc-list");
    if (!script)
        return;
    assert_ok(file_write(FOLDER "/fc-list", script, strlen(script), &err), &err);
    assert_int_equal(chmod(FOLDER "/fc-list", 0755), 0);
}

TEST(lacking_is_what_no_font_has)
{
    static const char dejavu[] = "#!/bin/sh\necho '20-7e a0-525 2713'\necho '1f680 25a1'\n";
    static const struct {
        const char *script, *text, *lacking;
    } rows[] = {
        { dejavu, "plain, café, µ … → □", "" },
        { dejavu, "日本 and 本日", "日本" },
        { dejavu, "✓ 🚀 日", "日" },
        { dejavu, "\xff 日 \xe6\x97", "日" },
        { NULL, "✓ 🚀 日 एक 𝔸", "🚀日𝔸" },
        { "#!/bin/sh\nexit 1\n", "✓ 🚀", "🚀" },
        { "#!/bin/sh\necho nothing\n", "✓ 🚀", "🚀" },
        { "#!/bin/sh\necho 1f680\n", "plain, µ", "" }, /* nobody is asked */
    };
    char *path = memory_string(getenv("PATH"));

    setenv("PATH", FOLDER, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf lacking;
        only_fc_list(rows[i].script);
        strbuf_init(&lacking);
        fonts_lack(rows[i].text, &lacking);
        assert_string_equal(lacking.data, rows[i].lacking);
        strbuf_release(&lacking);
    }
    setenv("PATH", path, 1);
    free(path);
}

TEST(boxes_take_their_places)
{
    static const struct {
        const char *text, *lacking, *boxed;
    } rows[] = {
        { "日本 a", "日本🚀", "□□ a" },
        { "a🚀b", "日🚀", "a□b" },
        { "日本", "", "日本" },
        { "日本", "本", "日□" },
        { "caf\xc3\xa9 \xff", "é", "caf□ \xff" },
        { "", "日", "" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf boxed;
        strbuf_init(&boxed);
        fonts_box(rows[i].text, rows[i].lacking, &boxed);
        assert_string_equal(boxed.data, rows[i].boxed);
        strbuf_release(&boxed);
    }
}

RUN_TESTS(NULL, NULL)
