/* SPDX-License-Identifier: MIT */
#include "judge/round.h"

#include "explain/elf_file.h"
#include "judge/sandbox.h"
#include "stats/random.h"

#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

bool judgement_valid(const struct judgement *j)
{
    return j->fault.kind == FAULT_NONE && j->supported;
}

struct judged_middle judgement_middle(const struct judgement *j)
{
    struct judged_middle all = { 0 };

    for (size_t i = 0; i < j->shapes.nr; i++) {
        const struct judged_middle *m = &j->shapes.items[i].middle;
        all.tried += m->tried;
        all.looked_at += m->looked_at;
        all.wanted += m->wanted;
        all.missing += m->missing;
    }
    return all;
}

size_t judgement_unchecked(const struct judgement *j)
{
    size_t nr = 0;

    for (size_t i = 0; i < j->shapes.nr; i++)
        nr += j->shapes.items[i].precision_unchecked;
    return nr;
}

bool judgement_confident(const struct judgement *j)
{
    return judgement_middle(j).missing == 0 && judgement_unchecked(j) == 0;
}

void judgement_release(struct judgement *j)
{
    for (size_t i = 0; i < j->shapes.nr; i++) {
        free(j->shapes.items[i].own.rounds_ns);
        for (int r = 0; r < JUDGE_REFERENCES; r++)
            free(j->shapes.items[i].references[r].rounds_ns);
    }
    array_release(&j->shapes);
    string_list_release(&j->libraries);
}

/* ---- what it is made of ---- */

/* Functions by which others take the time or wait: a kernel has no reason to have one of its own,
 * and in front of the C library's it would be asked instead. */
static int check_symbols(const char *path, struct fault *fault, struct error *err)
{
    static const char *const theirs[] = {
        "clock_gettime", "clock_getres",    "gettimeofday", "timespec_get", "__vdso_clock_gettime",
        "nanosleep",     "clock_nanosleep", "sigtimedwait", "waitpid",      "__clock_gettime",
    };
    struct elf_file elf = { 0 };
    int rc = elf_file_read(path, &elf, err);

    for (size_t i = 0; rc == 0 && i < elf.functions.nr; i++)
        for (size_t n = 0; n < sizeof(theirs) / sizeof(theirs[0]); n++)
            if (strcmp(elf.functions.items[i].name, theirs[n]) == 0)
                fault_set(fault, FAULT_SYMBOLS,
                          "it defines %s(), which is the C library's: a clock of its own counts "
                          "for nothing here",
                          theirs[n]);
    elf_file_release(&elf);
    return rc;
}

/* A lower one has a wider tolerance: who is judged does not choose it. */
static int check_arithmetic(const struct judge_job *job, struct fault *fault)
{
    const struct variant *v = job->variant;
    const char *declared = math_name(v->math), *asked = math_name(job->math);

    if (v->math == job->math && v->dtype == job->dtype)
        return 0;
    return fault_set(
        fault, FAULT_ARITHMETIC,
        "it declares the arithmetic %s, and %s is asked for: --dtype %s asks for that, "
        "and has it beside variants of the same",
        declared, asked, declared);
}

static void find_vendor(struct judgement *j)
{
    static const char *const names[] = { "openblas", "libblas", "mkl",   "blis",
                                         "dnnl",     "cublas",  "cudnn", "atlas" };

    for (size_t i = 0; i < j->libraries.nr; i++)
        for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
            j->vendor |= strstr(j->libraries.items[i], names[n]) != NULL;
}

/* ---- shapes ---- */

static bool is_python(const struct judge_job *job)
{
    return job->guests && python_function_of(&job->guests->python, job->variant);
}

/* By lot, up to what is timed, and not of so few elements that a statistic of them is a matter of
 * chance: a tolerance is for one launch, the variance of two numbers in a thousand launches may be
 * anything. The kernel's tests have what is smaller. */
static int64_t draw_dim(struct random *r, int64_t most)
{
    const int64_t least = most < 8 ? most : 8;

    return least + (int64_t)random_below(r, (uint64_t)(most - least + 1));
}

static int64_t smaller_by(int64_t dim, int halvings)
{
    int64_t less = dim >> halvings;

    return less > 8 ? less : dim < 8 ? dim : 8;
}

/* One of those that the kernel's tests have, or, `by_lot`, any that is smaller than the first that
 * is timed; none that takes long, loops of Python among them, or that the kernel refuses. */
static bool draw_shape(const struct judge_job *job, bool by_lot, int halvings, struct random *r,
                       struct shape *s)
{
    const struct kernel *k = job->spec;
    const double most_flops = is_python(job) ? 5e5 : 5e7;

    if (k->nr_test_shapes > 0 && !by_lot) {
        *s = k->test_shapes[random_below(r, k->nr_test_shapes)];
    } else {
        *s = job->shapes[0];
        for (int i = 0; i < SHAPE_MAX && k->dims[i]; i++)
            s->dim[i] = draw_dim(r, smaller_by(s->dim[i], halvings));
    }
    return !(k->refuses && k->refuses(k, s)) &&
           k->work(k, s, job->variant->dtype, job->variant->math).flops <= most_flops;
}

/* Large ones are halved until there is one that is quick; then the tests' are asked instead, or the
 * other way round. False: there is none. */
static bool draw_quick_shape(const struct judge_job *job, bool by_lot, struct random *r,
                             struct shape *s)
{
    enum { DRAWS = 200, DRAWS_OF_A_SIZE = 20 };

