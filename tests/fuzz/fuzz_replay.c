/* SPDX-License-Identifier: MIT */
/*
 * Plays inputs to a target, without libFuzzer: `fuzz_replay TARGET FILE|FOLDER...`. What was found
 * once stays mended on machines that have no clang; each input is told before it is played, so the
 * last one named is the one that did it.
 */
#include "fuzz.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_ROW(name) void fuzz_##name(const uint8_t *data, size_t size);
#include "fuzz_table.h"
#undef FUZZ_ROW

typedef void target_fn(const uint8_t *data, size_t size);

static const struct {
    const char *name;
    target_fn *play;
} targets[] = {
#define FUZZ_ROW(name) { #name, fuzz_##name },
#include "fuzz_table.h"
#undef FUZZ_ROW
};

static size_t played;

static void play_file(target_fn *play, const char *path)
{
    struct error err;
    size_t size;
    char *bytes = file_read(path, FILE_RECORDS_MOST, &size, &err);

    if (!bytes) {
        fprintf(stderr, "%s\n", err.message);
        exit(2);
    }
    printf("%s\n", path);
    fflush(stdout);
    /* No byte behind the end, so that a look beyond it is seen. */
    uint8_t *data = memory_zeroed(size ? size : 1, 1);
    memcpy(data, bytes, size);
    free(bytes);
    play(data, size);
    free(data);
    played++;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void play_all(target_fn *play, const char *path)
{
    struct dirent **entries;
    int nr = scandir(path, &entries, is_visible, alphasort);

    if (nr < 0) {
        play_file(play, path);
        return;
    }
    for (int i = 0; i < nr; i++) {
        char below[4096];
        snprintf(below, sizeof(below), "%s/%s", path, entries[i]->d_name);
        free(entries[i]);
        play_file(play, below);
    }
    free(entries);
}

static target_fn *find_target(const char *name)
{
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        if (strcmp(targets[i].name, name) == 0)
            return targets[i].play;
    return NULL;
}

int main(int argc, char **argv)
{
    target_fn *play = argc > 1 ? find_target(argv[1]) : NULL;

    if (!play) {
        fprintf(stderr, "usage: fuzz_replay TARGET FILE|FOLDER...\ntargets:");
        for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
            fprintf(stderr, " %s", targets[i].name);
        fprintf(stderr, "\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        play_all(play, argv[i]);
    printf("%zu inputs played\n", played);
    return played ? 0 : 2;
}
