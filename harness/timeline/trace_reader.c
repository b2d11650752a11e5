/* SPDX-License-Identifier: MIT */
/* Events of a trace file to slices, counters and names. */
#include "timeline/trace_reader.h"

#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The event in hand. */
struct event {
    const struct event_text *t;
    const char *end;
    const cJSON *json, *args;
    const char *name, *category;
    char phase;
    int lane;
    int64_t time;
};

static int no_memory(const struct event_text *t, struct error *err)
{
    return event_text_failed(t, t->at, "no memory for more, or more than 2^31 of a kind", err);
}

/* rocprof writes the same process as a text here and as a number there. */
static bool is_quoted_number(const char *text, int64_t *number)
{
    char *end = NULL;

    errno = 0;
    *number = strtoll(text, &end, 10);
    return end > text && !*end && errno == 0 && *number >= 0;
}

/* A pid or tid: whole numbers as they are, texts from TRACE_TEXT_IDS down as they come. */
static int id_number(struct trace_reader *r, const cJSON *id, int64_t *number)
{
    *number = 0;
    if (cJSON_IsNumber(id) && fabs(id->valuedouble) < 9e18)
        *number = (int64_t)id->valuedouble;
    if (!cJSON_IsString(id) || is_quoted_number(id->valuestring, number))
        return 0;
    const char *text = prof_trace_text(r->trace, id->valuestring);
    const int *place =
        text ? prof_map_name(&r->numbered_places, text, 0, (int)r->numbered.nr) : NULL;
    if (!place)
        return -1;
    if ((size_t)*place == r->numbered.nr)
        *array_push(&r->numbered) = text;
    *number = TRACE_TEXT_IDS - (int64_t)*place;
    return 0;
}

const char *trace_reader_text_id(const struct trace_reader *r, int64_t number)
{
    bool is_text = number <= TRACE_TEXT_IDS && number > TRACE_TEXT_IDS - (int64_t)r->numbered.nr;

    return is_text ? r->numbered.items[TRACE_TEXT_IDS - number] : NULL;
}

/* -1: no memory. */
static int lane_at(struct trace_reader *r, int64_t process, int64_t thread)
{
    const int *place =
        prof_map_at(&r->lane_places, (uint64_t)process, (uint64_t)thread, (int)r->lanes.nr);

    if (!place)
        return -1;
    if ((size_t)*place == r->lanes.nr)
        *array_push(&r->lanes) = (struct lane) { .process = process, .thread = thread };
    return *place;
}

static bool is_of_gpu(const char *category)
{
    static const char *const of_gpus[] = { PROF_GPU_SCOPES, PROF_KERNELS, PROF_MEMCPY,
                                           PROF_MEMSET };

    for (size_t i = 0; i < sizeof(of_gpus) / sizeof(*of_gpus); i++) {
        if (!strcmp(category, of_gpus[i]))
            return true;
    }
    return false;
}

static bool numbers_stream(const cJSON *args)
{
    return cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(args, "device")) &&
           cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(args, "stream"));
}

/* As Kineto wrote them until autumn 2022 (pytorch/kineto#659), and what they are called since.
 * Other programs may have such categories: that a GPU is meant must stand in the arguments. */
static const struct {
    const char *older, *name;
    bool is_of_stream;
} older_categories[] = {
    { "Kernel", PROF_KERNELS, true },
    { "Memcpy", PROF_MEMCPY, true },
    { "Memset", PROF_MEMSET, true },
    { "Runtime", PROF_RUNTIME_CALLS, false },
};

static const char *known_category(const char *category, const cJSON *args)
{
    bool is_call = cJSON_GetObjectItemCaseSensitive(args, "correlation") != NULL;

    for (size_t i = 0; i < sizeof(older_categories) / sizeof(*older_categories); i++)
        if (!strcmp(category, older_categories[i].older) &&
            (older_categories[i].is_of_stream ? numbers_stream(args) : is_call))
            return older_categories[i].name;
    return category;
}

static struct prof_track event_track(const struct trace_reader *r, const struct event *e)
{
    const struct lane *lane = &r->lanes.items[e->lane];
    struct prof_track track = { .process = lane->process, .thread = lane->thread };

    if (numbers_stream(e->args)) {
        track.kind = PROF_TRACK_STREAM;
        track.process = json_int(e->args, "device", 0);
        track.thread = json_int(e->args, "stream", 0);
    } else if (lane->is_stream) {
        track.kind = PROF_TRACK_STREAM;
        track.process = lane->device;
        track.thread = lane->stream;
    } else if (is_of_gpu(e->category)) {
        track.kind = PROF_TRACK_STREAM;
    } else {
        int64_t thread = lane->is_further ? lane->of_thread : lane->thread;
        track.thread = json_int(e->args, "of_thread", thread); /* older files say it here */
    }
    if (track.kind == PROF_TRACK_STREAM)
        track.device = track.process >= 0 && track.process < PROF_DEVICES - PROF_GPU
                           ? PROF_GPU_AT((int)track.process)
                           : PROF_GPU;
    return track;
}

