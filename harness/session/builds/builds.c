/* SPDX-License-Identifier: MIT */
#include "session/builds/builds.h"

#include "base/file.h"
#include "base/memory.h"
#include "device/devices.h"
#include "process/process.h"
#include "session/builds/git.h"
#include "session/builds/program.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Where one build lies on the disk. */
struct build_place {
    struct strbuf root;                     /* .../builds, absolute */
    struct strbuf folder;                   /* .../builds/<commit>-<recipe> */
    struct strbuf source, build, log, mark; /* inside it; the mark is written last */
    struct strbuf program;                  /* inside `build` */
};

static void name_build_paths(struct build_place *p, const char *name, const char *program)
{
    strbuf_addf(&p->folder, "%s/%s", p->root.data, name);
    strbuf_addf(&p->source, "%s/src", p->folder.data);
    strbuf_addf(&p->build, "%s/build", p->folder.data);
    strbuf_addf(&p->log, "%s/log", p->folder.data);
    strbuf_addf(&p->mark, "%s/built", p->folder.data);
    strbuf_addf(&p->program, "%s/%s", p->build.data, program);
}

static void for_all_paths(struct build_place *p, void (*act)(struct strbuf *))
{
    struct strbuf *all[] = { &p->root, &p->folder, &p->source, &p->build,
                             &p->log,  &p->mark,   &p->program };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        act(all[i]);
}

static int build_place_init(struct build_place *p, const struct build_recipe *recipe,
                            const char *name, struct error *err)
{
    char *root = NULL;

    for_all_paths(p, strbuf_init);
    int rc = file_make_directory(recipe->folder, err);
    if (rc == 0) {
        root = realpath(recipe->folder, NULL);
        rc = root ? 0 : error_set(err, "%s: %s", recipe->folder, strerror(errno));
    }
    strbuf_adds(&p->root, root ? root : "");
    name_build_paths(p, name, recipe->program ? recipe->program : "harness");
    free(root);
    return rc;
}

static void build_place_release(struct build_place *p)
{
    for_all_paths(p, strbuf_release);
}

/* Of a foreign build the program is the folder itself. */
static bool build_place_has_program(const struct build_place *p, const struct build_recipe *recipe)
{
    struct stat info;

    if (recipe->foreign)
        return file_is_folder(p->build.data);
    return stat(p->program.data, &info) == 0 && S_ISREG(info.st_mode) &&
           access(p->program.data, X_OK) == 0;
}

/* Whatever came out: where the program that is asked for did not, building again would not make it,
 * and somebody may be measuring with those that did. */
static bool build_place_is_built(const struct build_place *p)
{
    return file_exists(p->mark.data) && file_exists(p->build.data);
}

/* Takes a worktree out of git's list; what is none is left alone. */
static void forget_worktree(const char *path)
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
static void forget_vanished_builds(const struct build_place *p)
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
            forget_worktree(path);
    }
    strbuf_release(&out);
}

/* Removes what an interrupted or failed build has left. No git command is ever run in there: half a
 * worktree would lead it up to the user's own. */
static int build_place_clear(const struct build_place *p, struct error *err)
{
    forget_vanished_builds(p);
    if (!file_exists(p->folder.data))
        return 0;
    forget_worktree(p->source.data);
    return file_remove_folder(p->folder.data, err) ? error_prefix(err, "an unfinished build") : 0;
}

/* The commit's sources as a detached git worktree, and an empty build folder. */
static int build_place_check_out(const struct build_place *p, const char *commit, struct error *err)
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

static double build_place_room(const struct build_place *p)
{
    struct statvfs info;

    return statvfs(p->root.data, &info) ? INFINITY : (double)info.f_bavail * (double)info.f_frsize;
}

/* ---- making one ---- */

enum { COMPLAINT_LINES = 8, COMPLAINT_BYTES = 2000, LOCK_LOOK_US = 100000 };

static const double room_needed = 64e6;     /* bytes; with less left a failed build means little */
static const double compiler_patience = 20; /* s */

static bool with_cuda(void)
{
    return device_class_of(DEVICE_CUDA, NULL) && *device_cuda_runtime();
}

