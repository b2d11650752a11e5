/* SPDX-License-Identifier: MIT */
#include "explain/elf_file.h"

#include "base/file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ELF_FILE_MOST = 256 << 20 };

static bool is_inside(const struct elf_file *e, uint64_t offset, uint64_t size)
{
    return offset <= e->size && size <= e->size - offset;
}

/* A text that ends before its section does; "" where it does not. */
static const char *elf_text(const struct elf_file *e, const Elf64_Shdr *strings, uint64_t offset)
{
    if (offset >= strings->sh_size || !is_inside(e, strings->sh_offset, strings->sh_size))
        return "";
    const char *text = (const char *)e->bytes + strings->sh_offset + offset;
    return memchr(text, '\0', strings->sh_size - offset) ? text : "";
}

static const char *section_name(const struct elf_file *e, const Elf64_Shdr *section)
{
    return e->header.e_shstrndx < e->sections.nr
               ? elf_text(e, &e->sections.items[e->header.e_shstrndx], section->sh_name)
               : "";
}

static int read_header(const char *path, struct elf_file *e, struct error *err)
{
    const uint16_t one = 1;
    const unsigned char order = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;

    if (e->size < sizeof(e->header) || memcmp(e->bytes, ELFMAG, SELFMAG) != 0)
        return error_set(err, "%s is no ELF file", path);
    memcpy(&e->header, e->bytes, sizeof(e->header));
    if (e->header.e_ident[EI_CLASS] != ELFCLASS64 || e->header.e_ident[EI_DATA] != order)
        return error_set(err, "%s is an ELF file of another word size or byte order", path);
    return 0;
}

static void read_sections(struct elf_file *e)
{
    const Elf64_Ehdr *h = &e->header;

    if (h->e_shentsize != sizeof(Elf64_Shdr))
        return;
    for (uint64_t i = 0; i < h->e_shnum; i++) {
        uint64_t at = h->e_shoff + i * sizeof(Elf64_Shdr);
        if (h->e_shoff > e->size || !is_inside(e, at, sizeof(Elf64_Shdr)))
            return;
        memcpy(array_push(&e->sections), e->bytes + at, sizeof(Elf64_Shdr));
    }
}

/* Its code, where it lies wholly in a section with bytes. */
static const uint8_t *code_of(const struct elf_file *e, const Elf64_Sym *s)
{
    if (s->st_shndx >= e->sections.nr)
        return NULL;
    const Elf64_Shdr *in = &e->sections.items[s->st_shndx];
    uint64_t into = s->st_value - in->sh_addr;
    bool fits = s->st_value >= in->sh_addr && into <= in->sh_size &&
                s->st_size <= in->sh_size - into && in->sh_type != SHT_NOBITS;
    return fits && is_inside(e, in->sh_offset, in->sh_size) ? e->bytes + in->sh_offset + into
                                                            : NULL;
}

static void read_symbols(struct elf_file *e, const Elf64_Shdr *table)
{
    if (table->sh_link >= e->sections.nr || !is_inside(e, table->sh_offset, table->sh_size))
        return;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        memcpy(&s, e->bytes + table->sh_offset + at, sizeof(s));
        const uint8_t *code =
            ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_size > 0 ? code_of(e, &s) : NULL;
        const char *name = code ? elf_text(e, &e->sections.items[table->sh_link], s.st_name) : "";
        if (name[0])
            *array_push(&e->functions) =
                (struct elf_function) { name, s.st_value, s.st_size, code };
    }
}

static int by_function_address(const void *x, const void *y)
{
    const struct elf_function *a = x, *b = y;

    return a->address < b->address ? -1 : a->address > b->address;
}

static int by_function_name(const void *x, const void *y)
{
    const struct elf_function *a = x, *b = y;
    int order = strcmp(a->name, b->name);

    return order ? order : by_function_address(x, y);
}

/* The full table, else what is left of it in a stripped file. */
static void read_functions(struct elf_file *e)
{
    static const uint32_t tables[] = { SHT_SYMTAB, SHT_DYNSYM };

    for (size_t t = 0; t < 2 && e->functions.nr == 0; t++)
        for (size_t i = 0; i < e->sections.nr; i++)
            if (e->sections.items[i].sh_type == tables[t])
                read_symbols(e, &e->sections.items[i]);
    if (e->functions.nr == 0)
        return;
    for (size_t i = 0; i < e->functions.nr; i++)
        *array_push(&e->by_address) = e->functions.items[i];
    qsort(e->functions.items, e->functions.nr, sizeof(struct elf_function), by_function_name);
    qsort(e->by_address.items, e->by_address.nr, sizeof(struct elf_function), by_function_address);
}

int elf_file_read(const char *path, struct elf_file *e, struct error *err)
{
    *e = (struct elf_file) { 0 };
    e->bytes = (uint8_t *)file_read(path, ELF_FILE_MOST, &e->size, err);
    if (!e->bytes || read_header(path, e, err))
        return -1;
    read_sections(e);
    read_functions(e);
    return 0;
}

void elf_file_release(struct elf_file *e)
{
    array_release(&e->sections);
    array_release(&e->functions);
    array_release(&e->by_address);
    free(e->bytes);
    e->bytes = NULL;
}

const uint8_t *elf_section(const struct elf_file *e, const char *name, size_t *size)
{
    for (size_t i = 0; i < e->sections.nr; i++) {
        const Elf64_Shdr *s = &e->sections.items[i];
        if (s->sh_type == SHT_NOBITS || strcmp(section_name(e, s), name) != 0)
            continue;
        *size = s->sh_size;
        return is_inside(e, s->sh_offset, s->sh_size) ? e->bytes + s->sh_offset : NULL;
    }
    return NULL;
}

const char *elf_section_at(const struct elf_file *e, uint64_t address)
{
    for (size_t i = 0; i < e->sections.nr; i++) {
        const Elf64_Shdr *s = &e->sections.items[i];
        if ((s->sh_flags & SHF_ALLOC) && address >= s->sh_addr && address - s->sh_addr < s->sh_size)
            return section_name(e, s);
    }
    return NULL;
}

const struct elf_function *elf_function_at(const struct elf_file *e, uint64_t address)
{
    size_t low = 0, high = e->by_address.nr;

    while (low < high) { /* the first beyond */
        size_t mid = low + (high - low) / 2;
        if (e->by_address.items[mid].address <= address)
            low = mid + 1;
        else
            high = mid;
    }
    const struct elf_function *f = low > 0 ? &e->by_address.items[low - 1] : NULL;
    return f && address - f->address < f->size ? f : NULL;
}
