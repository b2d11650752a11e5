/* SPDX-License-Identifier: MIT */
#include "machine/environment.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "build_info.h"
#include "core/host_cache.h"
#include "device/devices.h"
#include "machine/gpus.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The value after ':' of the first /proc/cpuinfo line that starts with `field`. */
static bool cpuinfo(const char *field, char *value, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[4096];
    bool found = false;

    while (file && !found && fgets(line, sizeof(line), file)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, field, strlen(field)) != 0)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(value, size, "%s", colon);
        found = true;
    }
    if (file)
        fclose(file);
    return found;
}

static const char *best_isa(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return "avx512";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "avx2";
    return "sse2";
#elif defined(__aarch64__)
    return "neon";
#else
    return "portable";
#endif
}

/* FNV-1a, 64 bits (Fowler, Noll and Vo): an identifier, not a defence. */
static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325U;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3U;
    return h;
}

static int64_t positive(long value)
{
    return value > 0 ? value : 0;
}

static void identify(struct machine *m)
{
    char vendor[64] = "unknown", family[16] = "0", model[16] = "0", text[512];

    cpuinfo("vendor_id", vendor, sizeof(vendor));
    cpuinfo("cpu family", family, sizeof(family));
    cpuinfo("model\t", model, sizeof(model));
    snprintf(text, sizeof(text), "%s fam%s mod%s %dc %s %s", m->cpu, family, model, m->cores,
             m->isa, m->gpu);
    text_slug(text, m->class_name, sizeof(m->class_name));
    snprintf(text, sizeof(text), "%s|%s|%s|%s|%d|%d|%s|%lld|%lld|%lld|%lld%s%s", vendor, m->cpu,
             family, model, m->cores, m->threads, m->isa, (long long)m->l1d, (long long)m->l2,
             (long long)m->l3, (long long)(m->memory >> 30), m->gpu[0] ? "|" : "", m->gpu);
    snprintf(m->id, sizeof(m->id), "%016llx", (unsigned long long)hash(text));
}

void environment_machine(struct machine *m)
{
    struct gpus gpus;

    *m = (struct machine) { 0 };
    if (!cpuinfo("model name", m->cpu, sizeof(m->cpu)))
        snprintf(m->cpu, sizeof(m->cpu), "unknown processor");
    m->threads = (int)positive(sysconf(_SC_NPROCESSORS_ONLN));
    m->cores = device_cpu_cores();
    snprintf(m->isa, sizeof(m->isa), "%s", best_isa());
    m->l1d = host_cache_bytes(1);
    m->l2 = host_cache_bytes(2);
    m->l3 = host_cache_bytes(3);
    m->l3_shared_by = host_cache_sharers(3);
    m->memory = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
    m->memory = (m->memory + ((int64_t)1 << 29)) >> 30 << 30;
    gpus_find(&gpus);
    snprintf(m->gpu, sizeof(m->gpu), "%s", gpus.names);
    identify(m);
}

void environment_build(struct build *b)
{
    *b = (struct build) { .dirty = BUILD_DIRTY };
    snprintf(b->version, sizeof(b->version), "%s", BUILD_VERSION);
    snprintf(b->commit, sizeof(b->commit), "%s", BUILD_COMMIT);
    snprintf(b->branch, sizeof(b->branch), "%s", BUILD_BRANCH);
    snprintf(b->compiler, sizeof(b->compiler), "%s", BUILD_COMPILER);
    snprintf(b->flags, sizeof(b->flags), "%s", BUILD_FLAGS);
    snprintf(b->build_type, sizeof(b->build_type), "%s", BUILD_TYPE);
}

static void add_file(cJSON *json, const char *key, const char *path)
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
    add_file(json, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    add_file(json, "boost", "/sys/devices/system/cpu/cpufreq/boost");
    add_file(json, "no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo");
    add_file(json, "smt", "/sys/devices/system/cpu/smt/control");
    add_file(json, "transparent_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled");
    json_add_string(json, "buffers", "huge pages from 64 KiB"); /* device/device_host.c */
    add_file(json, "address_randomisation", "/proc/sys/kernel/randomize_va_space");
    if (cpuinfo("microcode", value, sizeof(value)))
        json_add_string(json, "microcode", value);
    if (getloadavg(load, 1) == 1)
        json_add_number(json, "load1", load[0]);
    add_gpus(json);
    add_variable(json, "OMP_NUM_THREADS");
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