/* What chooses compilers and speaks to them. */
static const char *const compiler_variables[] = {
    "CC",       "CXX",       "CUDACXX", "CUDAHOSTCXX",          "CFLAGS",
    "CXXFLAGS", "CUDAFLAGS", "LDFLAGS", "CMAKE_TOOLCHAIN_FILE", "CMAKE_PREFIX_PATH",
};

/* A compiler that is not there says nothing: building will tell. */
static void add_versions(const char *script, struct strbuf *text)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    struct process p = { .argv = argv, .timeout = compiler_patience };
    struct process_result result;
    struct strbuf out, errors;
    struct error ignored;

    strbuf_init(&out);
    strbuf_init(&errors);
    if (process_run(&p, &out, &errors, &result, &ignored) == 0)
        strbuf_adds(text, out.data);
    strbuf_release(&out);
    strbuf_release(&errors);
}

static void add_compilers(struct strbuf *text)
{
    for (size_t i = 0; i < sizeof(compiler_variables) / sizeof(compiler_variables[0]); i++) {
        const char *value = getenv(compiler_variables[i]);
        strbuf_addf(text, "\n%s=%s", compiler_variables[i], value ? value : "");
    }
    add_versions("${CC:-cc} --version; ${CXX:-c++} --version", text);
    if (with_cuda())
        add_versions("${CUDACXX:-nvcc} --version", text);
}

/* "<commit>-<recipe>": builds of one commit by different recipes lie apart. The recipe's number is
 * FNV-1a, 32 bits. */
static void name_build(const char *commit, const struct build_recipe *recipe, struct strbuf *name)
{
    uint32_t hash = 2166136261u;
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(&text, recipe->command ? recipe->command : with_cuda() ? "cuda" : "");
    strbuf_adds(&text, recipe->command ? "command" : "cmake");
    strbuf_adds(&text, recipe->foreign ? " of all" : "");
    add_compilers(&text);
    for (const char *c = text.data; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    strbuf_release(&text);
    strbuf_addf(name, "%s-%08x", commit, hash);
}

static bool is_interrupted(const struct build_recipe *recipe)
{
    return recipe->interrupted && *recipe->interrupted;
}

/* One build at a time in a folder of builds: the lock's descriptor, which goes with the process.
 * -1 on an error. */
static int lock_builds(const struct build_place *p, const struct build_recipe *recipe,
                       struct error *err)
{
    struct strbuf path;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/lock", p->root.data);
    int fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        error_set(err, "cannot build in %s: %s", p->root.data, strerror(errno));
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
        bool waits = errno == EWOULDBLOCK || errno == EINTR;
        if (waits && !is_interrupted(recipe)) {
            usleep(LOCK_LOOK_US); /* another process builds */
            continue;
        }
        error_set(err, "%s: %s", path.data, waits ? "interrupted" : strerror(errno));
        close(fd);
        fd = -1;
    }
    strbuf_release(&path);
    return fd;
}

/* One program of the build; 1 where it failed, with the log telling. */
static int run_build_step(const struct build_place *p, const struct build_recipe *recipe,
                          const char *const *argv, struct error *err)
{
    struct strbuf source, build;
    struct process_result result;
    const char *changes[32];
    size_t nr = 0;

    strbuf_init(&source);
    strbuf_init(&build);
    strbuf_addf(&source, "SOURCE=%s", p->source.data);
    strbuf_addf(&build, "BUILD=%s", p->build.data);
    while (git_environment[nr])
        nr++;
    memcpy(changes, git_environment, nr * sizeof(changes[0]));
    changes[nr++] = source.data;
    changes[nr++] = build.data;
    changes[nr] = NULL;
    struct process program = {
        .argv = argv,
        .folder = p->source.data,
        .changes = changes,
        .log = p->log.data,
        .interrupted = recipe->interrupted,
    };
    int rc = process_run(&program, NULL, NULL, &result, err);
    if (rc == 0 && result.end == PROCESS_INTERRUPTED)
        rc = error_set(err, "interrupted while building");
    strbuf_release(&source);
    strbuf_release(&build);
    return rc ? rc : result.status != 0 || result.end != PROCESS_EXITED;
}

static bool have_ninja(void)
{
    struct process p = { .argv = (const char *const[]) { "ninja", "--version", NULL } };
    struct process_result result;
    struct strbuf out;
    struct error ignored;

    strbuf_init(&out);
    bool have = process_run(&p, &out, NULL, &result, &ignored) == 0 && result.status == 0;
    strbuf_release(&out);
    return have;
}

