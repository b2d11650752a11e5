/* SPDX-License-Identifier: MIT */
#include "text/redact.h"

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char stars[] = "***";
static const char name_characters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    "0123456789_-";
static const char blanks[] = " \t";

static bool is_one_of(const char *const *list, const char *part, size_t length)
{
    for (; *list; list++)
        if (strlen(*list) == length && strncasecmp(*list, part, length) == 0)
            return true;
    return false;
}

/* Whole parts: --max-tokens and a tokenizer are none. Nor is where one lies: --password-file. */
static bool names_secret(const char *name, size_t length)
{
    static const char *const secrets[] = { "token",         "secret",     "password",    "passwd",
                                           "passphrase",    "credential", "credentials", "apikey",
                                           "authorization", NULL };
    static const char *const kinds[] = { "api", "access", "private", "secret", NULL };
    static const char *const places[] = { "file", "path", NULL };
    bool of_a_kind = false, secret = false;

    for (size_t i = 0; i < length;) {
        size_t part = 0;
        while (i + part < length && !strchr("-_", name[i + part]))
            part++;
        bool key = part == 3 && strncasecmp(name + i, "key", 3) == 0;
        secret = (secret || is_one_of(secrets, name + i, part) || (of_a_kind && key)) &&
                 !is_one_of(places, name + i, part);
        if (part > 0)
            of_a_kind = is_one_of(kinds, name + i, part);
        i += part + 1;
    }
    return secret;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* A value: to its other quote, or else to what ends it. */
static size_t value_until(const char *text, const char *ends)
{
    const char *end = is_quote(*text) ? strchr(text + 1, *text) : text + strcspn(text, ends);

    return end ? (size_t)(end - text) + is_quote(*text) : strlen(text);
}

/* Of `text`, which begins behind "://": what stands before the host's @. */
static size_t user_of_address(const char *text)
{
    size_t host = strcspn(text, "/?# \t\n\"'");

    while (host > 0 && text[host - 1] != '@')
        host--;
    return host > 0 ? host - 1 : 0;
}

/* How much of `text` is the value of the name before it; what stands between the two is copied. */
static size_t value_of(const char **text, bool option, bool whole, struct strbuf *out)
{
    const char *at = *text + (is_quote(**text) && (*text)[1] == ':'); /* JSON's names have quotes */
    char between = *at;

    if (between != '=' && between != ':' && !(option && between && strchr(blanks, between)))
        return 0;
    at += 1 + strspn(at + 1, between == '=' ? "" : blanks);
    strbuf_add(out, *text, (size_t)(at - *text));
    *text = at;
    if (between == ':')
        return value_until(at, "\n\"'");
    if (between != '=' && *at == '-')
        return 0; /* the next option */
    return whole && between == '=' ? strlen(at) : value_until(at, " \t\n;&|)\"'");
}

static void hide_secret(struct strbuf *out, const char **text, size_t length)
{
    if (length > 0)
        strbuf_adds(out, stars);
    *text += length;
}

/* Appends `text` without its secrets. `word`: it is one word of a command, whose value may hold
 * blanks; true: it is an option whose secret is the next word. */
static bool hide_secrets(const char *text, bool word, struct strbuf *out)
{
    const char *begin = text;

    while (*text) {
        size_t name = strspn(text, name_characters);
        bool whole = word && text == begin, option = *text == '-';
        bool secret = names_secret(text, name);
        strbuf_add(out, text, name);
        text += name;
        if (secret && !*text)
            return option && whole;
        if (secret)
            hide_secret(out, &text, value_of(&text, option, whole, out));
        else if (strncmp(text, "://", 3) == 0) {
            strbuf_add(out, text, 3);
            text += 3;
            hide_secret(out, &text, user_of_address(text));
        } else if (*text) {
            strbuf_addc(out, *text++);
        }
    }
    return false;
}

char *redact_text(const char *text)
{
    struct strbuf out;

    if (!text)
        return NULL;
    strbuf_init(&out);
    hide_secrets(text, false, &out);
    return strbuf_detach(&out);
}

void redact_words(const struct string_list *words, struct string_list *hidden)
{
    bool next = false;
    struct strbuf out;

    strbuf_init(&out);
    for (size_t i = 0; i < words->nr; i++) {
        const char *word = words->items[i];
        bool value = next && word[0] != '-';
        strbuf_clear(&out);
        next = false;
        if (value)
            strbuf_adds(&out, stars);
        else
            next = hide_secrets(word, true, &out);
        string_list_add(hidden, out.data);
    }
    strbuf_release(&out);
}
