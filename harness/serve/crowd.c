/* SPDX-License-Identifier: MIT */
#include "serve/crowd.h"

#include "base/memory.h"
#include "serve/waiting.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/* Those who are gone are remembered, so that a rate is not begun anew with a new connection. */
enum { MEMBERS = 256 };

/* What may still be spent: grows with time, up to the most. */
struct allowance {
    double left;
    int64_t at_ms;
};

struct crowd_member {
    struct client client;
    bool used;
    size_t connections, works;
    int64_t seen_ms;
    struct allowance requests, bytes, guesses;
};

struct crowd {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ended; /* a work */
    size_t connections, works;
    struct crowd_member members[MEMBERS];
};

static int64_t now_ms(void)
{
    struct timespec t = waiting_until(0);

    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct crowd *crowd_create(void)
{
    struct crowd *crowd = memory_zeroed(1, sizeof(*crowd));

    pthread_mutex_init(&crowd->lock, NULL);
    waiting_init(&crowd->ended);
    return crowd;
}

void crowd_free(struct crowd *crowd)
{
    if (!crowd)
        return;
    pthread_cond_destroy(&crowd->ended);
    pthread_mutex_destroy(&crowd->lock);
    free(crowd);
}

/* ---- allowances ---- */

static void refill(struct allowance *a, double rate, double most, int64_t now)
{
    a->left += (double)(now - a->at_ms) * rate / 1000;
    a->left = a->left < most ? a->left : most;
    a->at_ms = now;
}

/* In ms, until what is spent now has grown again. */
static int spend(struct allowance *a, double rate, double most, double amount)
{
    refill(a, rate, most, now_ms());
    a->left -= amount;
    return a->left < 0 ? (int)(-a->left * 1000 / rate) + 1 : 0;
}

int crowd_pace_request(struct crowd *crowd, struct crowd_member *member)
{
    pthread_mutex_lock(&crowd->lock);
    int ms = spend(&member->requests, CROWD_REQUESTS, 2.0 * CROWD_REQUESTS, 1);
    pthread_mutex_unlock(&crowd->lock);
    return ms;
}

int crowd_pace_bytes(struct crowd *crowd, struct crowd_member *member, size_t bytes)
{
    pthread_mutex_lock(&crowd->lock);
    int ms = spend(&member->bytes, CROWD_BYTES, 2.0 * CROWD_BYTES, (double)bytes);
    pthread_mutex_unlock(&crowd->lock);
    return ms;
}

bool crowd_may_guess(struct crowd *crowd, struct crowd_member *member)
{
    pthread_mutex_lock(&crowd->lock);
    refill(&member->guesses, 1, CROWD_GUESSES, now_ms());
    bool may = member->guesses.left >= 1;
    pthread_mutex_unlock(&crowd->lock);
    return may;
}

void crowd_guessed(struct crowd *crowd, struct crowd_member *member)
{
    pthread_mutex_lock(&crowd->lock);
    spend(&member->guesses, 1, CROWD_GUESSES, 1);
    pthread_mutex_unlock(&crowd->lock);
}

/* ---- connections ---- */

/* With the lock held: the one of that name, or the place of who left longest ago. There are more
 * places than connections. */
static struct crowd_member *find(struct crowd *crowd, const struct client *client)
{
    struct crowd_member *oldest = NULL;

    for (size_t i = 0; i < MEMBERS; i++) {
        struct crowd_member *m = &crowd->members[i];
        if (m->used && client_same(&m->client, client))
            return m;
        if (m->connections == 0 && (!oldest || (oldest->used && m->seen_ms < oldest->seen_ms)))
            oldest = m;
    }
    int64_t now = now_ms();
    *oldest = (struct crowd_member) {
        .client = *client,
        .used = true,
        .requests = { 2.0 * CROWD_REQUESTS, now },
        .bytes = { 2.0 * CROWD_BYTES, now },
        .guesses = { CROWD_GUESSES, now },
    };
    return oldest;
}

struct crowd_member *crowd_enter(struct crowd *crowd, const struct client *client)
{
    pthread_mutex_lock(&crowd->lock);
    struct crowd_member *m = find(crowd, client);
    bool many = crowd->connections >= CROWD_CONNECTIONS - CROWD_CONNECTIONS_KEPT;
    bool fits = crowd->connections < CROWD_CONNECTIONS &&
                m->connections < (many ? CROWD_CONNECTIONS_FEW : CROWD_CONNECTIONS_EACH);
    m->seen_ms = now_ms();
    m->connections += fits;
    crowd->connections += fits;
    pthread_mutex_unlock(&crowd->lock);
    return fits ? m : NULL;
}

void crowd_leave(struct crowd *crowd, struct crowd_member *member)
{
    pthread_mutex_lock(&crowd->lock);
    member->connections--;
    crowd->connections--;
    member->seen_ms = now_ms();
    pthread_mutex_unlock(&crowd->lock);
}

/* ---- works ---- */

/* With the lock held. */
static bool may_work(const struct crowd *crowd, const struct crowd_member *member)
{
    return member->works < CROWD_WORKS_EACH &&
           crowd->works < (member->works ? CROWD_WORKS - 1 : CROWD_WORKS);
}

bool crowd_begin(struct crowd *crowd, struct crowd_member *member, int patience_ms)
{
    struct timespec until = waiting_until(patience_ms);
    int rc = 0;

    pthread_mutex_lock(&crowd->lock);
    while (!may_work(crowd, member) && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&crowd->ended, &crowd->lock, &until);
    bool begun = may_work(crowd, member);
    member->works += begun;
    crowd->works += begun;
    pthread_mutex_unlock(&crowd->lock);
    return begun;
}

void crowd_end(struct crowd *crowd, struct crowd_member *member)
{
    pthread_mutex_lock(&crowd->lock);
    member->works--;
    crowd->works--;
    pthread_cond_broadcast(&crowd->ended); /* whose turn it is depends on who waits */
    pthread_mutex_unlock(&crowd->lock);
}
