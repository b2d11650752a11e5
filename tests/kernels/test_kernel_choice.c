/* SPDX-License-Identifier: MIT */
/*
 * The table that products are cut by (gemm_simd_choice.h), held against the races that it was made
 * of: what is chosen is within 1 % of each winner, or of all settings the one that loses least in
 * the races of a product. The races are those that are kept in docs/performance/tiles, of whatever
 * machine.
 * Features: U-03 (kernels).
 */
#include "testing.h"

#include "base/json.h"
#include "kernels/gemm/gemm_simd_choice.h"

#include <dirent.h>

#define KEPT HARNESS_SOURCE_DIR "/docs/performance/tiles"

enum { RECORDS_MOST = 64, RECORD_BYTES = 16 << 20, SETTING_SIZE = 64 };

static const double within = 0.01;

/* Of one record or several: {"isa", "l1", "l2", "races"}. */
struct records {
    cJSON *items[RECORDS_MOST];
    size_t nr;
};

static void records_release(struct records *r)
{
    for (size_t i = 0; i < r->nr; i++)
        cJSON_Delete(r->items[i]);
}

static void records_read(struct records *r, const char *folder)
{
    DIR *all = opendir(folder);
    struct error err;

    for (const struct dirent *entry; all && (entry = readdir(all));) {
        char path[1024];
        if (!strstr(entry->d_name, ".json"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        assert_true(r->nr < RECORDS_MOST);
        r->items[r->nr] = json_parse_file(path, RECORD_BYTES, &err);
        if (!r->items[r->nr++])
            fail_msg("%s", err.message);
    }
    if (all)
        closedir(all);
}

/* ---- a race ---- */

static enum simd_isa isa_of(const char *name)
{
    for (unsigned isa = 0; isa < SIMD_NR; isa++)
        if (strcmp(name, simd_isa_name((enum simd_isa)isa)) == 0)
            return gemm_choice_isa((enum simd_isa)isa);
    return SIMD_PORTABLE;
}

static bool is_product(const cJSON *race)
{
    const char *kernel = json_string(race, "kernel", "");
    size_t length = strlen(kernel);

    return strncmp(kernel, "gemm/", 5) == 0 && length > 5 &&
           strcmp(kernel + length - 5, "/simd") == 0 && json_bool(race, "decided", false);
}

static struct gemm_case case_of(const cJSON *record, const cJSON *race)
{
    const cJSON *dims = cJSON_GetObjectItemCaseSensitive(race, "dims");

    return (struct gemm_case) {
        .isa = isa_of(json_string(record, "isa", "")),
        .l1 = json_int(record, "l1", 0),
        .l2 = json_int(record, "l2", 0),
        .nn = strcmp(json_string(race, "kernel", ""), "gemm/nn/simd") == 0,
        .rows = json_int(dims, "batch", 0) * json_int(dims, "seq", 0),
        .k = json_int(dims, "k", 0),
    };
}

static bool same_case(const struct gemm_case *a, const struct gemm_case *b)
{
    return a->isa == b->isa && a->l1 == b->l1 && a->l2 == b->l2 && a->nn == b->nn &&
           a->rows == b->rows && a->k == b->k;
}

/* How far a setting is behind the winner; infinite where that is not known. */
static double behind(const cJSON *race, const char *setting)
{
    const cJSON *settings = cJSON_GetObjectItemCaseSensitive(race, "settings");
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(settings, setting), 0);

    return cJSON_IsNumber(first) ? first->valuedouble : INFINITY;
}

/* In the worst of the races of such a product. */
static double worst_behind(const struct records *r, const struct gemm_case *c, const char *setting)
{
    double worst = 0;

    for (size_t i = 0; i < r->nr; i++) {
        const cJSON *race;
        cJSON_ArrayForEach(race, cJSON_GetObjectItemCaseSensitive(r->items[i], "races"))
        {
            struct gemm_case other = case_of(r->items[i], race);
            if (is_product(race) && same_case(&other, c))
                worst = fmax(worst, behind(race, setting));
        }
    }
    return worst;
}

/* ---- what is chosen ---- */

/* Of the races of such a product: by how much what is chosen loses more than it need. */
static double lost(const struct records *r, const struct gemm_choice_row *rows,
                   const struct gemm_case *c, const cJSON *race)
{
    const struct gemm_choice choice = gemm_choice_of(rows, c);
    char chosen[SETTING_SIZE];
    double least = INFINITY;
    const cJSON *setting;

    snprintf(chosen, sizeof(chosen), "depth=%lld,height=%lld", (long long)choice.depth,
             (long long)choice.height);
    cJSON_ArrayForEach(setting, cJSON_GetObjectItemCaseSensitive(race, "settings"))
    {
        least = fmin(least, worst_behind(r, c, setting->string));
    }
    return worst_behind(r, c, chosen) - fmax(least, within);
}

/* The largest loss of all races; a row marks those that it was chosen in. */
static double most_lost(const struct records *r, const struct gemm_choice_row *rows, bool *used)
{
    double most = -INFINITY;

    for (size_t i = 0; i < r->nr; i++) {
        const cJSON *race;
        cJSON_ArrayForEach(race, cJSON_GetObjectItemCaseSensitive(r->items[i], "races"))
        {
            struct gemm_case c = case_of(r->items[i], race);
            size_t row = 0;
            if (!is_product(race))
                continue;
            while (rows[row].isa != SIMD_NR && !gemm_choice_fits(&rows[row], &c))
                row++;
            used[row] = true;
            most = fmax(most, lost(r, rows, &c, race));
        }
    }
    return most;
}

enum { NR_ROWS = sizeof(gemm_choice_rows) / sizeof(gemm_choice_rows[0]) };

TEST_WITH_A(kept_races_have_chosen_the_table, struct records, kept, records_release)
{
    bool used[NR_ROWS] = { false };

    records_read(kept, KEPT);
    assert_true(most_lost(kept, gemm_choice_rows, used) <= 0);
    for (size_t i = 0; gemm_choice_rows[i].isa != SIMD_NR; i++)
        if (!used[i])
            fail_msg("row %zu of the table: no kept race has chosen it", i);
}

/* The same of planted races: a table that is right, none, and one that is not. */
TEST_WITH_A(a_wrong_table_is_found, struct records, planted, records_release)
{
    static const char text[] =
        "{\"isa\": \"avx512_bf16\", \"l1\": 32, \"l2\": 1024, \"races\": ["
        "{\"kernel\": \"gemm/nt/simd\", \"decided\": true, \"threads\": 1,"
        " \"dims\": {\"batch\": 2, \"seq\": 32, \"n\": 8, \"k\": 768}, \"settings\": {"
        "  \"depth=0,height=0\": [0.04, 0.03, 0.05], \"depth=64,height=2\": [0, 0, 0],"
        "  \"depth=128,height=0\": [0.02, 0.01, 0.03]}},"
        "{\"kernel\": \"gemm/nt/simd\", \"decided\": true, \"threads\": 2,"
        " \"dims\": {\"batch\": 1, \"seq\": 64, \"n\": 8, \"k\": 768}, \"settings\": {"
        "  \"depth=0,height=0\": [0, 0, 0], \"depth=64,height=2\": [0.05, 0, 0],"
        "  \"depth=128,height=0\": [0.011, 0, 0]}},"
        "{\"kernel\": \"gemm/nt/simd\", \"decided\": false,"
        " \"dims\": {\"batch\": 1, \"seq\": 64, \"n\": 8, \"k\": 768}, \"settings\": {}},"
        "{\"kernel\": \"layernorm/plain/simd\", \"decided\": true, \"dims\": {}, \"settings\": {}}"
        "]}";
    static const struct {
        struct gemm_choice choice;
        double lost;
    } cases[] = { { { 128, 0 }, 0 }, /* which loses 2 %: no other loses less with both */
                  { { 0, 0 }, 0.02 },
                  { { 64, 2 }, 0.03 },
                  { { 9, 9 }, INFINITY } };
    struct error err;

    planted->items[planted->nr++] = json_parse(text, strlen(text), "planted", &err);
    assert_non_null(planted->items[0]);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct gemm_choice_row rows[] = {
            { SIMD_AVX512, false, 32, 1024, { 64, 64 }, { 768, 768 }, cases[i].choice },
            { .isa = SIMD_NR }
        };
        bool used[2] = { false };
        double most = most_lost(planted, rows, used);
        assert_true(used[0] && !used[1]);
        assert_true(most == cases[i].lost || fabs(most - cases[i].lost) < 1e-12);
    }
}

