/* SPDX-License-Identifier: MIT */
#include "http/http_base.h"

#include "base/memory.h"
#include "base/monotonic.h"

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the library ---- */

static const char library_file[] = "libmicrohttpd.so.12";

static const struct function {
    const char *name;
    size_t offset;
} library_functions[] = {
#define MICROHTTPD_ROW(name) { "MHD_" #name, offsetof(struct microhttpd, name) },
    MICROHTTPD_FUNCTIONS(MICROHTTPD_ROW)
};

/* One that is not open is fine. */
static void microhttpd_close(struct microhttpd *library)
{
    if (library->handle)
        dlclose(library->handle);
    *library = (struct microhttpd) { .handle = NULL };
}

static int microhttpd_open(struct microhttpd *library, struct error *err)
{
    *library = (struct microhttpd) { .handle = dlopen(library_file, RTLD_NOW | RTLD_LOCAL) };
    if (!library->handle)
        return error_set(err,
                         "serving needs libmicrohttpd, which is not on this machine (%s). Install "
                         "libmicrohttpd12; `harness report` writes the same page into a file",
                         dlerror());
    for (size_t i = 0; i < sizeof(library_functions) / sizeof(library_functions[0]); i++) {
        void *function = dlsym(library->handle, library_functions[i].name);
        if (!function) {
            microhttpd_close(library);
            return error_set(err, "%s lacks %s: it is too old, 0.9.75 is needed", library_file,
                             library_functions[i].name);
        }
        memcpy((char *)library + library_functions[i].offset, &function, sizeof(function));
    }
    return 0;
}

/* ---- requests ---- */

const char *http_parameter(const struct http_request *request, const char *name)
{
    const struct http *http = request->http;
    const char *value = NULL;

    enum MHD_Result found = http->mhd.lookup_connection_value_n(
        request->connection, MHD_GET_ARGUMENT_KIND, name, strlen(name), &value, NULL);
    return found == MHD_NO ? NULL : value ? value : "";
}

struct name_search {
    const char *const *names;
    const char *unknown;
};

static enum MHD_Result look_at_name(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct name_search *search = context;

    (void)kind;
    (void)value;
    for (size_t i = 0; search->names[i]; i++)
        if (strcmp(search->names[i], name) == 0)
            return MHD_YES;
    search->unknown = name;
    return MHD_NO;
}

const char *http_unknown_parameter(const struct http_request *request, const char *const *names)
{
    const struct http *http = request->http;
    struct name_search search = { names, NULL };

    http->mhd.get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, look_at_name,
                                    &search);
    return search.unknown;
}

static void *http_begin_visit(void *context, const char *target, struct MHD_Connection *connection)
{
    struct http_visit *visit = memory_zeroed(1, sizeof(*visit));

    (void)context;
    (void)connection;
    strbuf_init(&visit->body);
    if (strnlen(target, GUARD_URI_MAX + 1) <= GUARD_URI_MAX)
        visit->target = memory_string(target);
    return visit;
}

static void http_end_visit(void *context, struct MHD_Connection *connection, void **state,
                           enum MHD_RequestTerminationCode how)
{
    struct http *http = context;
    struct http_visit *visit = *state;

    (void)how;
    http_set_deadline(http, connection, (int64_t)HTTP_TIMEOUT_S * 1000);
    if (!visit)
        return;
    if (visit->counted)
        atomic_fetch_sub(&http->answering, 1);
    strbuf_release(&visit->body);
    free(visit->target);
    free(visit);
    *state = NULL;
}

/* A probe of health waits for nobody. */
static struct http_answer http_handle(struct http *http, const struct http_request *request)
{
    bool waits = strcmp(request->path, "/healthz") != 0;

    if (waits && !http_begin_work(http, request->connection))
        return http_error(MHD_HTTP_SERVICE_UNAVAILABLE, 0,
                          "the server is busy with earlier requests of yours; try again");
    atomic_fetch_add(&http->handling, 1);
    struct http_answer answer = http->options.handle(http->options.context, request);
    atomic_fetch_sub(&http->handling, 1);
    if (waits)
        http_end_work(http, request->connection);
    return answer;
}

