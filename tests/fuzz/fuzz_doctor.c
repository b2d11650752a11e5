/* SPDX-License-Identifier: MIT */
/*
 * doctor/doctor.h and machine/host_sensors.h: copies of /proc and /sys of a machine, for
 * `harness doctor --root`. A line that begins with a slash names a file; those up to the next one
 * are what is in it.
 */
#include "fuzz.h"

#include "base/file.h"
#include "doctor/doctor.h"
#include "machine/host_sensors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 12 };

static bool is_name(const char *path)
{
    return (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0) &&
           !strstr(path, "..") && strlen(path) < 120;
}

static void put(const char *root, const char *path, const char *text)
{
    char where[800];
    struct error err;

    snprintf(where, sizeof(where), "%s%s", root, path);
    if (is_name(path) && file_make_parent(where, &err) == 0) {
        FILE *file = fopen(where, "w");
        if (file) { /* it may be a folder by now */
            fputs(text, file);
            fclose(file);
        }
    }
}

/* Each file ends where the next one's name begins. */
static void put_all(const char *root, char *text)
{
    for (int i = 0; i < FILES && text && *text == '/'; i++) {
        char *next = strstr(text, "\n/"), *path = text;
        if (next)
            *next++ = '\0';
        text = strchr(path, '\n');
        if (text)
            *text++ = '\0';
        put(root, path, text ? text : "");
        text = next;
    }
}

FUZZ_TARGET(doctor)
{
    static const char history[] = "history.db";
    struct doctor_finding found[DOCTOR_MAX];
    struct host_energy energy;
    struct doctor_input in;
    char root[600], path[HOST_PATH_SIZE], *text = fuzz_text(data, size);
    struct processors cpus = { { 0 } };

    snprintf(root, sizeof(root), "%s/machine", fuzz_folder());
    put_all(root, text);
    doctor_input_make(&in, root, history);
    size_t nr = doctor_run(&in, found);
    FUZZ_CHECK(nr > 0 && nr <= DOCTOR_MAX);
    for (size_t i = 0; i < nr; i++)
        FUZZ_CHECK(found[i].state < DOCTOR_STATE_NR && found[i].check);
    processors_add(&cpus, 0);
    host_mhz(root, &cpus);
    host_energy_begin(&energy, root);
    host_energy_step(&energy);
    host_temperature_file(root, path);
    fuzz_remove(root);
    free(text);
}
