/* SPDX-License-Identifier: MIT */
/* The JSON in what a program has printed. */
#ifndef HARNESS_COMMAND_JSON_PRINTED_H
#define HARNESS_COMMAND_JSON_PRINTED_H

#include "base/error.h"
#include "base/strbuf.h"

#include <cjson/cJSON.h>

/* Some programs say words before, which may begin with a bracket as well ("[INFO] start"): the
 * document is the first that begins with a line and goes to the end. Lines whose brackets nobody
 * closes seem to go there, too, and each costs a look at all of it: some are looked at. NULL where
 * there is none, and what is wrong with the first that might be one; else cJSON_Delete() it. */
cJSON *json_printed(const struct strbuf *text, struct error *err);

#endif