/* In Release; harness itself as this program was configured. */
static int build_by_cmake(const struct build_place *p, const struct build_recipe *recipe,
                          struct error *err)
{
    char jobs[16];
    const char *cuda = with_cuda() ? "-DHARNESS_CUDA=ON" : "-DHARNESS_CUDA=OFF";
    const char *configure[12] = { "cmake", "-S",          p->source.data,
                                  "-B",    p->build.data, "-DCMAKE_BUILD_TYPE=Release" };
    const char *make[] = { "cmake", "--build",  p->build.data, "--parallel",
                           jobs,    "--target", "harness",     NULL };
    size_t nr = 6;

    if (have_ninja())
        configure[nr++] = "-GNinja";
    if (recipe->foreign)
        make[5] = NULL;
    else {
        configure[nr++] = "-DBUILD_TESTING=OFF";
        configure[nr++] = cuda;
    }

    snprintf(jobs, sizeof(jobs), "%d", device_cpu_cores());
    int rc = run_build_step(p, recipe, configure, err);
    return rc ? rc : run_build_step(p, recipe, make, err);
}

static int build_commit(const struct build_place *p, const struct build_recipe *recipe,
                        struct error *err)
{
    const char *shell[] = { "sh", "-c", recipe->command, NULL };
    struct strbuf lists;

    if (recipe->command)
        return run_build_step(p, recipe, shell, err);
    strbuf_init(&lists);
    strbuf_addf(&lists, "%s/CMakeLists.txt", p->source.data);
    bool nothing = recipe->foreign && !file_exists(lists.data);
    strbuf_release(&lists);
    return nothing ? 0 : build_by_cmake(p, recipe, err);
}

/* The last lines of the log. */
static char *last_log_lines(const struct build_place *p)
{
    struct error ignored;
    size_t length = 0, lines = 0;
    char *text = file_read(p->log.data, FILE_RECORDS_MOST, &length, &ignored);

    if (!text)
        return memory_string("");
    while (length && text[length - 1] == '\n')
        text[--length] = '\0';
    size_t from = length;
    while (from > 0 && length - from < COMPLAINT_BYTES) {
        lines += text[from - 1] == '\n';
        if (lines == COMPLAINT_LINES)
            break;
        from--;
    }
    char *words = memory_string(text + from);
    free(text);
    return words;
}

static bool file_holds(const char *path, const char *words)
{
    struct error ignored;
    size_t length;
    char *text = file_read(path, FILE_SETTINGS_MOST, &length, &ignored);
    bool says = text && strstr(text, words);

    free(text);
    return says;
}

/* What git leaves out of a worktree, and how to get it: nothing is fetched or run because a commit
 * says so. */
static void add_what_lacks(const struct build_place *p, struct strbuf *text)
{
    static const char *const lfs[] = { "config", "filter.lfs.smudge", NULL };
    static const char *const sparse[] = { "config", "--bool", "core.sparseCheckout", NULL };
    struct strbuf path, out;
    struct error ignored;

    strbuf_init(&path);
    strbuf_init(&out);
    strbuf_addf(&path, "%s/.gitmodules", p->source.data);
    if (file_exists(path.data))
        strbuf_adds(text,
                    "\nThe commit has submodules, which are not fetched, from wherever it "
                    "says. A build that needs them: --build-command 'git submodule update "
                    "--init --recursive && ...'");
    strbuf_clear(&path);
    strbuf_addf(&path, "%s/.gitattributes", p->source.data);
    if (file_holds(path.data, "filter=lfs") && git_try(lfs, &out, &ignored) != 0)
        strbuf_adds(text,
                    "\nIt keeps files with git-lfs, which is not set up here: `git lfs "
                    "install` does it");
    if (git_try(sparse, &out, &ignored) == 0 && strncmp(out.data, "true", 4) == 0)
        strbuf_adds(text,
                    "\nYour checkout is a sparse one, and a build has the same folders. Where it "
                    "needs others: `git sparse-checkout add FOLDER`, and try again");
    strbuf_release(&path);
    strbuf_release(&out);
}

static void add_lacking_program(const struct build_place *p, struct strbuf *text)
{
    strbuf_addf(text, "the build made no program %s", p->program.data);
}

