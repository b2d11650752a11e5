/* SPDX-License-Identifier: MIT */
/* Machine code of two programs beside each other, made here by the compiler, and of AArch64 written
 * down; and files that are damaged. */
#include "knocks.h"
#include "testing.h"

#include "base/file.h"
#include "explain/code_diff.h"
#include "explain/code_same.h"
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

/* ---- AArch64 ---- */

#define ADRP(rd, pages)                                                                            \
    (0x90000000u | (pages) % 4u << 29 | ((uint32_t)(pages) >> 2 & 0x7ffffu) << 5 | (rd))
#define WITH_OFFSET(what, rd, rn, units)                                                           \
    ((what) | (uint32_t)(units) << 10 | (uint32_t)(rn) << 5 | (rd))
#define ADD(rd, rn, bytes)    WITH_OFFSET(0x91000000u, rd, rn, bytes)
#define ADD_32(rd, rn, value) WITH_OFFSET(0x11000000u, rd, rn, value)
#define LDR(rt, rn, eights)   WITH_OFFSET(0xf9400000u, rt, rn, eights)
#define STR_32(rt, rn, fours) WITH_OFFSET(0xb9000000u, rt, rn, fours)
#define LDR_Q(rt, rn, units)  WITH_OFFSET(0x3dc00000u, rt, rn, units)
#define FADD                  0x1e602800u /* d0, d0, d0 */
#define MOV(rd, rm)           (0xaa0003e0u | (uint32_t)(rm) << 16 | (rd))
#define BL(words)             (0x94000000u | (words))
#define B_EQ                  0x54000040u
#define RET                   0xd65f03c0u
#define NOP                   0xd503201fu

enum { ARM_WORDS = 4 };

/* Where things are: base and head. From the functions' pages .rodata is 16 pages away, then 17. */
static const uint64_t arm_places[2][3] = { { 0x10000, 0x10100, 0x20000 },
                                           { 0x11000, 0x11200, 0x22000 } };

static const struct {
    const char *what;
    uint32_t base[ARM_WORDS], head[ARM_WORDS]; /* 0: nothing */
    bool same;
} arm_pairs[] = {
    { "moved data", { ADRP(0, 16), ADD(0, 0, 16) }, { ADRP(0, 17), ADD(0, 0, 64) }, true },
    { "moved load", { ADRP(0, 16), LDR(1, 0, 1) }, { ADRP(0, 17), LDR(1, 0, 2) }, true },
    { "moved store", { ADRP(0, 16), STR_32(1, 0, 1) }, { ADRP(0, 17), STR_32(1, 0, 2) }, true },
    { "a constant", { ADD(0, 1, 1) }, { ADD(0, 1, 2) }, false },
    { "an offset", { LDR(0, 1, 1) }, { LDR(0, 1, 2) }, false },
    { "an offset of vectors", { LDR_Q(0, 1, 1) }, { LDR_Q(0, 1, 2) }, false },
    { "of 32 bit", { ADRP(0, 16), ADD_32(0, 0, 1) }, { ADRP(0, 17), ADD_32(0, 0, 2) }, false },
    { "another register", { ADRP(0, 16), LDR(1, 2, 1) }, { ADRP(0, 17), LDR(1, 2, 2) }, false },
    { "into .data", { ADRP(0, 16), LDR(1, 0, 1) }, { ADRP(0, 17), LDR(1, 0, 0x40) }, false },
    { "out of all", { ADRP(0, 16), LDR(1, 0, 1) }, { ADRP(0, 90), LDR(1, 0, 1) }, false },
    { "16 bytes each", { ADRP(0, 16), LDR_Q(1, 0, 0x20) }, { ADRP(0, 17), LDR_Q(1, 0, 8) }, false },
    { "a field behind it",
      { ADRP(0, 16), ADD(0, 0, 16), LDR(1, 0, 1) },
      { ADRP(0, 17), ADD(0, 0, 16), LDR(1, 0, 2) },
      false },
    { "written again",
      { ADRP(0, 16), MOV(0, 1), LDR(2, 0, 1) },
      { ADRP(0, 17), MOV(0, 1), LDR(2, 0, 2) },
      false },
    { "a vector of its number",
      { ADRP(0, 16), FADD, LDR(2, 0, 1) },
      { ADRP(0, 17), FADD, LDR(2, 0, 2) },
      true },
    { "behind a call",
      { ADRP(0, 16), BL(0), LDR(2, 0, 1) },
      { ADRP(0, 17), BL(0), LDR(2, 0, 2) },
      false },
    { "kept by a call",
      { ADRP(19, 16), BL(0), LDR(2, 19, 1) },
      { ADRP(19, 17), BL(0), LDR(2, 19, 2) },
      true },
    { "behind the end",
      { ADRP(0, 16), RET, LDR(2, 0, 1) },
      { ADRP(0, 17), RET, LDR(2, 0, 2) },
      false },
    { "behind a condition",
      { ADRP(0, 16), B_EQ, LDR(2, 0, 1) },
      { ADRP(0, 17), B_EQ, LDR(2, 0, 2) },
      true },
    { "a call that moved", { BL(0x40) }, { BL(0x80) }, true },
    { "a call of a place inside", { BL(0x40) }, { BL(0x81) }, false },
};

