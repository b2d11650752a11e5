/* SPDX-License-Identifier: MIT */
#include "importers/base/import_form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was read, and what is left ---- */

/* A bit of cJSON's `type` that it does not use itself. */
enum { TAKEN = 1 << 20 };

void import_take(const cJSON *item)
{
    if (item)
        ((cJSON *)item)->type |= TAKEN;
}

static bool form_is_taken(const cJSON *item)
{
    return item->type & TAKEN;
}

static bool form_says_something(const cJSON *item)
{
    return (cJSON_IsNumber(item) && isfinite(item->valuedouble)) ||
           (cJSON_IsString(item) && item->valuestring[0]);
}

/* The names of members that nobody took: "rank", "memory.heap". */
static void form_count_left(struct import_build *b, const cJSON *node, const char *path)
{
    const cJSON *item;
    char name[128];

    cJSON_ArrayForEach(item, node)
    {
        if (form_is_taken(item))
            continue;
        snprintf(name, sizeof(name), "%s%s%s", path, *path && item->string ? "." : "",
                 item->string ? item->string : "");
        if (cJSON_IsObject(item) || cJSON_IsArray(item))
            form_count_left(b, item, name);
        else if (form_says_something(item))
            import_left(b, *name ? name : "a value");
    }
}

/* ---- paths ---- */

const cJSON *import_entry_at(const struct import_entry *e, const char *path)
{
    const cJSON *at = e->node;
    int depth = e->depth;

    while (strncmp(path, "..", 2) == 0 && depth > 0) {
        at = e->up[--depth];
        path += 2 + (path[2] == '/');
    }
    return import_at(at, path);
}

/* The last word of a path. */
static const char *form_last(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');

    return dot > slash ? dot + 1 : slash ? slash + 1 : path;
}

/* Calls `read` for what a path leads to, with "*" for each member of an object or list, and the
 * name that this one has. */
typedef int form_value_fn(struct import_entry *e, const struct import_field *f, const cJSON *at,
                          const char *name);

static int form_each(struct import_entry *e, const struct import_field *f, const cJSON *node,
                     const char *path, const char *name, form_value_fn *read)
{
    const char *star = strstr(path, "*");
    const cJSON *item;
    char head[64];

    if (!star) {
        const cJSON *at = import_at(node, path);
        return at && !(name && form_is_taken(at)) ? read(e, f, at, name ? name : form_last(path))
                                                  : 0;
    }
    snprintf(head, sizeof(head), "%.*s", (int)(star > path ? star - path - 1 : 0), path);
    cJSON_ArrayForEach(item, import_at(node, head))
    {
        if (form_each(e, f, item, star + 1 + (star[1] == '.'), item->string, read))
            return -1;
    }
    return 0;
}

/* ---- names ---- */

static void form_add_part(struct import_entry *e, const char *text)
{
    struct import_name path;

    if (e->form->paths && e->name.text.length == 0 && e->name.nr_dims == 0) {
        import_name_path(&path, text);
        import_name_release(&e->name);
        e->name = path;
        return;
    }
    import_name_part(&e->name, text);
}

static bool form_parameter_text(const cJSON *item, char *text, size_t size)
{
    if (cJSON_IsString(item))
        snprintf(text, size, "%s", item->valuestring);
    else if (cJSON_IsNumber(item) && isfinite(item->valuedouble))
        snprintf(text, size, "%.12g", item->valuedouble);
    else if (cJSON_IsBool(item))
        snprintf(text, size, "%s", cJSON_IsTrue(item) ? "true" : "false");
    else
        return false;
    return true;
}

static void form_read_parameters(struct import_entry *e, const cJSON *parameters)
{
    const cJSON *item;
    char text[128];

    cJSON_ArrayForEach(item, parameters)
    {
        import_take(item);
        if (item->string && form_parameter_text(item, text, sizeof(text)))
            import_name_parameter(&e->name, item->string, text);
    }
}

