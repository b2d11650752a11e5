/* SPDX-License-Identifier: MIT */
#include "session/builds/gate_event.h"

#include "base/file.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GATE_NUMBER_MOST = 1000000000 };

static bool take_event_hash(const char *text, char hash[GIT_HASH_SIZE])
{
    size_t length = text ? strspn(text, "0123456789abcdef") : 0;

    if (!text || text[length] || (length != 40 && length != 64))
        return false;
    snprintf(hash, GIT_HASH_SIZE, "%s", text);
    return true;
}

static const char *event_sha(const cJSON *change, const char *side)
{
    return json_string(cJSON_GetObjectItemCaseSensitive(change, side), "sha", NULL);
}

static int read_github_event(const char *path, struct gate_event *e, struct error *err)
{
    cJSON *event = json_parse_file(path, FILE_SETTINGS_MOST, err);
    const cJSON *change = cJSON_GetObjectItemCaseSensitive(event, "pull_request");

    if (!event)
        return -1;
    e->closed = strcmp(json_string(event, "action", ""), "closed") == 0;
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(change, "number");
    e->number = json_int(change, "number", 0);
    bool whole = (!number || (e->number > 0 && e->number < GATE_NUMBER_MOST)) &&
                 take_event_hash(event_sha(change, "base"), e->base) &&
                 take_event_hash(event_sha(change, "head"), e->head);
    cJSON_Delete(event);
    return whole || e->closed
               ? 0
               : error_set(err, "the event in %s is of no pull request; give --base REF", path);
}

static int read_gitlab_event(const char *number, struct gate_event *e, struct error *err)
{
    const char *head = getenv("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA");

    e->number = strtoll(number, NULL, 10);
    if (e->number <= 0 || e->number >= GATE_NUMBER_MOST)
        return error_set(err, "CI_MERGE_REQUEST_IID is no number; give --base REF");
    if (!take_event_hash(head, e->head))
        take_event_hash(getenv("CI_COMMIT_SHA"), e->head);
    return take_event_hash(getenv("CI_MERGE_REQUEST_DIFF_BASE_SHA"), e->base)
               ? 0
               : error_set(err, "CI_MERGE_REQUEST_DIFF_BASE_SHA is no commit; give --base REF");
}

int gate_event_read(struct gate_event *e, struct error *err)
{
    const char *github = getenv("GITHUB_EVENT_PATH"), *gitlab = getenv("CI_MERGE_REQUEST_IID");

    *e = (struct gate_event) { .number = 0 };
    if (github && *github)
        return read_github_event(github, e, err);
    return gitlab && *gitlab ? read_gitlab_event(gitlab, e, err) : 0;
}
