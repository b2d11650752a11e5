/* SPDX-License-Identifier: MIT */
/*
 * What differs between the words of two commands. Words that have a name are matched by it,
 * wherever they stand: "--threads 4", "--threads=4", "-j 4", "-j4", "bs=4k". The rest is compared
 * by place.
 *
 * Nothing says whether "-n" of "-n numbers" takes the word behind it. It is taken to do so, unless
 * the other command shows that it does not: there "-n" stands without one, or "numbers" without it.
 */
#include "explain/evidence.h"

#include "base/array.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- variables ---- */

size_t evidence_program_place(const struct string_list *words)
{
    const char *slash = words->nr ? strrchr(words->items[0], '/') : NULL;
    size_t i = 1;

    if (words->nr < 2 || strcmp(slash ? slash + 1 : words->items[0], "env") != 0)
        return 0;
    while (i + 1 < words->nr && strchr(words->items[i], '='))
        i++;
    return i;
}

/* The value of a variable that "env" sets; NULL: it does not. */
static const char *env_value(const struct string_list *words, const char *name, size_t length)
{
    for (size_t i = evidence_program_place(words); i-- > 1;)
        if (strncmp(words->items[i], name, length) == 0 && words->items[i][length] == '=')
            return words->items[i] + length + 1;
    return NULL;
}

static void add_variables(struct explain_case *c, const struct string_list *of,
                          const struct string_list *base, const struct string_list *head)
{
    size_t program = evidence_program_place(of);

    for (size_t i = 1; i < program; i++) {
        size_t length = (size_t)(strchr(of->items[i], '=') - of->items[i]);
        const char *b = env_value(base, of->items[i], length);
        const char *h = env_value(head, of->items[i], length);
        char *name = memory_string(of->items[i]);
        name[length] = '\0';
        if (!b || !h || strcmp(b, h) != 0)
            explain_add_fact(c, evidence_fact_kind(name), name, b, h);
        free(name);
    }
}

/* ---- arguments ---- */

struct argument {
    const char *name;  /* in a word, whose first `length` bytes it is */
    size_t length;     /* 0: it has none */
    const char *value; /* NULL: it is given, and has none */
    bool is_next;      /* the value is the next word */
    bool told;
};

struct arguments {
    struct argument *items;
    size_t nr, capacity;
};

/* Not "-", which is standard input, and no number below 0. */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] && word[1] != '.' && !isdigit((unsigned char)word[1]);
}

/* Bytes of the name that a word begins with; 0: none. */
static size_t name_length(const char *word)
{
    static const char digits[] = "0123456789";
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        "0123456789_-.";

    if (!is_option(word)) {
        size_t length = strspn(word, letters);
        return word[length] == '=' ? length : 0;
    }
    bool counted = isalpha((unsigned char)word[1]) && word[2] &&
                   word[2 + strspn(word + 2, digits)] == '\0'; /* "-j4" */
    return counted ? 2 : strcspn(word, "=");
}

static struct argument argument_of(const char *word)
{
    size_t length = name_length(word);
    const char *rest = word + length;
    struct argument a = { .name = word, .length = length };

    if (length == 0)
        a.value = word;
    else if (*rest)
        a.value = rest + (*rest == '=');
    return a;
}

/* May the word behind it be its value? Behind "--" there are none. */
static bool may_take_next(const struct argument *a)
{
    return !a->value && strcmp(a->name, "--") != 0;
}

static void read_arguments(const struct string_list *words, struct arguments *out)
{
    for (size_t i = evidence_program_place(words) + 1; i < words->nr; i++) {
        struct argument a = argument_of(words->items[i]);
        struct argument *last = out->nr ? &out->items[out->nr - 1] : NULL;
        if (last && may_take_next(last) && a.length == 0) {
            last->value = a.value;
            last->is_next = true;
        } else {
            *array_push(out) = a;
        }
    }
}

static bool is_same_name(const struct argument *a, const struct argument *b)
{
    return a->length && a->length == b->length && strncmp(a->name, b->name, a->length) == 0;
}

static bool is_same_value(const struct argument *a, const struct argument *b)
{
    return a->value && b->value ? strcmp(a->value, b->value) == 0 : a->value == b->value;
}

/* Does the other command show that the word behind it is none of its own? */
static bool is_shown_alone(const struct argument *a, const struct arguments *other)
{
    bool has_name = false, has_word = false;

    for (size_t i = 0; i < other->nr; i++) {
        const struct argument *o = &other->items[i];
        if (is_same_name(a, o) && !o->value)
            return true;
        has_name |= is_same_name(a, o);
        has_word |= o->length == 0 && is_same_value(a, o);
    }
    return has_word && !has_name;
}

