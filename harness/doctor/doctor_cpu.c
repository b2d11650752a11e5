/* SPDX-License-Identifier: MIT */
/* The processors: what sets their clocks, and whether two threads share a core. */
#include "doctor/doctor_base.h"

#include "machine/host_sensors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One folder a processor, "cpu0", among others that have none of what is looked for in these. */
static const char cpu_folder[] = "/sys/devices/system/cpu";

/* A governor that differs from "performance", or that one. A processor that is offline has none. */
static bool cpu_worst_governor(const struct doctor_input *in, char *name, size_t size)
{
    char path[512];
    struct string_list cpus;
    bool any = false, worst = false;

    doctor_names(in, cpu_folder, "cpu", &cpus);
    for (size_t i = 0; i < cpus.nr && !worst; i++) {
        snprintf(path, sizeof(path), "%s/%s/cpufreq/scaling_governor", cpu_folder, cpus.items[i]);
        if (doctor_text(in, path, "", name, size)) {
            any = true;
            worst = strcmp(name, "performance") != 0;
        }
    }
    string_list_release(&cpus);
    return any;
}

static void check_governor(const struct doctor_input *in, struct doctor_finding *f)
{
    char name[32];

    if (!cpu_worst_governor(in, name, sizeof(name))) {
        doctor_say(f, DOCTOR_UNKNOWN, "not told: no frequency driver, as on most virtual machines");
        return;
    }
    bool fine = strcmp(name, "performance") == 0;
    doctor_say(f, fine ? DOCTOR_FINE : DOCTOR_WARN, "%s%s", name,
               fine ? "" : ": the clock follows the load of a moment ago");
    if (!fine)
        doctor_mend(f, "sudo cpupower frequency-set -g performance");
}

static void check_boost(const struct doctor_input *in, struct doctor_finding *f)
{
    static const char generic[] = "/sys/devices/system/cpu/cpufreq/boost";
    static const char intel[] = "/sys/devices/system/cpu/intel_pstate/no_turbo";
    double on = doctor_number(in, generic, ""), off = doctor_number(in, intel, "");

    if (isnan(on) && isnan(off))
        return;
    if (isnan(off) ? on == 0 : off == 1) {
        doctor_say(f, DOCTOR_FINE, "off");
    } else {
        doctor_say(f, DOCTOR_WARN, "on: the clock depends on heat and on what other cores do");
        doctor_mend(f, "echo %d | sudo tee %s", isnan(off) ? 0 : 1, isnan(off) ? generic : intel);
    }
}

/* Does this processor share a core with a lower one of `own`? */
static bool cpu_is_second(const struct doctor_input *in, const struct processors *own, size_t cpu)
{
    char path[96];
    struct processors siblings;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list",
             cpu);
    if (!doctor_cpus(in, path, "", &siblings))
        return false;
    for (size_t other = 0; other < cpu; other++)
        if (processors_have(&siblings, other) && processors_have(own, other))
            return true;
    return false;
}

/* One processor of each core that these are of. */
static struct processors cpu_cores(const struct doctor_input *in, const struct processors *own)
{
    struct processors cores = *own;

    for (size_t cpu = 0; cpu < PROCESSORS_MAX; cpu++)
        if (processors_have(own, cpu) && cpu_is_second(in, own, cpu))
            processors_remove(&cores, cpu);
    return cores;
}

/* The last processor of a row from `cpu` on: of neighbours, or of three or more of which each is
 * the second behind the one before. */
static size_t cpu_row_end(const struct processors *set, size_t cpu, size_t stride)
{
    size_t last = cpu;

    while (processors_have(set, last + stride) && (stride == 1 || !processors_have(set, last + 1)))
        last += stride;
    return last > cpu + stride || stride == 1 ? last : cpu;
}

/* As taskset takes it, "0-3,8", and "0-6:2" for every other one. False where it has no room. */
static bool cpu_list(const struct processors *set, char *text, size_t size)
{
    size_t used = 0, last;

    text[0] = '\0';
    for (size_t cpu = 0; cpu < PROCESSORS_MAX && used < size; cpu = last + 1) {
        last = cpu;
        if (!processors_have(set, cpu))
            continue;
        size_t stride = processors_have(set, cpu + 1) ? 1 : 2;
        last = cpu_row_end(set, cpu, stride);
        used += (size_t)snprintf(text + used, size - used, "%s%zu", used ? "," : "", cpu);
        if (last > cpu && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, "-%zu%s", last, stride == 1 ? "" : ":2");
    }
    return used < size;
}

/* By taskset: OpenMP's own variables would bind harness itself before it begins. */
static void mend_smt(const struct processors *cores, struct doctor_finding *f)
{
    static const char off[] = "echo off | sudo tee /sys/devices/system/cpu/smt/control";
    char list[96];

    if (cpu_list(cores, list, sizeof(list)))
        doctor_mend(f, "taskset -c %s harness run ..., or %s", list, off);
    else
        doctor_mend(f, "%s", off);
}

