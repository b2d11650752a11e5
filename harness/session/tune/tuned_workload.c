/* SPDX-License-Identifier: MIT */
#include "session/tune/tuned_workload.h"

#include "base/text.h"
#include "machine/environment.h"
#include "session/tune/tuned_key.h"

#include <stdio.h>
#include <string.h>

/* ---- what is kept ---- */

static void add_settings_of(struct tuned *t, const char *code, const char *digest)
{
    for (size_t i = 0; i < t->kept.nr; i++) {
        bool known = !tuned_key_same_code(&t->kept.items[i], code, digest);
        for (size_t j = 0; j < t->settings.nr; j++)
            known |= strcmp(t->settings.items[j], t->kept.items[i].setting) == 0;
        if (!known)
            string_list_add(&t->settings, t->kept.items[i].setting);
    }
}

/* Of the same benchmark and code by its name: what it was, the newest. */
static const struct store_tuned *find_other(const struct tuned *t, const struct store_tuned *wanted)
{
    const struct store_tuned *newest = NULL;

    for (size_t i = 0; i < t->kept.nr; i++) {
        const struct store_tuned *kept = &t->kept.items[i];
        if (strcmp(kept->key, wanted->key) == 0 && strcmp(kept->code, wanted->code) == 0 &&
            (!newest || kept->tuned_ms > newest->tuned_ms))
            newest = kept;
    }
    return newest;
}

static int none_error(const struct tuned *t, const struct store_tuned *wanted,
                      const struct device *d, struct error *err)
{
    const struct store_tuned *other = find_other(t, wanted);
    bool own = strcmp(wanted->code, TUNED_BUILTIN) == 0;
    struct benchmark_name name;
    struct error ignored;
    const char *kernel = benchmark_name_parse(wanted->key, &name, &ignored) ? "" : name.kernel;

    if (!other)
        return error_set(err,
                         "--tuned: no setting is kept for %s of %s on this machine: `harness tune "
                         "%s --device %s` with these sizes finds one",
                         wanted->key, wanted->code, own ? kernel : wanted->code, d->spec);
    if (strcmp(other->digest, wanted->digest) != 0)
        return error_set(err,
                         "--tuned: what is kept for %s, %s, is of another build of %s%s: `harness "
                         "tune` again, or give it by --param",
                         wanted->key, other->setting, wanted->code,
                         own ? ", or of another instruction set (HARNESS_ISA)" : "");
    return error_set(err,
                     "--tuned: what is kept for %s, %s, was found with driver %s, and this is %s: "
                     "`harness tune` again, or give it by --param",
                     wanted->key, other->setting, *other->driver ? other->driver : "none",
                     *wanted->driver ? wanted->driver : "none");
}

/* ---- the benchmarks ---- */

static void tell_kept(const struct tuned *t, const struct store_tuned *kept)
{
    char day[TEXT_UNIT_SIZE];

    sink_note(t->sink, "tuned: %s: %s (%.10s%s)\n", kept->key, kept->setting,
              text_timestamp(kept->tuned_ms, day), kept->decided ? "" : ", not decided");
}

/* 1: it is to be measured, 0: it has another setting than the one that is kept. */
static int judge_benchmark(const struct tuned *t, const struct guests *g, const struct device *d,
                           const struct benchmark *b, struct error *err)
{
    struct guest_setting setting;
    struct store_tuned wanted;

    if (!guests_setting(g, b->variant, &setting))
        return 1;
    tuned_key_fill(&wanted, b, d, &setting);
    const struct store_tuned *kept = tuned_key_find(&t->kept, &wanted);
    if (kept && strcmp(kept->setting, setting.setting) != 0)
        return 0;
    if (kept)
        tell_kept(t, kept);
    else if (*setting.setting || (setting.params && *setting.params))
        return none_error(t, &wanted, d, err);
    return 1;
}

static int keep_tuned(void *context, struct workload *c, struct error *err)
{
    const struct tuned *t = context;
    size_t nr = 0;

    for (size_t i = 0; i < c->list.nr; i++) {
        const struct device *d = workload_device(c, i);
        int rc = judge_benchmark(t, &c->guests, d, &c->list.items[i], err);
        if (rc < 0)
            return -1;
        c->list.items[nr] = c->list.items[i];
        c->device_of[nr] = c->device_of[i];
        nr += (size_t)rc;
    }
    c->list.nr = nr;
    return 0;
}

int tuned_keep(const struct tuned *t, const struct guests *g, const struct device *d,
               struct benchmark_list *list, struct error *err)
{
    size_t nr = 0;

    for (size_t i = 0; i < list->nr; i++) {
        int rc = judge_benchmark(t, g, d, &list->items[i], err);
        if (rc < 0)
            return -1;
        list->items[nr] = list->items[i];
        nr += (size_t)rc;
    }
    list->nr = nr;
    return 0;
}

static bool is_of_this_build(const struct store_tuned *kept)
{
    char digest[DIGEST_TEXT_SIZE];
    struct benchmark_name name;
    struct error ignored;

    if (strcmp(kept->code, TUNED_BUILTIN) != 0 || benchmark_name_parse(kept->key, &name, &ignored))
        return false;
    const struct variant *v = registry_variant(registry_builtin(), name.kernel, name.variant);
    bool has_params = v && registry_forced(registry_builtin(), v)->params;
    if (has_params)
        tuned_key_digest(v, digest);
    return has_params && strcmp(digest, kept->digest) == 0;
}

static int add_settings(struct tuned *t, const struct workload_options *o, struct error *err)
{
    struct guests g;
    int rc = workload_open_guests(&g, o, err);

    for (size_t i = 0; rc == 0 && i < g.plugins.nr; i++)
        add_settings_of(t, g.plugins.items[i].file, g.plugins.items[i].digest);
    for (size_t i = 0; rc == 0 && !guests_any(&g) && i < t->kept.nr; i++)
        if (is_of_this_build(&t->kept.items[i]))
            add_settings_of(t, TUNED_BUILTIN, t->kept.items[i].digest);
    guests_close(&g);
    return rc;
}

int tuned_open(struct tuned *t, struct workload_options *o, struct store *store,
               const struct session_sink *sink, struct error *err)
{
    struct machine machine;

    *t = (struct tuned) { .sink = sink };
    if (o->params.nr > 0)
        return error_set(err,
                         "--tuned takes the settings that are kept, and --param gives others: "
                         "leave one out");
    if (environment_machine(&machine, err) ||
        store_tuned_newest(store, machine.id, &t->kept, err) || add_settings(t, o, err))
        return -1;
    o->settings = t->settings;
    o->settle = keep_tuned;
    o->settle_context = t;
    return 0;
}

void tuned_close(struct tuned *t)
{
    store_tuned_release(&t->kept);
    string_list_release(&t->settings);
}
