/* SPDX-License-Identifier: MIT */
#include "explain/code_same.h"

#include <string.h>

static bool is_same_place(const struct code_pair *p, const uint64_t address[2])
{
    const struct elf_function *f[2];
    const char *in[2];

    for (int i = 0; i < 2; i++)
        f[i] = elf_function_at(p->file[i], address[i]);
    if (f[0] && f[1])
        return strcmp(f[0]->name, f[1]->name) == 0 &&
               address[0] - f[0]->address == address[1] - f[1]->address;
    if (f[0] || f[1])
        return false;
    for (int i = 0; i < 2; i++)
        in[i] = elf_section_at(p->file[i], address[i]);
    return in[0] && in[1] && strcmp(in[0], in[1]) == 0;
}

/* Four bytes at `at` as what is added to the address of the next instruction, which begins behind
 * an immediate value of 0, 1, 2 or 4 bytes. */
static bool is_same_rel32(const struct code_pair *p, uint64_t at)
{
    static const uint64_t immediates[] = { 0, 1, 4, 2 };
    uint64_t address[2];

    if (at + 4 > p->function[0]->size)
        return false;
    for (size_t k = 0; k < 4; k++) {
        for (int i = 0; i < 2; i++) {
            int32_t way;
            memcpy(&way, p->function[i]->code + at, sizeof(way));
            address[i] = p->function[i]->address + at + 4 + immediates[k] + (uint64_t)(int64_t)way;
        }
        if (is_same_place(p, address))
            return true;
    }
    return false;
}

/* Some byte differs at `at`: where an address that holds it ends, or 0. */
static uint64_t behind_address(const struct code_pair *p, uint64_t at)
{
    for (uint64_t back = 0; back < 4 && back <= at; back++)
        if (is_same_rel32(p, at - back))
            return at - back + 4;
    return 0;
}

static bool is_same_x86(const struct code_pair *p)
{
    uint64_t size = p->function[0]->size, at = 0;

    while (at < size) {
        if (p->function[0]->code[at] == p->function[1]->code[at]) {
            at++;
            continue;
        }
        at = behind_address(p, at);
        if (at == 0)
            return false;
    }
    return true;
}

/* ---- AArch64 ---- */

/*
 * Two functions of AArch64 (Arm Architecture Reference Manual, C4.1), word by word. An address is
 * made of two instructions: ADRP puts a page into a register, and an ADD, LDR or STR adds the rest.
 * Both move with everything, so the second may differ where both together lead to the same place;
 * with any other register its immediate value is a constant or the offset of a member.
 *
 * Read from front to back, paths are not followed. So a page counts as gone where its register may
 * hold something else: written again, or one that calls do not keep behind a call, or behind a jump
 * that always is taken, where another path may begin.
 */

enum {
    REGISTERS = 32,           /* x0 to x30; 31 is none that holds a page */
    NOT_KEPT = 0x4007ffff,    /* x0 to x18 and x30: AAPCS64, 6.1.1 */
    BRANCH = 0x14000000,      /* B; BL has the highest bit too */
    BRANCH_MASK = 0x7c000000, /* of both */
};

/* What ADRP put into a register. */
struct arm_page {
    bool known, moved; /* moved: the two sides have other bytes */
    uint64_t at[2];
};

struct arm_walk {
    const struct code_pair *pair;
    uint64_t at; /* of the word in hand, in the function */
    uint32_t word[2];
    struct arm_page pages[REGISTERS];
};

/* `bits` of a word from `from` on. */
static uint32_t bits_of_word(uint32_t word, int from, int bits)
{
    return (word >> from) & ((1U << bits) - 1);
}

static bool is_both(const struct arm_walk *w, uint32_t mask, uint32_t is)
{
    return (w->word[0] & mask) == is && (w->word[1] & mask) == is;
}

/* ---- pages ---- */

/* The registers that an instruction may write: of one that stores, what it reads counts, too,
 * which is a value and no page. */
