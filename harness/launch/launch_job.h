/* SPDX-License-Identifier: MIT */
/* The job as JSON, written by the parent and read by the child. */
#ifndef HARNESS_LAUNCH_LAUNCH_JOB_H
#define HARNESS_LAUNCH_LAUNCH_JOB_H

#include "base/array.h"
#include "launch/launch.h"

#include <cjson/cJSON.h>

char *job_print(const struct job *job); /* free() it */

struct owned_job {
    struct job job;
    char device_spec[256];
    struct benchmark *cases; /* without a variant where this program lacks it */
    char **lacks;            /* "kernel/variant" of those, else NULL */
    double *plant;
    struct launch_secret *secrets; /* those of job.secrets, if it has them */
    struct profiling profiling;    /* what job.settings points to, if it does */
    struct guests guests;          /* the same; whom the cases may be of */
    char *folder, *planted;
    ARRAY(struct input_fill) files; /* that inputs hold; the cases point into it */
    ARRAY(struct input_fill) each;  /* of single tensors, the same; they point into `files` */
};

/* Of single tensors: { "x": "zeros", "weight": "file-1f3a55c0" }. */
cJSON *job_fill_tensors(const struct input_fill *f);

/* What a job may take as text. */
enum { JOB_MAX = 64 << 20 };

/* Before any of it is taken: that of the process. false: the job has no secrets. */
bool job_secret(const cJSON *json, struct launch_secret *secret);
/* Loads its guests, too. Fails where the job speaks another protocol than this program. */
int job_from_json(const cJSON *json, const struct registry *registry, struct owned_job *out,
                  struct error *err);
int job_parse(const char *text, size_t length, const struct registry *registry,
              struct owned_job *out, struct error *err);
void job_release(struct owned_job *job);

#endif
