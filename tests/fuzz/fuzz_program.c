/* SPDX-License-Identifier: MIT */
/* session/builds/program.h: what another program says of its version. */
#include "fuzz.h"

#include "session/builds/program.h"

#include <stdlib.h>
#include <string.h>

FUZZ_TARGET(program)
{
    char *text = fuzz_text(data, size);
    struct build b;

    if (program_parse(text, strlen(text), &b) == 0)
        FUZZ_CHECK(b.version[0]);
    free(text);
}
