/* SPDX-License-Identifier: MIT */
#include "http/quota.h"

#include "base/memory.h"
#include "base/monotonic.h"

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

struct quota_client {
    struct client client;
    bool used;
    size_t connections, works;
    int64_t seen_ms;
    struct allowance requests, bytes, guesses;
};

struct quotas {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ended; /* a work */
    size_t connections, works;
    struct quota_client members[MEMBERS];
};

struct quotas *quotas_create(void)
{
    struct quotas *quotas = memory_zeroed(1, sizeof(*quotas));

    pthread_mutex_init(&quotas->lock, NULL);
    monotonic_condition_init(&quotas->ended);
    return quotas;
}

void quotas_free(struct quotas *quotas)
{
    if (!quotas)
        return;
    pthread_cond_destroy(&quotas->ended);
    pthread_mutex_destroy(&quotas->lock);
    free(quotas);
}

/* ---- allowances ---- */

static void allowance_refill(struct allowance *a, double rate, double most, int64_t now)
{
    a->left += (double)(now - a->at_ms) * rate / 1000;
    a->left = a->left < most ? a->left : most;
    a->at_ms = now;
}

/* In ms, until what is spent now has grown again. */
static int allowance_spend(struct allowance *a, double rate, double most, double amount)
{
    allowance_refill(a, rate, most, monotonic_ms());
    a->left -= amount;
    return a->left < 0 ? (int)(-a->left * 1000 / rate) + 1 : 0;
}

int quota_pace_request(struct quotas *quotas, struct quota_client *member)
{
    pthread_mutex_lock(&quotas->lock);
    int ms = allowance_spend(&member->requests, QUOTA_REQUESTS, 2.0 * QUOTA_REQUESTS, 1);
    pthread_mutex_unlock(&quotas->lock);
    return ms;
}

int quota_pace_bytes(struct quotas *quotas, struct quota_client *member, size_t bytes)
{
    pthread_mutex_lock(&quotas->lock);
    int ms = allowance_spend(&member->bytes, QUOTA_BYTES, 2.0 * QUOTA_BYTES, (double)bytes);
    pthread_mutex_unlock(&quotas->lock);
    return ms;
}

bool quota_may_guess(struct quotas *quotas, struct quota_client *member)
{
    pthread_mutex_lock(&quotas->lock);
    allowance_refill(&member->guesses, 1, QUOTA_GUESSES, monotonic_ms());
    bool may = member->guesses.left >= 1;
    pthread_mutex_unlock(&quotas->lock);
    return may;
}

void quota_guessed(struct quotas *quotas, struct quota_client *member)
{
    pthread_mutex_lock(&quotas->lock);
    allowance_spend(&member->guesses, 1, QUOTA_GUESSES, 1);
    pthread_mutex_unlock(&quotas->lock);
}

/* ---- connections ---- */

/* With the lock held: the one of that name, or the place of who left longest ago. There are more
 * places than connections. */
static struct quota_client *quota_find(struct quotas *quotas, const struct client *client)
{
    struct quota_client *oldest = NULL;

    for (size_t i = 0; i < MEMBERS; i++) {
        struct quota_client *m = &quotas->members[i];
        if (m->used && client_same(&m->client, client))
            return m;
        if (m->connections == 0 && (!oldest || (oldest->used && m->seen_ms < oldest->seen_ms)))
            oldest = m;
    }
    int64_t now = monotonic_ms();
    *oldest = (struct quota_client) {
        .client = *client,
        .used = true,
        .requests = { 2.0 * QUOTA_REQUESTS, now },
        .bytes = { 2.0 * QUOTA_BYTES, now },
        .guesses = { QUOTA_GUESSES, now },
    };
    return oldest;
}

struct quota_client *quota_enter(struct quotas *quotas, const struct client *client)
{
    pthread_mutex_lock(&quotas->lock);
    struct quota_client *m = quota_find(quotas, client);
    bool many = quotas->connections >= QUOTA_CONNECTIONS - QUOTA_CONNECTIONS_KEPT;
    bool fits = quotas->connections < QUOTA_CONNECTIONS &&
                m->connections < (many ? QUOTA_CONNECTIONS_FEW : QUOTA_CONNECTIONS_EACH);
    m->seen_ms = monotonic_ms();
    m->connections += fits;
    quotas->connections += fits;
    pthread_mutex_unlock(&quotas->lock);
    return fits ? m : NULL;
}

void quota_leave(struct quotas *quotas, struct quota_client *member)
{
    pthread_mutex_lock(&quotas->lock);
    member->connections--;
    quotas->connections--;
    member->seen_ms = monotonic_ms();
    pthread_mutex_unlock(&quotas->lock);
}

/* ---- works ---- */

/* With the lock held. */
static bool quota_may_work(const struct quotas *quotas, const struct quota_client *member)
{
    return member->works < QUOTA_WORKS_EACH &&
           quotas->works < (member->works ? QUOTA_WORKS - 1 : QUOTA_WORKS);
}

bool quota_begin(struct quotas *quotas, struct quota_client *member, int patience_ms)
{
    struct timespec until = monotonic_until(patience_ms);
    int rc = 0;

    pthread_mutex_lock(&quotas->lock);
    while (!quota_may_work(quotas, member) && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&quotas->ended, &quotas->lock, &until);
    bool begun = quota_may_work(quotas, member);
    member->works += begun;
    quotas->works += begun;
    pthread_mutex_unlock(&quotas->lock);
    return begun;
}

void quota_end(struct quotas *quotas, struct quota_client *member)
{
    pthread_mutex_lock(&quotas->lock);
    member->works--;
    quotas->works--;
    pthread_cond_broadcast(&quotas->ended); /* whose turn it is depends on who waits */
    pthread_mutex_unlock(&quotas->lock);
}
