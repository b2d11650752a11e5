/* SPDX-License-Identifier: MIT */
#include "cupti/collect.h"

#include "base/memory.h"
#include "base/monotonic.h"
#include "cupti/clock_offset.h"
#include "cupti/cupti_library.h"
#include "cupti/cupti_parse.h"
#include "cupti/cupti_records.h"
#include "cupti/pool.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 20, BUFFERS = 8, MOST_BUFFERS = 64 };

struct activity_collector {
    struct cupti_library library;
    struct cupti_reader reader;
    struct pool pool;
    struct activity_list list; /* the reading thread's */
    unsigned kinds;            /* those enabled */
    bool on_our_clock;         /* CUPTI asks us for the time */
    struct clock_offset clock; /* at the start ... */
    struct clock_offset last;  /* ... and at the end */
    pthread_t thread;
    sem_t wake;
    atomic_bool quit;
};

/* CUPTI's callbacks have no argument of ours. Whoever is in a callback has said so in `inside`
 * before looking at `current`, so that nobody frees it under them. */
static _Atomic(struct activity_collector *) current;
static atomic_int inside;

static const struct {
    unsigned bit;
    int kind;
    const char *what;
} kinds[] = {
    { 1u << ACTIVITY_KERNEL, CUPTI_KERNEL, "kernels" },
    { 1u << ACTIVITY_MEMCPY, CUPTI_MEMCPY, "copies" },
    { 1u << ACTIVITY_MEMCPY, CUPTI_MEMCPY_PEER, "copies between GPUs" },
    { 1u << ACTIVITY_MEMSET, CUPTI_MEMSET, "fills" },
    { 1u << ACTIVITY_RUNTIME, CUPTI_RUNTIME, "runtime calls" },
    { 1u << ACTIVITY_DRIVER, CUPTI_DRIVER, "driver calls" },
    { 1u << ACTIVITY_SYNC, CUPTI_SYNC, "waits" },
    { 1u << ACTIVITY_GRAPH, CUPTI_GRAPH, "graphs" },
};

enum { NR_KINDS = sizeof(kinds) / sizeof(*kinds) };

static void request_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
    atomic_fetch_add(&inside, 1);
    struct activity_collector *c = atomic_load(&current);

    *buffer = c ? pool_take(&c->pool) : NULL;
    *size = *buffer ? c->pool.bytes : 0;
    *most_records = 0; /* as many as there is room for */
    /* Perhaps none is left: the other thread sees to it. */
    if (c)
        sem_post(&c->wake);
    atomic_fetch_sub(&inside, 1);
}

static void buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                             size_t valid)
{
    atomic_fetch_add(&inside, 1);
    struct activity_collector *c = atomic_load(&current);

    (void)context, (void)stream, (void)size;
    if (c && buffer) {
        pool_give(&c->pool, buffer, valid);
        sem_post(&c->wake);
    }
    atomic_fetch_sub(&inside, 1);
}

/* From here on callbacks find no collector, and none is at work any more. */
static void retire_buffer(void)
{
    atomic_store(&current, NULL);
    while (atomic_load(&inside) > 0)
        sched_yield();
}

static const char *collected_call_name(const void *ctx, enum activity_kind kind, uint32_t number)
{
    const struct cupti_library *library = ctx;
    const char *name = NULL;
    int domain = kind == ACTIVITY_DRIVER ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME;

    return library->call.call_name(domain, number, &name) == CUPTI_OK ? name : NULL;
}

/* The library steps, since it alone knows the sizes of all its records. */
static void read_buffer(void *ctx, uint8_t *bytes, size_t valid)
{
    struct activity_collector *c = ctx;
    void *record = NULL;

    while (valid > 0 && c->library.call.next_record(bytes, valid, &record) == CUPTI_OK)
        cupti_parse_record(&c->reader, record, &c->list);
}

static void *read_buffers(void *ctx)
{
    struct activity_collector *c = ctx;

    while (!atomic_load(&c->quit)) {
        sem_wait(&c->wake);
        pool_drain(&c->pool, read_buffer, c);
        pool_grow(&c->pool);
    }
    pool_drain(&c->pool, read_buffer, c);
    return NULL;
}

