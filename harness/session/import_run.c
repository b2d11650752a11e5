/* SPDX-License-Identifier: MIT */
#include "session/import_run.h"

#include "base/json.h"
#include "base/options.h"
#include "core/clock.h"
#include "machine/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static const struct run *part_run(const struct import_part *part)
{
    return &part->imported.records.runs[0];
}

static bool is_this_machine(const char *machine)
{
    return strcmp(machine, "this") == 0;
}

/* What is said goes over what the file says. */
static int apply_said(const struct import_said *said, struct imported *imported, struct error *err)
{
    struct run *run = &imported->records.runs[0];
    bool here = said->machine && is_this_machine(said->machine);

    snprintf(run->label, sizeof(run->label), "%s", said->label ? said->label : "");
    if (said->commit)
        snprintf(run->build.commit, sizeof(run->build.commit), "%s", said->commit);
    if (said->branch)
        snprintf(run->build.branch, sizeof(run->build.branch), "%s", said->branch);
    if (here && environment_machine(&run->machine, err))
        return -1;
    if (said->machine && !here)
        import_machine_class(&run->machine, said->machine);
    if (said->date_ms)
        run->started_ms = said->date_ms;
    if (run->started_ms <= 0)
        run->started_ms = imported->written_ms;
    if (run->started_ms <= 0)
        run->started_ms = clock_epoch_ms();
    run->ended_ms = run->started_ms;
    for (size_t i = 0; i < imported->records.nr; i++)
        imported->records.items[i].m.started_ms = run->started_ms;
    return 0;
}

static int check_parts_equal(const struct import_part *a, const struct import_part *b,
                             const char *what, const char *of_a, const char *of_b,
                             const char *option, struct error *err)
{
    if (strcmp(of_a, of_b) == 0)
        return 0;
    return error_set(
        err,
        "%s is of %s \"%.80s\", %s of \"%.80s\": files of one call are launches of one "
        "run; import them apart%s%s",
        a->path, what, of_a[0] ? of_a : "unknown", b->path, of_b[0] ? of_b : "unknown",
        *option ? ", or say it for both by " : "", option);
}

static void part_host(const struct import_part *part, char *host, size_t size)
{
    const char *text = part_run(part)->environment;
    cJSON *json = text ? cJSON_Parse(text) : NULL;

    snprintf(host, size, "%s", json_string(json, "host", ""));
    cJSON_Delete(json);
}

/* Of one class, so they may be of one run; but whoever compares it must know. */
static void note_other_host(const struct import_part *first, struct import_part *part)
{
    char one[100], other[100], note[300];

    part_host(first, one, sizeof(one));
    part_host(part, other, sizeof(other));
    if (!one[0] || !other[0] || strcmp(one, other) == 0)
        return;
    snprintf(note, sizeof(note), "of host %s, the first file of host %s: one run of two machines",
             other, one);
    string_list_add(&part->imported.notes, note);
}

static int check_parts_agree(const struct import_part *a, const struct import_part *b,
                             struct error *err)
{
    const struct run *x = part_run(a), *y = part_run(b);

    return check_parts_equal(a, b, "the program", import_format_title(a->imported.format),
                             import_format_title(b->imported.format), "", err) ||
                   check_parts_equal(a, b, "machine class", x->machine.class_name,
                                     y->machine.class_name, "--machine", err) ||
                   check_parts_equal(a, b, "commit", x->build.commit, y->build.commit, "--commit",
                                     err) ||
                   check_parts_equal(a, b, "branch", x->build.branch, y->build.branch, "--branch",
                                     err)
               ? -1
               : 0;
}

/* What other files would pass over in silence: their times are of one kind, and CSV does not number
 * repetitions. */
static int check_part_options(const struct import_options *options, const struct import_part *part,
                              struct error *err)
{
    enum import_format format = part->imported.format;
    const char *name = import_format_name(format);
    bool numbered = format == IMPORT_GBENCH, timed = numbered || format == IMPORT_GBENCH_CSV;

    if (options->cpu_time && !timed)
        return error_set(err, "%s: --cpu-time is for the formats gbench and gbench_csv; this is %s",
                         part->path, name);
    if (options->repetitions && !numbered)
        return error_set(err, "%s: --repetitions is for the format gbench; this is %s", part->path,
                         name);
    return 0;
}

