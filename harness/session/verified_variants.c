/* SPDX-License-Identifier: MIT */
#include "session/verified_variants.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/resource.h"
#include "base/text.h"
#include "core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static const char *const keys[] = {
    "kernel",
    "variant",
    "source",
    "device",
    "compute_capability",
    "date",
    "commit",
    "max_error",
    "share_of_tolerance",
    "shapes",
    "wrong",
    "settings",
    NULL,
};

static const char *const setting_keys[] = { "setting", "shapes", NULL };

void verification_release(struct verification_list *list)
{
    array_release(list);
    array_release(&list->settings);
}

static struct verification_setting *find_setting(const struct verification_list *list,
                                                 const struct verification_setting *of)
{
    for (size_t i = 0; i < list->settings.nr; i++) {
        struct verification_setting *s = &list->settings.items[i];
        if (strcmp(s->setting, of->setting) == 0 && strcmp(s->variant, of->variant) == 0 &&
            strcmp(s->kernel, of->kernel) == 0)
            return s;
    }
    return NULL;
}

/* That there is a setting, and on how many shapes it was right, at least. */
static struct verification_setting *add_setting(struct verification_list *list,
                                                const struct verification_setting *fresh)
{
    struct verification_setting *s = find_setting(list, fresh);

    if (!s) {
        s = array_push(&list->settings);
        *s = *fresh;
    } else if (s->shapes < fresh->shapes) {
        s->shapes = fresh->shapes;
    }
    return s;
}

static int copy_text(const cJSON *json, const char *key, char *to, size_t size, struct error *err)
{
    const char *text;

    if (json_get_string(json, key, &text, err))
        return -1;
    if (strlen(text) >= size)
        return error_set(err, "\"%s\" is too long", key);
    memcpy(to, text, strlen(text) + 1);
    return 0;
}

static int read_entry(const cJSON *json, struct verification *v, struct error *err)
{
    snprintf(v->commit, sizeof(v->commit), "%s", json_string(json, "commit", ""));
    v->wrong = json_bool(json, "wrong", false);
    if (json_only_keys(json, keys, "entry", err) ||
        copy_text(json, "kernel", v->kernel, sizeof(v->kernel), err) ||
        copy_text(json, "variant", v->variant, sizeof(v->variant), err) ||
        copy_text(json, "source", v->source, sizeof(v->source), err) ||
        copy_text(json, "device", v->device, sizeof(v->device), err) ||
        copy_text(json, "compute_capability", v->capability, sizeof(v->capability), err) ||
        copy_text(json, "date", v->date, sizeof(v->date), err) ||
        json_get_number(json, "max_error", &v->max_error, err) ||
        json_get_number(json, "share_of_tolerance", &v->share, err))
        return -1;
    return json_get_int(json, "shapes", &v->shapes, err);
}

static int read_settings(const cJSON *json, const struct verification *v,
                         struct verification_list *list, struct error *err)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "settings"))
    {
        struct verification_setting s = { .shapes = 0 };
        memcpy(s.kernel, v->kernel, sizeof(s.kernel));
        memcpy(s.variant, v->variant, sizeof(s.variant));
        if (json_only_keys(item, setting_keys, "setting", err) ||
            copy_text(item, "setting", s.setting, sizeof(s.setting), err) ||
            json_get_int(item, "shapes", &s.shapes, err))
            return -1;
        add_setting(list, &s);
    }
    return 0;
}

static int read_record(const cJSON *json, struct verification_list *list, struct error *err)
{
    const cJSON *variants = cJSON_GetObjectItemCaseSensitive(json, "variants"), *item;
    int64_t version;

    if (json_get_int(json, "schema_version", &version, err))
        return -1;
    if (version != 1)
        return error_set(err, "version %lld is newer than this program", (long long)version);
    if (!cJSON_IsArray(variants))
        return error_set(err, "\"variants\" is missing or not a list");
    cJSON_ArrayForEach(item, variants)
    {
        struct verification *v = array_push(list);
        if (read_entry(item, v, err) || read_settings(item, v, list, err))
            return error_prefix(err, "entry %zu", list->nr);
    }
    return 0;
}

int verification_parse(const char *text, size_t length, const char *what,
                       struct verification_list *list, struct error *err)
{
    cJSON *json = json_parse(text, length, what, err);

    if (!json)
        return -1;
    int rc = read_record(json, list, err);
    cJSON_Delete(json);
    return rc ? error_prefix(err, "%s", what) : 0;
}

int verification_builtin(struct verification_list *list, struct error *err)
{
    const struct resource *r = resource_find("baselines/verification.json");

    return r ? verification_parse(r->data, r->length, r->name, list, err) : 0;
}

