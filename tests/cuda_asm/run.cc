/* SPDX-License-Identifier: MIT */
#include "run.h"

#include "engine.h"
#include "hopper.h"
#include "report.h"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cuda_host
{

/* ---- Arguments ---- */

uint64_t frame::get(size_t i) const
{
    const struct argument &a = now->arguments[i];

    switch (a.kind) {
    case argument::OPERAND:
        if (*operands[a.index].constraint == '=') { /* it was written in this statement */
            uint64_t value = 0;
            memcpy(&value, operands[a.index].place, operands[a.index].bytes);
            return value;
        }
        return operands[a.index].value;
    case argument::LOCAL:
        return locals[a.index];
    case argument::IMMEDIATE:
        return a.value;
    case argument::SPECIAL:
        if (a.index == 0)
            return thread->lane;
        if (a.index == 1)
            return thread->member->at.x;
        return a.index == 2 ? cuda_host_cluster_rank() : 0;
    case argument::SINK:
        break;
    }
    return 0;
}

float frame::f(size_t i) const
{
    return std::bit_cast<float>(r(i));
}

void *frame::place(size_t i) const
{
    const struct argument &a = now->arguments[i];

    return a.kind == argument::OPERAND ? operands[a.index].place : nullptr;
}

void frame::set(size_t i, uint64_t value) const
{
    const struct argument &a = now->arguments[i];

    if (a.kind == argument::LOCAL)
        locals[a.index] = value;
    else if (a.kind == argument::OPERAND)
        memcpy(operands[a.index].place, &value, operands[a.index].bytes);
}

void frame::set_f(size_t i, float value) const
{
    set(i, std::bit_cast<uint32_t>(value));
}

/* ---- What a statement may be ---- */

static bool of_width(const cuda_host_register &o, char kind)
{
    char c = o.constraint[strlen(o.constraint) - 1];
    bool number = c == 'n';

    switch (kind) {
    case 'r':
        return (c == 'r' && o.bytes == 4 && !o.is_float) || number;
    case 'l':
        return c == 'l' && o.bytes == 8;
    case 'h':
        return c == 'h' && o.bytes == 2;
    case 'f':
        return c == 'f' && o.bytes == 4 && o.is_float;
    case 'n':
        return number;
    default:
        return false;
    }
}

static bool local_is(const std::string &type, char kind)
{
    if (kind == 'p')
        return type == "pred";
    if (type == "pred")
        return false;
    bool wide = type.ends_with("64");
    return kind == 'l' ? wide : kind == 'r' && !wide;
}

/* Whether argument `a` can be what the table says by `kind`. */
static bool fits(const struct program *p, const struct argument &a, char kind,
                 const cuda_host_register *operands, size_t nr)
{
    char plain = kind == 'D' ? 'f' : static_cast<char>(tolower(kind));

    switch (a.kind) {
    case argument::SINK:
        return kind == '_';
    case argument::SPECIAL:
    case argument::IMMEDIATE:
        return plain == 'n' || kind == 'r' || kind == 'f';
    case argument::LOCAL:
        return local_is(p->locals[a.index].type, plain);
    case argument::OPERAND:
        break;
    }
    if (a.index >= nr || !of_width(operands[a.index], plain))
        return false;
    char first = *operands[a.index].constraint;
    if (kind == 'D')
        return first == '+';
    return kind == plain ? first != '=' : first == '=' || first == '+';
}

/* "[r],{D},l" against "[.],{.,.,.},.": `fits` looks at each argument. */
template <class F> static bool shape_fits(const char *want, const std::string &shape, const F &fits)
{
    size_t at = 0;

    for (char have : shape) {
        if (have == '.') {
            if (!fits(at++, *want))
                return false;
            want += *want != 'D';
            continue;
        }
        if (*want == 'D' && have == ',')
            continue;
        want += *want == 'D';
        if (*want++ != have)
            return false;
    }
    return *want == '\0';
}

static std::string statement_wrong(const struct program *p, const cuda_host_register *operands,
                                   size_t nr)
{
    if (!p->wrong.empty())
        return p->wrong;
    for (const struct instruction &i : p->code) {
        if (i.name.empty())
            continue;
        if (!i.operation)
            return "no such instruction: " + i.name;
        auto of_kind = [&](size_t a, char kind) {
            return fits(p, i.arguments[a], kind, operands, nr);
        };
        if (!shape_fits(i.operation->shape, i.shape, of_kind))
            return "operands of " + i.name + " are not " + i.operation->shape;
        bool free = !cuda_host_mma_is_volatile && i.name.starts_with("mma.sync");
        if (i.operation->needs && !p->is_volatile && !free)
            return i.name + " in a statement that is not volatile";
        if ((i.operation->needs & MEMORY) && !p->memory)
            return i.name + " in a statement that does not say \"memory\"";
    }
    return "";
}

const struct operation *operation_find(const struct instruction &i)
{
    const struct operation *found = nullptr;

    for (const struct operation *table :
         { operations_of_registers, operations_of_memory, operations_of_hopper })
        for (const struct operation *o = table; o->name; o++) {
            size_t length = strlen(o->name);
            bool any = o->name[length - 1] == '*';
            if (any ? i.name.compare(0, length - 1, o->name, length - 1) != 0 : i.name != o->name)
                continue;
            if (shape_fits(o->shape, i.shape, [](size_t, char) { return true; }))
                return o;
            found = o;
        }
    return found;
}

/* ---- Execution ---- */

/* An empty statement: the registers that it names are used behind it. */
static void keep(struct thread *t, const struct program *p, const cuda_host_register *operands,
                 size_t nr)
{
    for (size_t i = 0; t && i < nr; i++)
        if (*operands[i].constraint == '+' && p->is_volatile)
            hopper_keep(t, operands[i].place, p->site);
}

static void execute(struct frame &f)
{
    const std::vector<struct instruction> &code = f.program->code;

    for (size_t at = 0; at < code.size(); at++) {
        f.now = &code[at];
        if (f.now->guard >= 0 && (f.locals[f.now->guard] != 0) == f.now->guard_negated)
            continue;
        if (f.now->name.empty()) {
            at = f.now->target - 1;
            continue;
        }
        if (f.thread && f.now->operation->needs)
            engine_tick(f.thread);
        f.now->operation->run(f);
    }
}

[[noreturn]] static void refuse(struct thread *t, const struct program *p, const std::string &why)
{
    if (t)
        block_fail(t, "the asm statement at %s: %s", report_site(p->site).c_str(), why.c_str());
    fprintf(stderr, "the asm statement at %s: %s\n", report_site(p->site).c_str(), why.c_str());
    abort();
}

} // namespace cuda_host

