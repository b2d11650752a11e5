/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "base/memory.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fuzz_broken(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    abort();
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    size_t length = size ? strnlen((const char *)data, size) : 0;
    char *text = memory_zeroed(length + 1, 1);

    if (length)
        memcpy(text, data, length);
    return text;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void fuzz_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static char scratch[512];

static void remove_scratch(void)
{
    fuzz_remove(scratch);
}

const char *fuzz_folder(void)
{
    const char *parent = getenv("TMPDIR");

    if (scratch[0])
        return scratch;
    snprintf(scratch, sizeof(scratch), "%.400s/harness-fuzz-XXXXXX", parent ? parent : "/tmp");
    FUZZ_CHECK(mkdtemp(scratch));
    atexit(remove_scratch);
    return scratch;
}

const char *fuzz_file(const void *bytes, size_t size)
{
    static char path[600];

    snprintf(path, sizeof(path), "%s/input", fuzz_folder());
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file);
    FUZZ_CHECK(size == 0 || fwrite(bytes, size, 1, file) == 1);
    FUZZ_CHECK(fclose(file) == 0);
    return path;
}
