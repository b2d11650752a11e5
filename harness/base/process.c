/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include "base/memory.h"

#include <string.h>
#include <unistd.h>

char **process_environment(const char *setting)
{
    size_t nr = 0, kept = 0, name = setting ? strcspn(setting, "=") + 1 : 0;

    while (environ[nr])
        nr++;
    char **env = memory_zeroed(nr + 2, sizeof(*env));
    for (size_t i = 0; i < nr; i++)
        if (!setting || strncmp(environ[i], setting, name) != 0)
            env[kept++] = environ[i];
    env[kept] = (char *)setting; /* execve() takes char * for history's sake and changes nothing */
    return env;
}
