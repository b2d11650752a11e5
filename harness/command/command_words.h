/* SPDX-License-Identifier: MIT */
/* The words of a command: parameters in them, and the names that they make (command/command.h). */
#ifndef HARNESS_COMMAND_COMMAND_WORDS_H
#define HARNESS_COMMAND_COMMAND_WORDS_H

#include "command/command.h"
#include "core/benchmark.h"

/* The name of a command that nobody named: its program and its arguments, as far as they can stand
 * in a key and fit; where something was left out, with a hash of all. Other arguments are another
 * benchmark. What is a parameter alone ("{n}", of these names) is none of the name. */
void command_default_name(struct command_spec *spec, const struct string_list *parameters);
/* The text with {name} replaced by the value of the parameter; NULL gives NULL. free() it. */
char *command_fill(const char *text, const char *name, const char *value);
/* The text with the values of all parameters, as one of the guest's benchmarks has them; NULL gives
 * NULL. free() it. */
char *command_fill_all(const struct command_guest *g, const struct variant *variant,
                       const struct shape *shape, const char *text);
/* The name of the variant with that index: "compiler=gcc,opt=-O2". What a key cannot hold is '-',
 * and what has no room is cut; then a hash tells it from others. */
void command_variant_name(const struct command_spec *spec, size_t variant, char name[NAME_SIZE]);

#endif
