/* SPDX-License-Identifier: MIT */
#include "cli/available.h"

#include "base/memory.h"
#include "base/process_group.h"
#include "core/device.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the child says of a variant, in memory that both see. */
enum answer { ANSWER_NONE, ANSWER_YES, ANSWER_NO };
struct answers {
    enum answer answer;
    struct error why;
};

static bool is_asked(const struct variant *v)
{
    const unsigned flags = v->flags & (VARIANT_VENDOR | VARIANT_PEER | VARIANT_HIDDEN);

    return v->device == DEVICE_CPU && flags == VARIANT_VENDOR && v->supports != NULL &&
           v->kernel->nr_shapes > 0;
}

static void ask(const struct registry *r, size_t nr, struct answers *answers)
{
    struct device device;
    struct error err;

    if (device_open(&device, "cpu", &err) != 0)
        return;
    for (size_t i = 0; i < nr; i++) {
        const struct variant *v = registry_variant_at(r, i);
        if (!is_asked(v))
            continue;
        bool yes = v->supports(v->kernel, &v->kernel->shapes[0], &device, &answers[i].why);
        answers[i].answer = yes ? ANSWER_YES : ANSWER_NO;
    }
}

struct question {
    const struct registry *registry;
    size_t nr;
    struct answers *answers;
};

static int ask_and_exit(const void *context)
{
    const struct question *q = context;

    ask(q->registry, q->nr, q->answers);
    _exit(0);
}

/* Some seconds are enough for any library. */
static void ask_in_child(const struct question *q)
{
    enum { LONGEST = 5 };
    struct process_group g;
    struct error ignored; /* then nothing is known of any */

    if (process_group_start(&g, 0, ask_and_exit, q, &ignored))
        return;
    process_group_wait(&g, LONGEST);
    process_group_kill(&g);
    process_group_close(&g);
}

void available_ask(const struct registry *r, size_t nr, char **why)
{
    const size_t size = nr * sizeof(struct answers);
    struct answers *answers =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (answers == MAP_FAILED)
        return;
    ask_in_child(&(struct question) { r, nr, answers });
    for (size_t i = 0; i < nr; i++) {
        const struct variant *v = registry_variant_at(r, i);
        if (answers[i].answer == ANSWER_NO)
            why[i] = memory_string(answers[i].why.message);
        else if (answers[i].answer == ANSWER_NONE && is_asked(v))
            why[i] = memory_string("its library ends the process that opens it");
    }
    munmap(answers, size);
}
