/* SPDX-License-Identifier: MIT */
/*
 * From CUPTI's activity records, as its buffers hold them, to activities. Pure: no library, no GPU;
 * so recorded buffers can be read anywhere.
 *
 * NVIDIA changes a record by adding fields at its end and giving it a new number
 * (CUpti_ActivityKernel8, 9, 10): the fields read here stand at the same place in all records since
 * CUPTI 18 (CUDA 11.8), which is the oldest that is taken (cupti/cupti_library.h). Where CUDA's
 * headers are at hand, the compiler checks the places (cupti/cupti_layout.c).
 */
#ifndef HARNESS_CUPTI_CUPTI_PARSE_H
#define HARNESS_CUPTI_CUPTI_PARSE_H

#include "base/error.h"
#include "gputrace/activity.h"

struct cupti_reader {
    uint32_t version; /* of the library that wrote the records */
    /* The name of a call by its number, or NULL; may be NULL itself: then it is "call 211". */
    const char *(*call_name)(const void *ctx, enum activity_kind kind, uint32_t number);
    const void *ctx;
};

/* Appends one record, whose size the caller knows to be right. Counts what it does not append
 * (list->untimed, list->unread). `record` needs no alignment; a kernel's name pointer is read. */
void cupti_parse_record(const struct cupti_reader *reader, const void *record,
                        struct activity_list *list);
/* Appends a whole buffer of records that lie one behind the other, `length` bytes. An error names
 * the byte where a record is of unknown kind or cut off; what came before it is in the list. Sizes
 * are known for CUPTI 26 (CUDA 12.8) to 130001; others need their library to step through. */
int cupti_parse_buffer(const struct cupti_reader *reader, const void *buffer, size_t length,
                       struct activity_list *list, struct error *err);

#endif
