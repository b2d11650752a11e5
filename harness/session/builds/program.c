/* SPDX-License-Identifier: MIT */
#include "session/builds/program.h"

#include "base/json.h"
#include "base/strbuf.h"
#include "process/process.h"

#include <stdio.h>
#include <string.h>

static const double patience = 20; /* s */

/* 0 where it ran and ended well; 1 where it did not; -1 where it could not be started. */
static int ask_program(const char *path, const char *form, struct strbuf *out,
                       struct strbuf *errors, struct error *err)
{
    const char *const argv[] = { path, "version", form, NULL };
    struct process process = { .argv = argv, .timeout = patience };
    struct process_result result;

    strbuf_clear(out);
    strbuf_clear(errors);
    if (process_run(&process, out, errors, &result, err))
        return -1;
    return result.end == PROCESS_EXITED && result.status == 0 ? 0 : 1;
}

static int read_version_json(const char *text, size_t length, struct build *b)
{
    struct error ignored;
    cJSON *json = json_parse(text, length, "version", &ignored);
    int rc = json ? build_from_json(json, b, &ignored) : -1;

    cJSON_Delete(json);
    return rc == 0 && b->version[0] ? 0 : -1;
}

/* "harness 0.1.0\ncommit HASH with changes\nbuilt by COMPILER, TYPE, FLAGS" */
static int read_version_text(const char *text, struct build *b)
{
    const char *commit = strstr(text, "\ncommit "), *built = strstr(text, "\nbuilt by ");
    char changes[16] = "";

    *b = (struct build) { .dirty = false };
    if (sscanf(text, "harness %47s", b->version) != 1)
        return -1;
    if (commit)
        sscanf(commit, "\ncommit %71s%15[ a-z]", b->commit, changes);
    b->dirty = changes[0] != '\0';
    if (built)
        sscanf(built, "\nbuilt by %95[^\n,], %31[^\n,], %255[^\n]", b->compiler, b->build_type,
               b->flags);
    return 0;
}

int program_parse(const char *text, size_t length, struct build *b)
{
    return *text == '{' ? read_version_json(text, length, b) : read_version_text(text, b);
}

/* What it said, without the newline at the end. */
static int said_length(const struct strbuf *text)
{
    size_t length = text->length < 200 ? text->length : 200;

    return (int)(length > 0 && text->data[length - 1] == '\n' ? length - 1 : length);
}

int program_build(const char *path, struct build *b, struct error *err)
{
    struct strbuf out, errors;

    strbuf_init(&out);
    strbuf_init(&errors);
    int rc = ask_program(path, "--json", &out, &errors, err);
    bool known = rc == 0 && program_parse(out.data, out.length, b) == 0;
    if (rc > 0) {
        rc = ask_program(path, NULL, &out, &errors, err);
        known = rc == 0 && program_parse(out.data, out.length, b) == 0;
    }
    if (rc >= 0 && !known)
        error_set(err, "%s is no harness: asked for its version, it said \"%.*s%.*s\"", path,
                  said_length(&out), out.data, said_length(&errors), errors.data);
    strbuf_release(&out);
    strbuf_release(&errors);
    return known ? 0 : -1;
}
