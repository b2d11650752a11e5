/* SPDX-License-Identifier: MIT */
/* Machine code of two programs beside each other, made here by the compiler; and files that are
 * damaged. */
#include "testing.h"

#include "base/file.h"
#include "explain/code_diff.h"
#include "explain/elf_file.h"
#include "stats/random.h"

#include <unistd.h>

#define PLACE HARNESS_TEST_DIR "/explain-code"

/* `grown` makes the first function longer, so that all behind it moves. */
static const char source[] =
    "static volatile double sink; double table[100] = { 1 };\n"
    "__attribute__((noinline)) void first_fn(void) { sink += 1; GROWN }\n"
    "__attribute__((noinline)) double attention_kernel(double x) { for (int i = 0; i < 100; i++) "
    "x += table[i] * FACTOR; return x; }\n"
    "__attribute__((noinline)) double mlp(double x) { first_fn(); sink += table[3]; return "
    "attention_kernel(x) + sink; }\n"
    "int main(void) { return (int)mlp(1) + (int)attention_kernel(2); }\n";

/* false: there is no compiler. */
static bool build(const char *name, const char *options)
{
    char command[1024];
    struct error err;

    assert_int_equal(file_make_directory(PLACE, &err), 0);
    assert_int_equal(file_write(PLACE "/source.c", source, strlen(source), &err), 0);
    snprintf(command, sizeof(command), "${CC:-cc} %s %s/source.c -o %s/%s 2>/dev/null", options,
             PLACE, PLACE, name);
    return system(command) == 0;
}

#define PLAIN "-O1 -g -DGROWN= -DFACTOR=2.0"

static const struct {
    const char *what, *base, *head;
    const char *changed[4]; /* names, whatever the order; NULL-ended */
    bool known, flags;
} pairs[] = {
    { "the same", PLAIN, PLAIN, { NULL }, true, false },
    { "a function that grew moves the others",
      PLAIN,
      "-O1 -g '-DGROWN=sink*=3;sink-=7;' -DFACTOR=2.0",
      { "first_fn", NULL },
      true,
      false },
    { "other arithmetic",
      PLAIN,
      "-O1 -g -DGROWN= '-DFACTOR=2.0/(x+i)'",
      { "attention_kernel", NULL },
      true,
      false },
    { "a flag",
      PLAIN,
      "-O0 -g -DGROWN= -DFACTOR=2.0",
      { "first_fn", "attention_kernel", "mlp", "main" },
      true,
      true },
    { "without symbols", PLAIN, PLAIN " -s", { NULL }, false, false },
};

static bool is_changed(const struct code_diff *d, const char *name)
{
    for (size_t i = 0; i < d->changed.nr; i++)
        if (strcmp(d->changed.items[i].name, name) == 0)
            return true;
    return false;
}

TEST(functions_that_differ)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct code_diff d;
        struct error err;
        size_t nr = 0;
        if (!build("base", pairs[i].base) || !build("head", pairs[i].head)) {
            puts("skipped: there is no compiler");
            return;
        }
        assert_int_equal(code_diff_files(PLACE "/base", PLACE "/head", &d, &err), 0);
        if (d.known != pairs[i].known)
            fail_msg("%s: known is %d", pairs[i].what, d.known);
        for (; nr < 4 && pairs[i].changed[nr]; nr++)
            if (!is_changed(&d, pairs[i].changed[nr]))
                fail_msg("%s: %s is not said to differ", pairs[i].what, pairs[i].changed[nr]);
        if (d.known && d.common - d.same != nr)
            fail_msg("%s: %zu of %zu differ, not %zu", pairs[i].what, d.common - d.same, d.common,
                     nr);
        if (d.build[0].flags && d.build[1].flags && d.known)
            assert_int_equal(strcmp(d.build[0].flags, d.build[1].flags) != 0, pairs[i].flags);
        code_diff_release(&d);
    }
}

TEST(operations_have_functions)
{
    struct code_diff d = { .known = true };

    *array_push(&d.changed) = (struct code_function) { strdup("main"), { 1, 1 } };
    *array_push(&d.changed) = (struct code_function) { strdup("Layer_Norm_avx2"), { 1, 2 } };
    assert_string_equal(code_diff_of(&d, "layer norm")->name, "Layer_Norm_avx2");
    assert_null(code_diff_of(&d, "attention"));
    assert_null(code_diff_of(&d, " - "));
    code_diff_release(&d);
}

static const struct {
    const char *what, *bytes;
    size_t size;
} strangers[] = {
    { "nothing", "", 0 },
    { "a script", "#!/bin/sh\n", 10 },
    { "a beginning", "\177ELF", 4 },
    { "of 32 bit",
      "\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
      70 },
};

TEST(what_is_no_program_is_refused)
{
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        struct code_diff d;
        struct error err;
        assert_int_equal(file_make_directory(PLACE, &err), 0);
        assert_int_equal(file_write(PLACE "/odd", strangers[i].bytes, strangers[i].size, &err), 0);
        assert_int_equal(code_diff_files(PLACE "/odd", PLACE "/odd", &d, &err), -1);
        assert_has(err.message, "odd");
        code_diff_release(&d);
    }
}

/* Bytes turned at random, and files cut: fewer functions or an error, never a crash. */
TEST(damaged_programs)
{
    struct random r;
    struct error err;
    size_t size;
    uint64_t seed = random_fresh_seed();

    if (!build("base", PLAIN)) {
        puts("skipped: there is no compiler");
        return;
    }
    printf("seed %llu\n", (unsigned long long)seed);
    random_seed(&r, seed);
    char *whole = file_read(PLACE "/base", 1 << 24, &size, &err);
    assert_non_null(whole);
    for (int trial = 0; trial < 300; trial++) {
        char *bytes = malloc(size);
        size_t length = trial % 3 ? size : (size_t)random_below(&r, size);
        struct code_diff d;
        memcpy(bytes, whole, size);
        for (int i = 0; i < 1 + trial % 40; i++) /* most of them where the tables are */
            bytes[random_below(&r, trial % 2 ? 64 : size)] = (char)random_u64(&r);
        for (int i = 0; i < trial % 8; i++)
            bytes[size - 1 - random_below(&r, 2000)] = (char)random_u64(&r);
        assert_int_equal(file_write(PLACE "/damaged", bytes, length, &err), 0);
        code_diff_files(PLACE "/base", PLACE "/damaged", &d, &err);
        code_diff_release(&d);
        free(bytes);
    }
    free(whole);
}

RUN_TESTS(NULL, NULL)
