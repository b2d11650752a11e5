/* SPDX-License-Identifier: MIT */
#include "session/builds/git.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "base/utf8.h"
#include "process/process.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No terminal is there to ask on, no page to turn. */
const char *const git_environment[] = {
    "GIT_DIR",        "GIT_WORK_TREE",        "GIT_COMMON_DIR",
    "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",  "GIT_PREFIX",           "GIT_TERMINAL_PROMPT=0",
    "GIT_PAGER=cat",  "GIT_OPTIONAL_LOCKS=0", NULL,
};

/* What a partial clone lacks git would get by itself, from where and by which program the
 * configuration says: a list of protocols with none in it goes before that. */
static int run_git(const char *const *arguments, bool fetching, struct strbuf *out,
                   struct strbuf *errors, struct error *err)
{
    /* Hooks and file watchers are meant for people's own calls. */
    static const char *const program[] = { "git", "-c", "core.hooksPath=/dev/null", "-c",
                                           "core.fsmonitor=false" };
    ARRAY(const char *) argv = ARRAY_EMPTY, changes = ARRAY_EMPTY;
    struct process_result result;

    for (const char *const *change = git_environment; *change; change++)
        *array_push(&changes) = *change;
    if (!fetching)
        *array_push(&changes) = "GIT_ALLOW_PROTOCOL=";
    array_push(&changes); /* NULL */
    for (size_t i = 0; i < sizeof(program) / sizeof(program[0]); i++)
        *array_push(&argv) = program[i];
    for (size_t i = 0; arguments[i]; i++)
        *array_push(&argv) = arguments[i];
    array_push(&argv); /* NULL */
    struct process p = { .argv = argv.items, .changes = changes.items };
    strbuf_clear(out);
    int rc = process_run(&p, out, errors, &result, err);
    array_release(&argv);
    array_release(&changes);
    strbuf_trim_end(out);
    strbuf_trim_end(errors);
    if (rc == 0 && result.end != PROCESS_EXITED)
        rc = error_set(err, "git %s was killed by signal %d", arguments[0], result.status);
    return rc ? -1 : result.status;
}

static int try_git(const char *const *arguments, bool fetching, struct strbuf *out,
                   struct error *err)
{
    struct strbuf errors;

    strbuf_init(&errors);
    int status = run_git(arguments, fetching, out, &errors, err);
    if (status > 0)
        error_record(err, "git %s: %.600s", arguments[0], errors.data);
    strbuf_release(&errors);
    return status;
}

int git_try(const char *const *arguments, struct strbuf *out, struct error *err)
{
    return try_git(arguments, false, out, err);
}

int git_run(const char *const *arguments, struct strbuf *out, struct error *err)
{
    return try_git(arguments, false, out, err) ? -1 : 0;
}

int git_run_fetching(const char *const *arguments, struct strbuf *out, struct error *err)
{
    return try_git(arguments, true, out, err) ? -1 : 0;
}

/* An error that says where there is no such commit, and what there is instead. */
static int no_such_commit(const char *ref, struct error *err)
{
    static const char *const list[] = { "for-each-ref", "--format=%(refname:short)", "refs/heads",
                                        "refs/tags", NULL };
    struct string_list names = { 0 };
    struct strbuf out, top;

    strbuf_init(&out);
    strbuf_init(&top);
    int rc = git_run((const char *const[]) { "rev-parse", "--show-toplevel", NULL }, &top, err);
    if (rc == 0)
        rc = git_run(list, &out, err);
    if (rc == 0) {
        string_list_add_split(&names, out.data, '\n');
        *array_push(&names) = NULL;
        const char *nearest = text_nearest(ref, (const char *const *)names.items);
        names.nr--;
        rc = error_set(err, "git knows no commit \"%s\" in %s%s%s%s", ref, top.data,
                       nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                       nearest ? "\"?" : "");
    }
    string_list_release(&names);
    strbuf_release(&out);
    strbuf_release(&top);
    return rc;
}

int git_resolve(const char *ref, struct git_commit *commit, struct error *err)
{
    struct strbuf name, out;
    int status = 1;

    strbuf_init(&name);
    strbuf_init(&out);
    strbuf_addf(&name, "%s^{commit}", ref);
    const char *arguments[] = { "rev-parse", "--verify", "--quiet", name.data, NULL };
    if (*ref && *ref != '-') /* that would be an option */
        status = git_try(arguments, &out, err);
    if (status == 0 && out.length < sizeof(commit->hash)) {
        memcpy(commit->hash, out.data, out.length + 1);
        status = git_title(commit, err);
    } else if (status >= 0) {
        status = no_such_commit(ref, err);
    }
    strbuf_release(&name);
    strbuf_release(&out);
    return status ? -1 : 0;
}

