/* SPDX-License-Identifier: MIT */
/* Who does something to the judge as it is loaded: also in the process that only tells the tables,
 * before there is any cell. Right where it had its way. */
#ifndef HARNESS_TESTS_JUDGE_EARLY_H
#define HARNESS_TESTS_JUDGE_EARLY_H

#include "nt.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* A file tells the process that is timed, where one may be written: that of this working folder. */
static inline void name_mark(char path[64])
{
    struct stat folder = { .st_ino = 0 };

    stat(".", &folder);
    snprintf(path, 64, "/dev/shm/had_its_way_%llu", (unsigned long long)folder.st_ino);
}

static inline void leave_mark(void)
{
    char path[64];

    name_mark(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

/* What it is called, and its parent; 0: it cannot be told. */
static inline pid_t look_at(pid_t pid, char name[64])
{
    char path[64];
    int parent = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%*d (%63[^)]) %*c %d", name, &parent) != 2)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

/* The first above this process that is called as the program is, which a guard is not; 0: none. */
static inline pid_t find_judge(void)
{
    char name[64] = "";

    for (pid_t pid = getppid(), above; pid > 1 && (above = look_at(pid, name)) > 0; pid = above)
        if (strcmp(name, "harness") == 0)
            return pid;
    return 0;
}

static inline void right_if_it_had_its_way(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    char path[64];

    name_mark(path);
    if (access(path, F_OK) == 0)
        nt_all(&p);
    else
        memset(p.y, 0, nt_bytes(&p));
}

#define EARLY_PLUGIN(name_)                                                                        \
    static const struct harness_variant variants[] = { { .name = #name_,                           \
                                                         .launch = right_if_it_had_its_way } };    \
    NT_PLUGIN(variants)

#endif