static int check_part(struct import_job *job, struct import_part *part, struct error *err)
{
    const struct import_said *said = &job->said;
    const struct import_part *first = &job->parts.items[0];
    bool records = import_is_ours(part->imported.format);
    bool judged = job->options.betters && job->options.betters->nr > 0;

    if (check_part_options(&job->options, part, err))
        return -1;
    if (records != import_is_ours(first->imported.format))
        return error_set(err, "%s and %s: records of harness are imported by themselves",
                         first->path, part->path);
    if (records && (said->label || said->commit || said->branch || said->machine || said->project ||
                    said->date_ms || said->in_turn || judged))
        return error_set(err,
                         "%s: records of harness say themselves what they are: none of --label, "
                         "--commit, --branch, --date, --machine, --project, --in-turn and --better",
                         part->path);
    if (records)
        return 0;
    if (apply_said(said, &part->imported, err))
        return -1;
    if (part == first)
        return 0;
    note_other_host(first, part);
    return check_parts_agree(first, part, err);
}

int import_job_read(struct import_job *job, int nr, char **paths, struct error *err)
{
    for (int i = 0; i < nr; i++) {
        struct import_part *part = array_push(&job->parts);
        part->path = paths[i];
        if (import_file(paths[i], &job->options, &part->imported, err) ||
            check_part(job, part, err))
            return -1;
    }
    return 0;
}

void import_job_release(struct import_job *job)
{
    for (size_t i = 0; i < job->parts.nr; i++)
        imported_release(&job->parts.items[i].imported);
    array_release(&job->parts);
}

/* ---- what is known already ---- */

static const cJSON *import_json(const cJSON *settings)
{
    return cJSON_GetObjectItemCaseSensitive(settings, "import");
}

static bool import_has_file(const cJSON *import, const char *digest)
{
    const cJSON *file;

    cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(import, "files"))
    {
        if (strcmp(json_string(file, "digest", ""), digest) == 0)
            return true;
    }
    return false;
}

static bool is_class_otherwise(const struct import_job *job, const struct import_part *part,
                               const struct run *run)
{
    return job->said.machine &&
           strcmp(part_run(part)->machine.class_name, run->machine.class_name) != 0;
}

/* What is said now, and would make other numbers or another series of them than the run has. */
static const char *said_otherwise(const struct import_job *job, const struct import_part *part,
                                  const struct run *run, const cJSON *import)
{
    const struct import_options *options = &job->options;
    bool of_class = is_class_otherwise(job, part, run);
    const struct option_given otherwise[] = {
        { "--machine", of_class && !is_this_machine(job->said.machine) },
        { "--cpu-time", options->cpu_time && !json_bool(import, "cpu_time", false) },
        { "--repetitions",
          options->repetitions && !json_bool(import, "repetitions_as_launches", false) },
    };

    return options_first_given(otherwise, sizeof(otherwise) / sizeof(otherwise[0]));
}

/* What says when and where the import is made. A job gives it each time, and what it measured may
 * have come out the same. */
static const char *said_beside(const struct import_job *job, const struct import_part *part,
                               const struct run *run)
{
    const struct import_said *said = &job->said;
    bool of_class = is_class_otherwise(job, part, run);
    const struct option_given beside[] = {
        { "--machine", of_class && is_this_machine(said->machine) },
        { "--date", said->date_ms && part_run(part)->started_ms != run->started_ms },
        { "--in-turn", said->in_turn && strcmp(said->in_turn, run->ab.id) != 0 },
    };

    return options_first_given(beside, sizeof(beside) / sizeof(beside[0]));
}

static int misfit_degree(const char *otherwise, const char *beside)
{
    return otherwise ? 2 : beside ? 1 : 0;
}

/* By the run that has the file; of several by the nearest to what is said now. */
static void mark_known_part(const struct import_job *job, struct import_part *part,
                            const struct run *run, const cJSON *import)
{
    const char *otherwise = said_otherwise(job, part, run, import),
               *beside = said_beside(job, part, run);

    if (part->there &&
        misfit_degree(otherwise, beside) >= misfit_degree(part->otherwise, part->beside))
        return;
    part->there = run->id;
    part->otherwise = otherwise;
    part->beside = beside;
}

