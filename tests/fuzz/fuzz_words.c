/* SPDX-License-Identifier: MIT */
/*
 * launch/launch_words.h: what comes through the channel of a measuring process. The first byte
 * says how: bit 0, whether the process is another program; bits 1 to 3, in pieces of which size. In
 * the input "@N " stands for the secret of case N, "@p " for that of the process.
 */
#include "fuzz.h"

#include "launch/launch_words.h"

#include <string.h>

enum { CASES = 3 };

struct heard {
    size_t begun, ended;
};

static void on_begin(void *context, size_t index)
{
    struct heard *h = context;

    FUZZ_CHECK(index == h->begun && h->begun == h->ended);
    h->begun++;
}

static int on_end(void *context, size_t index, struct measurement *m, struct error *err)
{
    struct heard *h = context;

    (void)m;
    (void)err;
    FUZZ_CHECK(index == h->ended && h->begun == h->ended + 1);
    h->ended++;
    return 0;
}

static int on_operation(void *context, size_t index, struct measurement *m, struct error *err)
{
    const struct heard *h = context;

    (void)m;
    (void)err;
    FUZZ_CHECK(index + 1 == h->ended);
    return 0;
}

static const struct launch_secret secrets[CASES + 1] = {
    { "00000000-0000-4000-8000-000000000000" },
    { "11111111-0000-4000-8000-000000000000" },
    { "22222222-0000-4000-8000-000000000000" },
    { "pppppppp-0000-4000-8000-000000000000" },
};

/* Whether a secret stood for something: without any, nobody but an older program is believed. */
static bool expand(const uint8_t *data, size_t size, struct strbuf *out)
{
    bool any = false;

    for (size_t i = 0; i < size; i++) {
        const char *at = data[i] == '@' && i + 1 < size ? memchr("012p", data[i + 1], 4) : NULL;
        if (at) {
            strbuf_adds(out, secrets[at - (const char *)memchr("012p", '0', 4)].text);
            i++;
            any = true;
        } else {
            strbuf_add(out, &data[i], 1);
        }
    }
    return any;
}

FUZZ_TARGET(words)
{
    struct heard heard = { 0 };
    const struct case_sink sink = {
        .context = &heard, .begin = on_begin, .end = on_end, .operation = on_operation
    };
    struct roof roofs[ROOFS_MAX];
    struct launch_words w = { .sink = &sink,
                              .roofs = size > 0 && data[0] & 16 ? roofs : NULL,
                              .secrets = secrets,
                              .wanted = CASES,
                              .most = 4096,
                              .stranger = size > 0 && data[0] & 1,
                              .current = -1 };
    size_t piece = size > 0 ? 1 + (size_t)(data[0] >> 1 & 7) * 37 : 1;
    struct strbuf text;
    struct error err;

    strbuf_init(&text);
    strbuf_init(&w.line);
    bool any = size > 0 && expand(data + 1, size - 1, &text);
    for (size_t at = 0; at < text.length; at += piece) {
        size_t nr = text.length - at < piece ? text.length - at : piece;
        FUZZ_CHECK(launch_words_take(&w, text.data + at, nr, &err) == 0);
        FUZZ_CHECK(w.line.length <= w.most);
    }
    FUZZ_CHECK(w.done == heard.ended && w.done <= CASES);
    FUZZ_CHECK((w.current >= 0) == (heard.begun > heard.ended));
    if (!any && !w.stranger)
        FUZZ_CHECK(heard.begun == 0 && !w.answered);
    FUZZ_CHECK(w.nr_roofs >= 0 && w.nr_roofs <= ROOFS_MAX);
    strbuf_release(&w.line);
    strbuf_release(&text);
}
