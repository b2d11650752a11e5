/* SPDX-License-Identifier: MIT */
/*
 * What a request brings: runs of a small history, files, folders; sides, names, modes, roofs.
 * Covers: S1-01, S1-02, S1-03, S1-04, S1-07, S0-13, S0-30.
 */
#include "test_store.h"

#include "as_nobody.h"
#include "base/file.h"
#include "base/json.h"
#include "output_records.h"
#include "view/history_side.h"
#include "view/view.h"

#define KEY_A "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm"
#define KEY_B "gemm/linear/simd/fp32/batch=1,seq=64,n=48,k=48/cpu-4t/warm"

/* One run of two benchmarks in `launches` launches, `slow` times as slow as usual. */
static void make_run(struct records *r, int nth, const char *commit, double slow)
{
    int run = made_run(r, nth, commit, "gcc 12.2.0");

    for (int launch = 0; launch < 4; launch++) {
        made_work(made_measurement(r, run, launch, KEY_A, 1e6 * slow, 0.01, 40,
                                   made_seed(nth, launch, 0)),
                  1e7, 1e6);
        made_work(made_measurement(r, run, launch, KEY_B, 2e5 * slow, 0.01, 40,
                                   made_seed(nth, launch, 1)),
                  1e6, 1e5);
    }
}

static void store_run(struct store *store, const struct records *r)
{
    struct run run = r->runs[0];
    struct error err;

    run.id = 0;
    assert_ok(store_begin_run(store, &run, &err), &err);
    for (int seq = 0; seq < 4; seq++) {
        struct launch launch = { .seq = seq, .started_ms = run.started_ms, .ended_ms = 1 };
        int64_t id;
        assert_ok(store_begin_launch(store, run.id, &launch, &id, &err), &err);
        for (size_t i = 0; i < r->nr; i++)
            if (r->items[i].launch_seq == seq)
                assert_ok(store_add_measurement(store, id, &r->items[i].m, &err), &err);
        assert_ok(store_end_launch(store, id, &launch, &err), &err);
    }
    assert_ok(store_end_run(store, run.id, run.ended_ms, &err), &err);
}

/* Three runs of two commits, the last half as fast; one has roofs. */
static struct store *make_history(const struct scratch *scratch)
{
    static const struct {
        const char *commit;
        double slow;
    } rows[] = { { "aaaaaaa1", 1 }, { "bbbbbbb2", 1 }, { "ccccccc3", 2 } };
    struct store *store;
    struct error err;

    assert_ok(store_open(&store, scratch->path, STORE_WRITE, &err), &err);
    for (int i = 0; i < 3; i++) {
        struct records r = { 0 };
        make_run(&r, i, rows[i].commit, rows[i].slow);
        made_roofs(&r);
        store_run(store, &r);
        if (i == 0)
            assert_ok(store_add_roofs(store, &r.runs[0].machine, "", r.roofs, r.nr_roofs, &err),
                      &err);
        records_release(&r);
    }
    return store;
}

static void load(struct store *store, const struct view_request *request, struct view *view)
{
    struct error err;

    assert_ok(view_load(store, request, view, &err), &err);
}

static const struct preset *any(const struct presets *presets, unsigned mode)
{
    for (size_t i = 0; i < presets->nr; i++)
        if (presets->items[i].modes == mode)
            return &presets->items[i];
    fail_msg("no preset of mode %u alone", mode);
    return NULL;
}

SCRATCH_TEST(nothing_asked_is_the_newest)
{
    struct store *store = make_history(*state);
    struct view_request request = { .delta = 0 };
    struct presets presets = { 0 };
    struct view view;
    struct chart chart;
    struct error err;

    load(store, &request, &view);
    assert_int_equal(view.nr_runs, 1);
    assert_string_equal(view.records.runs[view.head].build.commit, "ccccccc3");
    assert_string_equal(view.run_names[0], "main ccccccc");
    assert_false(view.compared);
    assert_int_equal(view_modes(&view), PLOT_SINGLE | PLOT_TREND);
    assert_true(view.trends && view.series && view.trends->nr == view.series->nr);
    assert_true(metric_context_of(&view.records, view.head).nr_roofs > 3);
    assert_ok(presets_load_embedded(&presets, &err), &err);
    assert_null(view_absence(&view, any(&presets, PLOT_SINGLE)));
    assert_non_null(strstr(view_absence(&view, any(&presets, PLOT_MULTI)), "two or more"));
    assert_non_null(strstr(view_absence(&view, any(&presets, PLOT_COMPARE)), "needs a base"));
    view_chart(&view, any(&presets, PLOT_TREND), &chart);
    assert_int_equal(chart.records->nr_runs, 3);
    view_chart(&view, any(&presets, PLOT_SINGLE), &chart);
    assert_int_equal(chart.records->nr_runs, 1);
    presets_release(&presets);
    view_release(&view);
    store_close(store);
}

