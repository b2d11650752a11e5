/* SPDX-License-Identifier: MIT */
/* Who gets a place, and for how long. Time counts from the first byte on: the library's own timeout
 * begins anew with each byte, so that a reader of one byte a second would keep its place for ever.
 */
#include "http/http_base.h"

#include "base/monotonic.h"

#include <poll.h>
#include <sys/socket.h>

enum {
    LOOK_MS = 200,
    LEAVE_MS = 1000, /* one who has closed one half may still be reading */
};

static int fd_of(const struct http *http, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        http->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info ? info->connect_fd : -1;
}

struct http_slot *http_slot_of(const struct http *http, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        http->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

/* With the lock held. */
static struct http_slot *free_slot(struct http *http)
{
    for (size_t i = 0; i < sizeof(http->slots) / sizeof(http->slots[0]); i++)
        if (!http->slots[i].used)
            return &http->slots[i];
    return NULL;
}

/* With a member that never became a connection, if there is one: the library gave it up. */
enum MHD_Result http_admit(void *context, const struct sockaddr *peer, socklen_t size)
{
    struct http *http = context;
    struct client client;

    (void)size;
    if (http->arriving)
        quota_leave(http->quotas, http->arriving);
    client_find(peer, &http->listening, &client);
    http->arriving = quota_enter(http->quotas, &client);
    return http->arriving ? MHD_YES : MHD_NO;
}

/* With the lock held, in the listening thread. */
static struct http_slot *take_slot(struct http *http, struct MHD_Connection *connection)
{
    struct http_slot *slot = free_slot(http);

    if (!slot)
        return NULL;
    slot->used = true;
    slot->fd = fd_of(http, connection);
    slot->deadline_ms = monotonic_ms() + HTTP_REQUEST_MS;
    slot->work_ms = 0;
    atomic_store(&slot->gone, false);
    slot->member = http->arriving;
    http->arriving = NULL;
    return slot;
}

void http_connection_changed(void *context, struct MHD_Connection *connection, void **state,
                             enum MHD_ConnectionNotificationCode what)
{
    struct http *http = context;

    pthread_mutex_lock(&http->lock);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *state = take_slot(http, connection);
    } else if (*state) {
        /* The library closes the descriptor after this, so no other connection has it yet. */
        struct http_slot *slot = *state;
        slot->used = false;
        if (slot->member)
            quota_leave(http->quotas, slot->member);
        slot->member = NULL;
    }
    pthread_mutex_unlock(&http->lock);
}

void http_set_deadline(struct http *http, struct MHD_Connection *connection, int64_t ms)
{
    struct http_slot *slot = http_slot_of(http, connection);

    if (!slot)
        return;
    pthread_mutex_lock(&http->lock);
    slot->deadline_ms = ms ? monotonic_ms() + ms : 0;
    pthread_mutex_unlock(&http->lock);
}

/* ---- work on an answer ---- */

void http_pause(struct http *http, int ms)
{
    for (int64_t until = monotonic_ms() + ms; !atomic_load(&http->closing);) {
        int64_t left = until - monotonic_ms();
        if (left <= 0)
            return;
        struct timespec pause = { .tv_nsec = (left < LOOK_MS ? left : LOOK_MS) * 1000000L };
        nanosleep(&pause, NULL);
    }
}

static void note_work(struct http *http, struct http_slot *slot, int64_t since)
{
    pthread_mutex_lock(&http->lock);
    slot->work_ms = since;
    atomic_store(&slot->gone, false);
    pthread_mutex_unlock(&http->lock);
}

bool http_begin_work(struct http *http, struct MHD_Connection *connection)
{
    struct http_slot *slot = http_slot_of(http, connection);

    if (!slot || !slot->member || !quota_begin(http->quotas, slot->member, HTTP_PATIENCE_MS))
        return false;
    note_work(http, slot, monotonic_ms());
    return true;
}

void http_end_work(struct http *http, struct MHD_Connection *connection)
{
    struct http_slot *slot = http_slot_of(http, connection);

    note_work(http, slot, 0);
    quota_end(http->quotas, slot->member);
}

/* The slot is this thread's own while it works. */
enum http_over http_request_over(const struct http_request *request)
{
    const struct http *http = request->http;
    const struct http_slot *slot = http_slot_of(http, request->connection);

    if (!slot || slot->work_ms == 0)
        return HTTP_GO_ON;
    if (atomic_load(&slot->gone))
        return HTTP_GONE;
    int most = http->options.work_ms ? http->options.work_ms : HTTP_WORK_MS;
    return monotonic_ms() - slot->work_ms > most ? HTTP_LATE : HTTP_GO_ON;
}

/* With the lock held. The library does not look at a connection while its answer is made. */
static void look_whether_gone(struct http_slot *slot, int64_t now)
{
    struct pollfd p = { .fd = slot->fd, .events = POLLRDHUP };

    if (slot->work_ms && now - slot->work_ms > LEAVE_MS && poll(&p, 1, 0) > 0 &&
        (p.revents & (POLLRDHUP | POLLHUP | POLLERR)))
        atomic_store(&slot->gone, true);
}

static void cut_late_ones(struct http *http)
{
    int64_t now = monotonic_ms();

    pthread_mutex_lock(&http->lock);
    for (size_t i = 0; i < sizeof(http->slots) / sizeof(http->slots[0]); i++) {
        struct http_slot *slot = &http->slots[i];
        if (slot->used && slot->deadline_ms && slot->deadline_ms < now && slot->fd >= 0)
            shutdown(slot->fd, SHUT_RDWR);
        if (slot->used && slot->fd >= 0)
            look_whether_gone(slot, now);
    }
    pthread_mutex_unlock(&http->lock);
}

void *http_watch(void *context)
{
    struct http *http = context;
    struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };

    while (!atomic_load(&http->closing)) {
        cut_late_ones(http);
        nanosleep(&pause, NULL);
    }
    return NULL;
}
