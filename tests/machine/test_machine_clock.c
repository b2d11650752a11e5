/* SPDX-License-Identifier: MIT */
/* What holds a clock, by trees of files as the kernel shows them and by what NVML tells. */
#include "testing.h"

#include "base/file.h"
#include "machine/clock_eye.h"
#include "machine/clock_hold.h"

#include <math.h>
#include <stdio.h>

/* Two processors; NULL: the file is not there. */
struct tree {
    const char *governor[2], *least[2], *most[2], *now[2];
    const char *boost, *no_turbo;
    bool seen, held;
    const char *how;
};

static void put(const char *root, const char *path, const char *text)
{
    char where[512];
    struct error err;

    snprintf(where, sizeof(where), "%s%s", root, path);
    if (!text)
        return;
    assert_ok(file_make_parent(where, &err), &err);
    assert_ok(file_write(where, text, strlen(text), &err), &err);
}

static void put_cpu(const char *root, int cpu, const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/%s", cpu, name);
    put(root, path, text);
}

static void put_tree(const char *root, const struct tree *t)
{
    for (int cpu = 0; cpu < 2; cpu++) {
        put_cpu(root, cpu, "scaling_governor", t->governor[cpu]);
        put_cpu(root, cpu, "scaling_min_freq", t->least[cpu]);
        put_cpu(root, cpu, "scaling_max_freq", t->most[cpu]);
        put_cpu(root, cpu, "scaling_cur_freq", t->now[cpu]);
    }
    put(root, "/sys/devices/system/cpu/cpufreq/boost", t->boost);
    put(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", t->no_turbo);
}

#define BOTH(text)                                                                                 \
    {                                                                                              \
        text, text                                                                                 \
    }

TEST(what_holds_a_processors_clock)
{
    static const struct tree rows[] = {
        { BOTH("powersave\n"), BOTH("800000\n"), BOTH("4800000\n"), BOTH("3100000\n"),
          .no_turbo = "0\n", .seen = true,
          .how = "governor powersave, 0.80 to 4.80 GHz, turbo on" },
        { BOTH("performance\n"), BOTH("800000\n"), BOTH("4800000\n"), BOTH("3100000\n"),
          .no_turbo = "0\n", .seen = true,
          .how = "governor performance, 0.80 to 4.80 GHz, turbo on" },
        { BOTH("performance\n"), BOTH("800000\n"), BOTH("3100000\n"), BOTH("3100000\n"),
          .no_turbo = "1\n", .seen = true, .held = true,
          .how = "governor performance, 0.80 to 3.10 GHz, turbo off" },
        { BOTH("performance\n"), BOTH("1500000\n"), BOTH("2200000\n"), BOTH("2200000\n"),
          .boost = "0\n", .seen = true, .held = true,
          .how = "governor performance, 1.50 to 2.20 GHz, turbo off" },
        { BOTH("schedutil\n"), BOTH("2200000\n"), BOTH("2200000\n"), BOTH("2200000\n"),
          .seen = true, .held = true, .how = "governor schedutil, 2.20 GHz alone" },
        { { "performance\n", "powersave\n" },
          BOTH("800000\n"),
          { "3100000\n", "4800000\n" },
          BOTH("3100000\n"),
          .no_turbo = "1\n",
          .seen = true,
          .how = "governor several, 0.80 to 4.80 GHz, turbo off" },
        { { "performance\n", NULL },
          { "1\n", NULL },
          { "1\n", NULL },
          { "1\n", NULL },
          .how = "the processors' clock cannot be seen: there is no cpufreq, as on most virtual "
                 "machines" },
        { BOTH("performance\n"), BOTH("1\n"), BOTH("1\n"), BOTH(NULL), /* no sight of it */
          .how = "the processors' clock cannot be seen: there is no cpufreq, as on most virtual "
                 "machines" },
        { .boost = "1\n",
          .how = "the processors' clock cannot be seen: there is no cpufreq, as on most virtual "
                 "machines" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct clock_hold h;
        char root[256];
        struct processors cpus = { { 0 } };
        snprintf(root, sizeof(root), HARNESS_TEST_DIR "/clock-root-%zu", i);
        put_tree(root, &rows[i]);
        processors_add(&cpus, 0);
        processors_add(&cpus, 1);
        clock_hold_cpu(root, &cpus, &h);
        assert_string_equal(h.how, rows[i].how);
        assert_true(h.seen == rows[i].seen && h.held == rows[i].held);
    }
    struct clock_hold h;
    struct processors none = { { 0 } };
    clock_hold_cpu("", &none, &h);
    assert_false(h.seen || h.held);
}

TEST(what_holds_a_gpus_clock)
{
    static const struct {
        struct nvml_gpu gpu;
        bool held;
        const char *how;
    } rows[] = {
        { { .limits = 0, .persistence = 1, .application_mhz = 1410, .power_limit_watts = 700 },
          false,
          "clocks not set, application clock 1410 MHz, power limit 700 W, persistence on" },
        { { .limits = NVML_LIMIT_SETTING, .application_mhz = NAN, .power_limit_watts = NAN },
          true,
          "clocks set by somebody, persistence off" },
        { { .limits = NVML_LIMIT_SETTING | 0x04, .persistence = -1 },
          false,
          "clocks set by somebody" }, /* and the power cap is below them */
        { { .limits = -1, .persistence = -1 }, false, "clocks set by nobody known" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct clock_hold h;
        clock_hold_gpu(&rows[i].gpu, &h);
        assert_string_equal(h.how, rows[i].how);
        assert_true(h.seen && h.held == rows[i].held);
    }
    struct clock_hold h;
    clock_hold_gpu(NULL, &h);
    assert_false(h.seen || h.held);
}

TEST(the_clock_is_looked_at)
{
    static const char root[] = HARNESS_TEST_DIR "/clock-eye";
    struct clock_eye eye = { .root = HARNESS_TEST_DIR "/no-clock" };

    assert_true(isnan(clock_look(&eye).mhz));
    eye.root = root;
    for (int cpu = 0; cpu < 64; cpu++) /* whichever this process is on */
        put_cpu(root, cpu, "scaling_cur_freq", "3100000\n");
    assert_true(clock_look(&eye).mhz == 3100 && isnan(clock_look(&eye).watts));
    assert_null(clock_eye_init(&eye, false, NULL));
    assert_true(isnan(clock_look(&eye).mhz));
}

RUN_TESTS(NULL, NULL)
