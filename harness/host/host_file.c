/* SPDX-License-Identifier: MIT */
#include "host/host_file.h"

#include "base/error.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* What a kernel, container or security module says that has, or gives, no such thing. */
static bool is_untold(int reason)
{
    static const int reasons[] = { ENOENT, ENOTDIR, EACCES, EPERM,   ENODEV,
                                   ENXIO,  EINVAL,  ENOSYS, ENODATA, EOPNOTSUPP };

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reason == reasons[i])
            return true;
    return false;
}

static int unread_error(const char *path, int reason, struct error *err)
{
    return is_untold(reason) ? 0 : error_set(err, "%s: cannot read: %s", path, strerror(reason));
}

int host_file_read(const char *path, struct strbuf *text, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t before = text->length;
    char block[4096];
    ssize_t nr;

    if (fd < 0)
        return unread_error(path, errno, err);
    while ((nr = read(fd, block, sizeof(block))) > 0 || (nr < 0 && errno == EINTR))
        if (nr > 0)
            strbuf_add(text, block, (size_t)nr);
    int reason = nr < 0 ? errno : 0;
    close(fd);
    if (reason == 0)
        return 1;
    if (text->length > before)
        text->data[text->length = before] = '\0';
    return unread_error(path, reason, err);
}
