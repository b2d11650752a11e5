/* SPDX-License-Identifier: MIT */
/* Inside judge/: the cell of a function of Python becomes the interpreter. */
#ifndef HARNESS_JUDGE_CELL_PYTHON_H
#define HARNESS_JUDGE_CELL_PYTHON_H

#include "judge/arena.h"
#include "plugin/python_guest.h"

/* In the cell, with its arena at descriptor `a->fd`: enters the sandbox and executes the
 * interpreter, with guest.py and cell.py. No code of the function's file ran before. Returns only
 * where that cannot be, -1. */
int cell_become_python(const struct python_function *f, const struct kernel *spec,
                       const struct shape *shape, const struct arena *a, int threads,
                       struct error *err);

#endif
