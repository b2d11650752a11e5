/* SPDX-License-Identifier: MIT */
/*
 * The JSON in what a program has printed, and a place in it: "$.jobs[0].read.iops", "$['a b'][-1]".
 * Members by .NAME or ['NAME'], items by [N], from the end by [-N]; nothing that finds several.
 */
#ifndef HARNESS_COMMAND_JSON_PATH_H
#define HARNESS_COMMAND_JSON_PATH_H

#include "base/error.h"
#include "base/strbuf.h"

#include <cjson/cJSON.h>

/* The document in a text. Some programs say words before, which may begin with a bracket as well
 * ("[INFO] start"): the document is the first that begins with a line and goes to the end. Lines
 * whose brackets nobody closes seem to go there, too, and each costs a look at all of it: some are
 * looked at. NULL where there is none, and what is wrong with the first that might be one; else
 * cJSON_Delete() it. */
cJSON *json_path_parse(const struct strbuf *text, struct error *err);

/* -1 and the column where it is none. */
int json_path_check(const char *path, struct error *err);
/* What is there; NULL and an error that says where the way ends and what is there instead. */
const cJSON *json_path_find(const cJSON *json, const char *path, struct error *err);

#endif