int verification_allowed(const struct device *d, struct error *err)
{
    if (d->kind != DEVICE_CUDA)
        return error_set(err,
                         "only what runs on a CUDA device is recorded, not %s: add "
                         "--device cuda",
                         d->spec);
#ifdef CUDA_HOST_LAYER
    return error_set(err,
                     "this build runs CUDA kernels on the CPU (HARNESS_CUDA=HOST), which "
                     "verifies no device: build with HARNESS_CUDA=ON");
#else
    return 0;
#endif
}

static struct verification *find_verification(const struct verification_list *list,
                                              const char *kernel, const char *variant)
{
    for (size_t i = 0; i < list->nr; i++)
        if (strcmp(list->items[i].kernel, kernel) == 0 &&
            strcmp(list->items[i].variant, variant) == 0)
            return &list->items[i];
    return NULL;
}

const struct verification *verification_find(const struct verification_list *list,
                                             const char *kernel, const char *variant)
{
    return find_verification(list, kernel, variant);
}

static struct verification *begin_verification(struct verification_list *list,
                                               const struct registry *r, const struct build *build,
                                               const struct device *d,
                                               const struct benchmark_name *bench)
{
    struct verification *v = array_push(list);
    const struct variant *variant = registry_variant(r, bench->kernel, bench->variant);
    char now[TEXT_UNIT_SIZE];

    memcpy(v->kernel, bench->kernel, sizeof(v->kernel));
    memcpy(v->variant, bench->variant, sizeof(v->variant));
    memcpy(v->device, d->model, sizeof(v->device));
    memcpy(v->capability, d->capability, sizeof(v->capability));
    snprintf(v->source, sizeof(v->source), "%s",
             variant ? registry_variant_source(r, variant) : "");
    snprintf(v->date, sizeof(v->date), "%.10s", text_timestamp(clock_epoch_ms(), now));
    snprintf(v->commit, sizeof(v->commit), "%s%s", build->commit,
             build->commit[0] && build->dirty ? "-dirty" : "");
    return v;
}

/* "cuda_simt:tile=1:split=2" is the variant and a setting of it; NULL: the variant alone. */
static struct verification_setting *note_setting(struct verification_list *list,
                                                 struct benchmark_name *bench)
{
    struct verification_setting s = { .shapes = 0 };
    char *setting = strchr(bench->variant, ':');

    if (!setting)
        return NULL;
    *setting++ = '\0';
    snprintf(s.kernel, sizeof(s.kernel), "%s", bench->kernel);
    snprintf(s.variant, sizeof(s.variant), "%s", bench->variant);
    snprintf(s.setting, sizeof(s.setting), "%s", setting);
    return add_setting(list, &s);
}

void verification_note(struct verification_list *list, const struct registry *r,
                       const struct build *build, const struct device *d,
                       const struct measurement *m)
{
    struct benchmark_name bench = m->bench;
    struct verification_setting *setting = note_setting(list, &bench);
    struct verification *v = find_verification(list, bench.kernel, bench.variant);

    if (m->outcome == OUTCOME_UNSUPPORTED)
        return;
    if (!v)
        v = begin_verification(list, r, build, d, &bench);
    if (m->outcome != OUTCOME_OK) {
        v->wrong = true;
        return;
    }
    ++*(setting ? &setting->shapes : &v->shapes);
    v->max_error = fmax(v->max_error, m->max_error);
    if (m->tolerance > 0)
        v->share = fmax(v->share, m->max_error / m->tolerance);
}

/* Of one thing checked several times (other modes of launching, other sizes) the worst counts.
 * false: the two are of different things, and the fresh one stands. */
static bool merge_verification(struct verification *old, const struct verification *fresh)
{
    struct verification before = *old;

    *old = *fresh;
    if (strcmp(before.source, fresh->source) != 0 || strcmp(before.device, fresh->device) != 0 ||
        strcmp(before.commit, fresh->commit) != 0)
        return false;
    old->max_error = fmax(before.max_error, fresh->max_error);
    old->share = fmax(before.share, fresh->share);
    old->shapes = before.shapes > fresh->shapes ? before.shapes : fresh->shapes;
    old->wrong = before.wrong || fresh->wrong;
    return true;
}

static void drop_settings(struct verification_list *list, const struct verification *of)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->settings.nr; i++) {
        const struct verification_setting *s = &list->settings.items[i];
        if (strcmp(s->kernel, of->kernel) != 0 || strcmp(s->variant, of->variant) != 0)
            list->settings.items[kept++] = *s;
    }
    list->settings.nr = kept;
}