SCRATCH_TEST(two_refs_are_compared)
{
    struct store *store = make_history(*state);
    const char *refs[] = { "3", "aaaaaaa1" }; /* the newer first: what changed back */
    struct view_request request = { .refs = refs, .nr_refs = 2, .without_history = true };
    struct presets presets = { 0 };
    struct view view;
    struct chart chart;
    struct error err;

    load(store, &request, &view);
    assert_int_equal(view.nr_runs, 2);
    assert_true(view.compared);
    assert_int_equal(view_modes(&view), PLOT_MULTI | PLOT_COMPARE);
    assert_string_equal(view.records.runs[view.head].build.commit, "aaaaaaa1");
    assert_string_equal(view.base.runs[0].build.commit, "ccccccc3");
    assert_string_equal(view.base_label, "3");
    assert_int_equal(view.comparison.count[VERDICT_IMPROVED], 2);
    assert_string_equal(view.run_names[0], "ccccccc");
    assert_ok(presets_load_embedded(&presets, &err), &err);
    view_chart(&view, any(&presets, PLOT_MULTI), &chart);
    assert_int_equal(chart.nr_runs, 2);
    assert_string_equal(chart_run_name(&chart, 1), "aaaaaaa");
    assert_string_equal(chart_run(&chart, 1)->build.commit, "aaaaaaa1");
    presets_release(&presets);
    view_release(&view);
    request.head_too = true;
    load(store, &request, &view);
    assert_true(view_modes(&view) & PLOT_SINGLE);
    view_release(&view);
    store_close(store);
}

SCRATCH_TEST(a_base_is_no_run_of_the_figure)
{
    struct store *store = make_history(*state);
    const char *refs[] = { "3" }, *filters[] = { "gemm" };
    struct view_request request = { .refs = refs,
                                    .nr_refs = 1,
                                    .baseline = "2",
                                    .filters = filters,
                                    .nr_filters = 1,
                                    .history = 2 };
    struct view view;
    struct error err;

    load(store, &request, &view);
    assert_int_equal(view.nr_runs, 1);
    assert_int_equal(view.records.nr_runs, 2);
    assert_int_equal(view.history.nr_runs, 2);
    assert_true(view.compared);
    assert_int_equal(view.comparison.nr, 1); /* gemm alone */
    assert_int_equal(view.comparison.count[VERDICT_REGRESSED], 1);
    view_release(&view);

    /* A known name that has nothing but the head itself is no error: there is nothing to compare.
     */
    request.baseline = "ccccccc3";
    load(store, &request, &view);
    assert_false(view.compared);
    assert_true(strlen(view.base_what) > 10);
    view_release(&view);
    request.baseline = "nonsense";
    assert_int_equal(view_load(store, &request, &view, &err), -1);
    assert_non_null(strstr(err.message, "nonsense"));
    view_release(&view);
    store_close(store);
}

static void write_records(const char *folder, const char *name, int nth, const char *commit)
{
    struct records r = { 0 };
    struct strbuf path;
    struct error err;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", folder, name);
    make_run(&r, nth, commit, 1 + nth);
    made_roofs(&r);
    cJSON *json = records_to_json(&r);
    assert_ok(file_make_parent(path.data, &err), &err);
    assert_ok(json_write_file(json, path.data, true, &err), &err);
    cJSON_Delete(json);
    records_release(&r);
    strbuf_release(&path);
}

static void write_text(const char *folder, const char *name, const char *text)
{
    struct strbuf path;
    struct error err;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", folder, name);
    assert_ok(file_make_parent(path.data, &err), &err);
    assert_ok(file_write(path.data, text, strlen(text), &err), &err);
    strbuf_release(&path);
}

static void link_to(const char *folder, const char *name, const char *target)
{
    struct strbuf path;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", folder, name);
    assert_int_equal(symlink(target, path.data), 0);
    strbuf_release(&path);
}

