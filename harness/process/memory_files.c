/* SPDX-License-Identifier: MIT */
#include "process/memory_files.h"

#include "base/memory.h"
#include "process/proc_numbers.h"

#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum { PATH_SIZE = 192 };

static const int64_t block_bytes = 512; /* of st_blocks */

/* ---- the set ---- */

/* Numbers of files come in sequence: a product spreads them. */
static struct memory_file *place_of(const struct memory_files *f, dev_t device, ino_t inode)
{
    uint64_t hash = ((uint64_t)inode + ((uint64_t)device << 40)) * 0x9e3779b97f4a7c15U;
    size_t at = (size_t)(hash >> 32) % f->room;

    while (f->places[at].used && (f->places[at].device != device || f->places[at].inode != inode))
        at = (at + 1) % f->room;
    return &f->places[at];
}

static struct memory_file *find_file(const struct memory_files *f, dev_t device, ino_t inode)
{
    struct memory_file *found = f->nr ? place_of(f, device, inode) : NULL;

    return found && found->used ? found : NULL;
}

static void grow_table(struct memory_files *f)
{
    enum { FIRST = 64 };
    struct memory_files larger = { .nr = f->nr, .room = f->room ? 2 * f->room : FIRST };

    larger.places = memory_zeroed(larger.room, sizeof(*larger.places));
    for (size_t i = 0; i < f->room; i++)
        if (f->places[i].used)
            *place_of(&larger, f->places[i].device, f->places[i].inode) = f->places[i];
    free(f->places);
    *f = larger;
}

/* Its place; without bytes where it is new. */
static struct memory_file *add_memory_file(struct memory_files *f, dev_t device, ino_t inode)
{
    if (2 * (f->nr + 1) > f->room)
        grow_table(f);
    struct memory_file *place = place_of(f, device, inode);
    if (!place->used) {
        *place = (struct memory_file) { .device = device, .inode = inode, .used = true };
        f->nr++;
    }
    return place;
}

void memory_files_release(struct memory_files *f)
{
    free(f->places);
    *f = (struct memory_files) { .nr = 0 };
}

void memory_files_keep(struct memory_files *f, const struct memory_files *before)
{
    for (size_t i = 0; i < before->room; i++) {
        const struct memory_file *old = &before->places[i];
        if (old->used && !find_file(f, old->device, old->inode))
            add_memory_file(f, old->device, old->inode)->bytes = old->bytes;
    }
}

int64_t memory_files_bytes(const struct memory_files *f)
{
    int64_t total = 0;

    for (size_t i = 0; i < f->room; i++)
        total += f->places[i].used ? f->places[i].bytes : 0;
    return total;
}

/* ---- descriptors ---- */

static bool in_memory(const char *path)
{
    struct statfs s;

    return statfs(path, &s) == 0 &&
           (s.f_type == TMPFS_MAGIC || s.f_type == HUGETLBFS_MAGIC || s.f_type == RAMFS_MAGIC);
}

static bool is_nameless(const struct stat *file)
{
    return S_ISREG(file->st_mode) && file->st_nlink == 0;
}

void memory_files_add_open(struct memory_files *f, const struct memory_files *before,
                           const char *folder)
{
    struct proc_numbers descriptors;
    char path[PATH_SIZE];
    struct stat file;
    long fd;

    snprintf(path, sizeof(path), "%s/fd", folder);
    if (!proc_numbers_open(&descriptors, path))
        return;
    while ((fd = proc_numbers_next(&descriptors)) >= 0) {
        snprintf(path, sizeof(path), "%s/fd/%ld", folder, fd);
        if (stat(path, &file) || !is_nameless(&file) || find_file(f, file.st_dev, file.st_ino) ||
            !(find_file(before, file.st_dev, file.st_ino) || in_memory(path)))
            continue;
        struct memory_file *place = add_memory_file(f, file.st_dev, file.st_ino);
        place->bytes = block_bytes * (int64_t)file.st_blocks;
        place->open = true;
    }
}

/* ---- mappings ---- */

/* A line of /proc/PID/maps or smaps that begins a mapping. */
struct mapping {
    unsigned long long from, to;
    dev_t device;
    ino_t inode;
    const char *name; /* in the line */
};

