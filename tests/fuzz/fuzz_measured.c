/* SPDX-License-Identifier: MIT */
/* What measuring processes, programs and histories hand over. */
#include "fuzz.h"

#include "base/array.h"
#include "base/pack.h"
#include "launch/launch_job.h"
#include "session/builds/program.h"
#include "session/series_file.h"
#include "session/verified_variants.h"
#include "store/samples.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* launch/launch_job.h: what a measuring process is told to do. */
FUZZ_TARGET(job)
{
    static const struct kernel *const *const operations[] = { NULL };
    static const struct variant *const files[] = { NULL };
    static const struct missing_variant missing[] = { { .name = NULL } };
    static const struct registry nothing = { operations, files, missing, NULL, NULL, NULL };
    struct owned_job job;
    struct error err;

    if (job_parse((const char *)data, size, &nothing, &job, &err) == 0)
        for (size_t i = 0; i < job.job.nr; i++)
            for (int d = 0; d < SHAPE_MAX; d++)
                FUZZ_CHECK(job.cases[i].shape.dim[d] >= 0 &&
                           job.cases[i].shape.dim[d] <= DIM_LIMIT);
    job_release(&job);
}

/* session/verified_variants.h: the record of what was right on a device. */
FUZZ_TARGET(verification)
{
    struct verification_list list = { 0 };
    struct error err;
    char text[VERIFICATION_TEXT];

    if (verification_parse((const char *)data, size, "text", &list, &err) == 0)
        for (size_t i = 0; i < list.nr; i++) {
            const struct verification *v = &list.items[i];
            FUZZ_CHECK(verification_find(&list, v->kernel, v->variant));
            verification_describe(v, "", text);
            cJSON_Delete(verification_to_json(v));
        }
    verification_release(&list);
}

/* store/samples.h: the blob of raw samples, or a summary of them, as a column of a history. */
FUZZ_TARGET(samples)
{
    uint64_t *samples;
    struct error err;
    size_t nr, length;

    if (samples_decode(data, size, &samples, &nr, &err)) {
        FUZZ_CHECK(!samples && nr == 0);
        return;
    }
    if (!samples_are_thin(data, size)) {
        unsigned char *blob = samples_encode(samples, nr, &length);
        FUZZ_CHECK(length == size && memcmp(blob, data, size) == 0);
        free(blob);
    } else {
        for (size_t i = 1; i < nr; i++)
            FUZZ_CHECK(samples[i - 1] <= samples[i]);
    }
    free(samples);
}

enum { MOST = 1 << 16 };

/* base/pack.h: what is packed, there and back. */
FUZZ_TARGET(packed)
{
    struct strbuf out, back;
    struct error err;

    strbuf_init(&out);
    strbuf_init(&back);
    if (gzip_undo(&out, data, size, MOST, &err) == 0)
        FUZZ_CHECK(out.length <= MOST);
    strbuf_clear(&out);
    if (base64_undo(&out, (const char *)data, size, &err) == 0) {
        base64_add(&back, out.data, out.length);
        FUZZ_CHECK(back.length == size && memcmp(back.data, data, size) == 0);
    }
    strbuf_clear(&out);
    strbuf_clear(&back);
    gzip_add(&out, data, size, GZIP_FAST);
    FUZZ_OK(gzip_undo(&back, out.data, out.length, size, &err), &err);
    FUZZ_CHECK(back.length == size && memcmp(back.data, data, size) == 0);
    strbuf_release(&out);
    strbuf_release(&back);
}

/* session/builds/program.h: what another program says of its version. */
FUZZ_TARGET(program)
{
    char *text = fuzz_text(data, size);
    struct build b;

    if (program_parse(text, strlen(text), &b) == 0)
        FUZZ_CHECK(b.version[0]);
    free(text);
}

/* session/series_file.h: a series of numbers as JSON or as lines, for `harness detect`. */
FUZZ_TARGET(series)
{
    struct series_values values;
    struct error err;

    if (series_parse((const char *)data, size, "text", &values, &err) == 0)
        for (size_t i = 0; i < values.nr; i++)
            FUZZ_CHECK(isfinite(values.items[i]));
    array_release(&values);
}
