/* SPDX-License-Identifier: MIT */
#include "base/access.h"

#include "base/memory.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- users and groups ---- */

static bool is_member(uid_t user, gid_t group)
{
    enum { GROUPS_MOST = 4096 };
    const struct passwd *entry = getpwuid(user);
    int nr = GROUPS_MOST;
    bool found = false;

    if (!entry)
        return false;
    gid_t *groups = memory_zeroed(GROUPS_MOST, sizeof(*groups));
    if (getgrouplist(entry->pw_name, entry->pw_gid, groups, &nr) < 0)
        nr = GROUPS_MOST;
    for (int i = 0; i < nr && !found; i++)
        found = groups[i] == group;
    free(groups);
    return found;
}

bool access_may_write(const struct stat *file, uid_t user)
{
    if (user == 0 || user == file->st_uid || (file->st_mode & S_IWOTH))
        return true;
    return (file->st_mode & S_IWGRP) && is_member(user, file->st_gid);
}

/* Many systems give each user a group of the same name, with nobody else in it. */
static bool is_private_group(gid_t group, uid_t user)
{
    char name[256];
    const struct passwd *entry = getpwuid(user);

    if (!entry || entry->pw_gid != group)
        return false;
    snprintf(name, sizeof(name), "%s", entry->pw_name);
    const struct group *g = getgrgid(group);
    return g && strcmp(g->gr_name, name) == 0 && (!g->gr_mem[0] || !g->gr_mem[0][0]);
}

static void add_user(struct strbuf *out, uid_t user)
{
    const struct passwd *entry = getpwuid(user);

    if (entry)
        strbuf_addf(out, "the user %s", entry->pw_name);
    else
        strbuf_addf(out, "the user %u", (unsigned)user);
}

static void add_group(struct strbuf *out, gid_t group)
{
    const struct group *g = getgrgid(group);

    if (g)
        strbuf_addf(out, "the group %s", g->gr_name);
    else
        strbuf_addf(out, "the group %u", (unsigned)group);
}

/* ---- the file, and the folders above it ---- */

struct look {
    struct stat file; /* of one that is not there: as this user would make it */
    struct strbuf *found, *mend;
};

static bool in_file(struct look *l, const char *path)
{
    if (!(l->file.st_mode & S_IWOTH))
        return false;
    strbuf_addf(l->found, "all users of this machine may change it (mode %03o)",
                (unsigned)l->file.st_mode & 0777);
    strbuf_addf(l->mend, "chmod o-w %s", path);
    return true;
}

/* A user name space shows owners that it does not know as this one. */
static bool is_unknown(uid_t user)
{
    enum { OVERFLOW_USER = 65534 };

    return user == OVERFLOW_USER;
}

static bool is_open_to_group(const struct look *l, const struct stat *folder)
{
    if (!(folder->st_mode & S_IWGRP) || folder->st_gid == 0)
        return false;
    if (folder->st_gid == l->file.st_gid && (l->file.st_mode & S_IWGRP))
        return false; /* they may write to the file */
    return !is_private_group(folder->st_gid, l->file.st_uid);
}

static bool in_folder(struct look *l, const char *folder)
{
    static const char *const may = "may put another file in its place";
    struct stat st;

    if (stat(folder, &st))
        return false;
    unsigned mode = (unsigned)st.st_mode & 07777;
    if ((mode & (S_IWOTH | S_ISVTX)) == S_IWOTH) {
        strbuf_addf(l->found, "all users of this machine %s: %s has mode %03o", may, folder, mode);
        strbuf_addf(l->mend, "chmod o-w %s", folder);
    } else if (!(mode & S_ISVTX) && is_open_to_group(l, &st)) {
        add_group(l->found, st.st_gid);
        strbuf_addf(l->found, " %s, but not write to it: %s has mode %03o", may, folder, mode);
        strbuf_addf(l->mend, "chmod g-w %s, or g+w for the file, too", folder);
    } else if (st.st_uid != 0 && st.st_uid != l->file.st_uid && st.st_uid != geteuid() &&
               !is_unknown(st.st_uid)) {
        add_user(l->found, st.st_uid);
        strbuf_addf(l->found, " %s: %s is theirs", may, folder);
        strbuf_adds(l->mend, "keep it in a folder of your own");
    }
    return l->found->length > 0;
}

/* "/a/b" becomes "/a", and then "/". False: there is nothing above. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || !path[1])
        return false;
    slash[slash == path] = '\0';
    return true;
}

/* The file, or the nearest folder above that is there. */
static char *real_path(const char *path, bool *is_there)
{
    char *name = memory_string(path), *real = realpath(name, NULL);

    *is_there = real != NULL;
    while (!real && go_up(name))
        real = realpath(name, NULL);
    free(name);
    return real ? real : realpath(".", NULL);
}

bool access_of_others(const char *path, struct strbuf *found, struct strbuf *mend)
{
    struct look l = { .found = found, .mend = mend };
    bool is_there, others = false;
    char *real = real_path(path, &is_there);

    l.file.st_uid = geteuid();
    if (real && is_there && stat(real, &l.file) == 0)
        others = in_file(&l, real) || !go_up(real);
    while (real && !others && !(others = in_folder(&l, real)) && go_up(real))
        continue;
    free(real);
    return others && found->length > 0;
}

bool access_is_public(const char *path)
{
    char *real = realpath(path, NULL), *slash;
    struct stat st;
    bool fits = real && stat(real, &st) == 0 && (st.st_mode & S_IROTH);

    /* From the file up: /a/b, /a, and the root itself. */
    while (fits && (slash = strrchr(real, '/'))) {
        *slash = '\0';
        fits = stat(*real ? real : "/", &st) == 0 && (st.st_mode & S_IXOTH);
    }
    free(real);
    return fits;
}
