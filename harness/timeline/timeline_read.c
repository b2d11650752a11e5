/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_read.h"

#include "base/file.h"
#include "base/gzip.h"
#include "base/strbuf.h"
#include "timeline/trace_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a gzip file may unpack to. */
#define UNPACKED_MOST ((size_t)4 << 30)

int timeline_parse(const char *text, size_t length, const char *what, struct prof_trace *trace,
                   struct error *err)
{
    struct trace_reader r = { .trace = trace };
    struct event_text t = { .what = what, .text = text, .end = text + length };

    prof_trace_init(trace);
    int rc = event_text_walk(&t, trace_reader_use, &r, err);
    if (rc == 0)
        rc = trace_reader_finish(&r, what, err);
    trace_reader_release(&r);
    if (rc)
        prof_trace_release(trace);
    return rc;
}

static int parse_packed(const char *bytes, size_t length, const char *path,
                        struct prof_trace *trace, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    int rc = gzip_undo(&text, bytes, length, UNPACKED_MOST, err);
    rc = rc ? error_prefix(err, "%s", path)
            : timeline_parse(text.data, text.length, path, trace, err);
    strbuf_release(&text);
    return rc;
}

static int read_file(const char *path, struct prof_trace *trace, struct error *err)
{
    size_t length;
    char *bytes = file_read(path, FILE_RECORDS_MOST, &length, err);

    if (!bytes)
        return -1;
    bool is_packed = length > 2 && !memcmp(bytes, "\x1f\x8b", 2);
    int rc = is_packed ? parse_packed(bytes, length, path, trace, err)
                       : timeline_parse(bytes, length, path, trace, err);
    free(bytes);
    return rc;
}

int timeline_read(const char *path, struct prof_trace *trace, struct error *err)
{
    struct strbuf file;
    struct stat status;

    prof_trace_init(trace);
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return read_file(path, trace, err);
    strbuf_init(&file);
    strbuf_addf(&file, "%s/trace.json", path);
    int rc = read_file(file.data, trace, err);
    strbuf_release(&file);
    return rc;
}
