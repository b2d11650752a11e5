/* SPDX-License-Identifier: MIT */
/*
 * The doctor's checks over trees of made-up machines: each check fine, warning and unknown; what
 * watching finds; and this machine, of which only the form is known. Features: U-05, U-12.
 */
#include "testing.h"

#include "base/file.h"
#include "doctor/doctor_base.h"
#include "machine/environment.h"
#include "process/counters.h"

#include <ftw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* A machine of its own for each test. */
static int make_machine(void **state)
{
    static char root[] = HARNESS_TEST_DIR "/doctor.XXXXXX";

    memcpy(root + sizeof(root) - 7, "XXXXXX", 6);
    *state = mkdtemp(root);
    return *state ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s;
    (void)type;
    (void)at;
    return remove(path);
}

static int remove_machine(void **state)
{
    return nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(void **state, const char *path, const char *text)
{
    char where[512];
    struct error err = { "" };

    snprintf(where, sizeof(where), "%s%s", (const char *)*state, path);
    assert_ok(file_make_parent(where, &err), &err);
    assert_ok(file_write(where, text, strlen(text), &err), &err);
}

/* Its environment: a line a variable. */
static void put_variables(void **state, const char *lines)
{
    static const char path[] = "/proc/self/environ";
    char where[512], bytes[256];
    size_t length = strlen(lines);
    struct error err = { "" };

    assert_true(length < sizeof(bytes));
    for (size_t i = 0; i < length; i++)
        bytes[i] = lines[i] == '\n' ? '\0' : lines[i];
    put(state, path, "");
    snprintf(where, sizeof(where), "%s%s", (const char *)*state, path);
    assert_ok(file_write(where, bytes, length, &err), &err);
}

static void remove_one_file(void **state, const char *path)
{
    char where[512];

    snprintf(where, sizeof(where), "%s%s", (const char *)*state, path);
    assert_int_equal(remove(where), 0);
}

static struct doctor_input input_of(void **state)
{
    struct doctor_input in;

    doctor_input_make(&in, *state, "history.db");
    in.slow_build = false;
    return in;
}

static struct doctor_finding look(const struct doctor_input *in, const char *check)
{
    struct doctor_finding findings[DOCTOR_MAX];
    size_t nr = doctor_run(in, findings);

    for (size_t i = 0; i < nr; i++)
        if (strcmp(findings[i].check, check) == 0)
            return findings[i];
    fail_msg("there is no check \"%s\"", check);
    return (struct doctor_finding) { .check = "" };
}

/* The check says so, and a warning always has a mend. */
static void expect_in(const struct doctor_input *in, const char *check, enum doctor_state wanted,
                      const char *part)
{
    struct doctor_finding f = look(in, check);

    if (f.state != wanted || !strstr(f.found, part))
        fail_msg("%s: %s: %s; expected %s: %s", check, doctor_state_name(f.state), f.found,
                 doctor_state_name(wanted), part);
    if (wanted == DOCTOR_WARN)
        assert_true(f.mend[0] != '\0');
    if (wanted == DOCTOR_FINE)
        assert_string_equal(f.mend, "");
}

static void expect(void **state, const char *check, enum doctor_state wanted, const char *part)
{
    struct doctor_input in = input_of(state);

    expect_in(&in, check, wanted, part);
}

static void expect_mend(void **state, const char *check, const char *part)
{
    struct doctor_input in = input_of(state);
    struct doctor_finding f = look(&in, check);

    if (!strstr(f.mend, part))
        fail_msg("%s: %s; expected %s", check, f.mend, part);
}

#define TREE_TEST(name) TEST_WITH(name, make_machine, remove_machine)

TREE_TEST(governor)
{
    expect(state, "governor", DOCTOR_UNKNOWN, "not told");
    put(state, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    expect(state, "governor", DOCTOR_FINE, "performance");
    put(state, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    expect(state, "governor", DOCTOR_WARN, "powersave"); /* one of them is enough */
    put(state, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
    put(state, "/sys/devices/system/cpu/cpu4/cpufreq/scaling_governor", "powersave\n");
    expect(state, "governor", DOCTOR_WARN, "powersave"); /* 2 and 3 are offline */
    put(state, "/sys/devices/system/cpu/cpu4/cpufreq/scaling_governor", "performance\n");
    expect(state, "governor", DOCTOR_FINE, "performance");
}

TREE_TEST(boost)
{
    expect(state, "boost", DOCTOR_UNKNOWN, "not told");
    put(state, "/sys/devices/system/cpu/cpufreq/boost", "1\n");
    expect(state, "boost", DOCTOR_WARN, "on");
    put(state, "/sys/devices/system/cpu/cpufreq/boost", "0\n");
    expect(state, "boost", DOCTOR_FINE, "off");
    put(state, "/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"); /* the other way round */
    expect(state, "boost", DOCTOR_WARN, "on");
    put(state, "/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    expect(state, "boost", DOCTOR_FINE, "off");
}

/* Processor i is one of core i % cores, or of core i / 2. */
static void put_siblings(void **state, int cpus, int cores, bool neighbours)
{
    char path[96], siblings[16];

    for (int cpu = 0; cpu < cpus; cpu++) {
        int first = neighbours ? cpu / 2 * 2 : cpu % cores;
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 cpu);
        snprintf(siblings, sizeof(siblings), "%d,%d\n", first, first + (neighbours ? 1 : cores));
        put(state, path, siblings);
    }
}

/* Processors 0 and 4 are one core, 1 and 5 the next, as Linux counts them mostly; or 0 and 1. */
TREE_TEST(smt)
{
    static const struct {
        const char *allowed, *found, *mend; /* "": no warning */
        bool neighbours;
    } cases[] = {
        { "0-7", "8 processors of this process are 4 cores", "taskset -c 0-3 harness", false },
        { "1,3-5", "4 processors of this process are 3 cores", "taskset -c 1,3-4 harness", false },
        { "0-7", "8 processors of this process are 4 cores", "taskset -c 0-6:2 harness", true },
        { "1-4,7", "5 processors of this process are 4 cores", "taskset -c 1-2,4,7 harness", true },
        { "0-3", "one thread of each", "", false },
    };
    char status[96];

    expect(state, "SMT", DOCTOR_UNKNOWN, "not told");
    put(state, "/sys/devices/system/cpu/smt/active", "1\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put_siblings(state, 8, 4, cases[i].neighbours);
        snprintf(status, sizeof(status), "Name:\tharness\nCpus_allowed_list:\t%s\n",
                 cases[i].allowed);
        put(state, "/proc/self/status", status);
        expect(state, "SMT", cases[i].mend[0] ? DOCTOR_WARN : DOCTOR_NOTE, cases[i].found);
        expect_mend(state, "SMT", cases[i].mend);
    }
    put(state, "/sys/devices/system/cpu/smt/active", "0\n");
    expect(state, "SMT", DOCTOR_FINE, "off");
}

TREE_TEST(machine)
{
    expect(state, "machine", DOCTOR_UNKNOWN, "not told");
    put(state, "/proc/cpuinfo", "model name\t: X\nflags\t\t: fpu hypervisor avx2\n");
    expect(state, "machine", DOCTOR_NOTE, "virtual");
    put(state, "/proc/cpuinfo", "model name\t: X\nflags\t\t: fpu hypervisors avx2\n");
    expect(state, "machine", DOCTOR_FINE, "no hypervisor");
}

TREE_TEST(clock_source)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

    expect(state, "clock source", DOCTOR_UNKNOWN, "not told");
    put(state, path, "tsc\n");
    expect(state, "clock source", DOCTOR_FINE, "tsc");
    put(state, path, "kvm-clock\n");
    expect(state, "clock source", DOCTOR_FINE, "kvm-clock");
    put(state, path, "hpet\n");
    expect(state, "clock source", DOCTOR_WARN, "hpet");
}

TREE_TEST(throttling)
{
    expect(state, "thermal throttling", DOCTOR_UNKNOWN, "not told");
    put(state, "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0\n");
    put(state, "/sys/devices/system/cpu/cpu12/thermal_throttle/core_throttle_count", "0\n");
    expect(state, "thermal throttling", DOCTOR_FINE, "never");
    put(state, "/sys/devices/system/cpu/cpu12/thermal_throttle/core_throttle_count", "41\n");
    expect(state, "thermal throttling", DOCTOR_NOTE, "41 times since the start");
    struct doctor_input in = input_of(state);
    in.watch.throttles = 2;
    expect_in(&in, "thermal throttling", DOCTOR_WARN, "2 times in a second");
}

/* What is watched for a second is that of all processors. */
TREE_TEST(throttling_of_all)
{
    struct doctor_input in = input_of(state);

    assert_true(isnan(doctor_throttles(&in)));
    put(state, "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n");
    put(state, "/sys/devices/system/cpu/cpu12/thermal_throttle/core_throttle_count", "41\n");
    assert_close(doctor_throttles(&in), 44, 0);
}

TREE_TEST(power)
{
    expect(state, "mains", DOCTOR_UNKNOWN, "not told");
    put(state, "/sys/class/power_supply/README", "\n");
    expect(state, "mains", DOCTOR_FINE, "no battery");
    put(state, "/sys/class/power_supply/BAT0/present", "1\n");
    expect(state, "mains", DOCTOR_UNKNOWN, "no word");
    put(state, "/sys/class/power_supply/AC/online", "0\n");
    expect(state, "mains", DOCTOR_WARN, "on battery");
    put(state, "/sys/class/power_supply/AC/online", "1\n");
    expect(state, "mains", DOCTOR_FINE, "on the mains");
    expect(state, "power cap", DOCTOR_UNKNOWN, "not told");
    put(state, "/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    put(state, "/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "65000000\n");
    expect(state, "power cap", DOCTOR_NOTE, "limited to 65 W; energy cannot be read");
    put(state, "/sys/class/powercap/intel-rapl:0/energy_uj", "12\n");
    expect(state, "power cap", DOCTOR_FINE, "limited to 65 W");
    put(state, "/sys/class/powercap/intel-rapl:1/name", "psys\n"); /* it is not asked */
    expect(state, "power cap", DOCTOR_FINE, "limited to 65 W");
    put(state, "/sys/class/powercap/intel-rapl:2/name", "package-1\n");
    expect(state, "power cap", DOCTOR_NOTE, "energy of 1 of 2 packages cannot be read");
    expect_mend(state, "power cap", "o+r /sys/class/powercap/intel-rapl:*/energy_uj");
    put(state, "/sys/class/powercap/intel-rapl:2/energy_uj", "12\n");
    expect(state, "power cap", DOCTOR_FINE, "limited to 65 W");
}

TREE_TEST(load)
{
    expect(state, "load", DOCTOR_UNKNOWN, "not told");
    put(state, "/proc/self/status", "Cpus_allowed_list:\t0-3\n");
    put(state, "/proc/loadavg", "1.90 0.10 0.10 1/100 7\n");
    expect(state, "load", DOCTOR_FINE, "1.90");
    put(state, "/proc/loadavg", "2.10 0.10 0.10 1/100 7\n");
    expect(state, "load", DOCTOR_WARN, "2.10");
}

TREE_TEST(quota_v2)
{
    expect(state, "CPU quota", DOCTOR_UNKNOWN, "not told");
    put(state, "/proc/self/status", "Cpus_allowed_list:\t0-3\n");
    put(state, "/proc/self/cgroup", "0::/user.slice/a.scope\n");
    put(state, "/sys/fs/cgroup/user.slice/a.scope/cpu.max", "max 100000\n");
    expect(state, "CPU quota", DOCTOR_FINE, "no limit");
    put(state, "/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n"); /* of the one above */
    expect(state, "CPU quota", DOCTOR_WARN, "1.50 of 4");
    put(state, "/sys/fs/cgroup/cpu.max", "50000 100000\n"); /* of all, as a container sees it */
    expect(state, "CPU quota", DOCTOR_WARN, "0.50 of 4");
}

TREE_TEST(quota_v1)
{
    put(state, "/proc/self/status", "Cpus_allowed_list:\t0-3\n");
    put(state, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put(state, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    expect(state, "CPU quota", DOCTOR_FINE, "no limit");
    put(state, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
    expect(state, "CPU quota", DOCTOR_FINE, "no limit"); /* as much as there is */
    put(state, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
    expect(state, "CPU quota", DOCTOR_WARN, "2.50 of 4");
    /* Of its own group and those above it, by the line that has the controller. */
    put(state, "/proc/self/cgroup", "9:cpuset:/\n4:cpuacct,cpu:/slurm/job1\n0::/init.scope\n");
    put(state, "/sys/fs/cgroup/cpu/slurm/job1/cpu.cfs_quota_us", "-1\n");
    put(state, "/sys/fs/cgroup/cpu/slurm/job1/cpu.cfs_period_us", "100000\n");
    expect(state, "CPU quota", DOCTOR_WARN, "2.50 of 4");
    put(state, "/sys/fs/cgroup/cpu/slurm/cpu.cfs_period_us", "50000\n");
    put(state, "/sys/fs/cgroup/cpu/slurm/cpu.cfs_quota_us", "75000\n");
    expect(state, "CPU quota", DOCTOR_WARN, "1.50 of 4");
    put(state, "/sys/fs/cgroup/cpu/slurm/job1/cpu.cfs_quota_us", "100000\n");
    expect(state, "CPU quota", DOCTOR_WARN, "1.00 of 4");
}

TREE_TEST(processors)
{
    expect(state, "processors", DOCTOR_UNKNOWN, "not told");
    put(state, "/sys/devices/system/cpu/online", "0-7\n");
    put(state, "/proc/self/status", "Cpus_allowed_list:\t0,2-3\n");
    expect(state, "processors", DOCTOR_NOTE, "3 of 8");
    put(state, "/proc/self/status", "Cpus_allowed_list:\t0-7\n");
    expect(state, "processors", DOCTOR_FINE, "all 8");
    expect(state, "isolation", DOCTOR_FINE, "isolated: none; without ticks: none");
    put(state, "/sys/devices/system/cpu/isolated", "2-3\n");
    put(state, "/sys/devices/system/cpu/nohz_full", " (null)\n");
    expect(state, "isolation", DOCTOR_NOTE, "isolated: 2-3; without ticks: none");
}

/* More than 1024, and more than a line of 4096 bytes tells: every other one of 2048. */
TREE_TEST(many_processors)
{
    char status[8192] = "Cpus_allowed_list:\t0";
    size_t length = strlen(status);

    put(state, "/sys/devices/system/cpu/online", "0-2047\n");
    put(state, "/proc/self/status", "Cpus_allowed_list:\t0-2047\n");
    expect(state, "processors", DOCTOR_FINE, "all 2048");
    for (int cpu = 2; cpu < 2048; cpu += 2)
        length += (size_t)snprintf(status + length, sizeof(status) - length, ",%d", cpu);
    assert_true(length > 4096 && length < sizeof(status));
    put(state, "/proc/self/status", status);
    expect(state, "processors", DOCTOR_NOTE, "1024 of 2048");
}

TREE_TEST(memory_and_swap)
{
    expect(state, "memory", DOCTOR_UNKNOWN, "not told");
    expect(state, "swap", DOCTOR_UNKNOWN, "not told");
    put(state, "/proc/meminfo",
        "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nSwapTotal: 100 kB\nSwapFree: 100 kB\n");
    expect(state, "memory", DOCTOR_FINE, "4.000 GiB of 8.000 GiB");
    expect(state, "swap", DOCTOR_FINE, "none in use");
    put(state, "/proc/meminfo",
        "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n");
    expect(state, "swap", DOCTOR_NOTE, "1.000 MiB in use");
    put(state, "/proc/meminfo",
        "MemTotal: 8388608 kB\nMemAvailable: 524288 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n");
    expect(state, "memory", DOCTOR_WARN, "512.0 MiB of");
    expect(state, "swap", DOCTOR_WARN, "1.000 MiB in use");
}

/* The machine has plenty, the container above this process's group nearly none left. */
TREE_TEST(memory_of_a_container)
{
    put(state, "/proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n");
    put(state, "/proc/self/cgroup", "0::/box/init\n");
    put(state, "/sys/fs/cgroup/box/memory.max", "2147483648\n");
    put(state, "/sys/fs/cgroup/box/memory.current", "1073741824\n");
    expect(state, "memory", DOCTOR_FINE, "1.000 GiB of 2.000 GiB can be had, by the limit");
    put(state, "/sys/fs/cgroup/box/memory.current", "2013265920\n");
    expect(state, "memory", DOCTOR_WARN, "128.0 MiB of 2.000 GiB can be had, by the limit");
    expect_mend(state, "memory", "container or job");
    put(state, "/proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 65536 kB\n");
    expect(state, "memory", DOCTOR_WARN, "64.00 MiB of 8.000 GiB can be had");
    expect_mend(state, "memory", "stop what holds it: the kernel");
}

TREE_TEST(kernel_settings)
{
    expect(state, "huge pages", DOCTOR_UNKNOWN, "not told");
    put(state, "/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    expect(state, "huge pages", DOCTOR_NOTE, "always: ");
    put(state, "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    expect(state, "huge pages", DOCTOR_FINE, "madvise");
    put(state, "/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
    expect(state, "huge pages", DOCTOR_NOTE, "never: ");
    expect(state, "address layout", DOCTOR_UNKNOWN, "not told");
    put(state, "/proc/sys/kernel/randomize_va_space", "0\n");
    expect(state, "address layout", DOCTOR_NOTE, "fixed");
    put(state, "/proc/sys/kernel/randomize_va_space", "2\n");
    expect(state, "address layout", DOCTOR_FINE, "random");
    expect(state, "hardware counters", DOCTOR_UNKNOWN, "not told");
    put(state, "/proc/sys/kernel/perf_event_paranoid", "3\n");
    expect(state, "hardware counters", DOCTOR_NOTE, "closed");
}

/* Being allowed to count is one thing, something that counts another. */
TREE_TEST(counters)
{
    put(state, "/proc/sys/kernel/perf_event_paranoid", "-1\n");
    expect(state, "hardware counters", DOCTOR_UNKNOWN, "not told");
    put(state, "/sys/bus/event_source/devices/software/type", "1\n");
    put(state, "/sys/bus/event_source/devices/uprobe/type", "9\n");
    expect(state, "hardware counters", DOCTOR_NOTE, "the virtual machine, offers none");
    put(state, "/sys/bus/event_source/devices/armv8_pmuv3_0/cpus", "0-3\n");
    expect(state, "hardware counters", DOCTOR_FINE, "perf_event_paranoid -1");
    remove_one_file(state, "/sys/bus/event_source/devices/armv8_pmuv3_0/cpus");
    expect(state, "hardware counters", DOCTOR_NOTE, "none: ");
    put(state, "/sys/bus/event_source/devices/cpu/type", "4\n");
    expect(state, "hardware counters", DOCTOR_FINE, "perf_event_paranoid -1");
    put(state, "/proc/sys/kernel/perf_event_paranoid", "4\n");
    expect(state, "hardware counters", DOCTOR_NOTE, "closed");
}

TREE_TEST(build)
{
    struct doctor_input in = input_of(state);

    snprintf(in.build.build_type, sizeof(in.build.build_type), "Release");
    expect_in(&in, "build", DOCTOR_FINE, "Release");
    in.slow_build = true;
    expect_in(&in, "build", DOCTOR_WARN, "Release");
    in.slow_build = false;
    snprintf(in.build.build_type, sizeof(in.build.build_type), "Debug");
    expect_in(&in, "build", DOCTOR_WARN, "Debug");
}

TREE_TEST(openmp)
{
    put(state, "/proc/self/status", "Cpus_allowed_list:\t0-3\n");
    expect(state, "OpenMP", DOCTOR_UNKNOWN, "not told");
    put_variables(state, "HOME=/root\n");
    expect(state, "OpenMP", DOCTOR_FINE, "nothing set");
    put_variables(state, "OMP_NUM_THREADS=4\nMY_OMP_NUM_THREADS=5\n");
    expect(state, "OpenMP", DOCTOR_NOTE, "OMP_NUM_THREADS=4");
    put_variables(state, "OMP_NUM_THREADS=4\nGOMP_SPINCOUNT=7\n");
    expect(state, "OpenMP", DOCTOR_NOTE, "GOMP_SPINCOUNT=7 OMP_NUM_THREADS=4");
    put_variables(state, "OMP_NUM_THREADS=5\nGOMP_SPINCOUNT=7\n");
    expect(state, "OpenMP", DOCTOR_WARN, "OMP_NUM_THREADS=5 on 4");
    put_variables(state, "OMP_NUM_THREADS=5\nOMP_WAIT_POLICY=ACTIVE\n");
    expect(state, "OpenMP", DOCTOR_WARN, "OMP_WAIT_POLICY=active");
}

/* What is known of another machine is what lies below its root. */
TREE_TEST(variables_and_disk_of_this_machine_are_none_of_another)
{
    struct doctor_input here = { .root = "", .history = "history.db" };

    setenv("OMP_WAIT_POLICY", "active", 1);
    setenv("OPENBLAS_CORETYPE", "Haswell", 1);
    expect(state, "OpenMP", DOCTOR_UNKNOWN, "not told");
    expect(state, "instruction sets", DOCTOR_UNKNOWN, "not told");
    put_variables(state, "HOME=/root\n");
    expect(state, "OpenMP", DOCTOR_FINE, "nothing set");
    expect(state, "instruction sets", DOCTOR_FINE, "nothing set");
    expect(state, "disk", DOCTOR_UNKNOWN, "not told");
    expect(state, "history", DOCTOR_UNKNOWN, "not told");
    expect_in(&here, "OpenMP", DOCTOR_WARN, "OMP_WAIT_POLICY=active");
    expect_in(&here, "instruction sets", DOCTOR_WARN, "OPENBLAS_CORETYPE=Haswell");
    unsetenv("OMP_WAIT_POLICY");
    unsetenv("OPENBLAS_CORETYPE");
}

/* Fewer threads than a benchmark's name says. */
TREE_TEST(openmp_with_fewer_threads)
{
    static const struct {
        const char *limit, *dynamic, *found; /* NULL: it is not set; as it should be */
    } cases[] = {
        { "3", NULL, "OMP_THREAD_LIMIT=3 on 4 processors" },
        { "4", NULL, NULL },
        { "1", "true", "OMP_THREAD_LIMIT=1 on 4 processors" },
        { NULL, "TRUE", "OMP_DYNAMIC=TRUE: libraries" },
        { NULL, "false", NULL },
    };

    char variables[128];

    put(state, "/proc/self/status", "Cpus_allowed_list:\t0-3\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(variables, sizeof(variables), "%s%s\n%s%s\n",
                 cases[i].limit ? "OMP_THREAD_LIMIT=" : "", cases[i].limit ? cases[i].limit : "",
                 cases[i].dynamic ? "OMP_DYNAMIC=" : "", cases[i].dynamic ? cases[i].dynamic : "");
        put_variables(state, variables);
        expect(state, "OpenMP", cases[i].found ? DOCTOR_WARN : DOCTOR_FINE,
               cases[i].found ? cases[i].found : "nothing set");
    }
}

/* What OpenMP did to harness itself before main(). */
TREE_TEST(openmp_binding)
{
    static const struct {
        const char *places, *bind, *allowed, *found; /* NULL: it is not set */
    } cases[] = {
        { NULL, "true", "2",
          "OMP_PROC_BIND: harness, and so its launches, held to one place, 1 of 4" },
        { "cores", NULL, "0,2",
          "OMP_PLACES: harness, and so its launches, held to one place, 2 of 4" },
        { "cores", "close", "0", "OMP_PLACES and OMP_PROC_BIND: harness" },
        { "cores", "false", "0", NULL },
        { "sockets", NULL, "0-3", NULL },
        { NULL, NULL, "0", NULL },
    };
    char status[96], variables[128];

    put(state, "/sys/devices/system/cpu/online", "0-3\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(variables, sizeof(variables), "%s%s\n%s%s\n", cases[i].places ? "OMP_PLACES=" : "",
                 cases[i].places ? cases[i].places : "", cases[i].bind ? "OMP_PROC_BIND=" : "",
                 cases[i].bind ? cases[i].bind : "");
        put_variables(state, variables);
        snprintf(status, sizeof(status), "Cpus_allowed_list:\t%s\n", cases[i].allowed);
        put(state, "/proc/self/status", status);
        expect(state, "OpenMP", cases[i].found ? DOCTOR_WARN : DOCTOR_FINE,
               cases[i].found ? cases[i].found : "nothing set");
        expect_mend(state, "OpenMP", cases[i].found ? "unset OMP_" : "");
    }
}

TREE_TEST(instruction_sets)
{
    char variables[96];

    put_variables(state, "HOME=/root\n");
    expect(state, "instruction sets", DOCTOR_FINE, "nothing set");
    for (const char *const *name = environment_isa_variables; *name; name++) {
        snprintf(variables, sizeof(variables), "%s=avx2", *name);
        put_variables(state, variables);
        expect(state, "instruction sets", DOCTOR_WARN, variables);
        snprintf(variables, sizeof(variables), "%s=\n", *name); /* as good as not there */
        put_variables(state, variables);
        expect(state, "instruction sets", DOCTOR_FINE, "nothing set");
    }
    put_variables(state, "ATEN_CPU_CAPABILITY=avx2\nOPENBLAS_CORETYPE=Haswell\n");
    expect(state, "instruction sets", DOCTOR_WARN,
           "OPENBLAS_CORETYPE=Haswell, ATEN_CPU_CAPABILITY=avx2");
}

TEST(disk)
{
    struct doctor_input in = { .root = "" };

    in.history = "/nowhere/at/all/history.db"; /* the nearest folder that is there: "/" */
    assert_int_not_equal(look(&in, "disk").state, DOCTOR_UNKNOWN);
    in.history = "history.db";
    assert_non_null(strstr(look(&in, "disk").found, "left for the history"));
    in.history = "/dev/full/history.db"; /* below what is no folder: looks further up */
    assert_int_not_equal(look(&in, "disk").state, DOCTOR_UNKNOWN);
}

TREE_TEST(watched)
{
    static const char *const checks[] = { "steal", "other programs", "timer", "steadiness" };
    struct doctor_input in = input_of(state);

    for (size_t i = 0; i < 4; i++)
        expect_in(&in, checks[i], DOCTOR_UNKNOWN, "not watched");
    in.watch = (struct doctor_watch) { .clock_step = 20 };
    for (size_t i = 0; i < 4; i++)
        expect_in(&in, checks[i], DOCTOR_FINE, "0");
    in.watch =
        (struct doctor_watch) { .steal = 0.02, .busy = 1.5, .slow_spins = 0.4, .clock_step = 4e6 };
    expect_in(&in, "steal", DOCTOR_WARN, "2.0 %");
    expect_in(&in, "other programs", DOCTOR_WARN, "1.50 processors");
    expect_in(&in, "timer", DOCTOR_WARN, "4000000 ns");
    expect_in(&in, "steadiness", DOCTOR_WARN, "40.0 %");
}

/* Two GPUs: the first is fine, the second is as the row says. */
TREE_TEST(gpus)
{
    static const struct nvml_gpu fine = { .name = "NVIDIA H200", .ecc = 1, .persistence = 1 },
                                 shared = { .limits = NVML_LIMIT_POWER, .processes = 2, .mig = 1 };
    static const struct {
        const struct nvml_gpu *second;
        const char *check;
        enum doctor_state state;
        const char *part;
    } cases[] = {
        { &fine, "GPU", DOCTOR_FINE, "2, the first NVIDIA H200" },
        { &fine, "GPU persistence", DOCTOR_FINE, "on" },
        { &fine, "GPU clocks", DOCTOR_NOTE, "not known to be locked" },
        { &fine, "GPU programs", DOCTOR_FINE, "none" },
        { &fine, "GPU MIG", DOCTOR_FINE, "off" },
        { &fine, "GPU ECC", DOCTOR_FINE, "on" },
        { &shared, "GPU persistence", DOCTOR_WARN, "off on GPU 1" },
        { &shared, "GPU clocks", DOCTOR_WARN, "on GPU 1" },
        { &shared, "GPU programs", DOCTOR_WARN, "on GPU 1" },
        { &shared, "GPU MIG", DOCTOR_NOTE, "on GPU 1" },
        { &shared, "GPU ECC", DOCTOR_FINE, "off on GPU 1" },
    };
    struct doctor_finding findings[DOCTOR_MAX];
    struct doctor_input in = input_of(state);
    size_t without = doctor_run(&in, findings);

    in.nr_gpus = 2;
    in.gpus[0] = in.gpus[1] = fine;
    assert_int_equal(doctor_run(&in, findings), without + 6); /* none where there is no GPU */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        in.gpus[1] = *cases[i].second;
        expect_in(&in, cases[i].check, cases[i].state, cases[i].part);
    }
    in.gpus[0].limits = in.gpus[1].limits = NVML_LIMIT_SETTING;
    expect_in(&in, "GPU clocks", DOCTOR_FINE, "set by somebody");
    in.gpus[0].persistence = in.gpus[0].processes = -1;
    in.gpus[0].limits = -1;
    expect_in(&in, "GPU persistence", DOCTOR_UNKNOWN, "not told");
    expect_in(&in, "GPU programs", DOCTOR_UNKNOWN, "not told");
    expect_in(&in, "GPU clocks", DOCTOR_UNKNOWN, "not told");
}

TREE_TEST(driver_without_library)
{
    put(state, "/proc/driver/nvidia/version", "NVRM version: NVIDIA 580.95.05\n");
    expect(state, "GPU", DOCTOR_UNKNOWN, "not to be had");
    expect(state, "GPU persistence", DOCTOR_UNKNOWN, "not told");
}

/* Whatever this machine is: every row says something, and shares are shares. */
TEST(this_machine)
{
    struct doctor_finding findings[DOCTOR_MAX];
    struct doctor_input in;

    doctor_input_make(&in, "", "history.db");
    assert_true(in.watch.slow_spins >= 0 && in.watch.slow_spins < 1);
    assert_true(in.watch.clock_step > 0);
    assert_true(isnan(in.watch.steal) || (in.watch.steal >= 0 && in.watch.steal <= 1));
    assert_true(isnan(in.watch.busy) || in.watch.busy >= 0);
    if (look(&in, "hardware counters").state ==
        DOCTOR_FINE) { /* then they are what is counted by */
        struct error why = { "" };
        struct counters *c = counters_open(COUNT_THREADS, NULL, &why);
        if (!c)
            fail_msg("%s", why.message);
        counters_close(c);
    }
    snprintf(in.no_counters, sizeof(in.no_counters), "no such luck");
    assert_int_not_equal(look(&in, "hardware counters").state, DOCTOR_FINE);
    size_t nr = doctor_run(&in, findings);
    assert_in_range(nr, 20, DOCTOR_MAX);
    for (size_t i = 0; i < nr; i++) {
        assert_true(findings[i].found[0] != '\0');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(findings[i].check, findings[j].check);
    }
}

RUN_TESTS(NULL, NULL)