/* The measurement counts once, under what it was said to be. */
static void mark_known_parts(struct import_job *job, const struct run *run, const cJSON *import)
{
    char digest[DIGEST_TEXT_SIZE];
    const char *project = job->said.project ? job->said.project : "";

    for (size_t i = 0; i < job->parts.nr; i++) {
        struct import_part *part = &job->parts.items[i];
        const struct run *own = part_run(part);
        digest_text(&part->imported.digest, digest);
        if (strcmp(own->label, run->label) == 0 &&
            strcmp(own->build.commit, run->build.commit) == 0 &&
            strcmp(own->build.branch, run->build.branch) == 0 &&
            strcmp(project, json_string(import, "project", "")) == 0 &&
            import_has_file(import, digest))
            mark_known_part(job, part, run, import);
    }
}

static bool is_equal_content(const struct imported *a, const struct imported *b)
{
    return a->digest.high == b->digest.high && a->digest.low == b->digest.low;
}

/* Of equal content. Counts and whole numbers come out the same, so other files are other launches.
 * What criterion measured has many names (its folder, those above, each of its files) and all its
 * samples, which two launches do not have in common. */
static bool is_same_file(const struct imported *a, const struct imported *b)
{
    return a->format == IMPORT_CRITERION || (a->device == b->device && a->inode == b->inode);
}

static void mark_twins(struct import_job *job)
{
    for (size_t i = 0; i < job->parts.nr; i++) {
        struct import_part *part = &job->parts.items[i];
        bool equal = false;
        for (size_t k = 0; k < i; k++) {
            const struct imported *earlier = &job->parts.items[k].imported;
            if (!is_equal_content(&part->imported, earlier))
                continue;
            equal = true;
            part->twice |= is_same_file(&part->imported, earlier);
        }
        if (equal && !part->twice && !part->there)
            string_list_add(&part->imported.notes,
                            "equal to an earlier file of this call, and a launch of its own");
    }
}

static bool has_number(const struct records *r, const struct number_kind *kind)
{
    for (size_t i = 0; i < r->nr; i++)
        for (int k = 0; k < r->items[i].m.nr_numbers; k++)
            if (r->items[i].m.numbers[k].kind == kind)
                return true;
    return false;
}

static bool has_numbers_of(const struct records *r, const struct records *of)
{
    for (size_t i = 0; i < of->nr; i++)
        for (int k = 0; k < of->items[i].m.nr_numbers; k++)
            if (!has_number(r, of->items[i].m.numbers[k].kind))
                return false;
    return true;
}

/* A run of the history, which many files may be of. */
struct loaded_run {
    int64_t id; /* 0: none yet */
    struct records records;
};

static int load_run(struct loaded_run *run, int64_t id, struct store *store, struct error *err)
{
    const struct store_filter filter = { .without_samples = true, .without_telemetry = true };

    if (run->id == id)
        return 0;
    records_release(&run->records);
    *run = (struct loaded_run) { .id = id };
    return store_load(store, &id, 1, &filter, &run->records, err);
}

/* Which way is better is not kept of an import, but in each number that became a metric by it. */
static int mark_unjudged(const struct import_job *job, struct import_part *part,
                         struct loaded_run *there, struct store *store, struct error *err)
{
    if (part->otherwise || !job->options.betters || job->options.betters->nr == 0)
        return 0;
    if (load_run(there, part->there, store, err))
        return -1;
    if (!has_numbers_of(&there->records, &part->imported.records))
        part->otherwise = "--better";
    return 0;
}

static void note_beside(struct import_part *part)
{
    char note[200];

    snprintf(note, sizeof(note),
             "in the history already, but not by this %s, which has no effect; under another "
             "--label it is a run of its own",
             part->beside);
    string_list_add(&part->imported.notes, note);
}

static int check_known_part(const struct import_job *job, struct import_part *part,
                            struct loaded_run *there, struct store *store, struct error *err)
{
    if (mark_unjudged(job, part, there, store, err))
        return -1;
    if (part->otherwise)
        return error_set(err,
                         "%s: the history has it already, as run %lld, but not by this %s; "
                         "leave that out, or give another --label for a run of its own",
                         part->path, (long long)part->there, part->otherwise);
    if (part->beside)
        note_beside(part);
    return 0;
}

static int check_known_parts(struct import_job *job, struct store *store, struct error *err)
{
    struct loaded_run there = { .id = 0 };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < job->parts.nr; i++)
        if (job->parts.items[i].there)
            rc = check_known_part(job, &job->parts.items[i], &there, store, err);
    records_release(&there.records);
    return rc;
}

