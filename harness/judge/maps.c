/* SPDX-License-Identifier: MIT */
#include "judge/maps.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Device and number of a file, as they stand in a line: " 08:01 1234 ". */
enum { FILE_ID_SIZE = 48 };

/* The path of a line with code of a file; NULL: it has none. Whether the code may be written to or
 * is shared says nothing of what it is.
 * "7f00-7f10 r-xp 00001000 08:01 1234                  /usr/lib/libc.so.6" */
static const char *code_of(const char *line, char id[FILE_ID_SIZE])
{
    char rights[8], device[16], number[24];
    int at = 0;

    if (sscanf(line, "%*s %7s %*s %15s %23s%n", rights, device, number, &at) != 3 ||
        !strchr(rights, 'x'))
        return NULL;
    snprintf(id, FILE_ID_SIZE, " %s %s ", device, number);
    line += at;
    line += strspn(line, " ");
    return *line == '/' ? line : NULL;
}

void maps_tell_once(struct string_list *files, const char *file)
{
    for (size_t i = 0; i < files->nr; i++)
        if (strcmp(files->items[i], file) == 0)
            return;
    string_list_add(files, file);
}

void maps_new_code(const char *maps, const char *before, struct string_list *files)
{
    char *text = memory_string(maps), *rest = text, *line;
    char id[FILE_ID_SIZE];

    while ((line = strsep(&rest, "\n"))) {
        const char *path = code_of(line, id);
        if (path && !(before && strstr(before, id)))
            maps_tell_once(files, path);
    }
    free(text);
}

bool maps_is_gone(const char *file)
{
    static const char suffix[] = " (deleted)";
    const size_t length = strlen(file), end = sizeof(suffix) - 1;

    return length >= end && strcmp(file + length - end, suffix) == 0;
}