    for (int i = 0; i < 2 * DRAWS; i++)
        if (draw_shape(job, by_lot == (i < DRAWS), i % DRAWS / DRAWS_OF_A_SIZE, r, s))
            return true;
    return false;
}

/* The first of a round is by lot among all sizes, so that no list of sizes has it; then they take
 * turns with those of the tests. */
static void add_other_shapes(const struct judge_job *job, int round, struct random *r,
                             struct judgement *j)
{
    int wanted = round == 0 ? job->other_shapes : 1;

    for (int i = 0; i < wanted; i++) {
        struct judged_shape other = { .round = round };
        if (draw_quick_shape(job, i % 2 == 0, r, &other.shape))
            *array_push(&j->shapes) = other;
    }
}

static void add_shapes(const struct judge_job *job, struct judgement *j)
{
    struct random r;

    for (size_t i = 0; i < job->nr_shapes; i++)
        *array_push(&j->shapes) = (struct judged_shape) { .shape = job->shapes[i] };
    random_seed(&r, job->lot);
    for (int round = 0; round < job->rounds; round++)
        add_other_shapes(job, round, &r, j);
}

/* ---- what comes out of the rounds ---- */

/* Of the geometric mean. Two rounds say too little of what lies between them. */
static struct interval interval_of_rounds(const double *logs, int nr)
{
    if (nr < 3)
        return (struct interval) { NAN, NAN };
    struct interval i = stats_mean_interval(logs, (size_t)nr, 0.95);
    return (struct interval) { exp(i.low), exp(i.high) };
}

/* The geometric mean over rounds; rounds are few, and alike up to a factor. One round keeps the
 * interval of its samples, which of several is that of the last alone. */
static void conclude_time(struct judged_time *t)
{
    double logs[JUDGE_ROUNDS];

    if (!t->measured)
        return;
    for (int i = 0; i < t->nr_rounds; i++)
        logs[i] = log((double)(t->rounds_ns[i] ? t->rounds_ns[i] : 1));
    t->ns = exp(stats_mean(logs, (size_t)t->nr_rounds));
    if (t->nr_rounds > 1)
        t->interval = interval_of_rounds(logs, t->nr_rounds);
}

/* Pairs: a round of both. */
static void conclude_ratio(struct judged_time *t, const struct judged_time *own)
{
    double logs[JUDGE_ROUNDS];
    int nr = t->nr_rounds < own->nr_rounds ? t->nr_rounds : own->nr_rounds;

    if (!t->measured || !own->measured || nr == 0)
        return;
    for (int i = 0; i < nr; i++)
        logs[i] = log((double)(t->rounds_ns[i] + 1) / (double)(own->rounds_ns[i] + 1));
    t->ratio = exp(stats_mean(logs, (size_t)nr));
    t->ratio_interval = interval_of_rounds(logs, nr);
}

static void conclude_judgement(struct judgement *j)
{
    for (size_t i = 0; i < j->shapes.nr; i++) {
        struct judged_shape *s = &j->shapes.items[i];
        if (j->fault.kind != FAULT_NONE) { /* what is not right never gets a time */
            s->timed = s->own.measured = false;
            for (int r = 0; r < JUDGE_REFERENCES; r++)
                s->references[r].measured = false;
        }
        conclude_time(&s->own);
        s->own.variant = j->job.variant;
        for (int r = 0; r < j->job.nr_references; r++) {
            s->references[r].variant = j->job.references[r];
            conclude_time(&s->references[r]);
            conclude_ratio(&s->references[r], &s->own);
        }
    }
    find_vendor(j);
}

/* ---- rounds ---- */

/* Each round also looks at shapes that are not timed, the first at most of them, so that what is
 * wrong is found before time is spent. */
static int run_rounds(const struct judge_job *job, struct judgement *j, struct error *err)
{
    for (int round = 0; round < job->rounds; round++)
        for (size_t i = 0; i < j->shapes.nr; i++) {
            bool timed = i < job->nr_shapes;
            bool begins = round == j->shapes.items[i].round;
            if (!timed && !begins)
                continue;
            if (round_run(job, j, &j->shapes.items[i], timed, begins, err))
                return -1;
            if (j->fault.kind != FAULT_NONE)
                return 0;
        }
    return 0;
}

/* This process has one thread while it judges: a pool of OpenMP's would spin beside who is timed.
 * SIGCHLD is taken, not delivered. */
static int run_alone(const struct judge_job *job, struct judgement *j, struct error *err)
{
    int threads = omp_get_max_threads();
    sigset_t child, before;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    omp_set_num_threads(1);
    int rc = run_rounds(job, j, err);
    omp_set_num_threads(threads);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int judge_run(const struct judge_job *job, struct judgement *j, struct error *err)
{
    *j = (struct judgement) { .job = *job };
    sandbox_keep_out();
    if (sandbox_check(err))
        return -1;
    if (job->plugin && check_symbols(job->plugin, &j->fault, err))
        return -1;
    check_arithmetic(job, &j->fault);
    if (job->lot == 0) /* short enough to be typed again */
        j->job.lot = 1 + random_fresh_seed() % 1000000000;
    add_shapes(&j->job, j);
    if (j->fault.kind == FAULT_NONE && run_alone(&j->job, j, err))
        return -1;
    conclude_judgement(j);
    return 0;
}