static int form_read_name(struct import_entry *e, const struct import_field *f, const cJSON *at,
                          const char *name)
{
    char text[128];

    (void)name;
    switch (f->role) {
    case FIELD_NAME:
        if (cJSON_IsNull(at)) /* no part of the name */
            break;
        if (!cJSON_IsString(at))
            return import_refuse(e->b, at, "\"%s\" is no text", form_last(f->path));
        form_add_part(e, at->valuestring);
        break;
    case FIELD_KEY:
        form_add_part(e, at->string ? at->string : "");
        return 0;
    case FIELD_DIM:
        if (form_parameter_text(at, text, sizeof(text)) && text[0] != '-') /* -1: there is none */
            import_name_parameter(&e->name, f->as, text);
        break;
    case FIELD_PARAMETERS:
        form_read_parameters(e, at);
        break;
    case FIELD_UNIT:
        if (cJSON_IsString(at))
            e->unit = at->valuestring;
        break;
    case FIELD_BATCH:
        if (!import_value(at, &e->batch) || e->batch < 1)
            return import_refuse(e->b, at, "\"%s\" is no number of 1 or more", form_last(f->path));
        break;
    default:
        return 0;
    }
    import_take(at);
    return 0;
}

/* ---- numbers ---- */

/* Its name beside the times: "*_lower" of "latency" is "latency_lower". */
static void form_name_beside(const struct import_field *f, const char *name, char *out, size_t size)
{
    const char *star = f->as ? strchr(f->as, '*') : NULL;

    if (star)
        snprintf(out, size, "%.*s%s%s", (int)(star - f->as), f->as, name, star + 1);
    else
        snprintf(out, size, "%s", f->as ? f->as : name);
}

int import_entry_sample(struct import_entry *e, struct import_case *c, const cJSON *at,
                        double value)
{
    struct import_unit u = import_unit_of(e->unit);

    if (u.kind == IMPORT_UNIT_TIME)
        return import_time(e->b, c, at, value * u.ns, e->batch);
    if (u.kind == IMPORT_UNIT_OTHER)
        return import_refuse(e->b, at, "\"%.40s\" is no unit of time", e->unit);
    if (!(value > 0))
        return import_refuse(e->b, at, "a rate of %g %.40s gives no time", value, e->unit);
    import_work(c, 0, u.bytes);
    return import_time(e->b, c, at, u.ns / value, 1);
}

struct import_case *import_entry_launch(struct import_entry *e, int launch)
{
    struct benchmark_name key = e->c->m.bench;

    import_case_of(e->b, &key, launch);
    e->c = import_case_of(e->b, &key, 0); /* a new case may have moved all of them */
    return import_case_of(e->b, &key, launch);
}

/* Lists in lists, as deep as they are. */
static int form_read_samples(struct import_entry *e, const cJSON *list)
{
    const cJSON *item;
    double value;

    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsArray(item)) {
            if (form_read_samples(e, item))
                return -1;
            continue;
        }
        if (!import_value(item, &value))
            return import_refuse(e->b, item, "a sample is no finite number");
        if (import_entry_sample(e, e->c, item, value))
            return -1;
    }
    return 0;
}

static int form_read_statistic(struct import_entry *e, const struct import_field *f,
                               const cJSON *at)
{
    struct import_unit u = import_unit_of(e->unit);
    char name[64];
    double value;

    if (cJSON_IsNull(at) || (cJSON_IsString(at) && !at->valuestring[0])) /* a NaN, too */
        return 0;
    if (!import_value(at, &value))
        return import_refuse(e->b, at, "\"%s\" is not a finite number", form_last(f->path));
    if (e->c->times.nr == e->times && f->role == FIELD_TIME) {
        if (value < 0)
            return import_refuse(e->b, at, "\"%s\" is %g, less than 0", form_last(f->path), value);
        e->b->statistic = e->form->statistic;
        return import_quantity(e->b, e->c, at, value, e->unit, e->unit);
    }
    if (u.kind != IMPORT_UNIT_TIME)
        return 0;
    snprintf(name, sizeof(name), "summary_%s_ns", f->as);
    import_beside(e->b, e->c, name, value * u.ns);
    return 0;
}

