/* SPDX-License-Identifier: MIT */
/* Memory, the kernel's settings, this build, and the variables of OpenMP. */
#include "doctor/doctor_base.h"

#include "base/access.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "host/host_memory.h"
#include "machine/environment.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

static double meminfo_bytes(const struct doctor_input *in, const char *field)
{
    return 1024 * doctor_number(in, "/proc/meminfo", field);
}

/* What a group of its own, such as a container or a job, leaves of the machine's may be less. */
static void check_memory(const struct doctor_input *in, struct doctor_finding *f)
{
    double free = meminfo_bytes(in, "MemAvailable"), all = meminfo_bytes(in, "MemTotal");
    const struct host_memory_group group = host_memory_group(in->root);
    char left[TEXT_UNIT_SIZE], total[TEXT_UNIT_SIZE];

    if (isnan(free) || isnan(all))
        return;
    bool limited = (double)group.left < free;
    if (limited) {
        free = (double)group.left;
        all = fmin(all, (double)group.limit);
    }
    bool fine = free >= 0.1 * all;
    doctor_say(f, fine ? DOCTOR_FINE : DOCTOR_WARN, "%s of %s can be had%s", text_bytes(free, left),
               text_bytes(all, total),
               limited ? ", by the limit of this process's control group" : "");
    if (!fine)
        doctor_mend(f, "%s",
                    limited ? "give the container or job more memory, or stop what holds it there: "
                              "beyond its limit it is killed"
                            : "stop what holds it: the kernel will take pages from what is "
                              "measured");
}

/* Old pages in swap do no harm; a machine that is also short of memory moves them to and fro. */
static void check_swap(const struct doctor_input *in, struct doctor_finding *f)
{
    double used = meminfo_bytes(in, "SwapTotal") - meminfo_bytes(in, "SwapFree");
    double free = meminfo_bytes(in, "MemAvailable"), all = meminfo_bytes(in, "MemTotal");
    char text[TEXT_UNIT_SIZE];

    if (isnan(used))
        return;
    if (used <= 0) {
        doctor_say(f, DOCTOR_FINE, "none in use");
    } else {
        doctor_say(f, free < 0.2 * all ? DOCTOR_WARN : DOCTOR_NOTE, "%s in use",
                   text_bytes(used, text));
        doctor_mend(f, "free memory, then sudo swapoff -a; look at telemetry major_faults");
    }
}

static void check_disk(const struct doctor_input *in, struct doctor_finding *f)
{
    char folder[512], left[TEXT_UNIT_SIZE];
    struct statvfs fs;
    int rc;

    if (in->root[0]) /* its disk is not here */
        return;
    snprintf(folder, sizeof(folder), "%s", in->history);
    do { /* the nearest folder above that is there */
        char *slash = strrchr(folder, '/');
        if (slash)
            *(slash == folder ? slash + 1 : slash) = '\0';
        else
            snprintf(folder, sizeof(folder), ".");
        rc = statvfs(folder, &fs);
    } while (rc && strcmp(folder, ".") != 0 && strcmp(folder, "/") != 0);
    if (rc) {
        doctor_say(f, DOCTOR_UNKNOWN, "%.100s cannot be looked at", in->history);
        return;
    }
    double bytes = (double)fs.f_bavail * (double)fs.f_frsize;
    bool fine = bytes >= 256.0 * (1 << 20);
    doctor_say(f, fine ? DOCTOR_FINE : DOCTOR_WARN, "%s left for the history",
               text_bytes(bytes, left));
    if (!fine)
        doctor_mend(f, "make room, or --db FILE elsewhere");
}

static void check_history(const struct doctor_input *in, struct doctor_finding *f)
{
    struct strbuf found, mend;

    if (in->root[0])
        return;
    strbuf_init(&found);
    strbuf_init(&mend);
    if (access_of_others(in->history, &found, &mend)) {
        doctor_say(f, DOCTOR_NOTE, "%s", found.data);
        doctor_mend(f, "%s", mend.data);
    } else {
        doctor_say(f, DOCTOR_FINE, "nobody else may change or replace it");
    }
    strbuf_release(&found);
    strbuf_release(&mend);
}

static void check_huge_pages(const struct doctor_input *in, struct doctor_finding *f)
{
    char text[128];

    if (!doctor_text(in, "/sys/kernel/mm/transparent_hugepage/enabled", "", text, sizeof(text)))
        return;
    const char *open = strchr(text, '[');
    int length = open ? (int)strcspn(open + 1, "]") : (int)strlen(text);
    bool always = strncmp(open ? open + 1 : text, "always", 6) == 0;
    bool never = strncmp(open ? open + 1 : text, "never", 5) == 0;
    doctor_say(f, always || never ? DOCTOR_NOTE : DOCTOR_FINE, "%.*s%s", length,
               open ? open + 1 : text,
               always  ? ": whether memory lies in large pages differs between launches"
               : never ? ": reading large matrices waits for page walks"
                       : "");
    if (always)
        doctor_mend(f,
                    "more launches see it; echo madvise | sudo tee "
                    "/sys/kernel/mm/transparent_hugepage/enabled ends it");
    if (never)
        doctor_mend(f,
                    "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled: "
                    "tensors and packed weights ask for large pages");
}