/* A file of a run that the history has, too, is that run. */
SCRATCH_TEST(a_file_is_no_base_of_its_own)
{
    const struct scratch *scratch = *state;
    struct store *store = make_history(scratch);
    struct strbuf path;
    struct view view;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/run.json", scratch->folder);
    write_records(scratch->folder, "run.json", 2, "ccccccc3");
    const char *refs[] = { path.data };
    const struct view_request request = { .refs = refs, .nr_refs = 1, .baseline = "latest" };
    load(store, &request, &view);
    assert_string_equal(view.base_what, "latest run 2");
    assert_int_equal(view.comparison.count[VERDICT_REGRESSED], 2);
    view_release(&view);
    strbuf_release(&path);
    store_close(store);
}

SCRATCH_TEST(a_folder_of_files)
{
    const struct scratch *scratch = *state;
    const char *refs[] = { scratch->folder };
    struct view_request request = { .refs = refs, .nr_refs = 1 };
    struct view view;

    write_records(scratch->folder, "z.json", 0, "aaaaaaa1");
    write_records(scratch->folder, "deep/er/records", 1, "bbbbbbb2"); /* by content, not by name */
    write_records(scratch->folder, "again.json", 1, "bbbbbbb2");
    write_text(scratch->folder, "plots/roofline.json", "{\"schema_version\":1,\"panels\":[]}");
    write_text(scratch->folder, "broken.json", "{\"runs\":[{\"measurements\":[");
    write_text(scratch->folder, "notes.txt", "runs and measurements");
    link_to(scratch->folder, "loop", scratch->folder);
    link_to(scratch->folder, "link.json", "/etc/hostname");
    load(NULL, &request, &view);
    assert_int_equal(view.nr_runs, 2); /* each once, oldest first */
    assert_string_equal(view.run_names[0], "aaaaaaa");
    assert_string_equal(view.run_names[1], "bbbbbbb");
    assert_true(view.compared); /* from the older to the newer */
    assert_int_equal(view.comparison.count[VERDICT_REGRESSED], 2);
    assert_int_equal(view_modes(&view), PLOT_MULTI | PLOT_COMPARE | PLOT_TREND);
    assert_int_equal(view.notes.nr, 1);
    assert_non_null(strstr(view.notes.items[0], "broken.json"));
    assert_true(metric_context_of(&view.records, view.head).nr_roofs > 3);
    view_release(&view);
}

static int read_in_part(const char *folder, char *message, size_t size)
{
    struct view_request request = { .refs = &folder, .nr_refs = 1 };
    struct error err = { "" };
    struct view view;
    int rc = view_load(NULL, &request, &view, &err);

    snprintf(message, size, "%s", rc ? err.message : "");
    for (size_t i = 0; i < view.notes.nr; i++)
        snprintf(message + strlen(message), size - strlen(message), "%s\n", view.notes.items[i]);
    view_release(&view);
    return rc;
}

SCRATCH_TEST(what_cannot_be_read_is_told)
{
    const struct scratch *scratch = *state;
    char shut[128], secret[128], message[1024];

    write_records(scratch->folder, "open.json", 0, "aaaaaaa1");
    write_records(scratch->folder, "shut/run.json", 1, "bbbbbbb2");
    write_records(scratch->folder, "secret.json", 2, "ccccccc3");
    snprintf(shut, sizeof(shut), "%s/shut", scratch->folder);
    snprintf(secret, sizeof(secret), "%s/secret.json", scratch->folder);
    assert_int_equal(chmod(scratch->folder, 0755), 0);
    assert_int_equal(chmod(shut, 0), 0);
    assert_int_equal(chmod(secret, 0), 0);
    in_child(read_in_part, scratch->folder, message, sizeof(message));
    assert_int_equal(chmod(shut, 0755), 0);
    assert_has(message, "/shut: Permission denied\n");
    assert_has(message, "/secret.json: Permission denied\n");
}

SCRATCH_TEST(what_is_nowhere_is_refused)
{
    const struct scratch *scratch = *state;
    const char *refs[] = { "nowhere" };
    struct view_request request = { .refs = refs, .nr_refs = 1 };
    struct view view;
    struct error err;

    assert_int_equal(view_load(NULL, &request, &view, &err), -1);
    assert_non_null(strstr(err.message, "nowhere"));
    view_release(&view);
    refs[0] = scratch->folder; /* an empty folder */
    assert_int_equal(view_load(NULL, &request, &view, &err), -1);
    assert_non_null(strstr(err.message, "no file of records"));
    view_release(&view);
    refs[0] = "./none.json";
    assert_int_equal(view_load(NULL, &request, &view, &err), -1);
    assert_non_null(strstr(err.message, "./none.json"));
    view_release(&view);
}

RUN_TESTS(NULL, NULL)
