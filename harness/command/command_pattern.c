/* SPDX-License-Identifier: MIT */
#include "command/command_pattern.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* One pass over the text. */
struct translation {
    const char *text, *at;
    struct strbuf out;
    size_t groups, depth;
    bool alternatives; /* then nothing is in every line that matches */
    char run[PATTERN_LENGTH_MAX + 1], longest[PATTERN_LENGTH_MAX + 1]; /* plain characters */
    size_t run_length;
};

static int pattern_refuse(const struct translation *t, const char *what, struct error *err)
{
    return error_set(err, "column %d of the pattern: %s", (int)(t->at - t->text) + 1, what);
}

/* ---- what every line that matches holds ---- */

static void run_end(struct translation *t)
{
    t->run[t->run_length] = '\0';
    if (t->run_length > strlen(t->longest))
        memcpy(t->longest, t->run, t->run_length + 1);
    t->run_length = 0;
}

static void run_add(struct translation *t, char c)
{
    if (t->depth == 0)
        t->run[t->run_length++] = c;
}

/* The last character may be there or not. */
static void run_drop_last(struct translation *t)
{
    if (t->run_length > 0)
        t->run_length--;
    run_end(t);
}

/* ---- classes ---- */

static const struct {
    char letter;
    const char *alone, *within; /* brackets */
} classes[] = {
    { 'd', "[0-9]", "0-9" },
    { 's', "[[:space:]]", "[:space:]" },
    { 'w', "[[:alnum:]_]", "[:alnum:]_" },
    { 'D', "[^0-9]", NULL },
    { 'S', "[^[:space:]]", NULL },
    { 'W', "[^[:alnum:]_]", NULL },
};

static const char *class_text(char letter, bool within)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (classes[i].letter == letter)
            return within ? classes[i].within : classes[i].alone;
    return NULL;
}

static int pattern_escape(struct translation *t, struct error *err)
{
    char c = t->at[1];
    const char *class = class_text(c, false);

    if (class) {
        run_end(t);
        strbuf_adds(&t->out, class);
    } else if (c == 't') {
        run_add(t, '\t');
        strbuf_addc(&t->out, '\t');
    } else if (c == '\0' || isalnum((unsigned char)c)) {
        return pattern_refuse(t, "of backslashes and letters there are \\d \\s \\w \\D \\S \\W \\t",
                              err);
    } else {
        run_add(t, c);
        if (strchr(".[]()*+?{}|^$\\", c)) /* of others glibc makes marks of its own: \< */
            strbuf_addc(&t->out, '\\');
        strbuf_addc(&t->out, c);
    }
    t->at += 2;
    return 0;
}

/* A backslash in brackets: a class, or the character itself; "]", "^" and "-" cannot stand
 * anywhere in POSIX brackets, so they are asked for outside of them. */
static int pattern_escape_within(struct translation *t, struct error *err)
{
    char c = t->at[1];
    const char *class = class_text(c, true);

    if (class)
        strbuf_adds(&t->out, class);
    else if (c == 't')
        strbuf_addc(&t->out, '\t');
    else if (c == '\0' || isalnum((unsigned char)c) || strchr("]^-[", c))
        return pattern_refuse(t,
                              "in brackets a backslash is followed by d, s, w, t or a mark other "
                              "than ] ^ - [",
                              err);
    else
        strbuf_addc(&t->out, c);
    t->at += 2;
    return 0;
}

static int pattern_brackets(struct translation *t, struct error *err)
{
    run_end(t);
    strbuf_addc(&t->out, *t->at++);
    if (*t->at == '^')
        strbuf_addc(&t->out, *t->at++);
    if (*t->at == ']')
        strbuf_addc(&t->out, *t->at++);
    while (*t->at && *t->at != ']') {
        const char *named = t->at[0] == '[' && t->at[1] == ':' ? strstr(t->at, ":]") : NULL;
        if (named) {
            strbuf_add(&t->out, t->at, (size_t)(named + 2 - t->at));
            t->at = named + 2;
        } else if (*t->at == '\\') {
            if (pattern_escape_within(t, err))
                return -1;
        } else {
            strbuf_addc(&t->out, *t->at++);
        }
    }
    if (!*t->at)
        return pattern_refuse(t, "a [ is not closed", err);
    strbuf_addc(&t->out, *t->at++);
    return 0;
}

