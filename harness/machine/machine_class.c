/* SPDX-License-Identifier: MIT */
/* Which machine this is: its GPUs, the name of its class, and the hash of all that tells it from
 * others. */
#include "machine/environment.h"

#include "base/file.h"
#include "base/text.h"
#include "core/host_cache.h"
#include "device/devices.h"
#include "machine/nvml.h"

#include <ctype.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* ---- the machine ---- */

bool environment_cpuinfo(const char *field, char *value, size_t size)
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

    environment_cpuinfo("vendor_id", vendor, sizeof(vendor));
    environment_cpuinfo("cpu family", family, sizeof(family));
    environment_cpuinfo("model\t", model, sizeof(model));
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
    if (!environment_cpuinfo("model name", m->cpu, sizeof(m->cpu)))
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
