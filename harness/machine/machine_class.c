/* SPDX-License-Identifier: MIT */
/* Which machine this is: its GPUs, the name of its class, and the hash of all that tells it from
 * others. */
#include "machine/environment.h"

#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "device/devices.h"
#include "host/folder.h"
#include "host/host_cache.h"
#include "host/host_file.h"
#include "machine/nvml.h"

#include <ctype.h>
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

static const char gpus_folder[] = "/proc/driver/nvidia/gpus";

static bool read_information(const char *name, struct nvml_gpu *gpu)
{
    char line[512];

    snprintf(line, sizeof(line), "%s/%s/information", gpus_folder, name);
    FILE *file = fopen(line, "r");
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
    struct string_list names = { 0 };
    struct error ignored;
    int nr = 0;

    folder_names(gpus_folder, "", &names, &ignored);
    for (size_t i = 0; i < names.nr && nr < GPUS_MAX; i++)
        nr += read_information(names.items[i], &out[nr]);
    string_list_release(&names);
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

/* Where the host tells none, `text` stays empty. */
static int read_cpuinfo(const char *root, struct strbuf *text, struct error *err)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
    return host_file_read(path, text, err) < 0 ? -1 : 0;
}

static bool cpuinfo_field(const char *text, const char *field, char *value, size_t size)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *colon = line + strcspn(line, ":\n");
        if (*colon != ':' || strncmp(line, field, strlen(field)) != 0)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        return true;
    }
    return false;
}

bool environment_cpuinfo(const char *root, const char *field, char *value, size_t size)
{
    struct strbuf text;
    struct error ignored;

    strbuf_init(&text);
    bool found =
        read_cpuinfo(root, &text, &ignored) == 0 && cpuinfo_field(text.data, field, value, size);
    strbuf_release(&text);
    return found;
}

/* Fields that one kind of processor has and the other not, and what stands for neither. */
static void either_field(const char *text, const char *x86, const char *arm, const char *otherwise,
                         char *value, size_t size)
{
    if (!cpuinfo_field(text, x86, value, size) && !cpuinfo_field(text, arm, value, size))
        snprintf(value, size, "%s", otherwise);
}

/* An Arm processor has numbers alone: who made it, which core it is, and the core's version. */
static void processor_of(const char *text, struct processor *p)
{
    char maker[16], part[16];

    either_field(text, "vendor_id", "CPU implementer", "unknown", p->vendor, sizeof(p->vendor));
    either_field(text, "cpu family", "CPU variant", "0", p->family, sizeof(p->family));
    either_field(text, "model\t", "CPU part", "0", p->model, sizeof(p->model));
    if (cpuinfo_field(text, "model name", p->name, sizeof(p->name)))
        return;
    snprintf(p->name, sizeof(p->name), "unknown processor");
    if (cpuinfo_field(text, "CPU implementer", maker, sizeof(maker)) &&
        cpuinfo_field(text, "CPU part", part, sizeof(part)))
        snprintf(p->name, sizeof(p->name), "Arm %s part %s", maker, part);
}

int environment_processor(const char *root, struct processor *p, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    int rc = read_cpuinfo(root, &text, err);
    processor_of(text.data, p);
    strbuf_release(&text);
    return rc;
}

static int find_caches(struct machine *m, struct error *err)
{
    return host_cache_find_bytes("", 1, &m->l1d, err) ||
                   host_cache_find_bytes("", 2, &m->l2, err) ||
                   host_cache_find_bytes("", 3, &m->l3, err) ||
                   host_cache_find_sharers("", 3, &m->l3_shared_by, err)
               ? -1
               : 0;
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
static uint64_t class_hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325U;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3U;
    return h;
}

static int64_t positive_or_0(long value)
{
    return value > 0 ? value : 0;
}

void environment_identify(struct machine *m, const struct processor *p)
{
    char text[512];

    snprintf(text, sizeof(text), "%s fam%s mod%s %dc %s %s", m->cpu, p->family, p->model, m->cores,
             m->isa, m->gpu);
    text_slug(text, m->class_name, sizeof(m->class_name));
    snprintf(text, sizeof(text), "%s|%s|%s|%s|%d|%d|%s|%lld|%lld|%lld|%lld%s%s", p->vendor, m->cpu,
             p->family, p->model, m->cores, m->threads, m->isa, (long long)m->l1d, (long long)m->l2,
             (long long)m->l3, (long long)(m->memory >> 30), m->gpu[0] ? "|" : "", m->gpu);
    snprintf(m->id, sizeof(m->id), "%016llx", (unsigned long long)class_hash(text));
}

int environment_machine(struct machine *m, struct error *err)
{
    struct processor processor;
    struct gpus gpus;

    *m = (struct machine) { 0 };
    if (environment_processor("", &processor, err) || find_caches(m, err)) {
        *m = (struct machine) { 0 };
        return error_prefix(err, "cannot tell which machine this is");
    }
    snprintf(m->cpu, sizeof(m->cpu), "%s", processor.name);
    m->threads = (int)positive_or_0(sysconf(_SC_NPROCESSORS_ONLN));
    m->cores = device_cpu_cores();
    snprintf(m->isa, sizeof(m->isa), "%s", best_isa());
    m->memory = positive_or_0(sysconf(_SC_PHYS_PAGES)) * positive_or_0(sysconf(_SC_PAGESIZE));
    m->memory = (m->memory + ((int64_t)1 << 29)) >> 30 << 30;
    gpus_find(&gpus);
    snprintf(m->gpu, sizeof(m->gpu), "%s", gpus.names);
    environment_identify(m, &processor);
    return 0;
}