/* The log's last lines, and where the rest is; or that the program is not where it should be. */
static char *build_complaint(const struct build_place *p, bool failed)
{
    struct strbuf text;

    strbuf_init(&text);
    if (failed) {
        char *words = last_log_lines(p);
        strbuf_addf(&text, "%s%s(all of it: %s)", words, *words ? "\n" : "", p->log.data);
        free(words);
        add_what_lacks(p, &text);
    } else {
        add_lacking_program(p, &text);
    }
    return strbuf_detach(&text);
}

/* Why the program is of no use, or is none; NULL where it tells its version, or need not. */
static char *why_useless(const struct build_place *p, const struct build_recipe *recipe,
                         bool was_there)
{
    struct strbuf text;
    struct build build;
    struct error why;
    bool lacks = !build_place_has_program(p, recipe);

    if (!lacks && (recipe->foreign || program_build(p->program.data, &build, &why) == 0))
        return NULL;
    strbuf_init(&text);
    if (lacks)
        add_lacking_program(p, &text);
    else
        strbuf_addf(&text, "the program that was built does not run: %s", why.message);
    if (was_there)
        strbuf_addf(&text, "\n(remove %s to have it built again)", p->folder.data);
    else
        strbuf_addf(&text, "\n(how it was built: %s)", p->log.data);
    return strbuf_detach(&text);
}

static int make_build_locked(const struct build_place *p, const struct build_recipe *recipe,
                             struct built *out, struct error *err)
{
    if (recipe->begins)
        recipe->begins(recipe->context, out->commit, out->title);
    if (build_place_clear(p, err) || build_place_check_out(p, out->commit, err))
        return -1;
    int rc = build_commit(p, recipe, err);
    if (rc < 0)
        return -1;
    if (rc == 0 && build_place_has_program(p, recipe)) {
        out->complaint = why_useless(p, recipe, false);
        return out->complaint ? 0 : file_write(p->mark.data, "", 0, err);
    }
    if (build_place_room(p) < room_needed)
        return error_set(err, "no room to build in %s: %.0f MB are left", p->root.data,
                         build_place_room(p) / 1e6);
    out->complaint = build_complaint(p, rc != 0);
    return 0;
}

static int make_build_at(const struct build_place *p, const struct build_recipe *recipe,
                         struct built *out, struct error *err)
{
    out->was_there = build_place_is_built(p);
    if (!out->was_there) {
        int fd = lock_builds(p, recipe, err);
        if (fd < 0)
            return -1;
        out->was_there = build_place_is_built(p); /* by whoever had the lock */
        int rc = out->was_there ? 0 : make_build_locked(p, recipe, out, err);
        close(fd);
        if (rc)
            return -1;
    }
    if (out->was_there)
        out->complaint = why_useless(p, recipe, true);
    if (!out->complaint)
        out->program = memory_string(recipe->foreign ? p->build.data : p->program.data);
    out->source = memory_string(p->source.data);
    out->build = memory_string(p->build.data);
    out->folder = memory_string(p->folder.data);
    return 0;
}

int builds_make(const char *commit, const struct build_recipe *recipe, struct built *out,
                struct error *err)
{
    struct git_commit found;
    struct build_place place;
    struct strbuf name;

    *out = (struct built) { 0 };
    if (git_resolve(commit, &found, err))
        return -1;
    snprintf(out->commit, sizeof(out->commit), "%s", found.hash);
    snprintf(out->title, sizeof(out->title), "%s", found.title);
    strbuf_init(&name);
    name_build(found.hash, recipe, &name);
    int rc = build_place_init(&place, recipe, name.data, err);
    if (rc == 0)
        rc = make_build_at(&place, recipe, out, err);
    build_place_release(&place);
    strbuf_release(&name);
    return rc;
}

void built_release(struct built *b)
{
    free(b->program);
    free(b->source);
    free(b->build);
    free(b->folder);
    free(b->complaint);
    *b = (struct built) { 0 };
}

int builds_resolve(const char *ref, char commit[GIT_HASH_SIZE], struct error *err)
{
    struct git_commit found;

    if (git_resolve(ref, &found, err))
        return -1;
    memcpy(commit, found.hash, sizeof(found.hash));
    return 0;
}
