/* SPDX-License-Identifier: MIT */
/*
 * A place in JSON: "$.jobs[0].read.iops", "$['a b'][-1]". Members by .NAME or ['NAME'], items by
 * [N], from the end by [-N]; nothing that finds several.
 */
#ifndef HARNESS_COMMAND_JSON_PATH_H
#define HARNESS_COMMAND_JSON_PATH_H

#include "base/error.h"

#include <cjson/cJSON.h>

/* -1 and the column where it is none. */
int json_path_check(const char *path, struct error *err);
/* What is there; NULL and an error that says where the way ends and what is there instead. */
const cJSON *json_path_find(const cJSON *json, const char *path, struct error *err);

#endif
