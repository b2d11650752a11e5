/* SPDX-License-Identifier: MIT */
#include "cupti/cupti_parse.h"

#include "cupti/cupti_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a record and the version since which it has them; of each kind the newest first. */
static const struct size {
    uint32_t kind, since;
    size_t bytes;
} sizes[] = {
    { CUPTI_KERNEL, 130000, 216 }, { CUPTI_KERNEL, 26, 208 }, /* ...Kernel10, 9 */
    { CUPTI_MEMCPY, 26, 96 },                                 /* ...Memcpy6 */
    { CUPTI_MEMCPY_PEER, 26, 96 },                            /* ...MemcpyPtoP4 */
    { CUPTI_MEMSET, 26, 88 },                                 /* ...Memset4 */
    { CUPTI_RUNTIME, 26, 40 },     { CUPTI_DRIVER, 26, 40 },  /* ...API */
    { CUPTI_SYNC, 26, 56 },                                   /* ...Synchronization2 */
    { CUPTI_GRAPH, 26, 56 },                                  /* ...GraphTrace2 */
};

enum { STEP_OLDEST = 26, STEP_NEWEST = 130001 };

/* Appends an activity with its times. CUPTI writes 0 where it had no room to take the time: such a
 * record is counted, no more. */
static struct activity *timed_activity(struct activity_list *list, enum activity_kind kind,
                                       uint64_t start, uint64_t end)
{
    if (start == 0 || end < start || end > INT64_MAX) {
        list->untimed++;
        return NULL;
    }
    struct activity *a = activity_add(list, kind);
    a->start = (int64_t)start;
    a->end = (int64_t)end;
    return a;
}

/* What all records of work on a GPU have. */
struct origin {
    uint64_t start, end, graph_node;
    uint32_t device, context, stream, correlation, graph;
};

#define ORIGIN(r)                                                                                  \
    ((struct origin) { (r).start, (r).end, (r).graph_node, (r).device, (r).context, (r).stream,    \
                       (r).correlation, (r).graph })

static struct activity *on_device(struct activity_list *list, enum activity_kind kind,
                                  struct origin o)
{
    struct activity *a = timed_activity(list, kind, o.start, o.end);

    if (!a)
        return NULL;
    a->device = (int32_t)o.device;
    a->context = o.context;
    a->stream = o.stream;
    a->correlation = o.correlation;
    a->graph = o.graph;
    a->graph_node = o.graph_node;
    return a;
}

static void parse_kernel(const struct cupti_reader *reader, const void *record,
                         struct activity_list *list)
{
    struct cupti_kernel r;

    (void)reader;
    memcpy(&r, record, sizeof(r));
    struct activity *a = on_device(list, ACTIVITY_KERNEL, ORIGIN(r));
    if (!a)
        return;
    a->name = activity_name(list, r.name ? r.name : "unnamed kernel");
    memcpy(a->grid, r.grid, sizeof(a->grid));
    memcpy(a->block, r.block, sizeof(a->block));
    a->registers = r.registers;
    a->static_shared = r.static_shared;
    a->shared = r.dynamic_shared;
}

static void add_copy(struct activity_list *list, struct origin o, unsigned copy, uint64_t bytes)
{
    struct activity *a = on_device(list, ACTIVITY_MEMCPY, o);

    if (!a)
        return;
    a->copy = copy < MEMCPY_KIND_NR ? (enum memcpy_kind)copy : MEMCPY_UNKNOWN;
    a->bytes = (int64_t)bytes;
    activity_name_work(list, a);
}

static void parse_memcpy(const struct cupti_reader *reader, const void *record,
                         struct activity_list *list)
{
    struct cupti_memcpy r;

    (void)reader;
    memcpy(&r, record, sizeof(r));
    add_copy(list, ORIGIN(r), r.copy, r.bytes);
}

static void parse_memcpy_peer(const struct cupti_reader *reader, const void *record,
                              struct activity_list *list)
{
    struct cupti_memcpy_peer r;

    (void)reader;
    memcpy(&r, record, sizeof(r));
    add_copy(list, ORIGIN(r), r.copy, r.bytes);
}

static void parse_memset(const struct cupti_reader *reader, const void *record,
                         struct activity_list *list)
{
    struct cupti_memset r;

    (void)reader;
    memcpy(&r, record, sizeof(r));
    struct activity *a = on_device(list, ACTIVITY_MEMSET, ORIGIN(r));
    if (!a)
        return;
    activity_name_work(list, a);
    a->bytes = (int64_t)r.bytes;
}

