/* SPDX-License-Identifier: MIT */
#include "host/folder.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

/* 0, or why it cannot be read to its end. */
static int read_names(DIR *folder, const char *prefix, struct string_list *names)
{
    for (;;) {
        errno = 0; /* the end and an error look alike */
        const struct dirent *entry = readdir(folder);
        if (!entry)
            return errno;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            string_list_add(names, entry->d_name);
    }
}

int folder_names(const char *folder, const char *prefix, struct string_list *names,
                 struct error *err)
{
    DIR *open = opendir(folder);
    int reason = open ? read_names(open, prefix, names) : errno;

    if (open)
        closedir(open);
    if (reason) {
        string_list_release(names);
        return error_set(err, "%s: %s", folder, strerror(reason));
    }
    string_list_sort(names);
    return 0;
}
