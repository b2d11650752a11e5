/* SPDX-License-Identifier: MIT */
/*
 * What looks like a secret on a command line, hidden before it is stored: a history is shared, the
 * terminal is not. It is told by its name, in NAME=value, --name=value, --name value and name:
 * value (of a header): a name of which one part between dashes or underscores is token, secret,
 * password, passwd, passphrase, credential(s), apikey, authorization, or key after api, access,
 * private or secret. And by its place, before the @ of an address (https://user:password@host). A
 * secret without a name cannot be told.
 */
#ifndef HARNESS_TEXT_REDACT_H
#define HARNESS_TEXT_REDACT_H

#include "base/options.h"

/* A shell command with *** for its secrets; NULL gives NULL. free() it. */
char *redact_text(const char *text);
/* The same of the words of a command, into `hidden`, which is empty. */
void redact_words(const struct string_list *words, struct string_list *hidden);

#endif