/* Two functions, and .rodata of 256 bytes with .data behind it. */
static void arm_file(struct elf_file *e, const uint64_t places[3], const uint32_t *code,
                     struct elf_function functions[2])
{
    static uint8_t names[] = "\0.rodata\0.data";

    *e = (struct elf_file) { .bytes = names, .size = sizeof(names) };
    e->header.e_machine = EM_AARCH64;
    *array_push(&e->sections) = (Elf64_Shdr) { .sh_size = sizeof(names) }; /* e_shstrndx is 0 */
    *array_push(&e->sections) = (Elf64_Shdr) {
        .sh_name = 1, .sh_flags = SHF_ALLOC, .sh_addr = places[2], .sh_size = 0x100
    };
    *array_push(&e->sections) = (Elf64_Shdr) {
        .sh_name = 9, .sh_flags = SHF_ALLOC, .sh_addr = places[2] + 0x100, .sh_size = 0x1000
    };
    for (int i = 0; i < 2; i++) {
        functions[i] = (struct elf_function) { i ? "callee" : "caller", places[i], 4 * ARM_WORDS,
                                               (const uint8_t *)code };
        *array_push(&e->by_address) = functions[i];
    }
}

static bool is_same_arm(const uint32_t *base, const uint32_t *head)
{
    const uint32_t *const words[2] = { base, head };
    uint32_t code[2][ARM_WORDS];
    struct elf_function functions[2][2];
    struct elf_file files[2];

    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < ARM_WORDS; k++)
            code[i][k] = words[i][k] ? words[i][k] : NOP;
        arm_file(&files[i], arm_places[i], code[i], functions[i]);
    }
    bool same = code_is_same(
        &(struct code_pair) { { &files[0], &files[1] }, { &functions[0][0], &functions[1][0] } });
    for (int i = 0; i < 2; i++) {
        array_release(&files[i].sections);
        array_release(&files[i].by_address);
    }
    return same;
}

/* Addresses move, constants and offsets of members change. */
TEST(functions_of_aarch64)
{
    for (size_t i = 0; i < sizeof(arm_pairs) / sizeof(arm_pairs[0]); i++)
        if (is_same_arm(arm_pairs[i].base, arm_pairs[i].head) != arm_pairs[i].same)
            fail_msg("%s: the same is not %d", arm_pairs[i].what, arm_pairs[i].same);
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

/* Bytes turned at random (by the day's seed), and files cut: fewer functions or an error, never a
 * crash. */
TEST(damaged_programs)
{
    struct random r;
    struct error err;
    size_t size;

    if (!build("base", PLAIN)) {
        puts("skipped: there is no compiler");
        return;
    }
    random_seed(&r, knock_seed());
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
