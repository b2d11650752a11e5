/* SPDX-License-Identifier: MIT */
/* The GPUs, as the driver tells them. */
#include "doctor/doctor_base.h"

#include "base/strbuf.h"

#include <stdio.h>

/* The numbers of the GPUs for which a member has a value, "0, 2". */
struct gpu_where {
    char list[64];
    int nr;
};

static struct gpu_where gpu_find(const struct doctor_input *in,
                                 bool (*has)(const struct nvml_gpu *gpu))
{
    struct gpu_where where = { .nr = 0 };
    struct strbuf list;

    strbuf_init(&list);
    for (int i = 0; i < in->nr_gpus; i++)
        if (has(&in->gpus[i]))
            strbuf_addf(&list, "%s%d", where.nr++ ? ", " : "", i);
    snprintf(where.list, sizeof(where.list), "%s", list.data);
    strbuf_release(&list);
    return where;
}

static void check_driver(const struct doctor_input *in, struct doctor_finding *f)
{
    if (in->nr_gpus > 0) {
        doctor_say(f, DOCTOR_FINE, "%d, the first %s", in->nr_gpus, in->gpus[0].name);
        return;
    }
    doctor_say(f, DOCTOR_UNKNOWN, "there is a driver, but its management library is not to be had");
    doctor_mend(f, "install libnvidia-ml.so.1 of the driver, or set HARNESS_NVML to it");
}

static bool gpu_forgets(const struct nvml_gpu *gpu)
{
    return gpu->persistence == 0;
}

static void check_persistence(const struct doctor_input *in, struct doctor_finding *f)
{
    struct gpu_where off = gpu_find(in, gpu_forgets);

    if (in->nr_gpus == 0 || in->gpus[0].persistence < 0)
        return;
    if (off.nr == 0) {
        doctor_say(f, DOCTOR_FINE, "on");
    } else {
        doctor_say(f, DOCTOR_WARN, "off on GPU %s: each launch starts the driver and cold clocks",
                   off.list);
        doctor_mend(f, "sudo nvidia-smi -pm 1");
    }
}

static bool gpu_is_held(const struct nvml_gpu *gpu)
{
    return gpu->limits > 0 &&
           gpu->limits & (NVML_LIMIT_POWER | NVML_LIMIT_THERMAL | NVML_LIMIT_HARDWARE);
}

static bool gpu_is_set(const struct nvml_gpu *gpu)
{
    return gpu->limits > 0 && gpu->limits & NVML_LIMIT_SETTING;
}

static void check_gpu_clocks(const struct doctor_input *in, struct doctor_finding *f)
{
    struct gpu_where held = gpu_find(in, gpu_is_held), set = gpu_find(in, gpu_is_set);

    if (in->nr_gpus == 0 || in->gpus[0].limits < 0)
        return;
    if (held.nr > 0) {
        doctor_say(f, DOCTOR_WARN, "held back now by power or heat on GPU %s", held.list);
        doctor_mend(f, "let it cool; nvidia-smi -q -d PERFORMANCE tells which");
    } else if (set.nr == in->nr_gpus) {
        doctor_say(f, DOCTOR_FINE, "set by somebody, not held back");
    } else {
        doctor_say(f, DOCTOR_NOTE, "not held back now; not known to be locked");
        doctor_mend(f,
                    "sudo nvidia-smi -lgc MHZ, a clock that it can keep (-q -d SUPPORTED_CLOCKS)");
    }
}

static bool gpu_is_used(const struct nvml_gpu *gpu)
{
    return gpu->processes > 0;
}

static void check_processes(const struct doctor_input *in, struct doctor_finding *f)
{
    struct gpu_where used = gpu_find(in, gpu_is_used);

    if (in->nr_gpus == 0 || in->gpus[0].processes < 0)
        return;
    if (used.nr == 0) {
        doctor_say(f, DOCTOR_FINE, "none");
    } else {
        doctor_say(f, DOCTOR_WARN, "others compute on GPU %s", used.list);
        doctor_mend(f,
                    "nvidia-smi shows them; CUDA_VISIBLE_DEVICES or --device cuda:N avoids them");
    }
}

static bool gpu_has_mig(const struct nvml_gpu *gpu)
{
    return gpu->mig == 1;
}

static void check_mig(const struct doctor_input *in, struct doctor_finding *f)
{
    struct gpu_where on = gpu_find(in, gpu_has_mig);

    if (in->nr_gpus == 0)
        return;
    if (on.nr == 0)
        doctor_say(f, DOCTOR_FINE, "off, or none to be had");
    else
        doctor_say(f, DOCTOR_NOTE, "on: neighbours share the memory's width, on GPU %s", on.list);
}

static bool gpu_lacks_ecc(const struct nvml_gpu *gpu)
{
    return gpu->ecc == 0;
}

static void check_ecc(const struct doctor_input *in, struct doctor_finding *f)
{
    struct gpu_where off = gpu_find(in, gpu_lacks_ecc);

    if (in->nr_gpus == 0)
        return;
    if (off.nr == 0)
        doctor_say(f, DOCTOR_FINE, "on, or none to be had");
    else
        doctor_say(f, DOCTOR_FINE, "off on GPU %s", off.list);
}

const struct doctor_check doctor_gpu_checks[] = {
    { "GPU", check_driver },
    { "GPU persistence", check_persistence },
    { "GPU clocks", check_gpu_clocks },
    { "GPU programs", check_processes },
    { "GPU MIG", check_mig },
    { "GPU ECC", check_ecc },
    { NULL, NULL },
};