static uint32_t written_registers(uint32_t word)
{
    uint32_t target = 1U << bits_of_word(word, 0, 5), group = bits_of_word(word, 25, 4);
    bool pair = (word & 0x3a000000) == 0x28000000;

    if ((group & 0xe) == 0xa) { /* jumps and the system: a call, BLR, MRS */
        bool call = (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000;
        return call ? NOT_KEPT : (word & 0xfff00000) == 0xd5300000 ? target : 0;
    }
    if ((group & 0x5) == 0x4) /* loads and stores; of vectors with bit 26 */
        return word & 0x04000000 ? 0 : target | (pair ? 1U << bits_of_word(word, 10, 5) : 0);
    if ((group & 0x7) == 0x7) /* arithmetic of vectors, and what hands its result to a register */
        return (word & 0x5f20fc00) == 0x1e200000 || (word & 0xbfe0ec00) == 0x0e002c00 ? target : 0;
    return (word & 0x1fe00000) == 0x1a400000 ? 0 : target; /* CCMP has flags in its place */
}

/* B, BR and RET: what stands behind is reached from elsewhere. */
static bool never_goes_on(uint32_t word)
{
    return (word & 0xfc000000) == BRANCH || (word & 0xffbffc1f) == 0xd61f0000;
}

static void forget_pages(struct arm_walk *w)
{
    uint32_t gone = 0;

    for (int i = 0; i < 2; i++)
        gone |= never_goes_on(w->word[i]) ? NOT_KEPT : written_registers(w->word[i]);
    for (int i = 0; i < REGISTERS; i++)
        w->pages[i].known &= !(gone >> i & 1);
}

static uint64_t place_of_word(const struct arm_walk *w, int side)
{
    return w->pair->function[side]->address + w->at;
}

static void remember_page(struct arm_walk *w)
{
    struct arm_page *page = &w->pages[bits_of_word(w->word[0], 0, 5)];

    *page = (struct arm_page) { .known = true, .moved = w->word[0] != w->word[1] };
    for (int i = 0; i < 2; i++) {
        uint64_t pages =
            (uint64_t)bits_of_word(w->word[i], 5, 19) << 2 | bits_of_word(w->word[i], 29, 2);
        int64_t way = (int64_t)(pages << 43) >> 31; /* signed, of 21 bits, times 4096 */
        page->at[i] = (place_of_word(w, i) & ~(uint64_t)0xfff) + (uint64_t)way;
    }
}

/* ---- one word ---- */

static bool is_same_branch(const struct arm_walk *w)
{
    uint64_t address[2];

    for (int i = 0; i < 2; i++) {
        int64_t way = (int64_t)((uint64_t)bits_of_word(w->word[i], 0, 26) << 38) >> 36;
        address[i] = place_of_word(w, i) + (uint64_t)way;
    }
    return is_same_place(w->pair, address);
}

/* ADD of 64 bits, not shifted; LDR, STR and their kin with an offset that has no sign. */
static bool is_with_offset(const struct arm_walk *w)
{
    return is_both(w, 0xffc00000, 0x91000000) || is_both(w, 0x3b000000, 0x39000000);
}

/* In bytes: that of a load or store counts in units of what it moves, 16 bytes of a whole vector.
 */
static uint64_t offset_of(uint32_t word)
{
    bool load = (word & 0x3b000000) == 0x39000000, vector = (word & 0x04800000) == 0x04800000;
    uint32_t unit = !load ? 0 : vector ? 4 : bits_of_word(word, 30, 2);

    return (uint64_t)bits_of_word(word, 10, 12) << unit;
}

/* But for the offset both are one instruction, and its register holds a page. */
static bool is_same_rest(const struct arm_walk *w, const struct arm_page *page)
{
    const uint32_t offset = 0x003ffc00;
    uint64_t address[2];

    for (int i = 0; i < 2; i++)
        address[i] = page->at[i] + offset_of(w->word[i]);
    return page->known && ((w->word[0] ^ w->word[1]) & ~offset) == 0 &&
           is_same_place(w->pair, address);
}

/* An ADRP is told by what is made of its page; where that moved, what adds the same to it may lead
 * elsewhere. */
static bool is_same_word(const struct arm_walk *w)
{
    const struct arm_page *page = &w->pages[bits_of_word(w->word[0], 5, 5)];
    bool equal = w->word[0] == w->word[1];

    if (is_with_offset(w) && (!equal || (page->known && page->moved)))
        return is_same_rest(w, page);
    if (equal || is_both(w, 0x9f00001f, 0x90000000 | bits_of_word(w->word[0], 0, 5)))
        return true;
    return ((w->word[0] ^ w->word[1]) & 0x80000000) == 0 && is_both(w, BRANCH_MASK, BRANCH) &&
           is_same_branch(w);
}

static bool is_same_arm(const struct code_pair *p)
{
    const struct elf_function *const *f = p->function;
    struct arm_walk w = { .pair = p };

    for (; w.at + 4 <= f[0]->size; w.at += 4) {
        for (int i = 0; i < 2; i++)
            memcpy(&w.word[i], f[i]->code + w.at, 4);
        if (!is_same_word(&w))
            return false;
        forget_pages(&w);
        if (is_both(&w, 0x9f000000, 0x90000000))
            remember_page(&w);
    }
    return memcmp(f[0]->code + w.at, f[1]->code + w.at, f[0]->size - w.at) == 0;
}

bool code_is_same(const struct code_pair *p)
{
    const struct elf_function *const *f = p->function;

    if (f[0]->size != f[1]->size)
        return false;
    switch (p->file[0]->header.e_machine) {
    case EM_X86_64:
        return is_same_x86(p);
    case EM_AARCH64:
        return is_same_arm(p);
    default:
        return memcmp(f[0]->code, f[1]->code, f[0]->size) == 0;
    }
}
