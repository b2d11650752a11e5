/* SPDX-License-Identifier: MIT */
#include "process/process.h"

#include "base/memory.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Is `variable` ("NAME=value") the one that `change` ("NAME=other" or "NAME") is about? */
static bool changes_variable(const char *change, const char *variable)
{
    size_t length = strcspn(change, "=");

    return strncmp(change, variable, length) == 0 && variable[length] == '=';
}

static bool is_unchanged(const char *const *changes, const char *variable)
{
    for (size_t i = 0; changes[i]; i++)
        if (changes_variable(changes[i], variable))
            return false;
    return true;
}

char **process_environment_of(const char *const *changes)
{
    size_t nr = 0, kept = 0, more = 0;

    while (environ[nr])
        nr++;
    while (changes[more])
        more++;
    char **env = memory_zeroed(nr + more + 1, sizeof(*env));
    for (size_t i = 0; i < nr; i++)
        if (is_unchanged(changes, environ[i]))
            env[kept++] = environ[i];
    for (size_t i = 0; i < more; i++) /* execve() takes char * for history's sake, read only */
        if (strchr(changes[i], '='))
            env[kept++] = (char *)changes[i];
    return env;
}

char **process_environment(const char *setting)
{
    return process_environment_of((const char *const[]) { setting, NULL });
}

int process_signals_as_usual(posix_spawnattr_t *attributes)
{
    sigset_t defaults, none;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGCHLD);
    int rc = posix_spawnattr_init(attributes);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(attributes, &defaults);
    if (rc == 0)
        rc = posix_spawnattr_setsigmask(attributes, &none);
    if (rc == 0)
        rc = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    return rc;
}
