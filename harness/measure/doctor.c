/* SPDX-License-Identifier: MIT */
#include "measure/doctor.h"

#include "base/file.h"
#include "measure/doctor_parts.h"
#include "measure/environment.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool doctor_text(const struct doctor_input *in, const char *path, const char *field, char *text,
                 size_t size)
{
    char where[512], line[4096];
    size_t length = strlen(field);
    bool found = false;

    snprintf(where, sizeof(where), "%s%s", in->root, path);
    FILE *file = fopen(where, "r");
    while (file && !found && fgets(line, sizeof(line), file))
        found = strncmp(line, field, length) == 0;
    if (file)
        fclose(file);
    if (!found)
        return false;
    const char *rest = line + length + strspn(line + length, " \t:");
    snprintf(text, size, "%.*s", (int)strcspn(rest, "\n"), rest);
    return true;
}

double doctor_number(const struct doctor_input *in, const char *path, const char *field)
{
    char text[64], *end;

    if (!doctor_text(in, path, field, text, sizeof(text)))
        return NAN;
    double value = strtod(text, &end);
    return end == text ? (double)NAN : value;
}

bool doctor_cpus(const struct doctor_input *in, const char *path, const char *field, cpu_set_t *set)
{
    char text[1024], *rest = text, *range;

    CPU_ZERO(set);
    if (!doctor_text(in, path, field, text, sizeof(text)))
        return false;
    while ((range = strsep(&rest, ","))) {
        char *end;
        long first = strtol(range, &end, 10);
        long last = *end == '-' ? strtol(end + 1, NULL, 10) : first;
        if (end == range || first < 0)
            continue;
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET((size_t)cpu, set);
    }
    return true;
}

bool doctor_has_word(const char *text, const char *word)
{
    static const char between[] = " \t,[]";
    size_t length = strlen(word);

    for (text += strspn(text, between); *text; text += strspn(text, between)) {
        size_t here = strcspn(text, between);
        if (here == length && strncmp(text, word, length) == 0)
            return true;
        text += here;
    }
    return false;
}

void doctor_say(struct doctor_finding *f, enum doctor_state state, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(f->found, sizeof(f->found), format, args);
    va_end(args);
    f->state = state;
}

void doctor_mend(struct doctor_finding *f, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(f->mend, sizeof(f->mend), format, args);
    va_end(args);
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
    in->nr_gpus = nvml_list(in->gpus, DOCTOR_GPUS, driver);
}

static size_t add_checks(const struct doctor_check *checks, const struct doctor_input *in,
                         struct doctor_finding *out, size_t nr)
{
    for (; checks->name && nr < DOCTOR_MAX; checks++) {
        out[nr] = (struct doctor_finding) { .check = checks->name };
        checks->look(in, &out[nr++]);
    }
    return nr;
}

static bool has_gpu(const struct doctor_input *in)
{
    char line[64];

    return in->nr_gpus > 0 ||
           doctor_text(in, "/proc/driver/nvidia/version", "", line, sizeof(line));
}

size_t doctor_run(const struct doctor_input *in, struct doctor_finding *out)
{
    size_t nr = add_checks(doctor_cpu_checks, in, out, 0);

    nr = add_checks(doctor_share_checks, in, out, nr);
    nr = add_checks(doctor_watch_checks, in, out, nr);
    nr = add_checks(doctor_system_checks, in, out, nr);
    return has_gpu(in) ? add_checks(doctor_gpu_checks, in, out, nr) : nr;
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