using namespace cuda_host;

/* What is planted in this run: a mistake in the statement at a place, which has to be found
 * (plants.py). CUDA_ASM_PLANT=FILE:LINE:KIND in the environment; with CUDA_ASM_PLANT=list the
 * places are told, and whether the statement says volatile and "memory" there (v, m). */
static void plant(std::string *text, bool *memory, bool *is_volatile, struct cuda_host_site site)
{
    const char *wanted = getenv("CUDA_ASM_PLANT");

    if (!wanted)
        return;
    std::string place = report_site(site) + ":";
    if (strcmp(wanted, "list") == 0)
        printf("asm %s%c%c:%s\n", place.c_str(), *is_volatile ? 'v' : '-', *memory ? 'm' : '-',
               text->c_str());
    if (strncmp(wanted, place.c_str(), place.size()) != 0)
        return;
    std::string kind = wanted + place.size();
    if (kind == "clobber")
        *memory = false;
    if (kind == "volatile")
        *is_volatile = false;
    for (size_t i = 0; kind == "swap" && i + 1 < text->size(); i++)
        if ((*text)[i] == '%' && ((*text)[i + 1] == '0' || (*text)[i + 1] == '1') &&
            (i + 2 == text->size() || !isdigit(static_cast<unsigned char>((*text)[i + 2]))))
            (*text)[i + 1] = (*text)[i + 1] == '0' ? '1' : '0';
    size_t space = text->find_first_of(
        " ;",
        text->find('.', text->rfind(".reg") == std::string::npos ? 0 : text->rfind(".reg") + 6));
    size_t dot = space == std::string::npos ? space : text->rfind('.', space);
    if (kind == "qualifier" && dot != std::string::npos)
        text->erase(dot, space - dot);
}

cuda_host_program::cuda_host_program(const char *text, const char *clobbers, bool is_volatile,
                                     struct cuda_host_site site)
{
    auto p = std::make_unique<cuda_host::program>();
    std::string planted = text;

    p->is_volatile = is_volatile;
    p->memory = strcmp(clobbers, "memory") == 0;
    plant(&planted, &p->memory, &p->is_volatile, site);
    program_parse(p.get(), planted.c_str());
    p->site = site;
    for (struct instruction &i : p->code)
        i.operation = i.name.empty() ? nullptr : operation_find(i);
    code = std::move(p);
}

cuda_host_program::~cuda_host_program() = default;

void cuda_host_asm_run(const cuda_host_program &program, const cuda_host_register *operands,
                       size_t nr)
{
    const cuda_host::program *p = program.code.get();
    struct thread *t = thread_self();
    uint64_t locals[8] = {};
    struct frame f = { p, nullptr, operands, locals, t, CODE_PLACE_OF_CALLER };

    if (p->code.empty() && p->wrong.empty())
        return keep(t, p, operands, nr);
    if (!p->looked_at) { /* a statement's operands are of the same kinds whenever it is run */
        std::string wrong = statement_wrong(p, operands, nr);
        if (!wrong.empty())
            refuse(t, p, wrong);
        if (p->locals.size() > std::size(locals))
            refuse(t, p, "too many local registers");
        p->looked_at = true;
    }
    execute(f);
}
