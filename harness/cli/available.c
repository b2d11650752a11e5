/* SPDX-License-Identifier: MIT */
#include "cli/available.h"

#include "base/memory.h"
#include "base/process_group.h"
#include "core/device.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
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

/* Some seconds are enough for any library; alarm() ends what takes longer. */
static void ask_in_child(const struct registry *r, size_t nr, struct answers *answers)
{
    enum { LONGEST = 5 };
    pid_t self = getpid(), pid = fork();

    if (pid == 0) {
        alarm(LONGEST);
        if (process_end_with(self))
            ask(r, nr, answers);
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void available_ask(const struct registry *r, size_t nr, char **why)
{
    const size_t size = nr * sizeof(struct answers);
    struct answers *answers =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (answers == MAP_FAILED)
        return;
    ask_in_child(r, nr, answers);
    for (size_t i = 0; i < nr; i++) {
        const struct variant *v = registry_variant_at(r, i);
        if (answers[i].answer == ANSWER_NO)
            why[i] = memory_string(answers[i].why.message);
        else if (answers[i].answer == ANSWER_NONE && is_asked(v))
            why[i] = memory_string("its library ends the process that opens it");
    }
    munmap(answers, size);
}