/* PyTorch numbers its steps. */
static bool is_numbered_step(const char *name)
{
    static const char step[] = "ProfilerStep#";
    size_t length = sizeof(step) - 1;

    return strncmp(name, step, length) == 0 && name[length] &&
           name[length + strspn(name + length, "0123456789")] == '\0';
}

/* They are iterations of one name. */
static const char *name_of_event(const struct event *e)
{
    return is_numbered_step(e->name) ? "ProfilerStep" : e->name;
}

/* XLA's stands in quotes, under a name of its own. */
static int64_t correlation_of(const cJSON *args)
{
    const char *text = json_string(args, "correlation_id", "");
    char *end = NULL;
    long long number = strtoll(text, &end, 10);

    return json_int(args, "correlation", *text && !*end ? number : 0);
}

/* What the arguments say; the rest stays, so that those of both ends of a slice are joined. */
static void take_arguments(const cJSON *args, struct prof_slice *s)
{
    s->backend = json_string(args, "backend", s->backend);
    s->function = json_string(args, "function", s->function);
    s->file = json_string(args, "file", s->file);
    s->line = (int)json_int(args, "line", s->line);
    s->bytes = json_int(args, "bytes", s->bytes);
    s->bytes = s->bytes > 0 ? s->bytes : 0;
    s->flops = json_number(args, "flops", s->flops);
    s->gpu = json_int(args, "gpu_ns", s->gpu);
    s->transfer = json_int(args, "transfer_ns", s->transfer);
    s->launch = json_int(args, "launch_ns", s->launch);
    s->memory_live = json_int(args, "memory_live", s->memory_live);
    s->memory_peak = json_int(args, "memory_peak", s->memory_peak);
    int64_t correlation = correlation_of(args);
    s->correlation = correlation > 0 ? (uint64_t)correlation : s->correlation;
    s->flags |= json_int(args, "open", 0) ? PROF_OPEN : 0;
    s->flags |= json_int(args, "unwound", 0) ? PROF_UNWOUND : 0;
}

static int slice_device(const struct prof_track *track, const struct prof_slice *s)
{
    return track->kind == PROF_TRACK_STREAM ? track->device : s->gpu > 0 ? PROF_GPU : PROF_CPU;
}

/* PyTorch says by a name which scopes are steps, XLA by a number. */
static const char *category_of_event(const struct event *e)
{
    bool is_scope = !strcmp(e->category, PROF_SCOPES) || !strcmp(e->category, "Operator");
    bool is_step = *e->category ? is_scope && is_numbered_step(e->name)
                                : cJSON_GetObjectItemCaseSensitive(e->args, "step_num") != NULL;

    return is_step ? PROF_STEPS : e->category;
}

/* Its index, or -1. */
static int add_event_slice(struct trace_reader *r, const struct event *e, int64_t duration,
                           unsigned flags, struct error *err)
{
    struct prof_track track = event_track(r, e);
    struct prof_slice s = {
        .parent = PROF_FIND_PARENT,
        .start = e->time,
        .duration = duration,
        .name = name_of_event(e),
        .category = category_of_event(e),
        .flags = flags,
        .memory_live = -1,
        .memory_peak = -1,
    };

    take_arguments(e->args, &s);
    s.track = prof_trace_track(r->trace, &track);
    if (s.track < 0)
        return no_memory(e->t, err);
    if ((size_t)s.track == r->first_lane.nr)
        *array_push(&r->first_lane) = e->lane;
    s.device = slice_device(&track, &s);
    int slice = prof_trace_slice(r->trace, &s);
    if (slice < 0)
        return no_memory(e->t, err);
    *array_push(&r->lane_of) = e->lane;
    return slice;
}

/* A time in us at depth one of the event's text, as ns. */
static int event_time(const struct event *e, const char *key, int64_t *ns, struct error *err)
{
    const char *member = event_member(e->t->at, e->end, key);
    /* rocprof quotes all numbers. */
    const char *text = member && *member == '"' ? member + 1 : member;
    char reason[96];

    /* Twice as far as any clock reaches, so that sums of two do not overflow. */
    if (text && event_number(text, e->end, 3, ns) && llabs(*ns) < INT64_MAX / 4)
        return 0;
    snprintf(reason, sizeof(reason), "the event's \"%s\" is missing or no time", key);
    return event_text_failed(e->t, member ? member : e->t->at, reason, err);
}