/* ---- rows ---- */

TEST(rows_are_for_what_they_say)
{
    static const struct gemm_choice_row rows[] = {
        { SIMD_AVX512, false, 32, 1024, { 8, 64 }, { 256, 768 }, { 128, 2 } },
        { SIMD_AVX512, false, 32, 1024, { 1, 99 }, { 256, 768 }, { 512, 0 } },
        { .isa = SIMD_NR },
    };
    static const struct {
        struct gemm_case of;
        int64_t depth;
    } cases[] = {
        { { SIMD_AVX512, false, 32, 1024, 8, 256 }, 128 },
        { { SIMD_AVX512, false, 32, 1024, 64, 768 }, 128 },
        { { SIMD_AVX512, false, 32, 1024, 7, 768 }, 512 },
        { { SIMD_AVX512, false, 32, 1024, 65, 768 }, 512 },
        { { SIMD_AVX512, false, 32, 1024, 100, 768 }, 0 },
        { { SIMD_AVX512, false, 32, 1024, 8, 255 }, 0 },
        { { SIMD_AVX512, false, 32, 1024, 8, 769 }, 0 },
        { { SIMD_AVX512, true, 32, 1024, 8, 256 }, 0 },
        { { SIMD_AVX512, false, 48, 1024, 8, 256 }, 0 },
        { { SIMD_AVX512, false, 32, 2048, 8, 256 }, 0 },
        { { SIMD_AVX2, false, 32, 1024, 8, 256 }, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(gemm_choice_of(rows, &cases[i].of).depth, cases[i].depth);
    assert_int_equal(gemm_choice_of(rows, &cases[0].of).height, 2);
    assert_int_equal(gemm_choice_isa(SIMD_AVX512_BF16), SIMD_AVX512);
    assert_int_equal(gemm_choice_isa(SIMD_AVX2), SIMD_AVX2);
}

RUN_TESTS(NULL, NULL)
