/* SPDX-License-Identifier: MIT */
#include "device/cache_flush.h"

#include "base/memory.h"
#include "base/text.h"
#include "host/host_cache.h"
#include "host/processors.h"

#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64 };

struct walker {
    struct cache_flush *of;
    struct processors place; /* of a thread of the team */
    pthread_t thread;
    sem_t go;
    unsigned char *part;
};

struct cache_flush {
    unsigned char *memory;
    size_t bytes, part; /* all of them, and of each walker */
    struct walker *walkers;
    size_t nr; /* beside the caller */
    sem_t done;
    bool ending;
};

static void touch_lines(unsigned char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += LINE)
        ((volatile unsigned char *)from)[i]++;
}

static void wait_for(sem_t *event)
{
    while (sem_wait(event))
        ; /* a signal came */
}

static void *walker_main(void *context)
{
    struct walker *w = context;

    if (processors_count(&w->place) > 0)
        processors_bind(0, &w->place);
    for (wait_for(&w->go); !w->of->ending; wait_for(&w->go)) {
        touch_lines(w->part, w->of->part);
        sem_post(&w->of->done);
    }
    return NULL;
}

static void find_places(struct walker *walkers, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        int i = omp_get_thread_num();
        if (i > 0)
            processors_of(0, &walkers[i - 1].place);
    }
}

/* As many as can be had: the others walk their part. Signals are for the caller. */
static void start_walkers(struct cache_flush *f, int threads)
{
    sigset_t all, before;

    f->walkers = memory_zeroed((size_t)threads, sizeof(*f->walkers));
    if (threads > 1)
        find_places(f->walkers, threads);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; f->nr + 1 < (size_t)threads; f->nr++) {
        struct walker *w = &f->walkers[f->nr];
        w->of = f;
        sem_init(&w->go, 0, 0);
        if (pthread_create(&w->thread, NULL, walker_main, w)) {
            sem_destroy(&w->go);
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Whole lines each; the buffer becomes as long as all parts. */
static size_t part_of(size_t bytes, size_t nr)
{
    return ((bytes + nr - 1) / nr + LINE - 1) / LINE * LINE;
}

struct cache_flush *cache_flush_begin(int threads, struct error *err)
{
    size_t nr = threads > 0 ? (size_t)threads : 1;
    size_t bytes = nr * part_of(host_cache_flush_bytes(threads), nr);
    char text[TEXT_UNIT_SIZE];
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        error_set(err, "cannot allocate %s to empty the caches", text_bytes((double)bytes, text));
        return NULL;
    }
    struct cache_flush *f = memory_zeroed(1, sizeof(*f));
    f->memory = memory;
    f->bytes = bytes;
    sem_init(&f->done, 0, 0);
    start_walkers(f, (int)nr);
    f->part = bytes / LINE / (f->nr + 1) * LINE;
    for (size_t i = 0; i < f->nr; i++)
        f->walkers[i].part = f->memory + (i + 1) * f->part;
    return f;
}

size_t cache_flush_bytes(const struct cache_flush *f)
{
    return f->bytes;
}

void cache_flush_run(struct cache_flush *f)
{
    for (size_t i = 0; i < f->nr; i++)
        sem_post(&f->walkers[i].go);
    touch_lines(f->memory, f->part);
    for (size_t i = 0; i < f->nr; i++)
        wait_for(&f->done);
}

void cache_flush_end(struct cache_flush *f)
{
    if (!f)
        return;
    f->ending = true;
    for (size_t i = 0; i < f->nr; i++) {
        sem_post(&f->walkers[i].go);
        pthread_join(f->walkers[i].thread, NULL);
        sem_destroy(&f->walkers[i].go);
    }
    sem_destroy(&f->done);
    munmap(f->memory, f->bytes);
    free(f->walkers);
    free(f);
}
