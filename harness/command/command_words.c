/* SPDX-License-Identifier: MIT */
#include "command/command_words.h"

#include "base/digest.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "text/name.h"
#include "text/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_HASH = 8 }; /* hex digits */

/* ---- parameters in a text ---- */

char *command_fill(const char *text, const char *name, const char *value)
{
    size_t length = strlen(name);
    struct strbuf result;

    if (!text)
        return NULL;
    strbuf_init(&result);
    while (*text) {
        if (*text == '{' && strncmp(text + 1, name, length) == 0 && text[1 + length] == '}') {
            strbuf_adds(&result, value);
            text += length + 2;
        } else {
            strbuf_addc(&result, *text++);
        }
    }
    return strbuf_detach(&result);
}

/* The value of a text in the variant with that index. */
static const char *text_value(const struct command_spec *spec, size_t text, size_t variant)
{
    for (size_t i = spec->texts.nr - 1; i > text; i--)
        variant /= spec->texts.items[i].values.nr;
    const struct string_list *values = &spec->texts.items[text].values;
    return values->items[variant % values->nr];
}

/* One parameter; takes the text. */
static char *fill_one(char *text, const char *name, const char *value)
{
    char *filled = command_fill(text, name, value);

    free(text);
    return filled;
}

/* Texts last: what stands in one is no size. */
char *command_fill_all(const struct command_guest *g, const struct variant *variant,
                       const struct shape *shape, const char *text)
{
    char *filled = memory_string(text), number[24];

    for (int i = 0; filled && i < kernel_nr_dims(&g->kernel); i++) {
        snprintf(number, sizeof(number), "%lld", (long long)shape->dim[i]);
        filled = fill_one(filled, g->kernel.dims[i], number);
    }
    for (size_t i = 0; filled && i < g->spec->texts.nr; i++)
        filled = fill_one(filled, g->spec->texts.items[i].name,
                          text_value(g->spec, i, (size_t)(variant - g->variants)));
    return filled;
}

/* ---- names ---- */

/* How long the parameter is that the word begins with; 0 where that is none. */
static size_t parameter_length(const char *word, const struct string_list *parameters)
{
    size_t length = strcspn(word, "}");

    if (*word != '{' || !word[length])
        return 0;
    for (size_t i = 0; i < parameters->nr; i++)
        if (strlen(parameters->items[i]) == length - 1 &&
            strncmp(word + 1, parameters->items[i], length - 1) == 0)
            return length + 1;
    return 0;
}

/* "{n}", "{n}{m}"; not "{print $1}", which is for awk to read. */
static bool is_parameters_alone(const char *word, const struct string_list *parameters)
{
    size_t length = 0, all = 0;

    while ((length = parameter_length(word + all, parameters)) > 0)
        all += length;
    return all > 0 && !word[all];
}

/* By value, not by locale. */
static bool is_plain(char c)
{
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

/* What is plain; for all else one '-', and then the text does not tell it again. */
static void add_to_name(struct strbuf *name, const char *word, bool *told)
{
    *told &= *word != '\0';
    for (; *word; word++) {
        bool plain = is_plain(*word);
        *told &= plain;
        if (plain)
            strbuf_addc(name, *word);
        else if (name->length > 0 && name->data[name->length - 1] != '-')
            strbuf_addc(name, '-');
    }
}

/* Of what may be shown: the name outlives the secrets of a command line. */
static void hash_words(const struct string_list *words, char hash[NAME_HASH + 1])
{
    char text[DIGEST_TEXT_SIZE];
    struct digest digest;

    digest_init(&digest);
    for (size_t i = 1; i < words->nr; i++)
        digest_add_text(&digest, words->items[i]);
    digest_text(&digest, text);
    snprintf(hash, NAME_HASH + 1, "%.*s", NAME_HASH, text);
}

void command_default_name(struct command_spec *spec, const struct string_list *parameters)
{
    char file[NAME_VARIANT_MAX + 1], hash[NAME_HASH + 1];
    const char *program = spec->argv.nr ? spec->argv.items[0] : "", *slash = strrchr(program, '/');
    struct string_list words = { 0 };
    struct strbuf name;
    bool told = true;

    name_sanitise(slash ? slash + 1 : program, file, sizeof(file));
    redact_words(&spec->argv, &words);
    strbuf_init(&name);
    strbuf_adds(&name, file);
    for (size_t i = 1; i < words.nr; i++) {
        if (is_parameters_alone(words.items[i], parameters))
            continue;
        strbuf_addc(&name, '-');
        add_to_name(&name, words.items[i], &told);
    }
    size_t room = sizeof(file) - 1, kept = name.length;
    if (told && kept <= room) {
        snprintf(spec->name, sizeof(spec->name), "%s", name.data);
    } else {
        hash_words(&words, hash);
        kept = kept < room - NAME_HASH - 1 ? kept : room - NAME_HASH - 1;
        while (kept > 0 && name.data[kept - 1] == '-')
            kept--;
        snprintf(spec->name, sizeof(spec->name), "%.*s-%s", (int)kept, name.data, hash);
    }
    strbuf_release(&name);
    string_list_release(&words);
}

/* "compiler=gcc,opt=-O2"; what a key cannot hold is '-', and then a hash tells it from others. */
void command_variant_name(const struct command_spec *spec, size_t variant, char name[NAME_SIZE])
{
    struct strbuf text;
    bool told = true;

    strbuf_init(&text);
    for (size_t i = 0; i < spec->texts.nr; i++)
        strbuf_addf(&text, "%s%s=%s", i ? "," : "", spec->texts.items[i].name,
                    text_value(spec, i, variant));
    for (size_t i = 0; i < text.length; i++) {
        bool fits = is_plain(text.data[i]) || strchr("-+=,:", text.data[i]);
        told &= fits;
        text.data[i] = fits ? text.data[i] : '-';
    }
    if (told && text.length < NAME_SIZE) {
        snprintf(name, NAME_SIZE, "%s", text.data);
    } else {
        struct string_list values = { 0 };
        char hash[NAME_HASH + 1];
        string_list_add(&values, "");
        for (size_t i = 0; i < spec->texts.nr; i++)
            string_list_add(&values, text_value(spec, i, variant));
        hash_words(&values, hash);
        snprintf(name, NAME_SIZE, "%.*s-%s", NAME_SIZE - NAME_HASH - 2, text.data, hash);
        string_list_release(&values);
    }
    strbuf_release(&text);
}
