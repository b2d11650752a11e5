/* SPDX-License-Identifier: MIT */
/* store/store.h: a damaged file instead of a history is an error, not more. */
#include "fuzz_history.h"

#include "base/file.h"
#include "base/json.h"
#include "fuzz.h"
#include "history/verify.h"
#include "store/sql.h"
#include "store/verdicts.h"
#include "vfs/page_checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PIECE = 5, PIECES = 64, RUNS = 4 };

/* ---- the history ---- */

static void add_run(struct store *s, struct records *records, int number)
{
    struct run *run = &records->runs[0];
    struct error err;
    bool added;

    snprintf(run->uuid, sizeof(run->uuid), "0000000%u-0000-4000-8000-00000000000%u",
             (unsigned)number % 10, (unsigned)number % 10);
    snprintf(run->machine.class_name, sizeof(run->machine.class_name), "class-a");
    snprintf(run->machine.id, sizeof(run->machine.id), "0123456789abcdef");
    snprintf(run->build.commit, sizeof(run->build.commit), "%d123456789abcdef", number);
    snprintf(run->build.branch, sizeof(run->build.branch), number % 2 ? "main" : "faster");
    snprintf(run->label, sizeof(run->label), number == 2 ? "before" : "");
    run->started_ms = 1790000000000 + number * INT64_C(3600000);
    run->ended_ms = run->started_ms + 5000;
    FUZZ_OK(store_add_run(s, records, 0, &added, &err), &err);
    FUZZ_CHECK(added);
}

static void add_comparison(struct store *s)
{
    struct store_comparison c = { .uuid = "00000009-0000-4000-8000-000000000009",
                                  .decided_ms = 1790000000456,
                                  .rule = 2,
                                  .version = "0.1.0",
                                  .base = memory_string("branch main"),
                                  .head = memory_string("branch faster"),
                                  .base_commit = memory_string(""),
                                  .head_commit = memory_string(""),
                                  .settings = memory_string("{\"delta\":0.03}") };
    struct error err;

    *store_comparison_push(&c) = (struct store_verdict) {
        .key = memory_string("gemm/a/simd"),
        .machine = memory_string("class-a"),
        .metric = memory_string("p50"),
        .verdict = memory_string("same"),
        .evidence = memory_string("{\"values\":[1,2.5]}"),
        .result = memory_string("{\"change\":0.1}"),
    };
    FUZZ_OK(store_comparison_add(s, &c, &err), &err);
    store_comparison_release(&c);
}

static void fill(struct store *s)
{
    cJSON *json;
    struct records records = { 0 };
    struct error err;
    const int64_t baseline = 1;

    json = json_parse_file(HARNESS_SOURCE_DIR "/tests/fixtures/peers/run-fixture.json",
                           FILE_RECORDS_MOST, &err);
    FUZZ_OK(json ? records_from_json(json, &records, &err) : -1, &err);
    for (int i = 1; i <= RUNS; i++)
        add_run(s, &records, i);
    FUZZ_OK(store_baseline_save(s, "release", &baseline, 1, 1790000000002, "note", false, &err),
            &err);
    add_comparison(s);
    FUZZ_OK(sql_execute(s, "PRAGMA journal_mode = DELETE", &err), &err);
    records_release(&records);
    cJSON_Delete(json);
}

const char *small_history(void)
{
    static char path[600];
    struct store *s;
    struct error err;

    if (path[0])
        return path;
    snprintf(path, sizeof(path), "%s/history.db", fuzz_folder());
    FUZZ_OK(store_open(&s, path, STORE_WRITE, &err), &err);
    fill(s);
    store_close(s);
    return path;
}

struct store *small_history_open(void)
{
    static struct store *store;
    struct error err;

    if (!store)
        FUZZ_OK(store_open(&store, small_history(), STORE_READ, &err), &err);
    return store;
}

/* ---- damage ---- */

static void damage(uint8_t *file, size_t *length, const uint8_t *piece)
{
    size_t pages = *length / PAGE, at = (size_t)(piece[1] << 16 | piece[2] << 8 | piece[3]);
    size_t one = (size_t)(piece[1] << 8 | piece[2]) % pages;
    size_t other = (size_t)(piece[3] << 8 | piece[4]) % pages, from = piece[4] % 16 * (PAGE / 16);

    switch (piece[0] % 4) {
    case 0:
    case 1:
        file[at % *length] = piece[4];
        break;
    case 2:
        memset(file + one * PAGE + from, 0, PAGE - from);
        break;
    default:
        if (one == other && one > 0)
            *length = one * PAGE;
        else if (one != other)
            memcpy(file + one * PAGE, file + other * PAGE, PAGE);
    }
}

/* So that SQLite and the reader meet the damage, and not only the checksum. */
static void seal(uint8_t *file, size_t length)
{
    for (size_t at = 0; at + PAGE <= length; at += PAGE)
        page_checksum_seal(file + at, PAGE, (uint32_t)(at / PAGE) + 1);
}

const char *small_history_damaged(const uint8_t *data, size_t size)
{
    static const char *const suffixes[] = { "-wal", "-shm", "-journal" };
    static uint8_t *sound;
    static size_t whole;
    char beside[640];
    struct error err;

    if (!sound)
        sound = (uint8_t *)file_read(small_history(), FILE_RECORDS_MOST, &whole, &err);
    FUZZ_CHECK(sound && whole > PAGE);
    uint8_t *copy = memory_zeroed(whole, 1);
    size_t length = whole;
    memcpy(copy, sound, whole);
    for (size_t i = 0; i < PIECES && (i + 1) * PIECE <= size; i++)
        damage(copy, &length, data + i * PIECE);
    if (size > 0 && data[0] & 0x80)
        seal(copy, length);
    const char *path = fuzz_file(copy, length);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(beside, sizeof(beside), "%s%s", path, suffixes[i]);
        unlink(beside);
    }
    free(copy);
    return path;
}

/* ---- the target ---- */

static void read_all(struct store *s)
{
    struct store_listing runs = { 0 };
    struct store_baselines baselines = { 0 };
    struct store_comparisons comparisons = { 0 };
    struct store_health health;
    struct error err;

    store_verify(s, &health, &err);
    store_baseline_list(s, &baselines, &err);
    store_comparison_list(s, 0, &comparisons, &err);
    if (store_list_runs(s, NULL, 0, &runs, &err) == 0)
        for (size_t i = 0; i < runs.nr; i++) {
            struct records records = { 0 };
            store_load(s, &runs.items[i].run.id, 1, NULL, &records, &err);
            records_release(&records);
        }
    store_listing_release(&runs);
    store_baselines_release(&baselines);
    store_comparisons_release(&comparisons);
}

FUZZ_TARGET(history)
{
    const char *path = small_history_damaged(data, size);
    struct store *s;
    struct error err;

    if (store_open(&s, path, STORE_READ, &err)) {
        FUZZ_CHECK(!s);
        return;
    }
    read_all(s);
    store_close(s);
}