static void check_smt(const struct doctor_input *in, struct doctor_finding *f)
{
    double active = doctor_number(in, "/sys/devices/system/cpu/smt/active", "");
    struct processors own;

    if (isnan(active) || !doctor_cpus(in, "/proc/self/status", "Cpus_allowed_list", &own))
        return;
    struct processors cores = cpu_cores(in, &own);
    if (active == 0) {
        doctor_say(f, DOCTOR_FINE, "off, or one thread a core");
    } else if (processors_count(&cores) == processors_count(&own)) {
        doctor_say(f, DOCTOR_NOTE, "on, and this process has one thread of each of its cores");
        doctor_mend(f, "keep the other threads idle");
    } else {
        doctor_say(f, DOCTOR_WARN, "on: %d processors of this process are %d cores",
                   processors_count(&own), processors_count(&cores));
        mend_smt(&cores, f);
    }
}

static void check_machine(const struct doctor_input *in, struct doctor_finding *f)
{
    char flags[4096];

    if (!doctor_text(in, "/proc/cpuinfo", "flags", flags, sizeof(flags)))
        return;
    if (doctor_has_word(flags, "hypervisor")) {
        doctor_say(f, DOCTOR_NOTE, "virtual: neighbours share caches, memory and clocks, unseen");
        doctor_mend(f, "more launches, spread over time; prefer `compare` with interleaved sides");
    } else {
        doctor_say(f, DOCTOR_FINE, "no hypervisor");
    }
}

static void check_clock_source(const struct doctor_input *in, struct doctor_finding *f)
{
    static const char *const slow[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit" };
    char name[64];

    if (!doctor_text(in, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "",
                     name, sizeof(name)))
        return;
    doctor_say(f, DOCTOR_FINE, "%s", name);
    for (size_t i = 0; i < sizeof(slow) / sizeof(*slow); i++)
        if (strcmp(name, slow[i]) == 0) {
            doctor_say(f, DOCTOR_WARN, "%s: each reading costs about a microsecond", name);
            doctor_mend(f, "see in the kernel's log why it left the processor's own counter");
        }
}

double doctor_throttles(const struct doctor_input *in)
{
    return doctor_sum(in, cpu_folder, "cpu", "thermal_throttle/core_throttle_count");
}

static void check_throttling(const struct doctor_input *in, struct doctor_finding *f)
{
    double core = doctor_throttles(in), now = in->watch.throttles;

    if (isnan(core))
        return;
    if (now > 0) {
        doctor_say(f, DOCTOR_WARN, "heat slowed processors down %.0f times in a second", now);
        doctor_mend(f, "mend the cooling, or lower the clock to what can be kept");
    } else if (core > 0) {
        doctor_say(f, DOCTOR_NOTE, "heat slowed processors down %.0f times since the start", core);
        doctor_mend(f, "compare the clocks of runs: telemetry cpu_mhz");
    } else {
        doctor_say(f, DOCTOR_FINE, "never since the start");
    }
}

static void check_mains(const struct doctor_input *in, struct doctor_finding *f)
{
    static const char folder[] = "/sys/class/power_supply";
    /* "AC", "ACAD", "ADP1" */
    double online =
        fmax(doctor_sum(in, folder, "AC", "online"), doctor_sum(in, folder, "AD", "online"));
    double battery = doctor_sum(in, folder, "BAT", "present");

    if (!doctor_is_there(in, folder))
        return;
    if (isnan(battery) || battery == 0) {
        doctor_say(f, DOCTOR_FINE, "no battery");
    } else if (isnan(online)) {
        doctor_say(f, DOCTOR_UNKNOWN, "a battery, and no word of the mains");
    } else if (online > 0) {
        doctor_say(f, DOCTOR_FINE, "on the mains");
    } else {
        doctor_say(f, DOCTOR_WARN, "on battery: clocks are held back");
        doctor_mend(f, "plug it in");
    }
}

static void say_unreadable(const char *cap, int unreadable, int packages, struct doctor_finding *f)
{
    char part[48] = "";

    if (unreadable < packages)
        snprintf(part, sizeof(part), " of %d of %d packages", unreadable, packages);
    doctor_say(f, DOCTOR_NOTE, "%s; energy%s cannot be read, so no watts are recorded", cap, part);
    doctor_mend(f, "sudo chmod o+r /sys/class/powercap/intel-rapl:*/energy_uj");
}

static void check_power_cap(const struct doctor_input *in, struct doctor_finding *f)
{
    int zones[HOST_PACKAGES_MAX], nr = host_packages(in->root, zones), unreadable = 0;
    char cap[48] = "no limit is told";

    if (nr == 0)
        return;
    double limit = host_package_number(in->root, zones[0], "constraint_0_power_limit_uw") * 1e-6;
    if (!isnan(limit))
        snprintf(cap, sizeof(cap), "limited to %.0f W", limit);
    for (int i = 0; i < nr; i++)
        unreadable += isnan(host_package_number(in->root, zones[i], "energy_uj")) ? 1 : 0;
    if (unreadable > 0)
        say_unreadable(cap, unreadable, nr, f);
    else
        doctor_say(f, DOCTOR_FINE, "%s", cap);
}

const struct doctor_check doctor_cpu_checks[] = {
    { "governor", check_governor },
    { "boost", check_boost },
    { "SMT", check_smt },
    { "machine", check_machine },
    { "clock source", check_clock_source },
    { "thermal throttling", check_throttling },
    { "mains", check_mains },
    { "power cap", check_power_cap },
    { NULL, NULL },
};