static const char *call_name(const struct cupti_reader *reader, struct activity_list *list,
                             enum activity_kind kind, uint32_t number)
{
    const char *known = reader->call_name ? reader->call_name(reader->ctx, kind, number) : NULL;
    char name[64];

    if (known && *known)
        return activity_call_name(list, known);
    snprintf(name, sizeof(name), "%s call %" PRIu32, activity_kind_name(kind), number);
    return activity_name(list, name);
}

static void parse_call(const struct cupti_reader *reader, const void *record,
                       struct activity_list *list)
{
    struct cupti_call r;

    memcpy(&r, record, sizeof(r));
    enum activity_kind kind = r.kind == CUPTI_DRIVER ? ACTIVITY_DRIVER : ACTIVITY_RUNTIME;
    struct activity *a = timed_activity(list, kind, r.start, r.end);
    if (!a)
        return;
    a->correlation = r.correlation;
    a->process = r.process;
    a->thread = r.thread;
    a->result = (int32_t)r.result;
    a->name = call_name(reader, list, kind, r.number);
}

static void parse_sync(const struct cupti_reader *reader, const void *record,
                       struct activity_list *list)
{
    static const char *const names[] = { "wait", "wait for event", "stream waits for event",
                                         "wait for stream", "wait for context" };
    struct cupti_sync r;

    (void)reader;
    memcpy(&r, record, sizeof(r));
    struct activity *a = timed_activity(list, ACTIVITY_SYNC, r.start, r.end);
    if (!a)
        return;
    a->context = r.context;
    a->stream = r.stream;
    a->correlation = r.correlation;
    a->name = activity_name(list, names[r.type < sizeof(names) / sizeof(*names) ? r.type : 0]);
}

static void parse_graph(const struct cupti_reader *reader, const void *record,
                        struct activity_list *list)
{
    struct cupti_graph r;

    (void)reader;
    memcpy(&r, record, sizeof(r));
    struct origin o = { .start = r.start, .end = r.end, .device = r.device, .context = r.context };
    o.stream = r.stream;
    o.correlation = r.correlation;
    o.graph = r.graph;
    struct activity *a = on_device(list, ACTIVITY_GRAPH, o);
    if (a)
        activity_name_work(list, a);
}

static const struct {
    uint32_t kind;
    void (*parse)(const struct cupti_reader *reader, const void *record,
                  struct activity_list *list);
} parsers[] = {
    { CUPTI_KERNEL, parse_kernel }, { CUPTI_KERNEL_SERIAL, parse_kernel },
    { CUPTI_MEMCPY, parse_memcpy }, { CUPTI_MEMCPY_PEER, parse_memcpy_peer },
    { CUPTI_MEMSET, parse_memset }, { CUPTI_RUNTIME, parse_call },
    { CUPTI_DRIVER, parse_call },   { CUPTI_SYNC, parse_sync },
    { CUPTI_GRAPH, parse_graph },
};

void cupti_parse_record(const struct cupti_reader *reader, const void *record,
                        struct activity_list *list)
{
    uint32_t kind;

    memcpy(&kind, record, sizeof(kind));
    for (size_t i = 0; i < sizeof(parsers) / sizeof(*parsers); i++) {
        if (parsers[i].kind == kind) {
            parsers[i].parse(reader, record, list);
            return;
        }
    }
    list->unread++;
}

/* 0: not known. */
static size_t record_size(uint32_t kind, uint32_t version)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        if (sizes[i].kind == kind && version >= sizes[i].since)
            return sizes[i].bytes;
    return 0;
}

int cupti_parse_buffer(const struct cupti_reader *reader, const void *buffer, size_t length,
                       struct activity_list *list, struct error *err)
{
    const char *bytes = buffer;

    if (reader->version < STEP_OLDEST || reader->version > STEP_NEWEST)
        return error_set(err, "the sizes of CUPTI %" PRIu32 "'s records are not known here",
                         reader->version);
    for (size_t at = 0; at < length;) {
        uint32_t kind = 0;
        if (length - at < sizeof(kind))
            return error_set(err, "byte %zu: %zu bytes are no record", at, length - at);
        memcpy(&kind, bytes + at, sizeof(kind));
        size_t size = record_size(kind, reader->version);
        if (size == 0)
            return error_set(err, "byte %zu: a record of kind %" PRIu32 ", which is not read here",
                             at, kind);
        if (size > length - at)
            return error_set(err, "byte %zu: a record of %zu bytes is cut off after %zu", at, size,
                             length - at);
        cupti_parse_record(reader, bytes + at, list);
        at += size;
    }
    return 0;
}