/* It is there, and is not the "" that stands for a NaN. */
static bool has_duration(const struct event *e)
{
    return event_member(e->t->at, e->end, "dur") && *json_string(e->json, "dur", "a number");
}

/* Kineto's spans tell of the recording, and its waits for a stream are in the calls that waited. */
static bool is_told_elsewhere(const char *category)
{
    return !strcmp(category, "Trace") || !strcmp(category, "cuda_sync");
}

static int use_complete(struct trace_reader *r, const struct event *e, struct error *err)
{
    int64_t duration = 0;

    if (has_duration(e) && event_time(e, "dur", &duration, err))
        return -1;
    if (duration < 0)
        return event_text_failed(e->t, e->t->at, "the event ends before it begins", err);
    if (is_told_elsewhere(e->category))
        return 0;
    if (is_of_gpu(e->category) && e->time == 0 && duration == 0) { /* CUPTI could not take any */
        r->nr_untimed++;
        return 0;
    }
    return add_event_slice(r, e, duration, 0, err) < 0 ? -1 : 0;
}

static int use_point(struct trace_reader *r, const struct event *e, struct error *err)
{
    return add_event_slice(r, e, 0, PROF_INSTANT_POINT, err) < 0 ? -1 : 0;
}

static int use_begin(struct trace_reader *r, const struct event *e, struct error *err)
{
    int slice = add_event_slice(r, e, 0, 0, err);

    if (slice < 0)
        return -1;
    *array_push(&r->lanes.items[e->lane].open) = slice;
    return 0;
}

static int use_end(struct trace_reader *r, const struct event *e, struct error *err)
{
    struct lane *lane = &r->lanes.items[e->lane];

    if (lane->open.nr == 0)
        return 0; /* it began before the recording did */
    struct prof_slice *s = &r->trace->slices[lane->open.items[--lane->open.nr]];
    if (e->time < s->start)
        return event_text_failed(e->t, e->t->at, "the event ends before it begins", err);
    s->duration = e->time - s->start;
    take_arguments(e->args, s);
    s->device = slice_device(&r->trace->tracks[s->track], s);
    const char **const texts[] = { &s->backend, &s->function, &s->file };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (*texts[i] && !(*texts[i] = prof_trace_text(r->trace, *texts[i])))
            return no_memory(e->t, err);
    return 0;
}

/* "The combination of the event name and id is used as the counter name" (Trace Event Format); as
 * Chrome shows it. */
static const char *name_of_counter(const struct event *e, char room[512])
{
    char id[EVENT_ID_SIZE];

    if (!event_id(e->json, NULL, id) || !id[0])
        return e->name;
    snprintf(room, 512, "%.250s[%s]", e->name, id);
    return room;
}

static int use_counter(struct trace_reader *r, const struct event *e, struct error *err)
{
    bool is_alone = cJSON_GetArraySize(e->args) == 1;
    char room[512];
    const char *own = name_of_counter(e, room);
    const cJSON *series;

    cJSON_ArrayForEach(series, e->args)
    {
        char name[1024];
        if (!cJSON_IsNumber(series))
            continue;
        snprintf(name, sizeof(name), "%s: %s", own, series->string);
        bool has_unit = is_alone && strcmp(series->string, "value") != 0;
        int counter = prof_trace_counter(
            r->trace, &(struct prof_counter) { .process = r->lanes.items[e->lane].process,
                                               .name = is_alone ? own : name,
                                               .unit = has_unit ? series->string : "" });
        if (prof_trace_sample(r->trace, counter, e->time, series->valuedouble) < 0)
            return no_memory(e->t, err);
    }
    return 0;
}

static int use_flow(struct trace_reader *r, const struct event *e, struct error *err)
{
    char key[720], id[EVENT_ID_SIZE];

    if (!event_id(e->json, &r->lanes.items[e->lane].process, id))
        return 0;
    snprintf(key, sizeof(key), "%s %.200s %.200s", id, e->category, e->name);
    const char *kept = prof_trace_text(r->trace, key);
    if (!kept)
        return no_memory(e->t, err);
    size_t order = r->points.nr;
    *array_push(&r->points) = (struct flow_point) {
        .key = kept,
        .phase = e->phase,
        .is_enclosing = e->phase != 'f' || !strcmp(json_string(e->json, "bp", ""), "e"),
        .is_of_scope = !strcmp(e->name, PROF_SCOPE_FLOWS),
        .lane = e->lane,
        .time = e->time,
        .order = order,
    };
    return 0;
}

