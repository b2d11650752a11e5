/* SPDX-License-Identifier: MIT */
/*
 * Functions of an ELF file (System V ABI, "Object Files"): 64 bit, in this machine's byte order,
 * that of programs, shared libraries and objects. Every offset of the file is checked before it is
 * followed, so a damaged file is an error or has fewer symbols.
 */
#ifndef HARNESS_EXPLAIN_ELF_FILE_H
#define HARNESS_EXPLAIN_ELF_FILE_H

#include "base/array.h"
#include "base/error.h"

#include <elf.h>
#include <stdint.h>

struct elf_function {
    const char *name; /* in the file's bytes */
    uint64_t address, size;
    const uint8_t *code; /* `size` bytes */
};

struct elf_file {
    uint8_t *bytes; /* owned */
    size_t size;
    Elf64_Ehdr header;
    ARRAY(Elf64_Shdr) sections;
    ARRAY(struct elf_function) functions; /* by name, those of one name by address */
    ARRAY(struct elf_function) by_address;
};

/* -1: it cannot be read, is larger than 256 MiB, or is no such file. Release `e` whatever comes. */
int elf_file_read(const char *path, struct elf_file *e, struct error *err);
void elf_file_release(struct elf_file *e);

/* Of the first section of that name; NULL: there is none with bytes. */
const uint8_t *elf_section(const struct elf_file *e, const char *name, size_t *size);
/* The name of the section that an address is in, which is loaded; NULL: none. */
const char *elf_section_at(const struct elf_file *e, uint64_t address);
/* The function that an address is in; NULL: none. */
const struct elf_function *elf_function_at(const struct elf_file *e, uint64_t address);

#endif
