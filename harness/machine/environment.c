/* SPDX-License-Identifier: MIT */
#include "machine/environment.h"

#include "base/file.h"
#include "base/json.h"
#include "build_info.h"
#include "device/devices.h"
#include "machine/nvml.h"

#include <ctype.h>
#include <glob.h>
#include <gnu/libc-version.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* ---- the GPUs ---- */

enum { GPUS_MAX = 16 };

/* "Model: \t\t NVIDIA H200" */
static bool information_field(const char *line, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);

    if (strncmp(line, name, length) != 0 || line[length] != ':')
        return false;
    line += length + 1;
    line += strspn(line, " \t");
    snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
    return true;
}

static bool read_information(const char *path, struct nvml_gpu *gpu)
{
    FILE *file = fopen(path, "r");
    char line[256];

    *gpu = (struct nvml_gpu) {
        .ecc = -1, .mig = -1, .persistence = -1, .processes = -1, .limits = -1
    };
    while (file && fgets(line, sizeof(line), file))
        if (!information_field(line, "Model", gpu->name, sizeof(gpu->name)))
            information_field(line, "GPU UUID", gpu->uuid, sizeof(gpu->uuid));
    if (file)
        fclose(file);
    return gpu->name[0] != '\0';
}

/* The first word of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  ..." that starts
 * with a digit. */
static void read_version(char version[32])
{
    char line[256], *rest = line, *word;

    version[0] = '\0';
    if (!file_first_line("/proc/driver/nvidia/version", line, sizeof(line)))
        return;
    while ((word = strsep(&rest, " \t")))
        if (isdigit((unsigned char)*word)) {
            snprintf(version, 32, "%s", word);
            return;
        }
}

static int list_proc(struct nvml_gpu *out, char driver[32])
{
    glob_t found;
    int nr = 0;

    if (glob("/proc/driver/nvidia/gpus/*/information", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && nr < GPUS_MAX; i++)
            nr += read_information(found.gl_pathv[i], &out[nr]);
        globfree(&found);
    }
    read_version(driver);
    return nr;
}

static void join_item(char *list, size_t size, const char *item)
{
    size_t used = strlen(list);

    if (item[0])
        snprintf(list + used, size - used, "%s%s", used ? "," : "", item);
}

static const char *mode_name(int mode)
{
    return mode < 0 ? "" : mode ? "on" : "off";
}

static void join_names(struct gpus *g, const struct nvml_gpu *list)
{
    int alike = 0;

    while (alike < g->nr && strcmp(list[alike].name, list[0].name) == 0)
        alike++;
    if (g->nr > 1 && alike == g->nr)
        snprintf(g->names, sizeof(g->names), "%d x %.80s", g->nr, list[0].name);
    else
        for (int i = 0; i < g->nr; i++)
            join_item(g->names, sizeof(g->names), list[i].name);
}

void gpus_find(struct gpus *g)
{
    struct nvml_gpu list[GPUS_MAX];

    *g = (struct gpus) { 0 };
    g->nr = nvml_list(list, GPUS_MAX, g->driver);
    if (g->nr == 0)
        g->nr = list_proc(list, g->driver);
    join_names(g, list);
    for (int i = 0; i < g->nr; i++) {
        join_item(g->uuids, sizeof(g->uuids), list[i].uuid);
        join_item(g->ecc, sizeof(g->ecc), mode_name(list[i].ecc));
        join_item(g->mig, sizeof(g->mig), mode_name(list[i].mig));
    }
}

/* ---- build and surroundings ---- */

const char *environment_build_date(void)
{
    return BUILD_DATE;
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
    if (environment_cpuinfo("microcode", value, sizeof(value)))
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
