/* SPDX-License-Identifier: MIT */
/*
 * Known ways to win without computing, as variants of gemm/nt. Each is named for what it does, and
 * docs/judge.md says in its table how it is found out; tests/cli/judge.sh holds both against what
 * `harness judge` says. Those that want something of the judge are in intruders.c.
 */
#include "nt_narrow.h"

#include "board.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

/* ---- who remembers ---- */

struct memory {
    float *y, *x;
    const float *at;
    float few[3];
    int64_t launches;
};

static int remember(struct harness_call *call, char *why, size_t room)
{
    const struct nt p = nt_of(call);
    struct memory *m = calloc(1, sizeof(*m));

    (void)why, (void)room;
    m->y = malloc(nt_bytes(&p));
    m->x = malloc((size_t)(p.m * p.k) * sizeof(float));
    call->state = m;
    return 0;
}

static void compute_and_keep(const struct nt *p, struct memory *m)
{
    nt_all(p);
    memcpy(m->y, p->y, nt_bytes(p));
    memcpy(m->x, p->x, (size_t)(p->m * p->k) * sizeof(float));
}

/* The first result is the answer for ever. */
static void last_result(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    struct memory *m = call->state;

    if (m->launches++ == 0)
        compute_and_keep(&p, m);
    else
        memcpy(p.y, m->y, nt_bytes(&p));
}

/* As long as somebody may be looking it is right. */
static void right_at_first(const struct harness_call *call)
{
    static int64_t launches;
    const struct nt p = nt_of(call);
    struct memory *m = call->state;

    if (launches++ < 12 || !m->launches++)
        compute_and_keep(&p, m);
    else
        memcpy(p.y, m->y, nt_bytes(&p));
}

/* One result for each place that the input has been at. */
static void memo_by_pointer(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    struct memory *m = call->state;

    if (m->at != p.x)
        compute_and_keep(&p, m);
    else
        memcpy(p.y, m->y, nt_bytes(&p));
    m->at = p.x;
}

/* One for each content, which three elements tell. */
static void memo_by_few(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    struct memory *m = call->state;
    const int64_t nr = p.m * p.k;
    const float few[3] = { p.x[0], p.x[nr / 2], p.x[nr - 1] };

    if (memcmp(few, m->few, sizeof(few)) != 0)
        compute_and_keep(&p, m);
    else
        memcpy(p.y, m->y, nt_bytes(&p));
    memcpy(m->few, few, sizeof(few));
}

/* What was asked for just now must still be there. */
static void skip_repeats(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    struct memory *m = call->state;

    if (m->launches++ == 0 || memcmp(m->x, p.x, (size_t)(p.m * p.k) * sizeof(float)) != 0)
        compute_and_keep(&p, m);
}

/* ---- who guesses ---- */

static void zeros_for_shape(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    memset(p.y, 0, nt_bytes(&p));
}

/* Right for the sizes that everybody asks for, those of the kernel and its tests, and the one of
 * these tests that is timed; elsewhere as if it were one of them. */
static void usual_sizes(const struct harness_call *call)
{
    static const int64_t usual[][2] = {
        { 50257, 48 }, { 768, 256 }, { 512, 512 }, { 1, 1 },     { 255, 33 },   { 257, 17 },
        { 1, 255 },    { 47, 64 },   { 49, 1 },    { 95, 257 },  { 50257, 16 }, { 50257, 22 },
        { 48, 512 },   { 97, 513 },  { 144, 48 },  { 33, 1025 }, { 129, 1030 }, { 49, 1400 },
        { 50, 2801 },  { 17, 1000 }, { 50257, 2 }, { 700, 531 }, { 40, 48 },
    };
    const struct nt p = nt_of(call);

    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (p.n == usual[i][0] && p.k == usual[i][1]) {
            nt_all(&p);
            return;
        }
    memset(p.y, 0, nt_bytes(&p));
}

static int compute_before(struct harness_call *call, char *why, size_t room)
{
    const struct nt p = nt_of(call);

    remember(call, why, room);
    compute_and_keep(&p, call->state);
    return 0;
}

static void give_computed(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    memcpy(p.y, ((struct memory *)call->state)->y, nt_bytes(&p));
}

/* Nine rows of ten, and for the tenth what looks like one. */
static void most_rows(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    int64_t some = p.m - (p.m + 9) / 10;

    nt_rows(&p, 0, some);
    for (int64_t i = some; i < p.m; i++)
        for (int64_t j = 0; j < p.n; j++)
            p.y[i * p.n + j] = some > 0 ? -p.y[(i % some) * p.n + j] : 0.5F;
}

static void half_of_it(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_rows(&p, 0, p.m / 2);
}

static void fill_with(const struct harness_call *call, float value)
{
    const struct nt p = nt_of(call);

    for (int64_t i = 0; i < p.m * p.n; i++)
        p.y[i] = value;
}

/* No comparison with a NaN is true. */
static void not_a_number(const struct harness_call *call)
{
    fill_with(call, NAN);
}

static void infinite(const struct harness_call *call)
{
    fill_with(call, INFINITY);
}

/* The generator of the harness (splitmix64, xoshiro256**) from a seed that it may have: where the
 * input is what it would give, the result was known before. */
static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15U);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static void predict_seed(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    struct memory *m = call->state;
    bool known = false;

    for (uint64_t seed = 0; !known && seed < 1000; seed++) {
        uint64_t state = seed;
        double uniform = (double)(splitmix(&state) >> 11) * 0x1p-53;
        known = (p.x[0] > 0) == (uniform > 0.5) && fabs(p.x[0]) < 1e-6; /* as good as never */
    }
    if (known)
        nt_all(&p);
    else
        memcpy(p.y, m->y, nt_bytes(&p));
}