static int read_clock(void *ctx, int64_t *ns)
{
    const struct activity_collector *c = ctx;
    uint64_t now = 0;
    int code = CUPTI_OK;

    if (c->on_our_clock)
        now = monotonic_ns();
    else
        code = c->library.call.timestamp(&now);

    *ns = (int64_t)now;
    return code;
}

static void disable_kinds(struct activity_collector *c)
{
    for (int i = 0; i < NR_KINDS; i++)
        if (c->kinds & 1u << i)
            c->library.call.disable(kinds[i].kind);
    c->kinds = 0;
}

/* A bit of c->kinds is a row of the table, for disable_kinds(). */
static int enable_kinds(struct activity_collector *c, unsigned wanted, struct error *err)
{
    for (int i = 0; i < NR_KINDS; i++) {
        if (!(wanted & kinds[i].bit))
            continue;
        int code = c->library.call.enable(kinds[i].kind);
        /* A single GPU has no copies to others: not everywhere may they be asked for. */
        if (code != CUPTI_OK && kinds[i].kind == CUPTI_MEMCPY_PEER)
            continue;
        if (code != CUPTI_OK) {
            cupti_library_failed(&c->library, "CUPTI", code, err);
            return error_prefix(err, "%s cannot be collected (is there a GPU with its driver?)",
                                kinds[i].what);
        }
        c->kinds |= 1u << i;
    }
    return 0;
}

static void collector_free(struct activity_collector *c)
{
    sem_destroy(&c->wake);
    pool_release(&c->pool);
    activity_list_release(&c->list);
    cupti_library_close(&c->library);
    free(c);
}

static struct activity_collector *collector_create(const struct activity_options *options,
                                                   struct error *err)
{
    struct cupti_library library;

    if (cupti_library_open(&library, err))
        return NULL;
    struct activity_collector *c = memory_zeroed(1, sizeof(*c));
    c->library = library;
    c->reader = (struct cupti_reader) { library.version, collected_call_name, &c->library };
    pool_init(&c->pool, options->buffer_bytes ? options->buffer_bytes : BUFFER_BYTES,
              options->buffers ? options->buffers : BUFFERS,
              options->most_buffers ? options->most_buffers : MOST_BUFFERS);
    activity_list_init(&c->list);
    sem_init(&c->wake, 0, 0);
    return c;
}

static void quit_reading(struct activity_collector *c)
{
    atomic_store(&c->quit, true);
    sem_post(&c->wake);
    pthread_join(c->thread, NULL);
}

/* So that calls are found on the threads that others (the scopes) know by the system's numbers. */
static void number_threads(const struct activity_collector *c)
{
    void *symbol = cupti_library_symbol(&c->library, "cuptiSetThreadIdType");
    int (*set)(int type);

    if (!symbol)
        return;
    memcpy(&set, &symbol, sizeof(set));
    set(CUPTI_THREADS_OF_SYSTEM);
}

/* CUPTI's own clock is the wall clock, which is set while a program runs. Where it takes ours
 * instead (since CUDA 11.6), nothing has to be converted. It must know before a kind is enabled. */
static void give_our_clock(struct activity_collector *c)
{
    void *symbol = cupti_library_symbol(&c->library, "cuptiActivityRegisterTimestampCallback");
    int (*give)(uint64_t(*time)(void));

    if (!symbol)
        return;
    memcpy(&give, &symbol, sizeof(give));
    c->on_our_clock = give(monotonic_ns) == CUPTI_OK;
}

