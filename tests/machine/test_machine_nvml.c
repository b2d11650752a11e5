/* SPDX-License-Identifier: MIT */
/*
 * Telemetry of a GPU through NVML, against stand-ins for the driver's library (tests/nvml): which
 * GPU is read, what is absent, means over the looks, XID errors.
 */
#include "testing.h"

#include "core/clock.h"
#include "machine/telemetry.h"

#include <stdlib.h>
#include <time.h>

static const char first[] = "00000000:81:00.0", second[] = "00000000:01:00.0";

/* The library, and what the stand-in is told. */
static void use(const char *library, const char *words)
{
    if (library)
        setenv("HARNESS_NVML", library, 1);
    else
        unsetenv("HARNESS_NVML");
    setenv("NVML_STUB", words, 1);
}

static struct nvml *open_gpu(const char *pci)
{
    struct error why;
    struct nvml *n = nvml_open(pci, &why);

    if (!n)
        fail_msg("%s", why.message);
    return n;
}

static void assert_refused(const char *pci, const char *part)
{
    struct error why = { "" };

    assert_null(nvml_open(pci, &why));
    if (!strstr(why.message, part))
        fail_msg("\"%s\" is not in: %s", part, why.message);
}

/* As around the samples of a case that take `ms`, or longer where the machine is busy: `seconds`.
 */
static struct measurement watch(const struct nvml *n, int ms)
{
    struct measurement m = { .outcome = OUTCOME_OK };
    struct timespec pause = { .tv_nsec = ms * 1000000L };
    struct telemetry_probe probe;
    uint64_t begin = clock_ns();

    telemetry_begin(&probe, n);
    nanosleep(&pause, NULL);
    telemetry_end(&probe, &m);
    m.seconds = 1e-9 * (double)(clock_ns() - begin);
    telemetry_nvml_xid(n, &m);
    return m;
}

/* What a measurement has of a name. NaN: nothing. */
struct number_told {
    const char *name;
    double value, tolerance;
};

static void assert_told(const struct measurement *m, const struct number_told *told, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        double value = measurement_telemetry(m, told[i].name);
        if (isnan(told[i].value) ? !isnan(value)
                                 : !(fabs(value - told[i].value) <= told[i].tolerance))
            fail_msg("%s = %.17g, expected %.17g", told[i].name, value, told[i].value);
    }
}

TEST(no_library)
{
    use("/nowhere/libnvidia-ml.so.1", "");
    assert_refused(first, "NVML cannot be opened: /nowhere/libnvidia-ml.so.1");
    struct measurement m = watch(NULL, 1);
    assert_true(isnan(measurement_telemetry(&m, "gpu_sm_mhz")));
    assert_true(measurement_telemetry(&m, "sampled_seconds") > 0);
}

TEST(refusals)
{
    use(NVML_STUB_PATH, "no-init");
    assert_refused(first, "NVML: start: Driver Not Loaded");
    use(NVML_STUB_PATH, "");
    assert_refused("00000000:ff:00.0", "NVML: 00000000:ff:00.0: Not Found");
}

/* By the name that the driver installs, through the loader's path. */
TEST(found_by_name)
{
    use(NULL, "");
    struct nvml *n = open_gpu(second);
    assert_close(nvml_read(n, NVML_SM_MHZ), 1980, 0);
    nvml_close(n);
}

TEST(each_gpu_by_its_place)
{
    use(NVML_STUB_PATH, "");
    struct nvml *a = open_gpu(first), *b = open_gpu(second);
    assert_close(nvml_read(a, NVML_SM_MHZ), 1000, 0);
    assert_close(nvml_read(b, NVML_SM_MHZ), 1980, 0);
    assert_close(nvml_read(a, NVML_TEMPERATURE), 30, 0);
    assert_close(nvml_read(b, NVML_TEMPERATURE), 61, 0);
    nvml_close(a);
    assert_close(nvml_read(b, NVML_MEMORY_MHZ), 3960, 0); /* one user less is not the end */
    nvml_close(b);
}

