/* SPDX-License-Identifier: MIT */
/* A recursive descent that writes steps for a stack: what comes out has no nesting left, so that
 * values need neither recursion nor memory. */
#include "metrics/expression.h"

#include "base/array.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum step_kind {
    STEP_NUMBER,
    STEP_NAME,
    STEP_ADD,
    STEP_SUBTRACT,
    STEP_MULTIPLY,
    STEP_DIVIDE,
    STEP_MIN,
    STEP_MAX,
    STEP_NEGATE, /* from here on they take one value */
    STEP_LOG2,
    STEP_SQRT,
};

struct step {
    enum step_kind kind;
    double number;
    char name[EXPRESSION_NAME_SIZE];
};

/* No step comes without a character of the text, so its length bounds them, and the stack too. */
struct expression {
    struct step *items;
    size_t nr, capacity;
};

struct parser {
    const char *text, *at;
    struct expression *e;
    bool (*known)(void *ctx, const char *name);
    void *ctx;
    int depth;
    struct error *err;
};

static int expression_sum(struct parser *p);

static void expression_skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t");
}

static int expression_refuse(struct parser *p, const char *at, const char *what)
{
    return error_set(p->err, "column %d: %s", (int)(at - p->text) + 1, what);
}

static struct step *expression_add_step(struct parser *p, enum step_kind kind)
{
    struct step *step = array_push(p->e);

    step->kind = kind;
    return step;
}

