/* SPDX-License-Identifier: MIT */
/* All profilers that there are, by their numbers, and the locks that a process which forks takes.
 */
#include "profile/profile_parts.h"

static pthread_mutex_t global_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct prof_state *states;

void prof_global_lock(void)
{
    pthread_mutex_lock(&global_lock);
}

void prof_global_unlock(void)
{
    pthread_mutex_unlock(&global_lock);
}

void prof_registry_lock(void)
{
    pthread_mutex_lock(&registry_lock);
}

void prof_registry_unlock(void)
{
    pthread_mutex_unlock(&registry_lock);
}

struct prof_state *prof_registry_first(void)
{
    return states;
}

struct prof_state *prof_registry_find(unsigned id)
{
    struct prof_state *state = states;

    while (state && state->id != id)
        state = state->next_state;
    return state;
}

void prof_registry_add(struct prof_state *state)
{
    prof_registry_lock();
    state->next_state = states;
    states = state;
    prof_registry_unlock();
}

void prof_registry_remove(struct prof_state *state)
{
    struct prof_state **link = &states;

    prof_registry_lock();
    while (*link != state)
        link = &(*link)->next_state;
    *link = state->next_state;
    prof_registry_unlock();
}