static void check_layout(const struct doctor_input *in, struct doctor_finding *f)
{
    double mode = doctor_number(in, "/proc/sys/kernel/randomize_va_space", "");

    if (isnan(mode))
        return;
    if (mode > 0)
        doctor_say(f, DOCTOR_FINE, "random, as it should be: launches show what the layout does");
    else
        doctor_say(f, DOCTOR_NOTE, "fixed: every launch has the same luck with its addresses");
    if (mode == 0)
        doctor_mend(f, "echo 2 | sudo tee /proc/sys/kernel/randomize_va_space");
}

/* What counts events, by which perf(1) knows the units of processors: "cpu", or those with a list
 * of the processors that they are of. A virtual machine mostly has none of them. */
#define EVENT_SOURCES "/sys/bus/event_source/devices"

static bool has_counters(const struct doctor_input *in)
{
    double type = doctor_number(in, EVENT_SOURCES "/cpu/type", "");

    if (in->root[0] == '\0')
        return in->no_counters[0] == '\0';
    return (type >= PERF_TYPE_RAW && type <= PERF_TYPE_RAW) ||
           !isnan(doctor_sum(in, EVENT_SOURCES, "", "cpus"));
}

static void check_counters(const struct doctor_input *in, struct doctor_finding *f)
{
    double level = doctor_number(in, "/proc/sys/kernel/perf_event_paranoid", "");
    bool told = in->root[0] == '\0' || !isnan(doctor_sum(in, EVENT_SOURCES, "", "type"));

    if (isnan(level)) {
        doctor_say(f, DOCTOR_UNKNOWN, "not told: no perf events here");
    } else if (level <= 2 && !told) {
        doctor_say(f, DOCTOR_UNKNOWN,
                   "open to users (perf_event_paranoid %.0f), if there are any: not told", level);
    } else if (level <= 2 && !has_counters(in)) {
        doctor_say(f, DOCTOR_NOTE, "none: %s",
                   in->no_counters[0] ? in->no_counters
                                      : "the processor, or the virtual machine, offers none");
    } else if (level <= 2) {
        doctor_say(f, DOCTOR_FINE, "open to users (perf_event_paranoid %.0f)", level);
    } else {
        doctor_say(f, DOCTOR_NOTE, "closed to users (perf_event_paranoid %.0f)", level);
        doctor_mend(f, "for `perf stat` beside a run: sudo sysctl kernel.perf_event_paranoid=2");
    }
}

static void check_build(const struct doctor_input *in, struct doctor_finding *f)
{
    const char *type = in->build.build_type[0] ? in->build.build_type : "no type";

    if (in->slow_build || strcmp(type, "Debug") == 0) {
        doctor_say(f, DOCTOR_WARN, "%s: without optimisation or with a sanitizer", type);
        doctor_mend(f, "cmake -DCMAKE_BUILD_TYPE=Release, without HARNESS_SANITIZE");
    } else {
        doctor_say(f, DOCTOR_FINE, "%s, %.64s", type, in->build.compiler);
    }
}

static int thread_limit(const struct doctor_input *in)
{
    struct doctor_value room;
    const char *threads = doctor_variable(in, "OMP_NUM_THREADS", &room);

    return threads ? (int)strtol(threads, NULL, 10) : 0;
}

/* Variables by which OpenMP binds threads, joined by " and "; false if none is set. */
static bool openmp_binding(const struct doctor_input *in, char *names, size_t size)
{
    static const char *const variables[] = { "OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY" };
    struct doctor_value room;
    const char *bind = doctor_variable(in, "OMP_PROC_BIND", &room);
    size_t used = 0;

    if (bind && strcasecmp(bind, "false") == 0)
        return false;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (doctor_variable(in, variables[i], &room))
            used += (size_t)snprintf(names + used, size - used, "%s%s", used ? " and " : "",
                                     variables[i]);
    return used > 0;
}

/* OpenMP binds the first thread of harness itself to one place before main() runs, and launches
 * inherit that. */
static bool check_bound(const struct doctor_input *in, const struct processors *own,
                        struct doctor_finding *f)
{
    char names[64];
    struct processors online;