static int form_read_number(struct import_entry *e, const struct import_field *f, const cJSON *at,
                            const char *name)
{
    bool timed = e->c->times.nr > e->times;
    char own[256];
    double value;

    if (!import_value(at, &value))
        return 0; /* no number: a note tells of it */
    import_take(at);
    form_name_beside(f, name, own, sizeof(own));
    if (f->role == FIELD_BYTES)
        import_work(e->c, 0, value);
    else if (f->role == FIELD_NUMBER)
        import_main_number(e->b, e->c, own, own, "", value);
    else if (f->role == FIELD_BESIDE || timed)
        import_beside(e->b, e->c, own, value);
    else {
        e->b->statistic = e->form->statistic;
        return import_quantity(e->b, e->c, at, value, e->unit, e->unit);
    }
    return 0;
}

static int form_read_value(struct import_entry *e, const struct import_field *f, const cJSON *at,
                           const char *name)
{
    switch (f->role) {
    case FIELD_SAMPLES:
        if (form_is_taken(at)) /* it is not what it seems */
            return 0;
        import_take(at);
        if (!cJSON_IsArray(at) && !cJSON_IsNull(at))
            return import_refuse(e->b, at, "\"%s\" is no list", form_last(f->path));
        if (!e->sampled && form_read_samples(e, at))
            return -1;
        e->sampled |= e->c->times.nr > e->times || e->b->zeros > e->zeros;
        return 0;
    case FIELD_TIME:
    case FIELD_SUMMARY:
        import_take(at); /* what follows from samples that are there needs no place */
        return e->sampled ? 0 : form_read_statistic(e, f, at);
    case FIELD_FAILURE:
        import_take(at);
        if (cJSON_IsString(at) && at->valuestring[0])
            import_fail(e->c, OUTCOME_FAILED, at->valuestring);
        return 0;
    case FIELD_SKIP:
        import_take(at);
        return 0;
    case FIELD_QUANTITY:
    case FIELD_BESIDE:
    case FIELD_NUMBER:
    case FIELD_BYTES:
        return form_read_number(e, f, at, name);
    default:
        return 0;
    }
}

/* ---- a benchmark ---- */

static int form_read_fields(struct import_entry *e, form_value_fn *read)
{
    for (const struct import_field *f = e->form->fields; f->path; f++) {
        const char *path = f->path;
        const cJSON *from = e->node;
        for (int depth = e->depth; strncmp(path, "..", 2) == 0 && depth > 0; depth--) {
            from = e->up[depth - 1];
            path += 2 + (path[2] == '/');
        }
        if (form_each(e, f, from, path, NULL, read))
            return -1;
    }
    return 0;
}

static int form_read_times(struct import_entry *e)
{
    e->times = e->c->times.nr;
    e->zeros = e->b->zeros;
    if (e->form->read_times && e->form->read_times(e))
        return -1;
    e->sampled = e->c->times.nr > e->times;
    if (form_read_fields(e, form_read_value))
        return -1;
    if (e->c->times.nr > e->times || e->c->m.outcome != OUTCOME_OK || e->b->zeros > e->zeros)
        return 0;
    if (e->c->m.nr_telemetry == 0 && e->c->m.nr_numbers == 0)
        return import_refuse(e->b, e->node, "there is no time in it");
    /* Such as a least and a greatest time: none in the middle follows of them. */
    import_timeless(e->c);
    return 0;
}

static int form_make_name(struct import_entry *e)
{
    if (form_read_fields(e, form_read_name) || (e->form->read_name && e->form->read_name(e)))
        return -1;
    if (!e->unit)
        return import_refuse(e->b, e->node, "its unit is missing");
    return e->name.text.length ? 0 : import_refuse(e->b, e->node, "its name is missing");
}

