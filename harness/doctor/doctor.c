/* SPDX-License-Identifier: MIT */
#include "doctor/doctor.h"

#include "doctor/doctor_base.h"
#include "machine/environment.h"
#include "process/counters.h"

#include <math.h>
#include <stdio.h>

#ifdef __clang__
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#ifdef __OPTIMIZE__
#define OPTIMISED 1
#else
#define OPTIMISED 0
#endif

static void doctor_try_counters(struct doctor_input *in)
{
    struct error why;
    struct counters *c = counters_open(COUNT_THREADS, NULL, &why);

    if (!c)
        snprintf(in->no_counters, sizeof(in->no_counters), "%.150s", why.message);
    counters_close(c);
}

void doctor_input_make(struct doctor_input *in, const char *root, const char *history)
{
    char driver[32];

    *in = (struct doctor_input) {
        .root = root,
        .history = history,
        .slow_build = SANITIZED || !OPTIMISED,
        .watch = { NAN, NAN, NAN, NAN, NAN },
    };
    environment_build(&in->build);
    if (root[0])
        return;
    doctor_watch(&in->watch);
    doctor_try_counters(in);
    in->nr_gpus = nvml_list(in->gpus, DOCTOR_GPUS, driver);
}

static size_t doctor_add_checks(const struct doctor_check *checks, const struct doctor_input *in,
                                struct doctor_finding *out, size_t nr)
{
    for (; checks->name && nr < DOCTOR_MAX; checks++) {
        out[nr] = (struct doctor_finding) { .check = checks->name,
                                            .state = DOCTOR_UNKNOWN,
                                            .found = "not told" };
        checks->look(in, &out[nr++]);
    }
    return nr;
}

static bool doctor_has_gpu(const struct doctor_input *in)
{
    char line[64];

    return in->nr_gpus > 0 ||
           doctor_text(in, "/proc/driver/nvidia/version", "", line, sizeof(line));
}

size_t doctor_run(const struct doctor_input *in, struct doctor_finding *out)
{
    size_t nr = doctor_add_checks(doctor_cpu_checks, in, out, 0);

    nr = doctor_add_checks(doctor_share_checks, in, out, nr);
    nr = doctor_add_checks(doctor_watch_checks, in, out, nr);
    nr = doctor_add_checks(doctor_system_checks, in, out, nr);
    return doctor_has_gpu(in) ? doctor_add_checks(doctor_gpu_checks, in, out, nr) : nr;
}

const char *doctor_state_name(enum doctor_state state)
{
    static const char *const names[DOCTOR_STATE_NR] = {
        [DOCTOR_FINE] = "fine",
        [DOCTOR_NOTE] = "note",
        [DOCTOR_WARN] = "warn",
        [DOCTOR_UNKNOWN] = "unknown",
    };

    return names[state];
}
