/* SPDX-License-Identifier: MIT */
#include "process/counters.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const names[COUNTER_NR] = { "instructions", "cycles", "cache_misses",
                                               "branch_misses" };

static const struct counter_event hardware[COUNTER_NR] = {
    [COUNTER_INSTRUCTIONS] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
    [COUNTER_CYCLES] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
    [COUNTER_CACHE_MISSES] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
    [COUNTER_BRANCH_MISSES] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
};

const char *counter_name(enum counter counter)
{
    return names[counter];
}

/* ---- the kernel ---- */

static int kernel_open(struct perf_event_attr *attr, int group)
{
    return (int)syscall(SYS_perf_event_open, attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static int kernel_control(int fd, unsigned long request)
{
    return ioctl(fd, request, PERF_IOC_FLAG_GROUP);
}

static const struct counter_calls kernel = { kernel_open, kernel_control, read, close, "" };

/* ---- kinds of cores ---- */

bool counters_of_kinds(const char *root)
{
    char folder[512], path[sizeof(folder) + NAME_MAX + 8];
    const struct dirent *unit;
    int nr = 0;

    snprintf(folder, sizeof(folder), "%s/sys/bus/event_source/devices", root);
    DIR *units = opendir(folder);
    while (units && (unit = readdir(units))) {
        snprintf(path, sizeof(path), "%s/%s/cpus", folder, unit->d_name);
        nr += access(path, F_OK) == 0;
    }
    if (units)
        closedir(units);
    return nr > 1;
}

/* ---- a group ---- */

/* As read() gives it with the two times. */
struct reading {
    uint64_t value, enabled, running;
};

struct counters {
    const struct counter_calls *calls;
    enum count_of of;
    bool of_kinds;       /* counters_of_kinds() */
    int fds[COUNTER_NR]; /* -1: it is not there */
    int leader;          /* the first that could be opened; -1 */
    struct reading before[COUNTER_NR];
    bool known[COUNTER_NR]; /* `before` could be read */
};

/* The leader's state is the group's. What a program starts inherits it, and counts from exec() on,
 * so that nothing of ours between fork() and that is in it. */
static struct perf_event_attr counter_attr(const struct counter_event *event, enum count_of of,
                                           bool leader)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = event->type;
    attr.config = event->config;
    attr.disabled = leader;
    attr.inherit = 1;
    attr.enable_on_exec = leader && of == COUNT_PROGRAMS;
    attr.exclude_kernel = 1; /* unprivileged users may count nothing else */
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return attr;
}

static void counter_explain(int number, struct error *why)
{
    if (number == ENOENT || number == ENODEV || number == EOPNOTSUPP)
        error_set(why, "this processor, or the virtual machine around it, offers no counters");
    else if (number == EACCES || number == EPERM)
        error_set(why,
                  "the kernel lets this user count nothing: "
                  "/proc/sys/kernel/perf_event_paranoid is above 2, or the container forbids "
                  "perf_event_open");
    else if (number == ENOSYS)
        error_set(why, "this kernel was built without perf_event_open");
    else
        error_set(why, "perf_event_open: %s", strerror(number));
}

struct counters *counters_open_events(const struct counter_event *events, enum count_of of,
                                      const struct counter_calls *calls, struct error *why)
{
    struct counters *c = memory_zeroed(1, sizeof(*c));
    int first_error = 0;

    *c = (struct counters) { .calls = calls ? calls : &kernel, .of = of, .leader = -1 };
    c->of_kinds = counters_of_kinds(c->calls->root);
    for (int i = 0; i < COUNTER_NR; i++) {
        struct perf_event_attr attr = counter_attr(&events[i], of, c->leader < 0);
        c->fds[i] = c->calls->open(&attr, c->leader);
        if (c->fds[i] < 0 && first_error == 0)
            first_error = errno;
        if (c->fds[i] >= 0 && c->leader < 0)
            c->leader = c->fds[i];
    }
    if (c->leader >= 0)
        return c;
    counter_explain(first_error, why);
    free(c);
    return NULL;
}

struct counters *counters_open(enum count_of of, const struct counter_calls *calls,
                               struct error *why)
{
    return counters_open_events(hardware, of, calls, why);
}

void counters_close(struct counters *c)
{
    if (!c)
        return;
    for (int i = COUNTER_NR - 1; i >= 0; i--) /* the leader last */
        if (c->fds[i] >= 0)
            c->calls->close(c->fds[i]);
    free(c);
}

/* ---- counting ---- */

static bool counter_read(const struct counters *c, int i, struct reading *r)
{
    return c->fds[i] >= 0 && c->calls->read(c->fds[i], r, sizeof(*r)) == (ssize_t)sizeof(*r);
}

void counters_begin(struct counters *c)
{
    if (!c)
        return;
    for (int i = 0; i < COUNTER_NR; i++)
        c->known[i] = counter_read(c, i, &c->before[i]);
    if (c->of == COUNT_THREADS)
        c->calls->control(c->leader, PERF_EVENT_IOC_ENABLE);
}

/* A group that never got the processor's counters has counted nothing: that is not 0. What it
 * counted stands for the rest of its time where that was like it. With cores of several kinds it
 * need not be: on those of another kind, where none of its events count, threads take other times
 * and other instructions for the same. */
static double counter_scaled(const struct reading *before, const struct reading *after,
                             bool of_kinds)
{
    double value = (double)(after->value - before->value);
    double enabled = (double)(after->enabled - before->enabled);
    double running = (double)(after->running - before->running);

    if (!(running > 0) || (of_kinds && running < enabled))
        return NAN;
    return value * (enabled / running);
}

void counters_end(struct counters *c, double counts[COUNTER_NR])
{
    struct reading now;

    if (c && c->of == COUNT_THREADS)
        c->calls->control(c->leader, PERF_EVENT_IOC_DISABLE);
    for (int i = 0; i < COUNTER_NR; i++)
        counts[i] = c && c->known[i] && counter_read(c, i, &now)
                        ? counter_scaled(&c->before[i], &now, c->of_kinds)
                        : (double)NAN;
}
