/* SPDX-License-Identifier: MIT */
#include "host/control_group.h"

#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 512 };

/* The path in a line "4:cpu,memory:/a/b" of that controller; NULL: the line is of others. */
static const char *path_in(char *line, const char *controller)
{
    char *names = strchr(line, ':'), *where = names ? strchr(names + 1, ':') : NULL, *name;

    if (!where)
        return NULL;
    *where++ = '\0';
    names++;
    where[strcspn(where, "\n")] = '\0';
    if (*controller == '\0')
        return *names == '\0' ? where : NULL;
    while ((name = strsep(&names, ",")))
        if (strcmp(name, controller) == 0)
            return where;
    return NULL;
}

void control_group_begin(struct control_group *g, const char *root, const char *controller,
                         const char *top)
{
    char file[LINE_SIZE], line[LINE_SIZE];
    const char *path = NULL;

    snprintf(file, sizeof(file), "%.400s/proc/self/cgroup", root);
    FILE *lines = fopen(file, "re");
    while (lines && !path && fgets(line, sizeof(line), lines))
        path = path_in(line, controller);
    if (lines)
        fclose(lines);
    g->top = (size_t)snprintf(g->folder, sizeof(g->folder), "%.400s%.80s", root, top);
    snprintf(g->folder + g->top, sizeof(g->folder) - g->top, "%s", path ? path : "");
}

bool control_group_up(struct control_group *g)
{
    char *last = strrchr(g->folder + g->top, '/');

    if (last)
        *last = '\0';
    return last != NULL;
}
