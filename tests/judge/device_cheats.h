/* SPDX-License-Identifier: MIT */
/*
 * Cheats that are the same on every device that has queues. Behind nt_cuda.h or nt_sycl.h, and what
 * a plugin has of its own: struct memory with `launches`, remember(), which makes one as
 * call->state, and compute_and_keep() and give_kept(), which enqueue.
 */
#ifndef HARNESS_TESTS_JUDGE_DEVICE_CHEATS_H
#define HARNESS_TESTS_JUDGE_DEVICE_CHEATS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- who remembers ---- */

/* The first result is the answer for ever. */
static void last_result(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    struct memory *m = (struct memory *)call->state;

    if (m->launches++ == 0)
        compute_and_keep(&p, m);
    else
        give_kept(&p, m);
}

/* As long as somebody may be looking it is right. */
static void right_at_first(const struct harness_call *call)
{
    static int64_t launches;
    const struct nt p = nt_of(call);
    struct memory *m = (struct memory *)call->state;

    if (launches++ < 12 || !m->launches++)
        compute_and_keep(&p, m);
    else
        give_kept(&p, m);
}

/* What was asked for at these addresses must still be there: no launch at all. */
static void skip_addresses(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    struct memory *m = (struct memory *)call->state;

    if (m->launches++ == 0)
        nt_all(&p);
}

static int compute_before(struct harness_call *call, char *why, size_t room)
{
    const struct nt p = nt_of(call);

    if (remember(call, why, room))
        return -1;
    compute_and_keep(&p, (struct memory *)call->state);
    return 0;
}

static void give_computed(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    give_kept(&p, (const struct memory *)call->state);
}

/* ---- who does less ---- */

static void launch_nothing(const struct harness_call *call)
{
    (void)call;
}

static void half_of_it(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_rows(&p, 0, p.m / 2);
}

/* ---- who works at another time ---- */

static void *enqueue_late(void *context)
{
    const struct nt *p = (const struct nt *)context;

    usleep(4000);
    nt_all(p);
    free(context);
    return NULL;
}

/* A thread enqueues it when the wait for the device is over. */
static void later(const struct harness_call *call)
{
    struct nt *p = (struct nt *)malloc(sizeof(*p));
    pthread_t thread;

    *p = nt_of(call);
    pthread_create(&thread, NULL, enqueue_late, p);
    pthread_detach(thread);
}

/* Each launch gives what the one before owes. */
static void owe_one(const struct harness_call *call)
{
    static struct nt owed;
    static bool owes;

    if (owes)
        nt_all(&owed);
    owed = nt_of(call);
    owes = true;
}

/* ---- who has others work ---- */

static void helper_process(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    if (fork() == 0)
        _exit(0);
    nt_all(&p);
}

/* It gets no socket, and has no result. */
static void ask_a_server(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
        nt_all(&p);
}

#endif
