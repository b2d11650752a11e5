/* SPDX-License-Identifier: MIT */
#include "host/processors.h"

#include <sched.h>

static unsigned long bit_of(size_t number)
{
    return 1UL << number % PROCESSORS_OF_WORD;
}

bool processors_have(const struct processors *p, size_t number)
{
    return number < PROCESSORS_MAX && p->words[number / PROCESSORS_OF_WORD] & bit_of(number);
}

void processors_add(struct processors *p, size_t number)
{
    if (number < PROCESSORS_MAX)
        p->words[number / PROCESSORS_OF_WORD] |= bit_of(number);
}

void processors_remove(struct processors *p, size_t number)
{
    if (number < PROCESSORS_MAX)
        p->words[number / PROCESSORS_OF_WORD] &= ~bit_of(number);
}

void processors_join(struct processors *p, const struct processors *others)
{
    for (size_t i = 0; i < sizeof(p->words) / sizeof(p->words[0]); i++)
        p->words[i] |= others->words[i];
}

int processors_count(const struct processors *p)
{
    int nr = 0;

    for (size_t i = 0; i < sizeof(p->words) / sizeof(p->words[0]); i++)
        nr += __builtin_popcountl(p->words[i]);
    return nr;
}

/* The kernel takes sets of any length, as long as there is a bit for each processor that it may
 * have; the type of the C library's functions is that of the shortest. */
bool processors_of(pid_t thread, struct processors *p)
{
    *p = (struct processors) { { 0 } };
    return sched_getaffinity(thread, sizeof(p->words), (cpu_set_t *)p->words) == 0;
}

bool processors_bind(pid_t thread, const struct processors *p)
{
    return sched_setaffinity(thread, sizeof(p->words), (const cpu_set_t *)p->words) == 0;
}
