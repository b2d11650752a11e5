/* SPDX-License-Identifier: MIT */
#include "judge/cell_python.h"

#include "base/json.h"
#include "base/resource.h"
#include "base/strbuf.h"
#include "judge/sandbox.h"
#include "plugin/python_process.h"
#include "plugin/python_run.h"
#include "process/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOB_FD = 4 };

/* ---- what it is told ---- */

static void add_board(cJSON *json)
{
    cJSON *board = cJSON_AddObjectToObject(json, "board");
    cJSON *orders = cJSON_AddObjectToObject(json, "orders");
    cJSON *states = cJSON_AddObjectToObject(json, "states");

    json_add_int(board, "order", offsetof(struct board, order));
    json_add_int(board, "nr", offsetof(struct board, nr));
    json_add_int(board, "slot", offsetof(struct board, slot));
    json_add_int(board, "done", offsetof(struct board, done));
    json_add_int(board, "state", offsetof(struct board, state));
    json_add_int(board, "words", offsetof(struct board, words));
    json_add_int(json, "board_bytes", sizeof(struct board));
    json_add_int(orders, "load", ORDER_LOAD);
    json_add_int(orders, "launch", ORDER_LAUNCH);
    json_add_int(orders, "wait", ORDER_WAIT);
    json_add_int(states, "ready", BOARD_READY);
    json_add_int(states, "unsupported", BOARD_UNSUPPORTED);
    json_add_int(states, "failed", BOARD_FAILED);
}

static char *describe_arena(cJSON *json, const struct arena *a)
{
    cJSON *tensors = cJSON_AddArrayToObject(json, "tensors");

    add_board(json);
    json_add_int(json, "whole", (int64_t)a->bytes);
    json_add_int(json, "slots", a->slots);
    json_add_int(json, "slot_bytes", (int64_t)a->slot_bytes);
    for (int i = 0; i < a->nr_tensors; i++) {
        cJSON *one = python_tensor(&a->layout[i]);
        json_add_int(one, "offset", (int64_t)arena_offset(a, 0, i));
        cJSON_AddItemToArray(tensors, one);
    }
    return json_take_text(json);
}

/* ---- it becomes that ---- */

/* A file without a name gets the lowest number that is free, which may be the wanted one. */
static int put_text(const char *text, size_t length, int where, struct error *err)
{
    int made = descriptors_of_bytes("cell", text, length);
    int high = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, JOB_FD + 1);
    bool there = high >= 0 && dup2(high, where) == where;
    int number = errno;

    if (made >= 0 && made != where)
        close(made);
    if (high >= 0)
        close(high);
    return there ? 0 : error_set(err, "cannot write a program: %s", strerror(number));
}

static int put_program(struct error *err)
{
    const struct resource *cell = resource_find("judge/cell.py");
    struct strbuf text;

    strbuf_init(&text);
    python_program(&text);
    strbuf_add(&text, cell->data, cell->length);
    int rc = put_text(text.data, text.length, STDIN_FILENO, err);
    strbuf_release(&text);
    return rc;
}

int cell_become_python(const struct python_function *f, const struct kernel *spec,
                       const struct shape *shape, const struct arena *a, int threads,
                       struct error *err)
{
    char name[] = "python3", plain[] = "-B", from_input[] = "-", cell[] = "cell";
    char *argv[] = { name, plain, from_input, cell, NULL };
    char *job = describe_arena(python_job(f, spec, shape, threads), a);

    descriptors_close_on_exec(JOB_FD);
    int rc = put_text(job, strlen(job), JOB_FD, err);
    free(job);
    if (rc || put_program(err))
        return -1;
    argv[0] = (char *)f->interpreter;
    if (sandbox_enter(SANDBOX_EXECUTES, err))
        return -1;
    execv(f->interpreter, argv);
    return error_set(err, "cannot start %s: %s", f->interpreter, strerror(errno));
}
