/* SPDX-License-Identifier: MIT */
/* Mistakes that amx_model.h can be told to make. */
#ifndef HARNESS_TESTS_KERNELS_AMX_FAULTS_H
#define HARNESS_TESTS_KERNELS_AMX_FAULTS_H

enum amx_fault {
    AMX_RIGHT,
    AMX_FACTORS_SWAPPED, /* a b for b a */
    AMX_PAIRS_SWAPPED,   /* even terms by odd ones */
    AMX_TRANSPOSED,      /* the result */
    AMX_LAST_PAIR_LOST,
    AMX_ROWS_CLOSE, /* 64 bytes from row to row, whatever is said */
    AMX_FAULTS
};

extern int amx_model_fault; /* the test's */

#endif
