/* SPDX-License-Identifier: MIT */
/*
 * Which machine this is: of recorded files it is what it always was, as histories have it (U-02),
 * and where a file cannot be read it is none, rather than another one.
 */
#include "testing.h"

#include "base/file.h"
#include "host/host_cache.h"
#include "machine/environment.h"

#include <stdio.h>
#include <sys/stat.h>

static const char root[] = HARNESS_TEST_DIR "/class-root";

static const char *at(const char *path, char where[512])
{
    snprintf(where, 512, "%s%s", root, path);
    return where;
}

static void put(const char *path, const char *text)
{
    char where[512];
    struct error err;

    assert_ok(file_make_parent(at(path, where), &err), &err);
    assert_ok(file_write(where, text, strlen(text), &err), &err);
}

static void take_away(const char *path)
{
    char where[512];

    remove(at(path, where));
}

/* A file that is there, is open to all, and cannot be read. */
static void put_unreadable(const char *path)
{
    char where[512];

    take_away(path);
    assert_int_equal(mkdir(at(path, where), 0755), 0);
}

/* Those of x86 go into fingerprints that histories have. */
TEST(kinds_of_processors)
{
    static const struct {
        const char *cpuinfo;
        struct processor is;
    } cases[] = {
        { "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
          "model name\t: Intel(R) Xeon(R) Platinum 8480+\nstepping\t: 8\n",
          { "Intel(R) Xeon(R) Platinum 8480+", "GenuineIntel", "6", "143" } },
        { "processor\t: 0\nBogoMIPS\t: 2100.00\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
          "CPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n",
          { "Arm 0x41 part 0xd40", "0x41", "0x1", "0xd40" } },
        { "CPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n",
          { "Arm 0x41 part 0xd0c", "0x41", "0x3", "0xd0c" } },
        { "processor\t: 0\nmodel name\t: ARMv8 Processor rev 1 (v8l)\nCPU implementer\t: 0x41\n",
          { "ARMv8 Processor rev 1 (v8l)", "0x41", "0", "0" } },
        { "processor\t: 0\nisa\t\t: rv64imafdc\n", { "unknown processor", "unknown", "0", "0" } },
        { "model\nmodel name\t:  A: B \nvendor_id:x", { "A: B ", "x", "0", "0" } },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct processor p;
        struct error err;
        put("/proc/cpuinfo", cases[i].cpuinfo);
        assert_ok(environment_processor(root, &p, &err), &err);
        assert_string_equal(p.name, cases[i].is.name);
        assert_string_equal(p.vendor, cases[i].is.vendor);
        assert_string_equal(p.family, cases[i].is.family);
        assert_string_equal(p.model, cases[i].is.model);
    }
    take_away("/proc/cpuinfo");
}

static void put_cache(int index, const char *level, const char *type, const char *size,
                      const char *shared)
{
    const char *const files[][2] = {
        { "level", level }, { "type", type }, { "size", size }, { "shared_cpu_list", shared }
    };
    char path[128];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
                 files[i][0]);
        put(path, files[i][1]);
    }
}

static void put_caches(void)
{
    put_cache(0, "1\n", "Data\n", "32K\n", "0\n");
    put_cache(1, "1\n", "Instruction\n", "64K\n", "0-3\n");
    put_cache(2, "2\n", "Unified\n", "1024K\n", "0\n");
    put_cache(3, "3\n", "Unified\n", "32768K\n", "0-1\n");
}

/* As a virtual machine on an EPYC 9004 tells it, and as the history of one has it. */
TEST(a_recorded_machine_is_what_it_was)
{
    struct machine m = { .cores = 2, .threads = 2, .isa = "avx512", .memory = (int64_t)24 << 30 };
    struct processor p;
    struct error err;

    put("/proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
        "model name\t: AMD EPYC\nstepping\t: 1\nmicrocode\t: 0x1000065\ncpu MHz\t\t: 2596.154\n"
        "cache size\t: 1024 KB\nflags\t\t: fpu vme de\nTLB size\t: 3584 4K pages\n"
        "power management:\n\nprocessor\t: 1\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
        "model\t\t: 17\nmodel name\t: AMD EPYC\n\n");
    put_caches();
    assert_ok(environment_processor(root, &p, &err), &err);
    assert_ok(host_cache_find_bytes(root, 1, &m.l1d, &err), &err);
    assert_ok(host_cache_find_bytes(root, 2, &m.l2, &err), &err);
    assert_ok(host_cache_find_bytes(root, 3, &m.l3, &err), &err);
    assert_ok(host_cache_find_sharers(root, 3, &m.l3_shared_by, &err), &err);
    assert_int_equal(m.l3_shared_by, 2);
    snprintf(m.cpu, sizeof(m.cpu), "%s", p.name);
    environment_identify(&m, &p);
    assert_string_equal(m.class_name, "amd-epyc-fam25-mod17-2c-avx512");
    assert_string_equal(m.id, "141d25d11f884c19");
    take_away("/proc/cpuinfo");
}

TEST(what_cannot_be_read_is_no_other_machine)
{
    static const char *const files[] = { "level", "type", "size", "shared_cpu_list" };
    char path[128], where[512];
    struct processor p;
    struct error err;
    int64_t bytes;
    int sharers;

    put_unreadable("/proc/cpuinfo");
    assert_int_equal(environment_processor(root, &p, &err), -1);
    assert_non_null(strstr(err.message, "/proc/cpuinfo"));
    take_away("/proc/cpuinfo");
    assert_ok(environment_processor(root, &p, &err), &err); /* told by nobody */
    assert_string_equal(p.name, "unknown processor");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        put_caches();
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index3/%s", files[i]);
        put_unreadable(path);
        int rc = host_cache_find_bytes(root, 3, &bytes, &err) |
                 host_cache_find_sharers(root, 3, &sharers, &err);
        assert_int_equal(rc, -1);
        assert_non_null(strstr(err.message, at(path, where)));
        assert_ok(host_cache_find_bytes(root, 2, &bytes, &err), &err); /* before it */
        assert_int_equal(bytes, 1 << 20);
        take_away(path);
    }
    assert_ok(host_cache_find_sharers(HARNESS_TEST_DIR "/nowhere", 3, &sharers, &err), &err);
    assert_int_equal(sharers, 0);
}

RUN_TESTS(NULL, NULL)
