/* SPDX-License-Identifier: MIT */
#include "judge/arena.h"

#include "base/memory.h"
#include "base/text.h"
#include "stats/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t round_up(size_t bytes)
{
    return (bytes + ARENA_PAGE - 1) / ARENA_PAGE * ARENA_PAGE;
}

/* With its margin: to the end of its last page, and one page more. */
static size_t tensor_room(const struct tensor *t)
{
    return round_up((size_t)tensor_bytes(t)) + ARENA_PAGE;
}

void arena_plan(struct arena *a, const struct kernel *k, const struct shape *s, enum dtype dtype,
                int slots)
{
    *a = (struct arena) { .fd = -1, .slots = slots };
    a->nr_tensors = k->layout(k, s, dtype, a->layout);
    for (int i = 0; i < a->nr_tensors; i++) {
        a->offset[i] = a->slot_bytes;
        a->slot_bytes += tensor_room(&a->layout[i]);
    }
    a->bytes = round_up(sizeof(struct board)) + ARENA_PAGE + (size_t)slots * a->slot_bytes;
}

size_t arena_slot_bytes(const struct kernel *k, const struct shape *s, enum dtype dtype)
{
    struct arena a;

    arena_plan(&a, k, s, dtype, 0);
    return a.slot_bytes;
}

size_t arena_offset(const struct arena *a, int slot, int tensor)
{
    return round_up(sizeof(struct board)) + ARENA_PAGE + (size_t)slot * a->slot_bytes +
           a->offset[tensor];
}

static unsigned char *tensor_at(const struct arena *a, int slot, int tensor)
{
    return a->base + arena_offset(a, slot, tensor);
}

/* ---- the judge's side ---- */

static void fill_margins(struct arena *a)
{
    struct random r;

    a->margin = memory_zeroed(2, ARENA_PAGE);
    random_seed(&r, random_fresh_seed());
    for (size_t i = 0; i < (size_t)2 * ARENA_PAGE; i++)
        a->margin[i] = (unsigned char)random_u64(&r);
    for (int slot = 0; slot < a->slots; slot++)
        for (int i = 0; i < a->nr_tensors; i++) {
            size_t bytes = (size_t)tensor_bytes(&a->layout[i]);
            memcpy(tensor_at(a, slot, i) + bytes, a->margin, tensor_room(&a->layout[i]) - bytes);
        }
}

/* With a device, of the shared file the board is all. */
static int map_arena(struct arena *a, bool on_device, struct error *err)
{
    char text[TEXT_UNIT_SIZE];
    size_t bytes = on_device ? round_up(sizeof(struct board)) : a->bytes;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, a->fd, 0);

    if (base == MAP_FAILED)
        return error_set(err, "cannot have %s of shared memory: %s",
                         text_bytes((double)bytes, text), strerror(errno));
    a->board = base;
    a->shared = bytes;
    if (!on_device)
        a->base = base;
    return 0;
}

static int make_file(struct arena *a, size_t bytes, struct error *err)
{
    char text[TEXT_UNIT_SIZE];

    a->fd = memfd_create("tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (a->fd < 0 || ftruncate(a->fd, (off_t)bytes))
        return error_set(err, "cannot have %s of shared memory: %s",
                         text_bytes((double)bytes, text), strerror(errno));
    /* Made shorter by who is judged, it would end the judge. */
    if (fcntl(a->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return error_set(err, "cannot seal shared memory: %s", strerror(errno));
    return 0;
}

int arena_make(struct arena *a, struct device *device, struct error *err)
{
    if (make_file(a, device ? round_up(sizeof(struct board)) : a->bytes, err) ||
        map_arena(a, device != NULL, err))
        return -1;
    if (device) {
        a->device = device;
        a->base = memory_zeroed(1, a->bytes);
        a->there = device_alloc(device, a->bytes, err);
        if (!a->there)
            return -1;
    }
    fill_margins(a);
    return 0;
}

int arena_lend(const struct arena *a, struct device_handle *handle, struct error *err)
{
    return device_lending_of(a->device->kind)->lend(a->device, a->there, handle, err);
}

int arena_map(struct arena *a, int fd, bool on_device, struct error *err)
{
    a->fd = fd;
    return map_arena(a, on_device, err);
}

int arena_borrow(struct arena *a, struct device *device, const struct device_handle *handle,
                 struct error *err)
{
    a->base = device_lending_of(device->kind)->borrow(device, handle, err);
    return a->base ? 0 : -1;
}

void arena_close(struct arena *a)
{
    if (a->there)
        device_free(a->device, a->there);
    if (a->device)
        free(a->base);
    if (a->board)
        munmap(a->board, a->shared);
    if (a->fd >= 0)
        close(a->fd);
    free(a->margin);
    *a = (struct arena) { .fd = -1 };
}

int arena_send(const struct arena *a, int slot, struct error *err)
{
    size_t at = arena_offset(a, slot, 0);

    return a->device
               ? a->device->ops->upload(a->device, a->there + at, a->base + at, a->slot_bytes, err)
               : 0;
}

int arena_fetch(const struct arena *a, int slot, struct error *err)
{
    size_t at = arena_offset(a, slot, 0);

    return a->device ? a->device->ops->download(a->device, a->base + at, a->there + at,
                                                a->slot_bytes, err)
                     : 0;
}

struct board *arena_board(const struct arena *a)
{
    return a->board;
}

void arena_tensors(const struct arena *a, int slot, struct tensor *t)
{
    memcpy(t, a->layout, sizeof(a->layout));
    for (int i = 0; i < a->nr_tensors; i++)
        t[i].data = tensor_at(a, slot, i);
}

void arena_put(const struct arena *a, int slot, const struct tensor *host, enum put what)
{
    for (int i = 0; i < a->nr_tensors; i++) {
        size_t bytes = (size_t)tensor_bytes(&a->layout[i]);
        if (host[i].role == TENSOR_OUT && what != PUT_INPUTS)
            tensor_poison(&a->layout[i], tensor_at(a, slot, i));
        else if (host[i].role != TENSOR_OUT && (host[i].role != TENSOR_WEIGHT || what == PUT_ALL))
            memcpy(tensor_at(a, slot, i), host[i].data, bytes);
    }
}

const char *arena_changed_input(const struct arena *a, int slot, const struct tensor *host)
{
    for (int i = 0; i < a->nr_tensors; i++)
        if ((host[i].role == TENSOR_IN || host[i].role == TENSOR_WEIGHT) &&
            memcmp(tensor_at(a, slot, i), host[i].data, (size_t)tensor_bytes(&a->layout[i])) != 0)
            return host[i].name;
    return NULL;
}

const char *arena_broken_margin(const struct arena *a, int slot)
{
    for (int i = 0; i < a->nr_tensors; i++) {
        size_t bytes = (size_t)tensor_bytes(&a->layout[i]);
        if (memcmp(tensor_at(a, slot, i) + bytes, a->margin, tensor_room(&a->layout[i]) - bytes) !=
            0)
            return a->layout[i].name;
    }
    return NULL;
}