/* The last name counts. -1: no memory. */
static int name_process(struct trace_reader *r, int64_t process, const char *name)
{
    const int *place = prof_map_at(&r->process_places, (uint64_t)process, 0, (int)r->processes.nr);

    if (!place)
        return -1;
    if ((size_t)*place == r->processes.nr)
        *array_push(&r->processes) = name;
    else
        r->processes.items[*place] = name;
    return 0;
}

/* Files of prof_write_trace() say there, too, what a lane is a part of. */
static void name_lane(struct lane *lane, const char *name, const cJSON *args)
{
    lane->name = name;
    lane->is_stream = numbers_stream(args);
    lane->device = json_int(args, "device", 0);
    lane->stream = json_int(args, "stream", 0);
    lane->is_further = cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(args, "of_thread"));
    lane->of_thread = json_int(args, "of_thread", 0);
}

static int use_name(struct trace_reader *r, const struct event *e, struct error *err)
{
    const char *name = json_string(e->args, "name", NULL);

    if (!name)
        return 0;
    name = prof_trace_text(r->trace, name);
    if (!name)
        return no_memory(e->t, err);
    if (!strcmp(e->name, "process_name"))
        return name_process(r, r->lanes.items[e->lane].process, name) ? no_memory(e->t, err) : 0;
    if (!strcmp(e->name, "thread_name"))
        name_lane(&r->lanes.items[e->lane], name, e->args);
    return 0;
}

static const struct {
    char phase;
    bool has_time;
    int (*use)(struct trace_reader *r, const struct event *e, struct error *err);
} phases[] = {
    { 'X', true, use_complete }, { 'B', true, use_begin }, { 'E', true, use_end },
    { 'i', true, use_point },    { 'I', true, use_point }, { 'C', true, use_counter },
    { 's', true, use_flow },     { 't', true, use_flow },  { 'f', true, use_flow },
    { 'M', false, use_name },
};

static int use_event(struct trace_reader *r, struct event *e, struct error *err)
{
    const char *phase = json_string(e->json, "ph", "");

    if (!cJSON_IsObject(e->json))
        return event_text_failed(e->t, e->t->at, "the event is no object", err);
    for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
        if (phases[i].phase != phase[0] || phase[1] != '\0')
            continue;
        e->phase = phase[0];
        e->args = cJSON_GetObjectItemCaseSensitive(e->json, "args");
        e->name = json_string(e->json, "name", "");
        e->category = known_category(json_string(e->json, "cat", ""), e->args);
        if (phases[i].has_time && event_time(e, "ts", &e->time, err))
            return -1;
        int64_t process, thread;
        if (id_number(r, cJSON_GetObjectItemCaseSensitive(e->json, "pid"), &process) ||
            id_number(r, cJSON_GetObjectItemCaseSensitive(e->json, "tid"), &thread))
            return no_memory(e->t, err);
        e->lane = lane_at(r, process, thread);
        if (e->lane < 0)
            return no_memory(e->t, err);
        return phases[i].use(r, e, err);
    }
    return 0;
}

/* Of prof_write_trace(); others have other things there. */
static int use_other_data(struct trace_reader *r, const cJSON *data)
{
    struct prof_meta *meta = &r->trace->meta;
    const char *clock = prof_trace_text(r->trace, json_string(data, "clock", ""));
    int64_t skipped = json_int(data, "skipped", 0), dropped = json_int(data, "dropped", 0);
    int64_t replaced = json_int(data, "replaced", 0);
    double scope_ns = json_number(data, "scope_ns", 0);

    meta->clock = clock ? clock : "";
    r->is_ours = cJSON_IsString(cJSON_GetObjectItemCaseSensitive(data, "clock"));
    meta->note = prof_trace_text(r->trace, json_string(data, "note", NULL));
    meta->rate = json_number(data, "rate", 1);
    meta->skipped = skipped > 0 ? (uint64_t)skipped : 0;
    meta->dropped += dropped > 0 ? (uint64_t)dropped : 0;
    meta->replaced = replaced > 0 ? (uint64_t)replaced : 0;
    meta->scope_ns = scope_ns > 0 ? scope_ns : 0;
    return clock ? 0 : -1;
}

int trace_reader_use(void *ctx, const struct event_text *t, const char *key, const cJSON *value,
                     const char *value_end, struct error *err)
{
    struct trace_reader *r = ctx;

    if (!key)
        return use_event(r, &(struct event) { .t = t, .end = value_end, .json = value }, err);
    if (!strcmp(key, "baseTimeNanoseconds") && cJSON_IsNumber(value))
        r->has_base = event_number(t->at, value_end, 0, &r->trace->meta.epoch_ns);
    if (!strcmp(key, "otherData") && use_other_data(r, value))
        return no_memory(t, err);
    return 0;
}