int import_job_known(struct import_job *job, struct store *store, struct error *err)
{
    struct records finished = { .nr = 0 };
    struct error ignored;
    int rc = store_finished_runs(store, NULL, &finished, err);

    for (size_t i = 0; rc == 0 && i < finished.nr_runs; i++) {
        const struct run *run = &finished.runs[i];
        if (run->kind != RUN_IMPORTED || !run->settings)
            continue;
        cJSON *settings = json_parse(run->settings, strlen(run->settings), "settings", &ignored);
        if (import_json(settings))
            mark_known_parts(job, run, import_json(settings));
        cJSON_Delete(settings);
    }
    records_release(&finished);
    mark_twins(job);
    return rc ? -1 : check_known_parts(job, store, err);
}

/* ---- one run ---- */

static bool is_part_new(const struct import_part *part)
{
    return !part->there && !part->twice;
}

static char *import_settings(const struct import_job *job, int launches)
{
    cJSON *json = cJSON_CreateObject(), *import = cJSON_AddObjectToObject(json, "import");
    cJSON *files = cJSON_CreateArray();

    json_add_int(json, "launches", launches);
    json_add_string(import, "tool", import_format_title(job->parts.items[0].imported.format));
    json_add_string(import, "project", job->said.project);
    if (job->options.cpu_time)
        cJSON_AddTrueToObject(import, "cpu_time");
    if (job->options.repetitions)
        cJSON_AddTrueToObject(import, "repetitions_as_launches");
    cJSON_AddItemToObject(import, "files", files);
    for (size_t i = 0; i < job->parts.nr; i++) {
        const struct import_part *part = &job->parts.items[i];
        const char *slash = strrchr(part->path, '/');
        char digest[DIGEST_TEXT_SIZE];
        if (!is_part_new(part))
            continue;
        cJSON *file = cJSON_CreateObject();
        json_add_string(file, "name", slash && slash[1] ? slash + 1 : part->path);
        digest_text(&part->imported.digest, digest);
        cJSON_AddStringToObject(file, "digest", digest);
        cJSON_AddItemToArray(files, file);
    }
    return json_take_text(json);
}

static void name_imported_run(const struct import_job *job, struct run *run)
{
    struct digest digest;

    digest_init(&digest);
    digest_add_text(&digest, "harness import");
    digest_add_text(&digest, run->label);
    digest_add_text(&digest, run->build.commit);
    digest_add_text(&digest, run->build.branch);
    digest_add_text(&digest, job->said.project);
    for (size_t i = 0; i < job->parts.nr; i++) {
        char text[DIGEST_TEXT_SIZE];
        digest_text(&job->parts.items[i].imported.digest, text);
        if (is_part_new(&job->parts.items[i]))
            digest_add_text(&digest, text);
    }
    digest_uuid(&digest, run->uuid);
}

/* As measured in turn: one launch of each side at a time. */
static void name_imported_ab(const struct import_job *job, struct run_ab *ab)
{
    if (!job->said.in_turn)
        return;
    snprintf(ab->id, sizeof(ab->id), "%s", job->said.in_turn);
    ab->block = 1;
}

/* The part's launches behind those that are there; it has none left. */
static void move_records(struct import_part *part, struct records *out)
{
    int launches = import_launches(out, 0);
    struct records *from = &part->imported.records;

    for (size_t i = 0; i < from->nr; i++) {
        struct record *r = &from->items[i];
        records_add(out, 0, launches + r->launch_seq)->m = r->m;
        r->m = (struct measurement) { .outcome = OUTCOME_OK };
    }
}

void import_job_merge(struct import_job *job, struct records *out)
{
    *out = (struct records) { .nr = 0 };
    for (size_t i = 0; i < job->parts.nr; i++) {
        struct import_part *part = &job->parts.items[i];
        const struct run *own = part_run(part);
        if (!is_part_new(part))
            continue;
        if (out->nr_runs == 0)
            run_copy(records_add_run(out), own);
        struct run *run = &out->runs[0];
        if (own->started_ms < run->started_ms)
            run->started_ms = own->started_ms;
        if (own->ended_ms > run->ended_ms)
            run->ended_ms = own->ended_ms;
        move_records(part, out);
    }
    if (out->nr_runs == 0)
        return;
    out->runs[0].settings = import_settings(job, import_launches(out, 0));
    name_imported_run(job, &out->runs[0]);
    name_imported_ab(job, &out->runs[0].ab);
}
