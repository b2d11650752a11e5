/* SPDX-License-Identifier: MIT */
#include "explain/code_diff.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "explain/code_same.h"
#include "explain/elf_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BUILD_TEXT_MOST = 400 };

/* ---- all functions ---- */

/* Labels that the compiler numbers anew each time say nothing. */
static bool is_numbered(const char *name)
{
    return strstr(name, ".lto_priv") || strncmp(name, "_GLOBAL__sub_", 13) == 0;
}

static void add_changed(struct code_diff *out, const char *name, uint64_t base, uint64_t head)
{
    if (!is_numbered(name))
        *array_push(&out->changed) = (struct code_function) { memory_string(name), { base, head } };
}

static const struct elf_function *function_or_null(const struct elf_file *e, size_t i)
{
    return i < e->functions.nr ? &e->functions.items[i] : NULL;
}

static void compare_pair(const struct code_pair *p, struct code_diff *out)
{
    out->common++;
    if (code_is_same(p))
        out->same++;
    else
        add_changed(out, p->function[0]->name, p->function[0]->size, p->function[1]->size);
}

/* Both lists are sorted by name: one step through both. */
static void compare_functions(const struct elf_file files[2], struct code_diff *out)
{
    size_t at[2] = { 0, 0 };

    while (at[0] < files[0].functions.nr || at[1] < files[1].functions.nr) {
        const struct elf_function *base = function_or_null(&files[0], at[0]);
        const struct elf_function *head = function_or_null(&files[1], at[1]);
        int order = base && head ? strcmp(base->name, head->name) : 0;
        bool is_in_base = base && order <= 0, is_in_head = head && order >= 0;
        at[0] += is_in_base;
        at[1] += is_in_head;
        if (is_in_base && is_in_head)
            compare_pair(&(struct code_pair) { { &files[0], &files[1] }, { base, head } }, out);
        else if (is_in_base)
            add_changed(out, base->name, base->size, 0);
        else if (is_in_head)
            add_changed(out, head->name, 0, head->size);
    }
}

static uint64_t larger_size(const struct code_function *f)
{
    return f->size[0] > f->size[1] ? f->size[0] : f->size[1];
}

static int by_function_size(const void *x, const void *y)
{
    const struct code_function *a = x, *b = y;

    if (larger_size(a) != larger_size(b))
        return larger_size(a) > larger_size(b) ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* ---- how a file was built ---- */

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The texts of a section that `wanted` takes, each once, sorted. NULL: none. */
static char *section_texts(const struct elf_file *e, const char *section,
                           bool (*wanted)(const char *text))
{
    ARRAY(const char *) texts = ARRAY_EMPTY;
    struct strbuf all;
    size_t size = 0;
    const uint8_t *bytes = elf_section(e, section, &size), *end = bytes ? bytes + size : NULL;

    while (bytes && bytes < end) {
        const uint8_t *nul = memchr(bytes, '\0', (size_t)(end - bytes));
        if (!nul)
            break;
        if (nul > bytes && wanted((const char *)bytes))
            *array_push(&texts) = (const char *)bytes;
        bytes = nul + 1;
    }
    if (texts.nr)
        qsort(texts.items, texts.nr, sizeof(char *), by_text);
    strbuf_init(&all);
    for (size_t i = 0; i < texts.nr && all.length < BUILD_TEXT_MOST; i++)
        if (i == 0 || strcmp(texts.items[i - 1], texts.items[i]) != 0)
            strbuf_addf(&all, "%s%.200s", all.length ? "; " : "", texts.items[i]);
    array_release(&texts);
    if (all.length)
        return strbuf_detach(&all);
    strbuf_release(&all);
    return NULL;
}

static bool is_any_text(const char *text)
{
    return text[0] != '\0';
}

/* DW_AT_producer of GCC, which holds the flags. */
static bool is_producer(const char *text)
{
    return strncmp(text, "GNU C", 5) == 0 || strncmp(text, "GNU Fortran", 11) == 0;
}

/* DT_NEEDED, in the order of the file. */
static char *needed_libraries(const struct elf_file *e)
{
    size_t size = 0, texts_size = 0;
    const uint8_t *dynamic = elf_section(e, ".dynamic", &size);
    const uint8_t *texts = elf_section(e, ".dynstr", &texts_size);
    struct strbuf all;

    strbuf_init(&all);
    for (size_t at = 0; dynamic && texts && at + sizeof(Elf64_Dyn) <= size;
         at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn d;
        memcpy(&d, dynamic + at, sizeof(d));
        if (d.d_tag == DT_NEEDED && d.d_un.d_val < texts_size && all.length < BUILD_TEXT_MOST &&
            memchr(texts + d.d_un.d_val, '\0', texts_size - d.d_un.d_val))
            strbuf_addf(&all, "%s%.100s", all.length ? " " : "",
                        (const char *)texts + d.d_un.d_val);
    }
    if (all.length)
        return strbuf_detach(&all);
    strbuf_release(&all);
    return NULL;
}

static void read_build(const struct elf_file *e, struct code_build *out)
{
    out->compilers = section_texts(e, ".comment", is_any_text);
    out->flags = section_texts(e, ".debug_str", is_producer);
    if (!out->flags)
        out->flags = section_texts(e, ".debug_line_str", is_producer);
    out->libraries = needed_libraries(e);
}

/* ---- both ---- */

int code_diff_files(const char *base, const char *head, struct code_diff *out, struct error *err)
{
    struct elf_file files[2] = { { 0 }, { 0 } };

    *out = (struct code_diff) { .known = false };
    int rc = elf_file_read(base, &files[0], err) || elf_file_read(head, &files[1], err) ? -1 : 0;
    if (rc == 0) {
        out->known = files[0].functions.nr > 0 && files[1].functions.nr > 0 &&
                     files[0].header.e_machine == files[1].header.e_machine;
        for (int i = 0; i < 2; i++)
            read_build(&files[i], &out->build[i]);
        if (out->known)
            compare_functions(files, out);
        if (out->changed.nr)
            qsort(out->changed.items, out->changed.nr, sizeof(struct code_function),
                  by_function_size);
    }
    for (int i = 0; i < 2; i++)
        elf_file_release(&files[i]);
    return rc;
}

void code_diff_release(struct code_diff *diff)
{
    for (size_t i = 0; i < diff->changed.nr; i++)
        free(diff->changed.items[i].name);
    array_release(&diff->changed);
    for (int i = 0; i < 2; i++) {
        free(diff->build[i].compilers);
        free(diff->build[i].flags);
        free(diff->build[i].libraries);
        diff->build[i] = (struct code_build) { NULL, NULL, NULL };
    }
}

/* Does the name hold each word of letters and digits? */
static bool holds_words(const char *name, const char *words)
{
    while (*words) {
        char word[64];
        size_t length = 0;
        while (*words && !isalnum((unsigned char)*words))
            words++;
        while (isalnum((unsigned char)*words)) {
            if (length + 1 < sizeof(word))
                word[length++] = *words;
            words++;
        }
        word[length] = '\0';
        if (length && !strcasestr(name, word))
            return false;
    }
    return true;
}

const struct code_function *code_diff_of(const struct code_diff *diff, const char *operation)
{
    bool any = false;

    for (const char *c = operation; *c; c++)
        any |= isalnum((unsigned char)*c) != 0;
    for (size_t i = 0; any && i < diff->changed.nr; i++)
        if (holds_words(diff->changed.items[i].name, operation))
            return &diff->changed.items[i];
    return NULL;
}
