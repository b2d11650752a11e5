/* SPDX-License-Identifier: MIT */
#include "explain/code_same.h"

#include <string.h>

bool code_is_same_place(const struct code_pair *p, const uint64_t address[2])
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
        if (code_is_same_place(p, address))
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

bool code_is_same(const struct code_pair *p)
{
    const struct elf_function *const *f = p->function;

    if (f[0]->size != f[1]->size)
        return false;
    switch (p->file[0]->header.e_machine) {
    case EM_X86_64:
        return is_same_x86(p);
    case EM_AARCH64:
        return code_is_same_arm(p);
    default:
        return memcmp(f[0]->code, f[1]->code, f[0]->size) == 0;
    }
}