/* The value becomes a word of its own again. */
static void part_from_next(struct arguments *of, size_t at)
{
    struct argument word = { .name = of->items[at].value, .value = of->items[at].value };

    of->items[at].value = NULL;
    of->items[at].is_next = false;
    *array_push(of) = word;
    memmove(&of->items[at + 2], &of->items[at + 1], (of->nr - at - 2) * sizeof(word));
    of->items[at + 1] = word;
}

/* Each word that is parted may show the same of another option. */
static void part_options(struct arguments sides[2])
{
    bool again = true;

    while (again) {
        again = false;
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < sides[side].nr; i++) {
                if (!sides[side].items[i].is_next ||
                    !is_shown_alone(&sides[side].items[i], &sides[1 - side]))
                    continue;
                part_from_next(&sides[side], i);
                again = true;
            }
    }
}

/* ---- what differs ---- */

static enum explain_fact_kind word_kind(const char *name)
{
    enum explain_fact_kind kind = evidence_fact_kind(name);

    if (strcmp(name, "-j") == 0 || strcmp(name, "-t") == 0)
        return FACT_THREADS;
    return kind == FACT_OTHER || kind == FACT_IDENTITY ? FACT_INPUT : kind;
}

/* NULL: that side has no such argument. */
static const char *argument_text(const struct argument *a)
{
    if (!a)
        return "(without)";
    return a->value ? a->value : "given";
}

static void add_argument(struct explain_case *c, const char *name, const struct argument *base,
                         const struct argument *head)
{
    explain_add_fact(c, word_kind(name), name, argument_text(base), argument_text(head));
}

static void add_named(struct explain_case *c, const struct argument *base,
                      const struct argument *head)
{
    const struct argument *one = base ? base : head;
    char *name = memory_string(one->name);

    name[one->length] = '\0';
    add_argument(c, name, base, head);
    free(name);
}

/* The first of that name, and of that value if `equal`, that is not told yet; NULL: none. */
static struct argument *find_partner(const struct argument *a, const struct arguments *other,
                                     bool equal)
{
    for (size_t i = 0; i < other->nr; i++) {
        struct argument *o = &other->items[i];
        if (!o->told && is_same_name(a, o) && (!equal || is_same_value(a, o)))
            return o;
    }
    return NULL;
}

/* Of options that stand there several times, those with equal values first. */
static void add_pairs(struct explain_case *c, const struct arguments sides[2], bool equal)
{
    for (size_t i = 0; i < sides[0].nr; i++) {
        struct argument *a = &sides[0].items[i];
        struct argument *o = a->told ? NULL : find_partner(a, &sides[1], equal);
        if (!o)
            continue;
        a->told = o->told = true;
        if (!equal)
            add_named(c, a, o);
    }
}

static void add_alone(struct explain_case *c, const struct arguments sides[2])
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side].nr; i++) {
            const struct argument *a = &sides[side].items[i];
            if (a->length && !a->told)
                add_named(c, side == 0 ? a : NULL, side == 0 ? NULL : a);
        }
}

/* The next without a name from *at on; NULL: there is none. */
static const struct argument *next_unnamed(const struct arguments *of, size_t *at)
{
    while (*at < of->nr) {
        const struct argument *a = &of->items[(*at)++];
        if (a->length == 0)
            return a;
    }
    return NULL;
}

static void add_unnamed(struct explain_case *c, const struct arguments sides[2])
{
    size_t at[2] = { 0, 0 };

    for (size_t place = 1;; place++) {
        const struct argument *base = next_unnamed(&sides[0], &at[0]);
        const struct argument *head = next_unnamed(&sides[1], &at[1]);
        char name[32];
        if (!base && !head)
            return;
        if (base && head && is_same_value(base, head))
            continue;
        snprintf(name, sizeof(name), "argument %zu", place);
        add_argument(c, name, base, head);
    }
}

void evidence_add_words(struct explain_case *c, const struct string_list *base,
                        const struct string_list *head)
{
    struct arguments sides[2] = { ARRAY_EMPTY, ARRAY_EMPTY };

    add_variables(c, base, base, head);
    add_variables(c, head, base, head);
    read_arguments(base, &sides[0]);
    read_arguments(head, &sides[1]);
    part_options(sides);
    add_pairs(c, sides, true);
    add_pairs(c, sides, false);
    add_alone(c, sides);
    add_unnamed(c, sides);
    array_release(&sides[0]);
    array_release(&sides[1]);
}