static void merge_all(struct verification_list *list, const struct verification_list *fresh)
{
    for (size_t i = 0; i < fresh->nr; i++) {
        const struct verification *v = &fresh->items[i];
        struct verification *old = find_verification(list, v->kernel, v->variant);
        if (!old)
            *array_push(list) = *v;
        else if (!merge_verification(old, v))
            drop_settings(list, v);
    }
    for (size_t i = 0; i < fresh->settings.nr; i++)
        add_setting(list, &fresh->settings.items[i]);
}

cJSON *verification_to_json(const struct verification *v)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "kernel", v->kernel);
    cJSON_AddStringToObject(json, "variant", v->variant);
    cJSON_AddStringToObject(json, "source", v->source);
    cJSON_AddStringToObject(json, "device", v->device);
    cJSON_AddStringToObject(json, "compute_capability", v->capability);
    cJSON_AddStringToObject(json, "date", v->date);
    json_add_string(json, "commit", v->commit);
    json_add_number(json, "max_error", v->max_error);
    json_add_number(json, "share_of_tolerance", v->share);
    json_add_int(json, "shapes", v->shapes);
    if (v->wrong)
        cJSON_AddTrueToObject(json, "wrong");
    return json;
}

static void settings_to_json(const struct verification_list *list, const struct verification *v,
                             cJSON *json)
{
    cJSON *array = NULL;

    for (size_t i = 0; i < list->settings.nr; i++) {
        const struct verification_setting *s = &list->settings.items[i];
        if (strcmp(s->kernel, v->kernel) != 0 || strcmp(s->variant, v->variant) != 0)
            continue;
        if (!array)
            array = cJSON_AddArrayToObject(json, "settings");
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "setting", s->setting);
        json_add_int(item, "shapes", s->shapes);
        cJSON_AddItemToArray(array, item);
    }
}

static int compare_names(const void *a, const void *b)
{
    const struct verification *x = a, *y = b;
    int kernels = strcmp(x->kernel, y->kernel);

    return kernels ? kernels : strcmp(x->variant, y->variant);
}

static int write_list(const char *path, struct verification_list *list, struct error *err)
{
    cJSON *json = cJSON_CreateObject(), *variants;

    if (list->nr)
        qsort(list->items, list->nr, sizeof(*list->items), compare_names);
    json_add_int(json, "schema_version", 1);
    variants = cJSON_AddArrayToObject(json, "variants");
    for (size_t i = 0; i < list->nr; i++) {
        cJSON *entry = verification_to_json(&list->items[i]);
        settings_to_json(list, &list->items[i], entry);
        cJSON_AddItemToArray(variants, entry);
    }
    int rc = json_write_file(json, path, true, err);
    cJSON_Delete(json);
    return rc;
}

static int write_merged(const char *path, const struct verification_list *fresh, struct error *err)
{
    struct verification_list list = { 0 };
    char *text = NULL;
    size_t length;
    int there = file_look(path, err); /* what cannot be told would be replaced by the fresh ones */
    int rc = there < 0 ? -1 : 0;

    if (there > 0) {
        text = file_read(path, FILE_SETTINGS_MOST, &length, err);
        rc = text ? verification_parse(text, length, path, &list, err) : -1;
        free(text);
    }
    if (rc == 0) {
        merge_all(&list, fresh);
        rc = write_list(path, &list, err);
    }
    verification_release(&list);
    return rc;
}

/* Several processes may add to one file, each what it checked: its folder is locked meanwhile, as
 * the file itself is replaced. */
int verification_write(const char *path, const struct verification_list *fresh, struct error *err)
{
    char *folder = memory_string(path);
    int fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
        ;
    int rc = write_merged(path, fresh, err);
    if (fd >= 0)
        close(fd);
    free(folder);
    return rc;
}

char *verification_describe(const struct verification *v, const char *source,
                            char text[VERIFICATION_TEXT])
{
    if (!v) {
        snprintf(text, VERIFICATION_TEXT, "unverified on a device");
        return text;
    }
    const char *dirty = strstr(v->commit, "-dirty");
    const char *older = v->wrong ? "in an older source " : "an older source ";
    int length =
        snprintf(text, VERIFICATION_TEXT, "%s %son %s, %s%s%.7s%s",
                 v->wrong ? "not right" : "verified", strcmp(v->source, source) == 0 ? "" : older,
                 v->device, v->date, v->commit[0] ? ", " : "", v->commit, dirty ? dirty : "");
    if (!v->wrong)
        snprintf(text + length, VERIFICATION_TEXT - (size_t)length, ", error %.1e", v->max_error);
    return text;
}
