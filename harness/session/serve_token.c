/* SPDX-License-Identifier: MIT */
#include "session/serve_token.h"

#include "base/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANDOM_BYTES = 24 };

/* Whoever can read the file knows the token; whoever can write it chooses the token. Groups may
 * read it, since secrets of a cluster come with the group of their reader. */
static int check_token_file(int fd, const char *path, struct error *err)
{
    struct stat st;

    if (fstat(fd, &st))
        return error_set(err, "--token-file %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(err, "--token-file %s: that is no regular file", path);
    if (st.st_mode & (S_IRWXO | S_IWGRP))
        return error_set(err,
                         "--token-file %s: others may read or change it (mode %03o); chmod 600 it, "
                         "and put a new token into it",
                         path, (unsigned)st.st_mode & 0777);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return error_set(err, "--token-file %s: it belongs to another user", path);
    return 0;
}

static int read_token_file(const char *path, struct serve_token *token, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char text[SERVE_TOKEN_SIZE + 1];

    if (fd < 0)
        return error_set(err, "--token-file %s: %s", path, strerror(errno));
    int rc = check_token_file(fd, path, err);
    ssize_t length = rc ? 0 : read(fd, text, sizeof(text));
    close(fd);
    if (rc)
        return -1;
    if (length < 0)
        return error_set(err, "--token-file %s: %s", path, strerror(errno));
    while (length > 0 && strchr("\r\n", text[length - 1]))
        length--;
    if (length == 0 || (size_t)length >= sizeof(token->text))
        return error_set(err, "--token-file %s: it holds no token of at most %zu characters", path,
                         sizeof(token->text) - 1);
    memcpy(token->text, text, (size_t)length);
    token->text[length] = '\0';
    return 0;
}

static int read_token_variable(struct serve_token *token, struct error *err)
{
    const char *text = getenv("HARNESS_TOKEN");
    size_t length = text ? strlen(text) : 0;

    if (length >= sizeof(token->text))
        return error_set(err, "$HARNESS_TOKEN: a token has at most %zu characters",
                         sizeof(token->text) - 1);
    if (text)
        memcpy(token->text, text, length + 1);
    unsetenv("HARNESS_TOKEN");
    return 0;
}

int serve_token_make(struct serve_token *token, struct error *err)
{
    unsigned char bytes[RANDOM_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return error_set(err, "cannot make a token: %s", strerror(errno));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(token->text + 2 * i, 3, "%02x", bytes[i]);
    token->made = true;
    return 0;
}

int serve_token_find(const struct serve_token_source *source, struct serve_token *token,
                     struct error *err)
{
    *token = (struct serve_token) { .made = false };
    if (read_token_variable(token, err))
        return -1;
    if (source->word)
        return error_set(err,
                         "--token: whoever lists the processes of this machine would read it; put "
                         "it into a file for you alone and give --token-file FILE, or into "
                         "$HARNESS_TOKEN");
    if (source->file && read_token_file(source->file, token, err))
        return -1;
    if (token->text[0] && source->open)
        return error_set(err, "--open and a token: one of the two");
    if (token->text[0] || source->open || source->elsewhere || source->is_public)
        return 0;
    return serve_token_make(token, err);
}

bool serve_token_may_be_shown(void)
{
    struct stat st;

    if (fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode))
        return true;
    return !access_is_public("/proc/self/fd/1");
}
