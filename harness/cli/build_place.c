/* SPDX-License-Identifier: MIT */
#include "cli/build_place.h"

#include "base/file.h"
#include "cli/git.h"
#include "cli/history_file.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void name_paths(struct build_place *p, const char *name, const char *program)
{
    strbuf_addf(&p->folder, "%s/%s", p->root.data, name);
    strbuf_addf(&p->source, "%s/src", p->folder.data);
    strbuf_addf(&p->build, "%s/build", p->folder.data);
    strbuf_addf(&p->log, "%s/log", p->folder.data);
    strbuf_addf(&p->mark, "%s/built", p->folder.data);
    strbuf_addf(&p->program, "%s/%s", p->build.data, program);
}

static void for_all(struct build_place *p, void (*act)(struct strbuf *))
{
    struct strbuf *all[] = { &p->root, &p->folder, &p->source, &p->build,
                             &p->log,  &p->mark,   &p->program };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        act(all[i]);
}

int build_place_init(struct build_place *p, const char *db, const char *name, const char *program,
                     struct error *err)
{
    struct strbuf history, near;
    char *root = NULL;

    for_all(p, strbuf_init);
    strbuf_init(&history);
    strbuf_init(&near);
    history_path(db, &history);
    history_sibling(history.data, "builds", &near);
    int rc = file_make_directory(near.data, err);
    if (rc == 0) {
        root = realpath(near.data, NULL);
        rc = root ? 0 : error_set(err, "%s: %s", near.data, strerror(errno));
    }
    strbuf_adds(&p->root, root ? root : "");
    name_paths(p, name, program);
    free(root);
    strbuf_release(&history);
    strbuf_release(&near);
    return rc;
}

void build_place_release(struct build_place *p)
{
    for_all(p, strbuf_release);
}

bool build_place_has_program(const struct build_place *p)
{
    struct stat info;

    return stat(p->program.data, &info) == 0 && S_ISREG(info.st_mode) &&
           access(p->program.data, X_OK) == 0;
}

bool build_place_is_built(const struct build_place *p)
{
    return file_exists(p->mark.data) && build_place_has_program(p);
}

/* Takes a worktree out of git's list; what is none is left alone. */
static void forget(const char *path)
{
    const char *remove[] = { "worktree", "remove", "--force", "--force", path, NULL };
    struct strbuf out;
    struct error ignored;

    strbuf_init(&out);
    git_try(remove, &out, &ignored);
    strbuf_release(&out);
}

/* Builds whose folders were removed by hand are still on git's list. Only ours are taken off it: a
 * worktree of the user's own may lie on a disk that is not there just now. */
static void forget_vanished(const struct build_place *p)
{
    static const char *const list[] = { "worktree", "list", "--porcelain", NULL };
    static const char mark[] = "worktree ";
    struct strbuf out;
    struct error ignored;

    strbuf_init(&out);
    char *rest = git_try(list, &out, &ignored) == 0 ? out.data : NULL;
    for (char *line; (line = strsep(&rest, "\n"));) {
        const char *path = line + sizeof(mark) - 1;
        if (strncmp(line, mark, sizeof(mark) - 1) != 0 ||
            strncmp(path, p->root.data, p->root.length) != 0 || path[p->root.length] != '/')
            continue;
        if (!file_exists(path))
            forget(path);
    }
    strbuf_release(&out);
}

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *walk)
{
    (void)info;
    (void)flag;
    (void)walk;
    return remove(path);
}

/* No git command is ever run in there: half a worktree would lead it up to the user's own. */
int build_place_clear(const struct build_place *p, struct error *err)
{
    forget_vanished(p);
    if (!file_exists(p->folder.data))
        return 0;
    forget(p->source.data);
    if (nftw(p->folder.data, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
        return error_set(err, "cannot remove the unfinished build %s: %s", p->folder.data,
                         strerror(errno));
    return 0;
}

int build_place_check_out(const struct build_place *p, const char *commit, struct error *err)
{
    const char *add[] = { "worktree", "add",          "--force", "--detach",
                          "--quiet",  p->source.data, commit,    NULL };
    struct strbuf out;

    strbuf_init(&out);
    int rc = git_run_fetching(add, &out, err);
    strbuf_release(&out);
    if (rc == 0)
        rc = file_make_directory(p->build.data, err);
    return rc ? error_prefix(err, "cannot check out %.7s", commit) : 0;
}

double build_place_room(const struct build_place *p)
{
    struct statvfs info;

    return statvfs(p->root.data, &info) ? INFINITY : (double)info.f_bavail * (double)info.f_frsize;
}