/* Copies a line, cut at a whole character of UTF-8. */
static void copy_title(char title[GIT_TITLE_SIZE], const char *line)
{
    size_t length = strcspn(line, "\n");

    if (length >= GIT_TITLE_SIZE) {
        length = GIT_TITLE_SIZE - 1;
        while (length > 0 && ((unsigned char)line[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(title, line, length);
    title[length] = '\0';
}

int git_title(struct git_commit *commit, struct error *err)
{
    const char *arguments[] = { "log",         "-1",         "--no-show-signature",
                                "--format=%s", commit->hash, NULL };
    struct strbuf out;

    strbuf_init(&out);
    int rc = git_run(arguments, &out, err);
    if (rc == 0)
        copy_title(commit->title, out.data);
    strbuf_release(&out);
    return rc;
}

int git_details(const char *hash, struct git_details *details, struct error *err)
{
    const char *arguments[] = {
        "log", "-1", "--no-show-signature", "--format=%an <%ae>%n%ct%n%P%n%B", hash, NULL
    };
    struct strbuf out;

    *details = (struct git_details) { 0 };
    strbuf_init(&out);
    int rc = git_run(arguments, &out, err);
    if (rc == 0) {
        char *rest = out.data, *author = strsep(&rest, "\n");
        const char *date = strsep(&rest, "\n"), *parents = strsep(&rest, "\n");
        details->author = memory_string(author);
        details->date_ms = date ? 1000 * (int64_t)strtoll(date, NULL, 10) : 0;
        for (const char *at = parents; at && *at; at = strchr(at, ' '), at += at != NULL)
            details->parents++;
        details->message = memory_string(rest ? rest : "");
    }
    strbuf_release(&out);
    return rc;
}

void git_details_release(struct git_details *details)
{
    free(details->author);
    free(details->message);
    *details = (struct git_details) { 0 };
}

/* "HASH TITLE" lines. */
static void take_commits(struct git_range *range, char *text)
{
    for (char *line; (line = strsep(&text, "\n"));) {
        char *space = strchr(line, ' ');
        if (!space)
            continue;
        struct git_commit *commit = array_push(range);
        snprintf(commit->hash, sizeof(commit->hash), "%.*s", (int)(space - line), line);
        copy_title(commit->title, space + 1);
    }
}

/* How the two hang together, if not as they should. */
static int check_commit_order(const struct git_commit *good, const struct git_commit *bad,
                              struct strbuf *out, struct error *err)
{
    const char *ancestor[] = { "merge-base", "--is-ancestor", good->hash, bad->hash, NULL };
    const char *base[] = { "merge-base", good->hash, bad->hash, NULL };

    if (strcmp(good->hash, bad->hash) == 0)
        return error_set(err, "the good and the bad commit are the same one, %.7s", good->hash);
    int status = git_try(ancestor, out, err);
    if (status <= 0)
        return status;
    if (status > 1 || git_try(base, out, err) != 0)
        return error_set(err, "%.7s and %.7s have no history in common", good->hash, bad->hash);
    if (strcmp(out->data, bad->hash) == 0)
        return error_set(err, "the bad commit %.7s comes before the good one, %.7s", bad->hash,
                         good->hash);
    return error_set(err, "%.7s is no ancestor of %.7s; both come from %.7s: is that one good?",
                     good->hash, bad->hash, out->data);
}

int git_range(const struct git_commit *good, const struct git_commit *bad, struct git_range *range,
              struct error *err)
{
    struct strbuf out, span;
    int rc = -1;

    *range = (struct git_range) { 0 };
    strbuf_init(&out);
    strbuf_init(&span);
    strbuf_addf(&span, "%s..%s", good->hash, bad->hash);
    const char *list[] = {
        "log", "--first-parent", "--reverse", "--no-show-signature", "--format=%H %s", span.data,
        NULL
    };
    const char *all[] = { "rev-list", "--count", span.data, NULL };
    if (check_commit_order(good, bad, &out, err) || git_run(list, &out, err))
        goto out;
    take_commits(range, out.data);
    if (git_run(all, &out, err))
        goto out;
    size_t total = (size_t)strtoull(out.data, NULL, 10);
    range->side = total > range->nr ? total - range->nr : 0;
    rc = range->nr ? 0 : error_set(err, "no commits between %.7s and %.7s", good->hash, bad->hash);
out:
    strbuf_release(&out);
    strbuf_release(&span);
    return rc;
}

void git_range_release(struct git_range *range)
{
    array_release(range);
}

/* ---- the work tree ---- */

/* For a file whose time has changed git compares the content, through the filter that the tree's
 * .gitattributes choose among those that are configured: the user's own may run, the repository's
 * may have come with it. */
static bool has_own_filters(struct strbuf *out)
{
    static const char *const list[] = { "config",       "--show-scope", "--name-only",
                                        "--get-regexp", "^filter[.]",   NULL };
    struct error ignored;
    int status = git_try(list, out, &ignored);

    if (status == 1) /* none at all */
        return false;
    for (const char *line = out->data; status == 0; line = strchr(line, '\n') + 1) {
        if (strncmp(line, "local", 5) == 0 || strncmp(line, "worktree", 8) == 0)
            return true;
        if (!strchr(line, '\n'))
            return false;
    }
    return true; /* a git that cannot tell */
}

/* Submodules are asked for their commit alone: each has a configuration of its own. */
int git_tree_dirty(void)
{
    static const char *const status[] = { "status", "--porcelain", "--untracked-files=no",
                                          "--ignore-submodules=dirty", NULL };
    struct strbuf out;
    struct error ignored;
    int dirty = -1;

    strbuf_init(&out);
    if (!has_own_filters(&out) && git_run(status, &out, &ignored) == 0)
        dirty = out.length > 0;
    strbuf_release(&out);
    return dirty;
}

static bool is_variable_set(const char *variable, const char *value)
{
    const char *set = getenv(variable);

    return set && strcmp(set, value) == 0;
}

/* As cmake/build_info.cmake does it for a build. */
static const char *branch_of_ci(const char *commit)
{
    const char *branch = NULL;

    if (is_variable_set("GITHUB_SHA", commit) && !is_variable_set("GITHUB_REF_TYPE", "tag"))
        branch = getenv("GITHUB_REF_NAME"); /* "12/merge" for a pull request */
    else if (is_variable_set("CI_COMMIT_SHA", commit))
        branch =
            getenv(getenv("CI_COMMIT_BRANCH") ? "CI_COMMIT_BRANCH" : "CI_MERGE_REQUEST_REF_PATH");
    return branch ? branch : "";
}

/* Does a folder hold one, whatever git says of it? A work tree beside others has a file there. */
static bool holds_repository(const char *folder)
{
    char path[PATH_MAX + 16];
    struct stat st;

    snprintf(path, sizeof(path), "%s/.git", folder);
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return true;
    snprintf(path, sizeof(path), "%s/.git/HEAD", folder);
    return file_exists(path);
}

static bool is_in_repository(void)
{
    char folder[PATH_MAX];
    bool found = false;

    if (!getcwd(folder, sizeof(folder)))
        return false;
    for (char *end = folder + strlen(folder); end && !found; end = strrchr(folder, '/')) {
        *end = '\0';
        found = holds_repository(folder);
    }
    return found;
}

/* The branch of b->commit; -1: git could not be asked. */
static int describe_branch(struct build *b, struct error *err)
{
    static const char *const branch[] = { "symbolic-ref", "--quiet", "--short", "HEAD", NULL };
    struct strbuf out;

    strbuf_init(&out);
    int status = git_try(branch, &out, err);
    utf8_copy(b->branch, sizeof(b->branch), status == 0 ? out.data : branch_of_ci(b->commit));
    strbuf_release(&out);
    return status < 0 ? -1 : 0;
}

int git_tree_describe(struct build *b, struct error *err)
{
    static const char *const where[] = { "rev-parse", "--is-inside-work-tree", "HEAD", NULL };
    static const char inside[] = "true\n";
    struct strbuf out;
    int rc = 0;

    b->commit[0] = b->branch[0] = '\0';
    b->dirty = false;
    strbuf_init(&out);
    int status = git_try(where, &out, err);
    if (status == 0 && strncmp(out.data, inside, strlen(inside)) == 0) {
        snprintf(b->commit, sizeof(b->commit), "%s", out.data + strlen(inside));
        rc = describe_branch(b, err);
        b->dirty = git_tree_dirty() != 0;
    } else if (status < 0 || (status > 0 && out.length == 0)) {
        /* Of a tree without any commit it says at least that it is one. */
        rc = is_in_repository() ? -1 : 0;
    }
    strbuf_release(&out);
    return rc;
}
