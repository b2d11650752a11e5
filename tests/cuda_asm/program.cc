/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <cctype>
#include <cstdlib>
#include <map>

namespace cuda_host
{

namespace
{
struct reader {
    const char *at;
    struct program *p;
    std::map<std::string, size_t> labels;
    std::map<size_t, std::string> branches; /* instruction to label */
};
} // namespace

static void blanks(struct reader *r)
{
    while (isspace(static_cast<unsigned char>(*r->at)))
        r->at++;
}

static bool take(struct reader *r, char c)
{
    blanks(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool in_word(const char *at)
{
    return isalnum(static_cast<unsigned char>(*at)) || *at == '_' || *at == '.' ||
           (*at == ':' && at[1] == ':') || (*at == ':' && at[-1] == ':');
}

/* Letters, digits, '_', '.' and the "::" of qualifiers. */
static std::string word(struct reader *r)
{
    blanks(r);
    const char *start = r->at;

    while (in_word(r->at))
        r->at++;
    return std::string(start, r->at);
}

static int local_of(const struct program *p, const std::string &name)
{
    for (size_t i = 0; i < p->locals.size(); i++)
        if (p->locals[i].name == name)
            return static_cast<int>(i);
    return -1;
}

static void declare(struct reader *r, const std::string &type)
{
    do
        r->p->locals.push_back({ word(r), type });
    while (take(r, ','));
}

/* %3, %%laneid, 16, 0f00000000, 0x3244, done, _ */
static bool read_argument(struct reader *r, struct argument *a)
{
    blanks(r);
    *a = { argument::IMMEDIATE, 0, 0 };
    if (r->at[0] == '%' && r->at[1] == '%') {
        r->at += 2;
        std::string name = word(r);
        a->kind = argument::SPECIAL;
        static const char *const known[] = { "laneid", "ctaid.x", "cluster_ctarank", "clock_hi" };
        for (unsigned i = 0; i < 4; i++)
            if (name == known[i]) {
                a->index = i;
                return true;
            }
        return false;
    }
    if (take(r, '%')) {
        char *end;
        a->kind = argument::OPERAND;
        a->index = static_cast<unsigned>(strtoul(r->at, &end, 10));
        bool some = end != r->at;
        r->at = end;
        return some;
    }
    std::string w = word(r);
    if (w.empty())
        return false;
    if (w == "_") {
        a->kind = argument::SINK;
    } else if (isdigit(static_cast<unsigned char>(w[0]))) {
        bool bits = w[0] == '0' && w[1] == 'f';
        char *end;
        a->value = strtoull(w.c_str() + (bits ? 2 : 0), &end, bits ? 16 : 0);
        return *end == '\0';
    } else {
        int local = local_of(r->p, w);
        a->kind = argument::LOCAL;
        a->index = static_cast<unsigned>(local);
        return local >= 0;
    }
    return true;
}

/* Up to the semicolon, brackets and all. */
static bool arguments(struct reader *r, struct instruction *i)
{
    for (blanks(r); *r->at && *r->at != ';'; blanks(r)) {
        if (strchr("[]{},", *r->at)) {
            i->shape += *r->at++;
            continue;
        }
        struct argument a;
        if (!read_argument(r, &a))
            return false;
        i->shape += '.';
        i->arguments.push_back(a);
    }
    return take(r, ';');
}

static bool guard(struct reader *r, struct instruction *i)
{
    i->guard = -1;
    if (!take(r, '@'))
        return true;
    i->guard_negated = take(r, '!');
    i->guard = local_of(r->p, word(r));
    return i->guard >= 0;
}

static bool statement(struct reader *r)
{
    struct instruction i = {};

    if (!guard(r, &i))
        return false;
    i.name = word(r);
    if (i.name == ".reg") {
        std::string type = word(r);
        declare(r, type.substr(type.empty() ? 0 : 1));
        return take(r, ';');
    }
    if (take(r, ':')) {
        r->labels[i.name] = r->p->code.size();
        return true;
    }
    if (i.name == "bra") {
        r->branches[r->p->code.size()] = word(r);
        i.name.clear();
    }
    bool good = arguments(r, &i);
    r->p->code.push_back(i);
    return good;
}

void program_parse(struct program *p, const char *text)
{
    struct reader r = { text, p, {}, {} };

    p->text = text;
    bool braces = take(&r, '{');
    for (blanks(&r); *r.at && *r.at != '}'; blanks(&r)) {
        const char *start = r.at;
        if (!statement(&r)) {
            p->wrong = "not understood: " + std::string(start, strcspn(start, ";"));
            return;
        }
    }
    if (braces != take(&r, '}'))
        p->wrong = "braces do not match";
    for (const auto &[at, label] : r.branches) {
        auto found = r.labels.find(label);
        if (found == r.labels.end())
            p->wrong = "no label " + label;
        else
            p->code[at].target = found->second;
    }
}

} // namespace cuda_host
