/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD: the N-th allocation of a program fails. FAULTS_FILE names a file that all its
 * processes count in (made and read by the test: three 64-bit numbers, the count, N, and 1 where
 * all later ones fail, too). FAULTS_PROGRAM is the real path of the program; what others allocate
 * is neither counted nor failed, nor what is allocated before main() chooses what SIGPIPE does.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

struct shared {
    _Atomic int64_t count;
    int64_t at, on;
};

static struct shared *shared, *counted; /* the file; and where counting has begun */

/* Behind the loader, before main(). */
__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULTS_FILE"), *program = getenv("FAULTS_PROGRAM");
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (!path || !program || length < 0)
        return;
    own[length] = '\0';
    if (strcmp(own, program) != 0)
        return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *memory = file < 0
                       ? MAP_FAILED
                       : mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (memory != MAP_FAILED)
        shared = memory;
}

static bool fails(void)
{
    if (!counted)
        return false;
    int64_t nr = atomic_fetch_add(&counted->count, 1) + 1;
    if (counted->at == 0 || (counted->on ? nr < counted->at : nr != counted->at))
        return false;
    errno = ENOMEM;
    return true;
}

typedef void handler(int number);

handler *signal(int number, handler *does)
{
    struct sigaction action = { .sa_handler = does, .sa_flags = SA_RESTART }, before;

    if (number == SIGPIPE)
        counted = shared;
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
    return fails() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t nr, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(nr, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, bytes);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    void *memory = fails() ? NULL : __libc_memalign(alignment, size);

    if (!memory)
        return ENOMEM;
    *result = memory;
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}
