/* SPDX-License-Identifier: MIT */
#include "models/gpt_tokens.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* One sequence to ids[0..seq). `row` counts from 0 and stands in messages. */
static int parse_row(int32_t *ids, const cJSON *array, const struct gpt_config *c, int64_t row,
                     const char *what, struct error *err)
{
    int64_t column = 0;
    const cJSON *item;

    cJSON_ArrayForEach(item, array)
    {
        double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
        if (!(value == floor(value)))
            return error_set(err, "%s: token %lld of sequence %lld is not a whole number", what,
                             (long long)column, (long long)row);
        if (value < 0 || value >= (double)c->vocab)
            return error_set(err, "%s: token %lld of sequence %lld is %.0f, not in 0..%lld (%s)",
                             what, (long long)column, (long long)row, value,
                             (long long)c->vocab - 1, c->name);
        ids[column++] = (int32_t)value;
    }
    return 0;
}

static int check_lengths(const cJSON *sequences, const struct gpt_config *c, int64_t seq,
                         const char *what, struct error *err)
{
    int64_t row = 0;
    const cJSON *sequence;

    cJSON_ArrayForEach(sequence, sequences)
    {
        if (!cJSON_IsArray(sequence))
            return error_set(err,
                             "%s: expected a JSON array of token numbers, or of equally long "
                             "arrays of them; element %lld is neither",
                             what, (long long)row);
        if (cJSON_GetArraySize(sequence) != seq)
            return error_set(err,
                             "%s: sequence %lld has %d tokens, the first one %lld; a batch "
                             "needs equal lengths",
                             what, (long long)row, cJSON_GetArraySize(sequence), (long long)seq);
        row++;
    }
    if (seq < 1)
        return error_set(err, "%s: there are no tokens", what);
    if (seq > c->block)
        return error_set(err, "%s: %lld tokens are beyond the block size %lld of %s", what,
                         (long long)seq, (long long)c->block, c->name);
    return 0;
}

static int parse_batch(struct gpt_tokens *t, const cJSON *sequences, const struct gpt_config *c,
                       const char *what, struct error *err)
{
    int64_t row = 0;
    const cJSON *sequence;

    t->batch = cJSON_GetArraySize(sequences);
    t->seq = cJSON_GetArraySize(sequences->child);
    if (check_lengths(sequences, c, t->seq, what, err))
        return -1;
    t->ids = memory_zeroed((size_t)(t->batch * t->seq), sizeof(*t->ids));
    cJSON_ArrayForEach(sequence, sequences)
    {
        if (parse_row(t->ids + row * t->seq, sequence, c, row, what, err)) {
            gpt_tokens_release(t);
            return -1;
        }
        row++;
    }
    return 0;
}

int gpt_tokens_parse(struct gpt_tokens *t, const struct gpt_config *c, const char *text,
                     size_t length, const char *what, struct error *err)
{
    *t = (struct gpt_tokens) { 0 };
    cJSON *json = json_parse(text, length, what, err);
    if (!json)
        return -1;

    int rc = -1;
    if (!cJSON_IsArray(json) || !json->child) {
        error_set(err,
                  "%s: expected a JSON array of token numbers, or of equally long arrays of "
                  "them",
                  what);
    } else if (cJSON_IsArray(json->child)) {
        rc = parse_batch(t, json, c, what, err);
    } else {
        /* One sequence is a batch of one. */
        cJSON *batch = cJSON_CreateArray();
        cJSON_AddItemToArray(batch, json);
        json = batch;
        rc = parse_batch(t, json, c, what, err);
    }
    cJSON_Delete(json);
    return rc;
}

int gpt_tokens_read(struct gpt_tokens *t, const struct gpt_config *c, const char *path,
                    struct error *err)
{
    size_t length;
    char *text = file_read(path, FILE_RECORDS_MOST, &length, err);

    *t = (struct gpt_tokens) { 0 };
    if (!text)
        return -1;
    int rc = gpt_tokens_parse(t, c, text, length, path, err);
    free(text);
    return rc;
}

void gpt_tokens_release(struct gpt_tokens *t)
{
    free(t->ids);
    t->ids = NULL;
}
