/* SPDX-License-Identifier: MIT */
#include "machine/gpus.h"

#include "base/file.h"
#include "machine/nvml.h"

#include <ctype.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { GPUS_MAX = 16 };

/* "Model: \t\t NVIDIA H200" */
static bool field(const char *line, const char *name, char *value, size_t size)
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
        if (!field(line, "Model", gpu->name, sizeof(gpu->name)))
            field(line, "GPU UUID", gpu->uuid, sizeof(gpu->uuid));
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

static void join(char *list, size_t size, const char *item)
{
    size_t used = strlen(list);

    if (item[0])
        snprintf(list + used, size - used, "%s%s", used ? "," : "", item);
}

static const char *mode(int mode)
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
            join(g->names, sizeof(g->names), list[i].name);
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
        join(g->uuids, sizeof(g->uuids), list[i].uuid);
        join(g->ecc, sizeof(g->ecc), mode(list[i].ecc));
        join(g->mig, sizeof(g->mig), mode(list[i].mig));
    }
}