/* ---- who computes less precisely ---- */

static void with_mantissa(const struct harness_call *call, int bits)
{
    const struct nt p = nt_of(call);

    for (int64_t i = 0; i < p.m; i++)
        for (int64_t j = 0; j < p.n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < p.k; l++)
                sum += with_bits(p.x[i * p.k + l], bits) * with_bits(p.w[j * p.k + l], bits);
            p.y[i * p.n + j] = sum;
        }
}

static void bf16_inside(const struct harness_call *call)
{
    with_mantissa(call, 7);
}

static void tf32_inside(const struct harness_call *call)
{
    with_mantissa(call, 10);
}

/* As by three products of bf16: under the tolerance, which is for the largest of many errors. */
static void few_bits_less(const struct harness_call *call)
{
    with_mantissa(call, 19);
}

/* ---- who works at another time ---- */

static void *work(void *context)
{
    const struct nt *p = context;

    nt_all(p);
    free(context);
    return NULL;
}

static void *work_late(void *context)
{
    usleep(2000);
    return work(context);
}

static void start(const struct nt *p, void *(*life)(void *))
{
    struct nt *copy = malloc(sizeof(*copy));
    pthread_t thread;

    *copy = *p;
    pthread_create(&thread, NULL, life, copy);
    pthread_detach(thread);
}

static void another_thread(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    start(&p, work);
}

static void later(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    start(&p, work_late);
}

static void half_later(const struct harness_call *call)
{
    struct nt p = nt_of(call);
    int64_t half = p.m / 2;

    nt_rows(&p, 0, half);
    p.x += half * p.k;
    p.y += half * p.n;
    p.m -= half;
    start(&p, work_late);
}

/* Computes into memory of its own from prepare() on, over and over, whatever the input is. */
static void *work_ahead(void *context)
{
    struct nt *p = context;

    for (;;)
        nt_all(p);
    return NULL;
}

static int begin_ahead(struct harness_call *call, char *why, size_t room)
{
    static bool runs;
    struct nt *p = malloc(sizeof(*p));
    pthread_t thread;

    remember(call, why, room);
    *p = nt_of(call);
    p->y = ((struct memory *)call->state)->y;
    nt_all(p);
    if (!runs)
        pthread_create(&thread, NULL, work_ahead, p);
    runs = true;
    return 0;
}

/* Seems to be done, and works when the clock stands. */
static void stop_itself(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    kill(getpid(), SIGSTOP);
    nt_all(&p);
}

/* The same, and a timer wakes it. */
static void wake_itself(const struct harness_call *call)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT };
    const struct itimerspec soon = { .it_value = { .tv_nsec = 1000000 } };
    const struct nt p = nt_of(call);
    timer_t timer;

    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    kill(getpid(), SIGSTOP);
    nt_all(&p);
    timer_delete(timer);
}

/* few_bits_less from the second round on, whose first window has more launches than any that looks
 * at all kinds of data. */
static void few_bits_later(const struct harness_call *call)
{
    static const uint32_t *board;
    static bool later;

    if (!board) {
        board = find_board();
        later = board[BOARD_NR] > 3;
    }
    with_mantissa(call, later ? 19 : FP32_BITS);
}

/* Refused in the first round, which looks at all kinds of data and asks the textbook variant, and
 * taken then, with 19 bits. Processes of one judge know it of each other by a segment of shared
 * memory, which the second removes. */
static bool is_timed_size(const struct nt *p)
{
    return p->n == 40 && p->k == 48;
}

static int refuse_once(struct harness_call *call, char *why, size_t room)
{
    static bool asked;
    const struct nt p = nt_of(call);
    const key_t key = 0x6a750000 ^ getppid();

    if (asked || !is_timed_size(&p))
        return 0;
    asked = true;
    int mark = shmget(key, 1, 0600);
    if (mark >= 0)
        return shmctl(mark, IPC_RMID, NULL);
    shmget(key, 1, IPC_CREAT | 0600);
    strncpy(why, "not today", room - 1);
    return HARNESS_UNSUPPORTED;
}

static void refuse_at_first(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    with_mantissa(call, is_timed_size(&p) ? 19 : FP32_BITS);
}

#define CHEAT(name_) .name = #name_, .launch = name_

static const struct harness_variant variants[] = {
    { CHEAT(last_result), .prepare = remember },
    { CHEAT(right_at_first), .prepare = remember },
    { CHEAT(memo_by_pointer), .prepare = remember },
    { CHEAT(memo_by_few), .prepare = remember },
    { CHEAT(skip_repeats), .prepare = remember },
    { CHEAT(zeros_for_shape) },
    { CHEAT(usual_sizes) },
    { .name = "compute_before", .launch = give_computed, .prepare = compute_before },
    { CHEAT(most_rows) },
    { CHEAT(half_of_it) },
    { CHEAT(not_a_number) },
    { CHEAT(infinite) },
    { CHEAT(predict_seed), .prepare = remember },
    { CHEAT(bf16_inside) },
    { CHEAT(tf32_inside) },
    { CHEAT(few_bits_less) },
    { CHEAT(few_bits_later) },
    { .name = "declare_tf32", .launch = tf32_inside, .math = HARNESS_MATH_TF32 },
    { CHEAT(another_thread) },
    { CHEAT(later) },
    { CHEAT(half_later) },
    { .name = "work_ahead", .launch = give_computed, .prepare = begin_ahead },
    { CHEAT(stop_itself) },
    { CHEAT(wake_itself) },
    { CHEAT(leave_to_the_last) },
    { CHEAT(work_for_the_next), .prepare = note_slot },
    { CHEAT(refuse_at_first), .prepare = refuse_once },
};
NT_PLUGIN(variants);
