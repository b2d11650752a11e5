/* SPDX-License-Identifier: MIT */
#include "machine/environment.h"

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "build_info.h"
#include "device/devices.h"

#include <gnu/libc-version.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

const char *environment_build_date(void)
{
    return BUILD_DATE;
}

void environment_build(struct build *b)
{
    *b = (struct build) { .dirty = BUILD_DIRTY };
    snprintf(b->version, sizeof(b->version), "%s", BUILD_VERSION);
    snprintf(b->commit, sizeof(b->commit), "%s", BUILD_COMMIT);
    utf8_copy(b->branch, sizeof(b->branch), BUILD_BRANCH);
    snprintf(b->compiler, sizeof(b->compiler), "%s", BUILD_COMPILER);
    snprintf(b->flags, sizeof(b->flags), "%s", BUILD_FLAGS);
    snprintf(b->build_type, sizeof(b->build_type), "%s", BUILD_TYPE);
}

static void add_system_setting(cJSON *json, const char *key, const char *path)
{
    char line[128];

    if (file_first_line(path, line, sizeof(line)))
        json_add_string(json, key, line);
}

static void add_variable(cJSON *json, const char *name)
{
    json_add_string(json, name, getenv(name));
}

/* Nothing where there is no GPU: a run on such a machine does not depend on what CUDA is there. */
static void add_gpus(cJSON *json)
{
    struct gpus g;

    gpus_find(&g);
    if (g.nr == 0)
        return;
    json_add_string(json, "gpu_driver", g.driver);
    json_add_string(json, "gpu_uuid", g.uuids);
    json_add_string(json, "gpu_ecc", g.ecc);
    json_add_string(json, "gpu_mig", g.mig);
    json_add_string(json, "cuda_runtime", device_cuda_runtime());
    add_variable(json, "CUDA_VISIBLE_DEVICES");
}

const char *const environment_isa_variables[] = {
    "HARNESS_ISA",      "OPENBLAS_CORETYPE",       "BLIS_ARCH_TYPE",      "ONEDNN_MAX_CPU_ISA",
    "DNNL_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "ATEN_CPU_CAPABILITY", NULL,
};

char *environment_json(void)
{
    cJSON *json = cJSON_CreateObject();
    struct utsname system;
    char value[128];
    double load[1];

    if (uname(&system) == 0)
        json_add_string(json, "kernel_release", system.release);
    json_add_string(json, "libc", gnu_get_libc_version());
    add_system_setting(json, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    add_system_setting(json, "boost", "/sys/devices/system/cpu/cpufreq/boost");
    add_system_setting(json, "no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo");
    add_system_setting(json, "smt", "/sys/devices/system/cpu/smt/control");
    add_system_setting(json, "transparent_hugepages",
                       "/sys/kernel/mm/transparent_hugepage/enabled");
    json_add_string(json, "buffers", "huge pages from 64 KiB"); /* device/device_host.c */
    add_system_setting(json, "address_randomisation", "/proc/sys/kernel/randomize_va_space");
    if (environment_cpuinfo("", "microcode", value, sizeof(value)))
        json_add_string(json, "microcode", value);
    if (getloadavg(load, 1) == 1)
        json_add_number(json, "load1", load[0]);
    add_gpus(json);
    add_variable(json, "OMP_NUM_THREADS");
    add_variable(json, "OMP_THREAD_LIMIT");
    add_variable(json, "OMP_DYNAMIC");
    add_variable(json, "OMP_PROC_BIND");
    add_variable(json, "OMP_PLACES");
    add_variable(json, "OMP_WAIT_POLICY");
    add_variable(json, "GOMP_SPINCOUNT");
    add_variable(json, "KMP_BLOCKTIME");
    add_variable(json, "OPENBLAS_NUM_THREADS");
    for (const char *const *name = environment_isa_variables; *name; name++)
        add_variable(json, *name);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}
