/* SPDX-License-Identifier: MIT */
#include "process/own_folder.h"

#include "base/file.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *make_below(const char *place, struct error *err)
{
    struct strbuf path;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/harness-own-XXXXXX", place);
    if (mkdtemp(path.data))
        return strbuf_detach(&path);
    error_set(err, "no folder for temporary files can be made: %s: %s", path.data, strerror(errno));
    strbuf_release(&path);
    return NULL;
}

char *own_folder_make(struct error *err)
{
    const char *const wanted = getenv("TMPDIR");
    const char *const places[] = { wanted && *wanted ? wanted : "/tmp", "/tmp", "/dev/shm" };
    char *folder = NULL;

    for (size_t i = 0; !folder && i < sizeof(places) / sizeof(places[0]); i++)
        folder = make_below(places[i], err);
    return folder;
}

void own_folder_remove(char *folder)
{
    struct error ignored;

    if (folder)
        file_remove_folder(folder, &ignored);
    free(folder);
}