/* Takes `c` if it is next. */
static bool expression_accept(struct parser *p, char c)
{
    expression_skip_blanks(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static size_t expression_name_length(const char *text)
{
    size_t length = 0;

    if (isdigit((unsigned char)*text))
        return 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

static size_t expression_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Digits, a point, an exponent: what strtod() takes beyond that (hex, "inf") is no number here. */
static size_t expression_number_length(const char *text)
{
    size_t length = expression_digits(text), whole = length;

    if (text[length] == '.') {
        size_t fraction = expression_digits(text + length + 1);
        if (!whole && !fraction)
            return 0;
        length += 1 + fraction;
    }
    if (length && (text[length] == 'e' || text[length] == 'E')) {
        size_t sign = text[length + 1] == '-' || text[length + 1] == '+';
        size_t exponent = expression_digits(text + length + 1 + sign);
        length += exponent ? 1 + sign + exponent : 0;
    }
    return length;
}

static int expression_number(struct parser *p)
{
    char copy[EXPRESSION_LENGTH_MAX + 1];
    size_t length = expression_number_length(p->at);

    snprintf(copy, sizeof(copy), "%.*s", (int)length, p->at);
    double value = strtod(copy, NULL);
    if (!isfinite(value))
        return expression_refuse(p, p->at, "the number is too large");
    expression_add_step(p, STEP_NUMBER)->number = value;
    p->at += length;
    return 0;
}

static const struct function {
    const char *name;
    enum step_kind kind;
    bool many; /* two or more arguments; else one */
} functions[] = {
    { "min", STEP_MIN, true },
    { "max", STEP_MAX, true },
    { "log2", STEP_LOG2, false },
    { "sqrt", STEP_SQRT, false },
};

static const struct function *expression_function(const char *name)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

/* What follows the "(": each argument after the first is joined to those before. */
static int expression_arguments(struct parser *p, const struct function *function,
                                const char *start)
{
    int nr = 1;

    if (expression_sum(p))
        return -1;
    if (!function->many)
        expression_add_step(p, function->kind);
    for (; expression_accept(p, ','); nr++) {
        if (!function->many)
            return expression_refuse(p, start, "log2 and sqrt take one value");
        if (expression_sum(p))
            return -1;
        expression_add_step(p, function->kind);
    }
    if (!expression_accept(p, ')'))
        return expression_refuse(p, p->at, "a ')' is missing");
    return function->many && nr < 2
               ? expression_refuse(p, start, "min and max take two values or more")
               : 0;
}

static int expression_name(struct parser *p)
{
    const char *start = p->at;
    char name[EXPRESSION_NAME_SIZE], why[EXPRESSION_NAME_SIZE + 40];
    size_t length = expression_name_length(start);

    if (length >= sizeof(name))
        return expression_refuse(p, start, "the name is too long");
    snprintf(name, sizeof(name), "%.*s", (int)length, start);
    p->at += length;
    const struct function *function = expression_function(name);
    if (function && expression_accept(p, '('))
        return expression_arguments(p, function, start);
    if (p->known && !p->known(p->ctx, name)) {
        snprintf(why, sizeof(why), "unknown name \"%s\"", name);
        return expression_refuse(p, start, why);
    }
    snprintf(expression_add_step(p, STEP_NAME)->name, sizeof(name), "%s", name);
    return 0;
}

static int expression_part(struct parser *p)
{
    if (expression_accept(p, '-')) {
        if (expression_part(p))
            return -1;
        expression_add_step(p, STEP_NEGATE);
        return 0;
    }
    if (expression_accept(p, '+'))
        return expression_part(p);
    if (expression_accept(p, '(')) {
        if (expression_sum(p))
            return -1;
        return expression_accept(p, ')') ? 0 : expression_refuse(p, p->at, "a ')' is missing");
    }
    if (expression_number_length(p->at))
        return expression_number(p);
    if (expression_name_length(p->at))
        return expression_name(p);
    return expression_refuse(p, p->at, "a name, a number or a '(' must stand here");
}

static int expression_factor(struct parser *p)
{
    if (p->depth == EXPRESSION_DEPTH_MAX)
        return expression_refuse(p, p->at, "too many levels of brackets");
    p->depth++;
    int rc = expression_part(p);
    p->depth--;
    return rc;
}

/* Operands joined from the left: by * and /, or by + and -. */
static int expression_joined(struct parser *p, int (*operand)(struct parser *p),
                             const char signs[2], const enum step_kind kinds[2])
{
    if (operand(p))
        return -1;
    for (;;) {
        bool first = expression_accept(p, signs[0]);
        if (!first && !expression_accept(p, signs[1]))
            return 0;
        if (operand(p))
            return -1;
        expression_add_step(p, kinds[first ? 0 : 1]);
    }
}

static int expression_product(struct parser *p)
{
    static const enum step_kind kinds[] = { STEP_MULTIPLY, STEP_DIVIDE };

    return expression_joined(p, expression_factor, "*/", kinds);
}

static int expression_sum(struct parser *p)
{
    static const enum step_kind kinds[] = { STEP_ADD, STEP_SUBTRACT };

    return expression_joined(p, expression_product, "+-", kinds);
}

static int expression_all(struct parser *p)
{
    if (strlen(p->text) > EXPRESSION_LENGTH_MAX)
        return error_set(p->err, "the expression is longer than %d characters",
                         EXPRESSION_LENGTH_MAX);
    if (expression_sum(p))
        return -1;
    expression_skip_blanks(p);
    return *p->at ? expression_refuse(p, p->at, "one of + - * / must stand here") : 0;
}

struct expression *expression_parse(const char *text, bool (*known)(void *ctx, const char *name),
                                    void *ctx, struct error *err)
{
    struct expression *e = memory_zeroed(1, sizeof(*e));
    struct parser p = { .text = text, .at = text, .e = e, .known = known, .ctx = ctx, .err = err };

    if (expression_all(&p) == 0)
        return e;
    expression_free(e);
    return NULL;
}

void expression_free(struct expression *e)
{
    if (!e)
        return;
    array_release(e);
    free(e);
}

static double expression_one_value(enum step_kind kind, double a)
{
    switch (kind) {
    case STEP_NEGATE:
        return -a;
    case STEP_LOG2:
        return a > 0 ? log2(a) : (double)NAN;
    default: /* STEP_SQRT */
        return a >= 0 ? sqrt(a) : (double)NAN;
    }
}

/* fmin() and fmax() would hide a value that is not there. */
static double expression_two_values(enum step_kind kind, double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    switch (kind) {
    case STEP_ADD:
        return a + b;
    case STEP_SUBTRACT:
        return a - b;
    case STEP_MULTIPLY:
        return a * b;
    case STEP_DIVIDE:
        return b != 0 ? a / b : (double)NAN;
    case STEP_MIN:
        return fmin(a, b);
    default: /* STEP_MAX */
        return fmax(a, b);
    }
}

double expression_value(const struct expression *e, double (*get)(void *ctx, const char *name),
                        void *ctx)
{
    double stack[EXPRESSION_LENGTH_MAX] = { 0 };
    size_t nr = 0;

    for (size_t i = 0; i < e->nr; i++) {
        const struct step *step = &e->items[i];
        if (step->kind == STEP_NUMBER) {
            stack[nr++] = step->number;
        } else if (step->kind == STEP_NAME) {
            stack[nr++] = get(ctx, step->name);
        } else if (step->kind >= STEP_NEGATE) {
            stack[nr - 1] = expression_one_value(step->kind, stack[nr - 1]);
        } else {
            nr--;
            stack[nr - 1] = expression_two_values(step->kind, stack[nr - 1], stack[nr]);
        }
    }
    return isfinite(stack[0]) ? stack[0] : (double)NAN;
}

bool expression_is_plain(const char *text)
{
    text += strspn(text, " \t");
    size_t length = expression_name_length(text);
    text += length;
    return length > 0 && text[strspn(text, " \t")] == '\0';
}