/* Those who ask for much wait, so that others do not. */
static void keep_pace(struct http *http, struct MHD_Connection *connection)
{
    struct http_slot *slot = http_slot_of(http, connection);

    if (slot && slot->member)
        http_pause(http, quota_pace_request(http->quotas, slot->member));
}

/* Takes the answer away in the time that its length needs. */
static enum MHD_Result deliver_answer(struct http *http, struct MHD_Connection *connection,
                                      struct http_answer answer)
{
    size_t length = body_length(answer.body);
    struct http_slot *slot = http_slot_of(http, connection);
    int first = http->options.answer_ms ? http->options.answer_ms : HTTP_ANSWER_MS;
    int rate = http->options.answer_rate ? http->options.answer_rate : HTTP_ANSWER_RATE;

    if (slot && slot->member)
        http_pause(http, quota_pace_bytes(http->quotas, slot->member, length));
    http_set_deadline(http, connection, first + (int64_t)length * 1000 / rate);
    return http_send(http, connection, answer);
}

/* A part of what a POST brings. Its header said how long it is; who brings more is cut off. */
static enum MHD_Result take_upload(struct http_visit *visit, const char *upload, size_t *size)
{
    if (!visit->posts || visit->body.length + *size > HTTP_BODY_MAX)
        return MHD_NO;
    strbuf_add(&visit->body, upload, *size);
    *size = 0;
    return MHD_YES;
}

static enum MHD_Result access_request(void *context, struct MHD_Connection *connection,
                                      const char *path, const char *method, const char *version,
                                      const char *upload, size_t *upload_size, void **state)
{
    struct http *http = context;
    struct http_visit *visit = *state;
    enum MHD_Result result;

    (void)version;
    if (!visit) /* it comes from http_begin_visit() */
        return MHD_NO;
    if (!visit->begun) {
        /* What is answered in the first call ends the connection: right for refusals alone. */
        visit->begun = true;
        visit->posts = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
        return http_refuse(http, connection, visit, method, path, &result) ? result : MHD_YES;
    }
    if (*upload_size > 0)
        return take_upload(visit, upload, upload_size);
    visit->counted = true;
    atomic_fetch_add(&http->answering, 1);
    http_set_deadline(http, connection, 0); /* the work has a limit of its own */
    keep_pace(http, connection);
    struct http_request request = {
        path, visit->target, http, connection, NULL, visit->body.length
    };
    if (visit->posts)
        request.posted = visit->body.data;
    struct http_answer answer = http_handle(http, &request);
    if (!answer.news)
        return deliver_answer(http, connection, answer);
    /* A stream has no end of its own: nobody waits for it, neither here nor when closing. */
    visit->counted = false;
    atomic_fetch_sub(&http->answering, 1);
    http_set_deadline(http, connection, 0);
    return http_send_news(http, connection);
}

/* ---- beginning and end ---- */

static void copy_options(struct http *http, const struct http_options *options)
{
    http->options = *options;
    http->token = memory_string(options->token);
    http->post_key = memory_string(options->post_key);
    http->names = memory_zeroed(options->nr_names + 1, sizeof(*http->names));
    for (size_t i = 0; i < options->nr_names; i++)
        http->names[i] = memory_string(options->names[i]);
    http->guard = (struct guard_names) {
        .loopback = http->listening.loopback,
        .names = (const char *const *)http->names,
        .nr_names = options->nr_names,
    };
    snprintf(http->cookie, sizeof(http->cookie), "harness_token_%d", http->listening.port);
}

static void http_release(struct http *http)
{
    for (size_t i = 0; http->names && http->names[i]; i++)
        free(http->names[i]);
    free(http->names);
    free(http->token);
    free(http->post_key);
    if (http->listening.fd >= 0)
        close(http->listening.fd);
    pthread_mutex_destroy(&http->lock);
    quotas_free(http->quotas);
    microhttpd_close(&http->mhd);
    free(http);
}