static int form_read_entry(struct import_entry *e)
{
    if (!cJSON_IsObject(e->node))
        return import_refuse(e->b, e->node, "a benchmark is no object");
    e->unit = e->form->unit;
    e->batch = 1;
    import_name_init(&e->name, "");
    if (form_make_name(e)) {
        import_name_release(&e->name);
        return -1;
    }
    e->c = import_case(e->b, &e->name);
    import_note_again(e->b, e->c);
    if (form_read_times(e))
        return -1;
    form_count_left(e->b, e->node, "");
    return e->b->crowded ? import_crowded(e->b) : 0;
}

/* All benchmarks below a node, by what is left of the path. */
static int form_walk(struct import_entry *e, const cJSON *node, const char *path)
{
    size_t length = strcspn(path, "[.");
    bool each = *path == '*' || *path == '[';
    const char *rest = *path == '*' ? path + 1 : *path == '[' ? path + 2 : path + length;
    char name[64];
    const cJSON *item;

    rest += *rest == '.';
    if (*path == '\0') {
        struct import_entry own = *e;
        own.node = node;
        return form_read_entry(&own);
    }
    if (!each) {
        snprintf(name, sizeof(name), "%.*s", (int)length, path);
        item = cJSON_IsObject(node) ? import_member(node, name) : NULL;
        if (!item)
            return import_refuse(e->b, node, "\"%s\" is missing", name);
    } else if (!cJSON_IsArray(node) && (*path == '[' || !cJSON_IsObject(node)))
        return import_refuse(e->b, node, "\"%s\" is no list", node->string ? node->string : "it");
    e->up[e->depth++] = node;
    int rc = 0;
    if (!each)
        rc = form_walk(e, item, rest);
    else
        for (item = node->child; rc == 0 && item; item = item->next)
            rc = form_walk(e, item, rest);
    e->depth--;
    return rc;
}

/* ---- the file ---- */

static int form_read_date(struct import_build *b, const cJSON *at)
{
    double ms;

    if (!cJSON_IsNumber(at))
        return import_date_at(b, at, at->string);
    if (!import_value(at, &ms) || ms <= 0 || ms > 253402300799999.0)
        return import_refuse(b, at, "\"%s\" is no date in ms since 1970", at->string);
    b->run->started_ms = (int64_t)ms;
    return 0;
}

static int form_read_fact(struct import_build *b, const struct import_field *f, const cJSON *at)
{
    struct run *run = b->run;
    const char *text = cJSON_IsString(at) ? at->valuestring : "";
    double value;

    switch (f->role) {
    case FIELD_COMMIT:
        import_commit(b, text);
        break;
    case FIELD_BRANCH:
        import_copy(run->build.branch, sizeof(run->build.branch), text);
        break;
    case FIELD_CPU:
        import_copy(run->machine.cpu, sizeof(run->machine.cpu), text);
        break;
    case FIELD_PROCESSORS:
        if (import_value(at, &value))
            import_processors(&run->machine, value);
        break;
    case FIELD_DATE:
        return form_read_date(b, at);
    case FIELD_FACT:
        if (cJSON_IsNumber(at) && isfinite(at->valuedouble))
            json_add_number(b->facts, f->as, at->valuedouble);
        import_fact(b, f->as, text);
        break;
    default:
        break;
    }
    return 0;
}

int import_read_form(struct import_build *b, const struct import_form *form)
{
    struct import_entry e = { .b = b, .form = form };

    b->clock = form->clock;
    for (const struct import_field *f = form->file; f && f->path; f++) {
        const cJSON *at = import_at(b->source.root, f->path);
        if (at && form_read_fact(b, f, at))
            return -1;
    }
    return form_walk(&e, b->source.root, form->entries);
}