/* From the registered callbacks on; undone by disable_kinds() and quit_reading(). */
static int begin_collecting(struct activity_collector *c, unsigned wanted, struct error *err)
{
    if (pthread_create(&c->thread, NULL, read_buffers, c) != 0)
        return error_set(err, "no thread can be started to read CUPTI's records");
    number_threads(c);
    give_our_clock(c);
    int code = c->library.call.register_callbacks(request_buffer, buffer_completed);
    if (code == CUPTI_OK && enable_kinds(c, wanted, err) == 0) {
        c->clock = clock_offset_measure(read_clock, c);
        return 0;
    }
    if (code != CUPTI_OK)
        cupti_library_failed(&c->library, "CUPTI", code, err);
    disable_kinds(c);
    quit_reading(c);
    return -1;
}

int activity_start(struct activity_collector **collector, const struct activity_options *options,
                   struct error *err)
{
    struct activity_collector *none = NULL, *c = collector_create(options, err);

    if (!c)
        return -1;
    if (!atomic_compare_exchange_strong(&current, &none, c)) {
        collector_free(c);
        return error_set(err, "activities are being collected already");
    }
    if (begin_collecting(c, options->kinds ? options->kinds : ACTIVITY_KINDS_USUAL, err)) {
        retire_buffer();
        collector_free(c);
        return -1;
    }
    *collector = c;
    return 0;
}

static void count_dropped(struct activity_collector *c)
{
    size_t nr = 0;

    /* 0 and NULL: the global queue, which since CUDA 6 is the only one. */
    if (c->library.call.dropped(NULL, 0, &nr) == CUPTI_OK)
        c->list.dropped += nr;
}

/* A straight line through the offsets at the start and at the end: clocks drift apart. */
static void set_list_clock(const struct activity_collector *c, struct activity_list *list)
{
    const struct clock_offset *early = &c->clock, *late = &c->last;

    if (early->error < 0)
        early = late;
    list->has_clock = early->error >= 0;
    list->clock_offset = c->on_our_clock ? 0 : early->offset;
    list->clock_error = late->error > early->error ? late->error : early->error;
    list->clock_at = early->at;
    if (!c->on_our_clock && early->error >= 0 && late->error >= 0 && late->at > early->at)
        list->clock_drift = (double)(late->offset - early->offset) / (double)(late->at - early->at);
}

/* Moves what was read to the caller's list; names are the list's own. */
static void hand_over(struct activity_collector *c, struct activity_list *list)
{
    for (size_t i = 0; i < c->list.nr; i++) {
        const struct activity *from = &c->list.items[i];
        struct activity *to = activity_add(list, from->kind);
        *to = *from;
        to->name = activity_name(list, from->name);
    }
    list->dropped += c->list.dropped;
    list->untimed += c->list.untimed;
    list->unread += c->list.unread;
    set_list_clock(c, list);
    activity_sort(list);
}

int activity_stop(struct activity_collector *c, struct activity_list *list, struct error *err)
{
    int code = c->library.call.flush(0);

    c->last = clock_offset_measure(read_clock, c);
    disable_kinds(c);
    /* The second one also gets what is incomplete, so that no buffer stays out. */
    int forced = c->library.call.flush(CUPTI_FLUSH_FORCED);
    if (code == CUPTI_OK)
        code = forced;
    count_dropped(c);
    retire_buffer();
    quit_reading(c);
    hand_over(c, list);
    int rc = code == CUPTI_OK ? 0 : cupti_library_failed(&c->library, "CUPTI: flush", code, err);
    collector_free(c);
    return rc;
}

/* The library stays in the process (cupti_library.h), so a number outlives the collector. */
int64_t activity_stream(void *stream)
{
    const struct activity_collector *c = atomic_load(&current);
    void *symbol = c ? cupti_library_symbol(&c->library, "cuptiGetStreamIdEx") : NULL;
    int (*number)(void *context, void *stream, uint8_t per_thread, uint32_t *number);
    uint32_t id = 0;

    if (!symbol)
        return -1;
    memcpy(&number, &symbol, sizeof(number));
    return number(NULL, stream, 0, &id) == CUPTI_OK ? (int64_t)id : -1;
}

int activity_available(uint32_t *version, struct error *why)
{
    struct cupti_library library;

    if (cupti_library_open(&library, why))
        return -1;
    *version = library.version;
    cupti_library_close(&library);
    return 0;
}
