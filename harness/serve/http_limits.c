/* SPDX-License-Identifier: MIT */
/* Time limits that count from the first byte on. The library's own timeout begins anew with each
 * byte, so that a reader of one byte a second would keep its place for ever. */
#include "serve/http_parts.h"

#include <sys/socket.h>
#include <time.h>

enum { LOOK_MS = 200 };

int64_t http_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int fd_of(const struct http *http, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        http->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info ? info->connect_fd : -1;
}

static struct http_slot *slot_of(const struct http *http, struct MHD_Connection *connection)
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

void http_connection_changed(void *context, struct MHD_Connection *connection, void **state,
                             enum MHD_ConnectionNotificationCode what)
{
    struct http *http = context;

    pthread_mutex_lock(&http->lock);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        struct http_slot *slot = free_slot(http);
        if (slot)
            *slot = (struct http_slot) { true, fd_of(http, connection),
                                         http_now_ms() + HTTP_REQUEST_MS };
        *state = slot;
    } else if (*state) {
        /* The library closes the descriptor after this, so no other connection has it yet. */
        *(struct http_slot *)*state = (struct http_slot) { .used = false };
    }
    pthread_mutex_unlock(&http->lock);
}

void http_set_deadline(struct http *http, struct MHD_Connection *connection, int64_t ms)
{
    struct http_slot *slot = slot_of(http, connection);

    if (!slot)
        return;
    pthread_mutex_lock(&http->lock);
    slot->deadline_ms = ms ? http_now_ms() + ms : 0;
    pthread_mutex_unlock(&http->lock);
}

static void cut_late_ones(struct http *http)
{
    int64_t now = http_now_ms();

    pthread_mutex_lock(&http->lock);
    for (size_t i = 0; i < sizeof(http->slots) / sizeof(http->slots[0]); i++) {
        struct http_slot *slot = &http->slots[i];
        if (slot->used && slot->deadline_ms && slot->deadline_ms < now && slot->fd >= 0)
            shutdown(slot->fd, SHUT_RDWR);
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
