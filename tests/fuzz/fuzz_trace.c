/* SPDX-License-Identifier: MIT */
/* timeline/timeline_read.h: Trace Event JSON; what was read can be written and read again. */
#include "fuzz.h"

#include "profile/export.h"
#include "timeline/timeline_read.h"

#include <stdio.h>
#include <stdlib.h>

static void write_and_read(const struct prof_trace *trace)
{
    struct prof_trace again;
    struct error err;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    FUZZ_CHECK(file && prof_write_trace(file, trace) == 0 && fclose(file) == 0);
    FUZZ_OK(timeline_parse(text, length, "written", &again, &err), &err);
    FUZZ_CHECK(again.nr_slices == trace->nr_slices && again.nr_samples == trace->nr_samples);
    prof_trace_release(&again);
    free(text);
}

FUZZ_TARGET(trace)
{
    struct prof_trace trace;
    struct error err;
    char why[256];

    if (timeline_parse((const char *)data, size, "text", &trace, &err))
        return;
    FUZZ_CHECK(prof_trace_check(&trace, why, sizeof(why)) == 0);
    write_and_read(&trace);
    prof_trace_release(&trace);
}
