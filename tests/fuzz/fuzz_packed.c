/* SPDX-License-Identifier: MIT */
/* base/pack.h: what is packed, there and back. */
#include "fuzz.h"

#include "base/pack.h"

#include <string.h>

enum { MOST = 1 << 16 };

FUZZ_TARGET(packed)
{
    struct strbuf out, back;
    struct error err;

    strbuf_init(&out);
    strbuf_init(&back);
    if (gzip_undo(&out, data, size, MOST, &err) == 0)
        FUZZ_CHECK(out.length <= MOST);
    strbuf_clear(&out);
    if (base64_undo(&out, (const char *)data, size, &err) == 0) {
        base64_add(&back, out.data, out.length);
        FUZZ_CHECK(back.length == size && memcmp(back.data, data, size) == 0);
    }
    strbuf_clear(&out);
    strbuf_clear(&back);
    gzip_add(&out, data, size, GZIP_FAST);
    FUZZ_OK(gzip_undo(&back, out.data, out.length, size, &err), &err);
    FUZZ_CHECK(back.length == size && memcmp(back.data, data, size) == 0);
    strbuf_release(&out);
    strbuf_release(&back);
}