    if (!openmp_binding(in, names, sizeof(names)) ||
        !doctor_cpus(in, "/sys/devices/system/cpu/online", "", &online) ||
        processors_count(own) >= processors_count(&online))
        return false;
    doctor_say(f, DOCTOR_WARN,
               "%s: harness, and so its launches, held to one place, %d of %d processors", names,
               processors_count(own), processors_count(&online));
    doctor_mend(f, "unset %s: launches bind their threads themselves; taskset -c LIST chooses them",
                names);
    return true;
}

/* Runs have their own number of threads, whatever OMP_DYNAMIC says: host/thread_team.h. */
static bool check_fewer(const struct doctor_input *in, const struct processors *own,
                        struct doctor_finding *f)
{
    struct doctor_value room[2];
    const char *limit = doctor_variable(in, "OMP_THREAD_LIMIT", &room[0]);
    const char *dynamic = doctor_variable(in, "OMP_DYNAMIC", &room[1]);
    long most = limit ? strtol(limit, NULL, 10) : 0;

    if (most > 0 && most < processors_count(own)) {
        doctor_say(f, DOCTOR_WARN, "OMP_THREAD_LIMIT=%ld on %d processors: more are not measured",
                   most, processors_count(own));
        doctor_mend(f, "unset it; --device cpu:N says how many threads are measured");
        return true;
    }
    if (dynamic && (strcasecmp(dynamic, "true") == 0 || strcmp(dynamic, "1") == 0)) {
        doctor_say(f, DOCTOR_WARN,
                   "OMP_DYNAMIC=%.8s: libraries with threads of their own use fewer under load",
                   dynamic);
        doctor_mend(f, "unset OMP_DYNAMIC");
        return true;
    }
    return false;
}

static void check_openmp(const struct doctor_input *in, struct doctor_finding *f)
{
    struct doctor_value room[2];
    const char *policy = doctor_variable(in, "OMP_WAIT_POLICY", &room[0]);
    const char *spin = doctor_variable(in, "GOMP_SPINCOUNT", &room[1]);
    int threads = thread_limit(in);
    struct processors own;

    if (!doctor_has_variables(in))
        return;
    bool known = doctor_cpus(in, "/proc/self/status", "Cpus_allowed_list", &own);

    if (policy && strcasecmp(policy, "active") == 0) {
        doctor_say(f, DOCTOR_WARN, "OMP_WAIT_POLICY=active: threads that wait keep their cores");
        doctor_mend(f, "unset OMP_WAIT_POLICY: the launches then spin for a bounded time");
    } else if (known && (check_bound(in, &own, f) || check_fewer(in, &own, f))) {
        return;
    } else if (known && threads > processors_count(&own)) {
        doctor_say(f, DOCTOR_WARN, "OMP_NUM_THREADS=%d on %d processors", threads,
                   processors_count(&own));
        doctor_mend(f, "unset it; --device cpu:N says how many threads are measured");
    } else if (policy || spin || threads) {
        doctor_say(f, DOCTOR_NOTE, "%s%.32s%s%s%.32s%s%s%.0d", policy ? "OMP_WAIT_POLICY=" : "",
                   policy ? policy : "", policy ? " " : "", spin ? "GOMP_SPINCOUNT=" : "",
                   spin ? spin : "", spin ? " " : "", threads ? "OMP_NUM_THREADS=" : "", threads);
        doctor_mend(f, "keep them the same in all runs that are compared");
    } else {
        doctor_say(f, DOCTOR_FINE, "nothing set: waiting threads spin for a bounded time");
    }
}

/* A library that was told so looks slower than it is, and what it is compared with faster. */
static void check_instruction_sets(const struct doctor_input *in, struct doctor_finding *f)
{
    struct doctor_value room;
    struct strbuf set;

    if (!doctor_has_variables(in))
        return;
    strbuf_init(&set);
    for (const char *const *name = environment_isa_variables; *name; name++) {
        const char *value = doctor_variable(in, *name, &room);
        if (value && value[0])
            strbuf_addf(&set, "%s%s=%.32s", set.length ? ", " : "", *name, value);
    }
    if (set.length > 0) {
        doctor_say(f, DOCTOR_WARN, "not the processor decides, but %s", set.data);
        doctor_mend(f, "unset what you do not mean to measure");
    } else {
        doctor_say(f, DOCTOR_FINE, "nothing set: libraries choose by the processor");
    }
    strbuf_release(&set);
}

const struct doctor_check doctor_system_checks[] = {
    { "memory", check_memory },
    { "swap", check_swap },
    { "disk", check_disk },
    { "history", check_history },
    { "huge pages", check_huge_pages },
    { "address layout", check_layout },
    { "hardware counters", check_counters },
    { "build", check_build },
    { "OpenMP", check_openmp },
    { "instruction sets", check_instruction_sets },
    { NULL, NULL },
};
