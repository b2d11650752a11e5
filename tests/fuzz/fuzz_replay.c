/* SPDX-License-Identifier: MIT */
/*
 * Plays inputs to a target, without libFuzzer: `fuzz_replay TARGET FILE|FOLDER...`. What was found
 * once stays mended on machines that have no clang; each input is told before it is played, so the
 * last one named is the one that did it.
 *
 * `fuzz_replay --mutants SECONDS,FILE TARGET ...` then plays changed copies of them, for so much
 * time of the processor. They are the same ones each time: what is red once is red again. FILE has
 * the one that is played; what is found by looking where none has been yet is libFuzzer's
 * (ci/fuzz.sh).
 */
#include "fuzz.h"

#include "base/file.h"
#include "base/memory.h"
#include "stats/random.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* One input: its bytes, none behind their end, so that a look beyond it is seen. */
struct input {
    uint8_t *bytes;
    size_t size;
};

static struct input *inputs;
static size_t inputs_nr;

static void play_file(target_fn *play, const char *path)
{
    struct error err;
    struct input in;
    char *bytes = file_read(path, FILE_RECORDS_MOST, &in.size, &err);

    if (!bytes) {
        fprintf(stderr, "%s\n", err.message);
        exit(2);
    }
    printf("%s\n", path);
    fflush(stdout);
    in.bytes = memory_zeroed(in.size ? in.size : 1, 1);
    memcpy(in.bytes, bytes, in.size);
    free(bytes);
    play(in.bytes, in.size);
    inputs = memory_resize(inputs, inputs_nr + 1, sizeof(*inputs));
    inputs[inputs_nr++] = in;
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

/* Longer ones reach nothing more, and take long. */
enum { MUTANT_MOST = 40000 };

/* A place within something of this size, its end included. */
static size_t place(struct random *rng, size_t size)
{
    return (size_t)random_below(rng, size + 1);
}

/* Replaces `removed` bytes at `at` by others. */
static void exchange(struct input *in, size_t at, size_t removed, const uint8_t *bytes, size_t size)
{
    if (in->size - removed + size > MUTANT_MOST)
        return;
    uint8_t *made = memory_zeroed(in->size - removed + size + 1, 1);
    memcpy(made, in->bytes, at);
    memcpy(made + at, bytes, size);
    memcpy(made + at + size, in->bytes + at + removed, in->size - at - removed);
    free(in->bytes);
    in->bytes = made;
    in->size = in->size - removed + size;
}

/* A piece of one of the inputs, mostly a short one. */
static struct input piece(struct random *rng)
{
    const struct input *from = &inputs[random_below(rng, inputs_nr)];
    size_t at = place(rng, from->size), most = from->size - at;

    if (random_below(rng, 4) && most > 16)
        most = 16;
    return (struct input) { from->bytes + at, place(rng, most) };
}

/* What readers of numbers, lengths and texts stumble over. */
static const char *const stumbling[] = {
    "0",
    "-1",
    "1e999",
    "nan",
    "-0",
    "4294967296",
    "9223372036854775808",
    "0x1p1024",
    "\xff",
    "\"",
    "'",
    "\\",
    "\n",
    "\r\n",
    "\xc3",
    "\xf0\x9f\x98\x80",
    "{",
    "[",
    "]",
    "}",
    ",",
    ":",
    "=",
    "%n",
    "<",
    "&",
    "null",
    "true",
    "\\u0",
    "\xed\xa0\x80",
    "..",
    "/",
};

static void mutate(struct random *rng, struct input *in)
{
    size_t at = place(rng, in->size), rest = in->size - at;
    const char *word = stumbling[random_below(rng, sizeof(stumbling) / sizeof(stumbling[0]))];
    struct input other = piece(rng);
    uint8_t byte = (uint8_t)random_below(rng, 256);

    switch (random_below(rng, 6)) {
    case 0: /* one bit */
        if (rest)
            in->bytes[at] ^= (uint8_t)(1 << (byte & 7));
        break;
    case 1: /* one byte */
        exchange(in, at, rest ? 1 : 0, &byte, 1);
        break;
    case 2: /* less */
        exchange(in, at, place(rng, rest), &byte, 0);
        break;
    case 3: /* more, of another */
        exchange(in, at, 0, other.bytes, other.size);
        break;
    case 4: /* another in its place */
        exchange(in, at, rest < other.size ? rest : other.size, other.bytes, other.size);
        break;
    default:
        exchange(in, at, rest && (byte & 1) ? 1 : 0, (const uint8_t *)word, strlen(word));
        break;
    }
}

static struct input mutant_of(struct random *rng, const struct input *seed)
{
    struct input in = { .size = seed->size < MUTANT_MOST ? seed->size : MUTANT_MOST };

    in.bytes = memory_zeroed(in.size + 1, 1);
    memcpy(in.bytes, seed->bytes, in.size);
    for (uint64_t left = 1 + random_below(rng, 4); left > 0; left--)
        mutate(rng, &in);
    return in;
}

/* Not by file_write(), which waits for the disk. */
static void keep(const char *path, const struct input *in)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(in->bytes, 1, in->size, f) != in->size || fclose(f)) {
        perror(path);
        exit(2);
    }
}

static void play_mutant(target_fn *play, struct random *rng, const struct input *seed,
                        const char *kept)
{
    struct input in = mutant_of(rng, seed);
    uint8_t *exact = memory_zeroed(in.size ? in.size : 1, 1);

    keep(kept, &in);
    memcpy(exact, in.bytes, in.size);
    free(in.bytes);
    play(exact, in.size);
    free(exact);
}

/* "SECONDS,FILE" */
static void play_mutants(target_fn *play, const char *how)
{
    char *file;
    double seconds = strtod(how, &file);
    size_t played = 0;
    struct random rng;

    random_seed(&rng, 20261128);
    if (inputs_nr == 0 || *file != ',')
        exit(2);
    printf("mutants; the one that is played is in %s\n", file + 1);
    fflush(stdout);
    double end = (double)clock() + seconds * CLOCKS_PER_SEC;
    while ((double)clock() < end)
        play_mutant(play, &rng, &inputs[played++ % inputs_nr], file + 1);
    printf("%zu mutants played\n", played);
    remove(file + 1);
}

static void release_inputs(void)
{
    for (size_t i = 0; i < inputs_nr; i++)
        free(inputs[i].bytes);
    free(inputs);
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 && strcmp(argv[1], "--mutants") == 0 ? argv[2] : NULL;
    int first = how ? 3 : 1;
    target_fn *play = argc > first ? find_target(argv[first]) : NULL;

    if (!play) {
        fprintf(stderr,
                "usage: fuzz_replay [--mutants SECONDS,FILE] TARGET FILE|FOLDER...\ntargets:");
        for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
            fprintf(stderr, " %s", targets[i].name);
        fprintf(stderr, "\n");
        return 2;
    }
    for (int i = first + 1; i < argc; i++)
        play_all(play, argv[i]);
    printf("%zu inputs played\n", inputs_nr);
    if (how)
        play_mutants(play, how);
    int status = inputs_nr ? 0 : 2;
    release_inputs();
    return status;
}