TEST(all_numbers)
{
    static const struct number_told told[] = {
        { "gpu_sm_mhz", 1980, 0 },
        { "gpu_memory_mhz", 3960, 0 },
        { "gpu_power_limit_watts", 600, 1e-9 },
        { "gpu_energy_joules", 2, 1e-9 },
        { "gpu_temperature_celsius", 61, 0 },
        { "gpu_memory_temperature_celsius", 81, 0 },
        { "gpu_utilisation_percent", 71, 0 },
        { "gpu_memory_used_bytes", 1980, 0 },
        { "gpu_xid", NAN, 0 },
    };

    struct measurement m = { 0 };
    double looks = 0;

    use(NVML_STUB_PATH, "");
    for (int tries = 0; looks < 4 && tries < 20;
         tries++) { /* the thread that looks may have to wait */
        struct nvml *n = open_gpu(second);
        m = watch(n, 110);
        nvml_close(n);
        looks = measurement_telemetry(&m, "gpu_samples");
        assert_told(&m, told, sizeof(told) / sizeof(told[0]));
    }
    assert_true(looks >= 4 &&
                looks <= 2 + m.seconds / 0.02); /* both ends, and every 20 ms between */
    double mean = measurement_telemetry(&m, "gpu_power_watts");
    double largest = measurement_telemetry(&m, "gpu_power_max_watts");
    assert_close(largest - mean, (looks - 1) / 2, 1e-9); /* the stand-in adds 1 W a look */
    double power = measurement_telemetry(&m, "gpu_throttle_power");
    assert_true(power > 0.3 && power < 0.7);
    assert_close(measurement_telemetry(&m, "gpu_throttle_hw"), 1 - power, 1e-9);
    assert_close(measurement_telemetry(&m, "gpu_throttle_thermal"), 1 - power, 1e-9);
}

/* Of the GPU only the count of looks is left, and no zeros. */
TEST(nothing_readable)
{
    int gpu_numbers = 0;

    use(NVML_STUB_PATH, "refuse,no-events");
    struct nvml *n = open_gpu(first);
    struct measurement m = watch(n, 1);
    nvml_close(n);
    for (int i = 0; i < m.nr_telemetry; i++)
        gpu_numbers += strncmp(m.telemetry[i].name, "gpu_", 4) == 0;
    assert_int_equal(gpu_numbers, 1);
    assert_true(measurement_telemetry(&m, "gpu_samples") >= 2);
}

TEST(counter_that_stands_still)
{
    static const struct number_told told[] = {
        { "gpu_energy_joules", NAN, 0 },
        { "gpu_sm_mhz", 1980, 0 },
    };

    use(NVML_STUB_PATH, "idle");
    struct nvml *n = open_gpu(second);
    struct measurement m = watch(n, 1);
    nvml_close(n);
    assert_told(&m, told, sizeof(told) / sizeof(told[0]));
}

TEST(old_driver)
{
    static const struct number_told told[] = {
        { "gpu_sm_mhz", 1980, 0 },
        { "gpu_energy_joules", NAN, 0 },
        { "gpu_memory_temperature_celsius", NAN, 0 },
        { "gpu_xid", NAN, 0 },
    };

    use(NVML_STUB_OLD_PATH, "xid");
    struct nvml *n = open_gpu(second);
    struct measurement m = watch(n, 1);
    nvml_close(n);
    assert_told(&m, told, sizeof(told) / sizeof(told[0]));
    assert_true(measurement_telemetry(&m, "gpu_throttle_power") >= 0); /* by its old name */
}

/* The first of two is told, once: the next case is not blamed for the second. */
TEST(xid_errors)
{
    use(NVML_STUB_PATH, "xid");
    struct nvml *n = open_gpu(second);
    struct measurement failed = { .outcome = OUTCOME_FAILED }, next = { .outcome = OUTCOME_OK };
    telemetry_nvml_xid(n, &failed);
    telemetry_nvml_xid(n, &next);
    nvml_close(n);
    assert_close(measurement_telemetry(&failed, "gpu_xid"), 79, 0);
    assert_true(isnan(measurement_telemetry(&next, "gpu_xid")));
    telemetry_nvml_xid(NULL, &next);
    assert_int_equal(next.nr_telemetry, 0);
}

RUN_TESTS(NULL, NULL)
