/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for libcupti.so: it hands records to the program as the real one does, through buffers
 * that it asks for and gives back, from any thread. CUPTI_STUB holds what it is told: "version=N",
 * "enable=N" (the error of cuptiActivityEnable), "flush=N", "process=N" (of calls). A test makes it
 * work by cupti_stub_run(). Counters are in cupti_stub_counters.cc.
 */
#include "cupti_stub.h"

#include "cupti/cupti_records.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void request_fn(uint8_t **buffer, size_t *size, size_t *most);
typedef void complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                         size_t valid);

enum { KERNEL_BYTES = 216, CALL_BYTES = 40, KINDS = 64 };

int cuptiGetVersion(uint32_t *version);
int cuptiGetResultString(int code, const char **text);
int cuptiGetTimestamp(uint64_t *ns);
int cuptiActivityRegisterCallbacks(request_fn *request, complete_fn *complete);
int cuptiActivityEnable(int kind);
int cuptiActivityDisable(int kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *nr);
int cuptiGetCallbackName(int domain, uint32_t number, const char **name);
int cuptiSetThreadIdType(int type);
int cuptiActivityRegisterTimestampCallback(uint64_t (*time)(void));
int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *number);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static request_fn *requested;
static complete_fn *completed;
static int enabled[KINDS];
static int thread_id_type;
static uint8_t *buffer;
static size_t size, used, dropped;
static uint64_t now = 1000; /* of the stub's clock */
static uint64_t (*given_time)(void);
static uint32_t correlation;

long cupti_stub_told(const char *word, long otherwise)
{
    const char *words = getenv("CUPTI_STUB"), *at = words ? strstr(words, word) : NULL;

    return at ? strtol(at + strlen(word), NULL, 10) : otherwise;
}

int cuptiGetVersion(uint32_t *version)
{
    *version = (uint32_t)cupti_stub_told("version=", 130001);
    return CUPTI_OK;
}

int cuptiGetResultString(int code, const char **text)
{
    *text = code == CUPTI_OK ? "STUB_SUCCESS" : "STUB_ERROR";
    return CUPTI_OK;
}

int cuptiGetTimestamp(uint64_t *ns)
{
    pthread_mutex_lock(&lock);
    *ns = now;
    pthread_mutex_unlock(&lock);
    return CUPTI_OK;
}

int cuptiActivityRegisterCallbacks(request_fn *request, complete_fn *complete)
{
    requested = request;
    completed = complete;
    return CUPTI_OK;
}

int cuptiActivityEnable(int kind)
{
    int code = (int)cupti_stub_told("enable=", CUPTI_OK);

    enabled[kind] = code == CUPTI_OK;
    return code;
}

int cuptiActivityDisable(int kind)
{
    enabled[kind] = 0;
    return CUPTI_OK;
}

static void give_back(void)
{
    if (buffer)
        completed(NULL, 0, buffer, size, used);
    buffer = NULL;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    pthread_mutex_lock(&lock);
    give_back();
    pthread_mutex_unlock(&lock);
    return (int)cupti_stub_told("flush=", CUPTI_OK);
}

int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, void **record)
{
    uint8_t *last = *record, *next = from;
    uint32_t kind;

    if (last) {
        memcpy(&kind, last, sizeof(kind));
        next = last + (kind == CUPTI_KERNEL ? KERNEL_BYTES : CALL_BYTES);
    }
    if (next >= from + valid)
        return CUPTI_NO_MORE_RECORDS;
    *record = next;
    return CUPTI_OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *nr)
{
    (void)context, (void)stream;
    pthread_mutex_lock(&lock);
    *nr = dropped;
    dropped = 0;
    pthread_mutex_unlock(&lock);
    return CUPTI_OK;
}

int cuptiGetCallbackName(int domain, uint32_t number, const char **name)
{
    *name = domain == CUPTI_DOMAIN_RUNTIME && number == 211  ? "cudaLaunchKernel_v7000"
            : domain == CUPTI_DOMAIN_DRIVER && number == 652 ? "cuLaunchKernelEx"
                                                             : NULL;
    return *name ? CUPTI_OK : CUPTI_BAD_RECORD;
}

int cuptiSetThreadIdType(int type)
{
    thread_id_type = type;
    return CUPTI_OK;
}

/* "wall=1": an old one, which has a clock of its own. */
int cuptiActivityRegisterTimestampCallback(uint64_t (*time)(void))
{
    given_time = cupti_stub_told("wall=", 0) ? NULL : time;
    return given_time ? CUPTI_OK : CUPTI_BAD_RECORD;
}

/* Its number is that of its address. */
int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *number)
{
    (void)context, (void)per_thread;
    *number = (uint32_t)(uintptr_t)stream;
    return CUPTI_OK;
}

/* Under the lock. */
static void record(const void *bytes, size_t part, size_t whole)
{
    if (buffer && used + whole > size)
        give_back();
    if (!buffer) {
        size_t most = 0;
        requested(&buffer, &size, &most);
        used = 0;
    }
    if (!buffer || size < whole) {
        dropped++;
        return;
    }
    memset(buffer + used, 0, whole);
    memcpy(buffer + used, bytes, part);
    used += whole;
}

static void launch(const char *name, bool by_driver)
{
    struct cupti_call call = { .kind = CUPTI_RUNTIME,
                               .number = 211,
                               .process = (uint32_t)cupti_stub_told("process=", 7),
                               .thread = 8 };
    struct cupti_kernel kernel = { .kind = CUPTI_KERNEL, .name = name, .stream = 3 };

    pthread_mutex_lock(&lock);
    if (by_driver) {
        call.kind = CUPTI_DRIVER;
        call.number = 652;
    }
    if (given_time)
        now = given_time();
    if (thread_id_type == CUPTI_THREADS_OF_SYSTEM)
        call.thread = (uint32_t)gettid();
    call.start = now += 10;
    call.end = now += 20;
    kernel.start = now += 5;
    kernel.end = now += 100;
    call.correlation = kernel.correlation = ++correlation;
    /* "late=1": what ran is told of before what launched it. */
    if (cupti_stub_told("late=", 0) && enabled[CUPTI_KERNEL])
        record(&kernel, sizeof(kernel), KERNEL_BYTES);
    if (enabled[call.kind])
        record(&call, sizeof(call), CALL_BYTES);
    if (!cupti_stub_told("late=", 0) && enabled[CUPTI_KERNEL])
        record(&kernel, sizeof(kernel), KERNEL_BYTES);
    pthread_mutex_unlock(&lock);
}

void cupti_stub_run(const char *name, int launches)
{
    for (int i = 0; i < launches; i++)
        launch(name, false);
}

void cupti_stub_run_by_driver(const char *name, int launches)
{
    for (int i = 0; i < launches; i++)
        launch(name, true);
}
