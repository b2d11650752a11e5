/* SPDX-License-Identifier: MIT */
#include "session/builds/repository.h"

#include "base/array.h"
#include "base/memory.h"
#include "core/registry.h"
#include "session/builds/git.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Of a commit (`bad` ""), or of a pair. */
struct answer {
    char good[COMMIT_SIZE], bad[COMMIT_SIZE];
    bool yes;
};

struct repository {
    struct trend_repository trends;
    struct strbuf address; /* "": nobody knows one */
    pthread_mutex_t lock;
    ARRAY(struct answer) answers;
};

/* ---- addresses ---- */

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* How many bytes of `text` are letters, digits and those of `more`. */
static size_t plain_length(const char *text, const char *more)
{
    size_t length = 0;

    while (text[length] && (strchr(letters, text[length]) || strchr(more, text[length])))
        length++;
    return length;
}

/* "owner/name", without slashes around it and ".git". */
static bool trim_path(const char **path, size_t *length)
{
    while (**path == '/')
        (*path)++;
    *length = strlen(*path);
    while (*length && (*path)[*length - 1] == '/')
        --*length;
    if (*length > 4 && strncmp(*path + *length - 4, ".git", 4) == 0)
        *length -= 4;
    return *length && plain_length(*path, "._~-/") >= *length && !strstr(*path, "..") &&
           memchr(*path, '/', *length);
}

static void add_address(const char *scheme, const char *host, size_t host_length, const char *path,
                        struct strbuf *out)
{
    size_t length;

    if (!host_length || host[0] == '.' || host[0] == '-' || !memchr(host, '.', host_length) ||
        !trim_path(&path, &length))
        return;
    bool bitbucket = host_length == 13 && strncmp(host, "bitbucket.org", 13) == 0;
    strbuf_addf(out, "%s://%.*s/%.*s/%s/", scheme, (int)host_length, host, (int)length, path,
                bitbucket ? "commits" : "commit");
}

/* Behind a name and password, which are nobody's business. */
static const char *skip_user(const char *authority)
{
    const char *at = strchr(authority, '@'), *slash = strchr(authority, '/');

    return at && (!slash || at < slash) ? at + 1 : authority;
}

void repository_commit_address(const char *remote, struct strbuf *out)
{
    static const struct {
        const char *begin, *scheme;
        bool port; /* that of the pages is the same */
    } forms[] = {
        { "https://", "https", true },
        { "http://", "http", true },
        { "ssh://", "https", false },
        { "git://", "https", false },
    };

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (strncmp(remote, forms[i].begin, strlen(forms[i].begin)) != 0)
            continue;
        const char *host = skip_user(remote + strlen(forms[i].begin));
        size_t length = plain_length(host, ".-"), port = 0;
        if (host[length] == ':')
            port = 1 + strspn(host + length + 1, "0123456789");
        if (host[length + port] == '/')
            add_address(forms[i].scheme, host, length + (forms[i].port ? port : 0),
                        host + length + port, out);
        return;
    }
    const char *host = skip_user(remote);
    size_t length = plain_length(host, ".-");
    if (host[length] == ':' && host[length + 1] != '/') /* as scp has it */
        add_address("https", host, length, host + length + 1, out);
}

/* ---- questions ---- */

static bool is_hash(const char *text)
{
    size_t digits = strspn(text, "0123456789abcdef");

    return digits >= COMMIT_DIGITS_MIN && !text[digits] && digits < COMMIT_SIZE;
}

/* 1 or 0; -1: git could not be asked. */
static int ask_git(const char *good, const char *bad)
{
    struct strbuf name, out;
    struct error ignored;

    strbuf_init(&name);
    strbuf_init(&out);
    strbuf_addf(&name, "%s^{commit}", good);
    const char *const one[] = { "cat-file", "-e", name.data, NULL };
    const char *const two[] = { "merge-base", "--is-ancestor", good, bad, NULL };
    int status = git_try(*bad ? two : one, &out, &ignored);
    strbuf_release(&out);
    strbuf_release(&name);
    return status < 0 ? -1 : status == 0;
}

/* An answer is kept, as long as a server runs; that there was none is not: it is asked again. */
static bool ask_and_keep(struct repository *r, const char *good, const char *bad)
{
    int yes = ask_git(good, bad);

    if (yes >= 0) {
        struct answer *answer = array_push(&r->answers);
        memcpy(answer->good, good, strlen(good) + 1);
        memcpy(answer->bad, bad, strlen(bad) + 1);
        answer->yes = yes;
    }
    return yes > 0;
}

static bool recall_or_ask(struct repository *r, const char *good, const char *bad)
{
    if (!is_hash(good) || (*bad && !is_hash(bad)))
        return false;
    pthread_mutex_lock(&r->lock);
    size_t i = 0;
    while (i < r->answers.nr && (strcmp(r->answers.items[i].good, good) != 0 ||
                                 strcmp(r->answers.items[i].bad, bad) != 0))
        i++;
    bool yes = i < r->answers.nr ? r->answers.items[i].yes : ask_and_keep(r, good, bad);
    pthread_mutex_unlock(&r->lock);
    return yes;
}

static const char *address_of(void *context, const char *commit)
{
    struct repository *r = context;

    return r->address.length && recall_or_ask(r, commit, "") ? r->address.data : NULL;
}

static bool leads_to_commit(void *context, const char *good, const char *bad)
{
    return strcmp(good, bad) != 0 && recall_or_ask(context, good, "") &&
           recall_or_ask(context, bad, "") && recall_or_ask(context, good, bad);
}

bool repository_measures(const struct benchmark_name *bench)
{
    return registry_variant(registry_builtin(), bench->kernel, bench->variant) != NULL;
}

struct repository *repository_create(void)
{
    static const char *const origin[] = { "remote", "get-url", "origin", NULL };
    struct repository *r = memory_zeroed(1, sizeof(*r));
    struct strbuf remote;
    struct error ignored;

    pthread_mutex_init(&r->lock, NULL);
    r->trends = (struct trend_repository) { r, address_of, leads_to_commit, repository_measures };
    strbuf_init(&r->address);
    strbuf_init(&remote);
    if (git_try(origin, &remote, &ignored) == 0)
        repository_commit_address(remote.data, &r->address);
    strbuf_release(&remote);
    return r;
}

void repository_free(struct repository *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    array_release(&r->answers);
    strbuf_release(&r->address);
    free(r);
}

const struct trend_repository *repository_for_trends(const struct repository *r)
{
    return &r->trends;
}