static bool read_mapping(const char *line, struct mapping *m)
{
    unsigned major, minor;
    unsigned long inode;
    int name = 0;

    if (sscanf(line, "%llx-%llx %*s %*x %x:%x %lu %n", &m->from, &m->to, &major, &minor, &inode,
               &name) < 5 ||
        !name)
        return false;
    m->device = makedev(major, minor);
    m->inode = (ino_t)inode;
    m->name = line + name;
    return true;
}

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The file system of a file that has been deleted is that of a folder above it. */
static bool was_in_memory(const struct mapping *m)
{
    struct stat folder;
    char *path = memory_string(m->name), *slash;
    bool found = false, yes = false;

    while (!found && (slash = strrchr(path, '/')) && slash != path) {
        *slash = '\0';
        found = stat(path, &folder) == 0;
        yes = found && folder.st_dev == m->device && in_memory(path);
    }
    free(path);
    return yes;
}

/* Shared memory without a file, and System V's, are made as large as they may become: of these
 * what is mapped tells nothing, and what was touched counts with the process. */
static bool is_reserve(const char *name)
{
    return begins_with(name, "/dev/zero") || begins_with(name, "/SYSV");
}

/* Huge pages without a file count with the process. */
static bool is_candidate(const char *name)
{
    static const char deleted[] = " (deleted)";
    size_t length = strcspn(name, "\n"), tail = sizeof(deleted) - 1;

    return length > tail && strncmp(name + length - tail, deleted, tail) == 0 &&
           !begins_with(name, "/anon_hugepage");
}

/* What it holds, as the system tells an administrator; -1: it does not. */
static int64_t told_bytes(const struct mapping *m, const char *folder)
{
    char path[PATH_SIZE];
    struct stat file;

    snprintf(path, sizeof(path), "%s/map_files/%llx-%llx", folder, m->from, m->to);
    if (stat(path, &file) || file.st_dev != m->device || file.st_ino != m->inode)
        return -1;
    return is_nameless(&file) && in_memory(path) ? block_bytes * (int64_t)file.st_blocks : 0;
}

static void take_mapping(struct memory_files *f, const struct memory_files *before,
                         const struct mapping *m, const char *folder)
{
    const struct memory_file *known = find_file(f, m->device, m->inode);
    const struct memory_file *old = find_file(before, m->device, m->inode);

    if ((known && known->open) || !is_candidate(m->name))
        return;
    int64_t bytes = told_bytes(m, folder);
    if (bytes < 0) {
        if (!old && (is_reserve(m->name) || !(begins_with(m->name, "/memfd:") || was_in_memory(m))))
            return;
        bytes = (int64_t)(m->to - m->from);
        if (old && old->bytes > bytes)
            bytes = old->bytes;
    }
    if (bytes == 0)
        return;
    struct memory_file *place = add_memory_file(f, m->device, m->inode);
    if (bytes > place->bytes)
        place->bytes = bytes;
}

void memory_files_add_mapped(struct memory_files *f, const struct memory_files *before,
                             const char *folder)
{
    char path[PATH_SIZE], *line = NULL;
    size_t room = 0;
    struct mapping m;

    snprintf(path, sizeof(path), "%s/maps", folder);
    FILE *maps = fopen(path, "re");
    while (maps && getline(&line, &room, maps) > 0)
        if (read_mapping(line, &m))
            take_mapping(f, before, &m, folder);
    if (maps)
        fclose(maps);
    free(line);
}

/* Of private mappings the pages that were written are no file's. Lines are read whole: a name that
 * is longer than any room would pass for one. */
int64_t memory_files_twice(const struct memory_files *f, const char *folder)
{
    char path[PATH_SIZE], *line = NULL;
    size_t room = 0;
    struct mapping m;
    long long kilobytes;
    int64_t total = 0, part = 0;
    bool ours = false;

    snprintf(path, sizeof(path), "%s/smaps", folder);
    FILE *maps = fopen(path, "re");
    while (maps && getline(&line, &room, maps) > 0)
        if (read_mapping(line, &m)) {
            total += part > 0 ? part : 0;
            part = 0;
            ours = find_file(f, m.device, m.inode) != NULL;
        } else if (ours && (sscanf(line, "Pss: %lld kB", &kilobytes) == 1 ||
                            sscanf(line, "Private_Hugetlb: %lld kB", &kilobytes) == 1 ||
                            sscanf(line, "Shared_Hugetlb: %lld kB", &kilobytes) == 1)) {
            part += 1024 * kilobytes;
        } else if (ours && sscanf(line, "Anonymous: %lld kB", &kilobytes) == 1) {
            part -= 1024 * kilobytes;
        }
    if (maps)
        fclose(maps);
    free(line);
    return total + (part > 0 ? part : 0);
}