static int check_options(const struct http *http, const struct http_options *options,
                         struct error *err)
{
    if (options->token && guard_check_token(options->token, err))
        return -1;
    for (size_t i = 0; i < options->nr_names; i++)
        if (guard_check_name(options->names[i], err))
            return -1;
    if (http->listening.loopback || options->token)
        return 0;
    return error_set(err,
                     "others could read the history at %s: a token is needed, --token-file FILE or "
                     "$HARNESS_TOKEN; `openssl rand -hex 24` makes one",
                     options->host);
}

static struct MHD_Daemon *start_daemon(struct http *http)
{
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ITC |
                     (http->listening.ipv6 ? MHD_USE_IPv6 : 0U);

    /* The library stops listening at its limit, which would lock out all: it is never reached,
     * since http_admit() turns away those who have enough. */
    return http->mhd.start_daemon(
        flags, (uint16_t)http->listening.port, http_admit, http, access_request, http,
        MHD_OPTION_LISTEN_SOCKET, http->listening.fd, MHD_OPTION_CONNECTION_LIMIT,
        2U * HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_HEADERS_MAX, MHD_OPTION_STRICT_FOR_CLIENT,
        1, MHD_OPTION_URI_LOG_CALLBACK, http_begin_visit, http, MHD_OPTION_NOTIFY_COMPLETED,
        http_end_visit, http, MHD_OPTION_NOTIFY_CONNECTION, http_connection_changed, http,
        MHD_OPTION_END);
}

/* Signals are for the thread that opens the server; its threads inherit a mask that holds all. */
static int start_threads(struct http *http, struct error *err)
{
    sigset_t all, before;
    int rc = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    http->has_watchman = pthread_create(&http->watchman, NULL, http_watch, http) == 0;
    if (!http->has_watchman)
        rc = error_set(err, "cannot start a thread");
    else if (!(http->daemon = start_daemon(http)))
        rc = error_set(err, "the HTTP server does not start; are there enough threads and files?");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static void stop_watchman(struct http *http)
{
    atomic_store(&http->closing, true);
    if (http->has_watchman)
        pthread_join(http->watchman, NULL);
    http->has_watchman = false;
}

int http_open(const struct http_options *options, struct http **out, struct error *err)
{
    struct http *http = memory_zeroed(1, sizeof(*http));

    *out = NULL;
    pthread_mutex_init(&http->lock, NULL);
    http->quotas = quotas_create();
    http->listening.fd = -1;
    int rc = microhttpd_open(&http->mhd, err);
    if (rc == 0)
        rc = listen_open(options->host, options->port, &http->listening, err);
    if (rc == 0)
        copy_options(http, options);
    if (rc == 0)
        rc = check_options(http, options, err);
    if (rc == 0)
        rc = start_threads(http, err);
    if (rc == 0) {
        *out = http;
        return 0;
    }
    stop_watchman(http);
    http_release(http);
    return -1;
}

const struct listening *http_listening(const struct http *http)
{
    return &http->listening;
}

static void wait_until_answered(struct http *http, int patience_ms)
{
    int64_t until = monotonic_ms() + patience_ms;

    while (atomic_load(&http->answering) > 0 && monotonic_ms() < until)
        usleep(5000);
}

/* Pages that are open hear that this is the end; one that does not listen is cut off. */
static void say_goodbye(struct events *events)
{
    events_close(events);
    for (int64_t until = monotonic_ms() + HTTP_GOODBYE_MS;
         events_readers(events) > 0 && monotonic_ms() < until;)
        usleep(5000);
}

bool http_close(struct http *http, int patience_ms)
{
    http->mhd.quiesce_daemon(http->daemon); /* the socket is ours, and closed in http_release() */
    stop_watchman(http);
    wait_until_answered(http, patience_ms);
    if (atomic_load(&http->handling) > 0)
        return false;
    if (http->options.events)
        say_goodbye(http->options.events);
    http->mhd.stop_daemon(http->daemon); /* closes what is open, and waits for its threads */
    http_release(http);
    return true;
}
