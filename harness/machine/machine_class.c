/* SPDX-License-Identifier: MIT */
/* Which machine this is: the name of its class, and the hash of all that tells it from others. */
#include "machine/environment.h"

#include "base/text.h"
#include "core/host_cache.h"
#include "device/devices.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