/* ---- groups and repeats ---- */

static int pattern_group(struct translation *t, struct pattern *p, struct error *err)
{
    bool plain = t->at[1] != '?';

    run_end(t);
    if (!plain && t->at[2] != ':')
        return pattern_refuse(t, "look-around and named groups are not known: use ( ) or (?: )",
                              err);
    if (++t->groups >= PATTERN_GROUPS_MAX)
        return pattern_refuse(t, "too many groups", err);
    if (plain && p->group == 0)
        p->group = t->groups;
    t->depth++;
    strbuf_addc(&t->out, '(');
    t->at += plain ? 1 : 3;
    return 0;
}

static int pattern_repeat(struct translation *t, struct error *err)
{
    if (*t->at == '+')
        run_end(t);
    else
        run_drop_last(t);
    if (*t->at == '{') {
        const char *end = strchr(t->at, '}');
        if (!end)
            return pattern_refuse(t, "a { is not closed; the sign itself is \\{", err);
        strbuf_add(&t->out, t->at, (size_t)(end + 1 - t->at));
        t->at = end + 1;
    } else {
        strbuf_addc(&t->out, *t->at++);
    }
    if (*t->at == '?' || *t->at == '+')
        return pattern_refuse(t,
                              "a repeat takes as much as it can: lazy ones are not known; [^x]* "
                              "stops before the next x",
                              err);
    return 0;
}

static int pattern_next(struct translation *t, struct pattern *p, struct error *err)
{
    switch (*t->at) {
    case '\\':
        return pattern_escape(t, err);
    case '[':
        return pattern_brackets(t, err);
    case '(':
        return pattern_group(t, p, err);
    case '*':
    case '+':
    case '?':
    case '{':
        return pattern_repeat(t, err);
    case '|':
        t->alternatives = true;
        break;
    case ')':
        run_end(t);
        t->depth -= t->depth > 0;
        break;
    case '.':
    case '^':
    case '$':
        run_end(t);
        break;
    default:
        run_add(t, *t->at);
    }
    strbuf_addc(&t->out, *t->at++);
    return 0;
}

static int pattern_build(struct translation *t, struct pattern *p, struct error *err)
{
    char why[160];

    while (*t->at)
        if (pattern_next(t, p, err))
            return -1;
    run_end(t);
    snprintf(p->required, sizeof(p->required), "%s", t->alternatives ? "" : t->longest);
    int rc = regcomp(&p->regex, t->out.data, REG_EXTENDED);
    if (rc == 0)
        return 0;
    regerror(rc, &p->regex, why, sizeof(why));
    return error_set(err, "the pattern is none: %s", why);
}

int pattern_compile(const char *text, struct pattern *p, struct error *err)
{
    struct translation t = { .text = text, .at = text };
    size_t length = strlen(text);

    p->group = 0;
    if (length == 0 || length > PATTERN_LENGTH_MAX)
        return error_set(err, "a pattern has 1 to %d characters", PATTERN_LENGTH_MAX);
    strbuf_init(&t.out);
    int rc = pattern_build(&t, p, err);
    strbuf_release(&t.out);
    return rc;
}

void pattern_free(struct pattern *p)
{
    regfree(&p->regex);
}

bool pattern_find(const struct pattern *p, const char *line, size_t *begin, size_t *length)
{
    regmatch_t found[PATTERN_GROUPS_MAX];

    if (p->required[0] && !strstr(line, p->required))
        return false;
    if (regexec(&p->regex, line, PATTERN_GROUPS_MAX, found, 0) || found[p->group].rm_so < 0)
        return false;
    *begin = (size_t)found[p->group].rm_so;
    *length = (size_t)(found[p->group].rm_eo - found[p->group].rm_so);
    return true;
}
