/* SPDX-License-Identifier: MIT */
/*
 * What is measured beside what was built in: kernels of plugins (plugin/plugin.h), functions of
 * Python (plugin/python_guest.h), and a command.
 * They join the registry while the program runs (plugin/registry_join.h), in the process that names
 * benchmarks and, by the job, in each that measures them.
 */
#ifndef HARNESS_PLUGIN_GUESTS_H
#define HARNESS_PLUGIN_GUESTS_H

#include "base/array.h"
#include "command/command.h"
#include "plugin/builtin_settings.h"
#include "plugin/plugin_load.h"
#include "plugin/python_guest.h"
#include "plugin/registry_join.h"

#include <cjson/cJSON.h>

struct guests {
    ARRAY(struct plugin) plugins;
    struct command_spec command; /* argv empty: there is none */
    struct command_guest *command_guest;
    struct python_guest python;
    struct string_list settings;     /* of parameters: plugin/guest_settings.h */
    struct builtin_settings builtin; /* variants of the build with these settings */
    const struct registry *base;
    struct registry_joined joined; /* the build, and the guests behind it */
    struct registry all, own;      /* of these */
};

/* What there is to open; all but the command is borrowed and copied. Members may be empty. */
struct guests_asked {
    const struct string_list *plugins;  /* files */
    plugin_confine *confine;            /* as these are tried; see plugin_open() */
    const struct string_list *settings; /* "BM=64,stages=3": each variant once with each of them */
    const struct python_request *python;
    struct command_spec *command; /* is taken, and then empty */
};

/* An error where a guest is refused, or a name is taken. guests_close() whatever the result. `g`
 * must stay where it is. */
int guests_open(struct guests *g, const struct registry *base, const struct guests_asked *asked,
                struct error *err);
void guests_close(struct guests *g);
/* Whose a variant is, and with which setting. false: it has no parameters, and none can be given.
 */
bool guests_setting(const struct guests *g, const struct variant *v, struct guest_setting *out);
bool guests_any(const struct guests *g);
/* Must who measures be told of them? That is so, too, of settings for variants of the build. */
bool guests_to_be_told(const struct guests *g);
/* Is code of a guest's loaded into who measures it? Of a command and of Python none is. `g` may be
 * NULL. */
bool guests_load(const struct guests *g);
/* Does code of a guest's run beside who measures it, in processes of its own, and none within? */
bool guests_run_apart(const struct guests *g);

/* For the job of a measuring process, and back: there the plugins must be the same files. */
void guests_to_job(const struct guests *g, cJSON *job);
int guests_from_job(struct guests *g, const struct registry *base, const cJSON *job,
                    struct error *err);

/* For the settings of a run in the history: which files they are, by name and content, and what the
 * command is. */
void guests_describe(const struct guests *g, cJSON *settings);

#endif
