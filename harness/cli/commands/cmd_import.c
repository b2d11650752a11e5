/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/text.h"
#include "cli/history_open.h"
#include "cli/shared_options.h"
#include "session/builds/git.h"
#include "session/import_run.h"
#include "session/measure/number_options.h"
#include "session/measure/recording.h"
#include "terminal/terminal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct import_command {
    const char *db, *format, *label, *commit, *branch, *date, *machine, *project, *in_turn;
    struct string_list betters;
    bool cpu_time, repetitions;
};

/* ---- what is said ---- */

static bool is_commit_hash(const char *text)
{
    size_t length = strspn(text, "0123456789abcdefABCDEF");

    return text[length] == '\0' && length >= 7 && length <= 64;
}

/* A hash as it is; any other name is git's to say: HEAD, main, v1.2. */
static int read_import_commit(const char *text, struct git_commit *commit, struct error *err)
{
    if (!is_commit_hash(text))
        return git_resolve(text, commit, err);
    snprintf(commit->hash, sizeof(commit->hash), "%s", text);
    for (char *p = commit->hash; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return 0;
}

/* A name of one part, that filters need no quotes for. */
static int check_import_word(const char *option, const char *text, size_t most, struct error *err)
{
    if (!text)
        return 0;
    for (const char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("._+-", *p))
            return error_set(err, "%s: \"%.60s\" may have letters, digits and ._+- in it", option,
                             text);
    return text[0] && strlen(text) <= most
               ? 0
               : error_set(err, "%s: 1 to %zu characters, please", option, most);
}

static int read_import_options(const struct import_command *o, struct import_job *job,
                               struct git_commit *commit, struct error *err)
{
    const struct run *run = NULL;

    if (recording_check_label(o->label, 0, err) ||
        check_import_word("--project", o->project, 60, err) ||
        check_import_word("--in-turn", o->in_turn, 39, err) ||
        check_import_word("--machine", o->machine, sizeof(run->machine.class_name) - 1, err) ||
        (o->commit && read_import_commit(o->commit, commit, err)) ||
        (o->date && text_parse_date(o->date, "--date", &job->said.date_ms, err)) ||
        (o->format && import_format_find(o->format, &job->options.format, err)) ||
        number_check_ways(&o->betters, err))
        return -1;
    if (o->branch && (!*o->branch || strlen(o->branch) >= sizeof(run->build.branch)))
        return error_set(err, "--branch: 1 to %zu characters, please",
                         sizeof(run->build.branch) - 1);
    if (o->date && job->said.date_ms <= 0)
        return error_set(err, "--date: \"%s\" is before 1970", o->date);
    job->said.label = o->label;
    job->said.commit = o->commit ? commit->hash : NULL;
    job->said.branch = o->branch;
    job->said.machine = o->machine;
    job->said.in_turn = o->in_turn;
    job->said.project = job->options.project = o->project;
    job->options.betters = &o->betters;
    job->options.is_word = number_is_word;
    job->options.cpu_time = o->cpu_time;
    job->options.repetitions = o->repetitions;
    return 0;
}

/* ---- what comes of it ---- */

static void print_import_part(const struct import_part *part)
{
    const struct records *records = &part->imported.records;
    size_t samples = 0, nr = records->nr;

    for (size_t i = 0; i < nr; i++)
        samples += records->items[i].m.nr_samples;
    terminal_print("%s: %s, %zu measurement%s, %zu sample%s\n", part->path,
                   import_format_title(part->imported.format), nr, nr == 1 ? "" : "s", samples,
                   samples == 1 ? "" : "s");
    fflush(stdout);
}

/* A note that several of the files call for, once: with the first of them. */
static void print_import_note(const struct import_job *job, size_t first, const char *note)
{
    struct strbuf line;
    size_t more = 0;

    for (size_t i = 0; i < first; i++)
        if (string_list_has(&job->parts.items[i].imported.notes, note))
            return;
    for (size_t i = first + 1; i < job->parts.nr; i++)
        more += string_list_has(&job->parts.items[i].imported.notes, note);
    strbuf_init(&line);
    terminal_add(&line, "note: %s", job->parts.items[first].path);
    if (more > 0)
        terminal_add(&line, " and %zu more", more);
    terminal_note("%s: %s\n", line.data, note);
    strbuf_release(&line);
}

static void print_import_notes(const struct import_job *job)
{
    for (size_t i = 0; i < job->parts.nr; i++) {
        const struct import_part *part = &job->parts.items[i];
        for (size_t k = 0; k < part->imported.notes.nr; k++)
            print_import_note(job, i, part->imported.notes.items[k]);
    }
}

static void print_known_part(const struct import_part *part)
{
    if (part->there)
        terminal_print("%s: in the history already, run %lld\n", part->path,
                       (long long)part->there);
    else if (part->twice)
        terminal_print("%s: the same as an earlier one, left out\n", part->path);
}

static void print_imported_run(const struct store *store, const struct records *records, int run,
                               bool added)
{
    const struct run *r = &records->runs[run];
    int launches = import_launches(records, run);

    if (!added) {
        terminal_print("in the history already: run %lld in %s\n", (long long)r->id,
                       store_path(store));
        return;
    }
    terminal_print("run %lld in %s: %d launch%s%s%s\n", (long long)r->id, store_path(store),
                   launches, launches == 1 ? "" : "es", r->label[0] ? ", label " : "", r->label);
}

/* Our own records keep their uuids. */
static int add_imported_records(struct import_job *job, struct store *store, struct error *err)
{
    for (size_t i = 0; i < job->parts.nr; i++) {
        struct records *records = &job->parts.items[i].imported.records;
        bool any = false, added = false;
        const struct run *newest = &records->runs[0];
        print_import_part(&job->parts.items[i]);
        for (size_t k = 0; k < records->nr_runs; k++) {
            if (store_add_run(store, records, (int)k, &added, err))
                return -1;
            print_imported_run(store, records, (int)k, added);
            any |= added;
            if (records->runs[k].started_ms > newest->started_ms)
                newest = &records->runs[k];
        }
        if (any && records->nr_roofs &&
            store_add_roofs(store, &newest->machine, "", records->roofs, records->nr_roofs, err))
            return -1;
    }
    return 0;
}

static int add_imported_run(struct import_job *job, struct store *store, struct error *err)
{
    struct records merged = { .nr = 0 };
    bool added;

    if (import_job_known(job, store, err))
        return -1;
    for (size_t i = 0; i < job->parts.nr; i++) {
        const struct import_part *part = &job->parts.items[i];
        if (part->there || part->twice)
            print_known_part(part);
        else
            print_import_part(part);
    }
    import_job_merge(job, &merged);
    int rc = merged.nr_runs ? store_add_run(store, &merged, 0, &added, err) : 0;
    if (rc == 0 && merged.nr_runs)
        print_imported_run(store, &merged, 0, added);
    else if (rc == 0)
        terminal_print("nothing is new\n");
    records_release(&merged);
    return rc;
}

static int run_import(int argc, char **argv, void *options, struct error *err)
{
    const struct import_command *o = options;
    struct import_job job = { .parts = ARRAY_EMPTY };
    struct git_commit commit = { "", "" };
    struct store *store = NULL;

    if (argc == 0)
        return error_set(err, "give files: harness import FILE...; see `harness help import`");
    int rc = read_import_options(o, &job, &commit, err) || import_job_read(&job, argc, argv, err) ||
                     history_open(&store, o->db, STORE_WRITE, err)
                 ? -1
                 : 0;
    if (rc == 0)
        rc = import_is_ours(job.parts.items[0].imported.format)
                 ? add_imported_records(&job, store, err)
                 : add_imported_run(&job, store, err);
    if (rc == 0)
        print_import_notes(&job);
    store_close(store);
    import_job_release(&job);
    return rc;
}

#define IMPORT_HELP_NAME(upper, lower, title, reads) #lower ", "
#define IMPORT_HELP_ROW(upper, lower, title, reads)  "  " #lower ": " title ", " reads "\n"

static const struct option_row rows[] = {
    OPTION_ROW("format", 0, OPTION_STRING, struct import_command, format, "NAME",
               IMPORT_FORMATS(IMPORT_HELP_NAME) "or found out from the content (the default)"),
    OPTION_ROW("label", 0, OPTION_LINE, struct import_command, label, "TEXT",
               "a name for the run, usable as a REF"),
    OPTION_ROW("commit", 0, OPTION_LINE, struct import_command, commit, "HASH",
               "of the code that was measured; a name such as HEAD is looked up in git"),
    OPTION_ROW("branch", 0, OPTION_LINE, struct import_command, branch, "NAME",
               "of the code that was measured"),
    OPTION_ROW("date", 0, OPTION_STRING, struct import_command, date, "DATE",
               "when it was measured, such as 2026-01-31T12:30:00Z (default: what the file says, "
               "or its time)"),
    OPTION_ROW("machine", 0, OPTION_STRING, struct import_command, machine, "CLASS",
               "the machine class; \"this\" is the one that this runs on"),
    OPTION_ROW("project", 0, OPTION_LINE, struct import_command, project, "NAME",
               "put in front of every benchmark's name"),
    OPTION_ROW(
        "in-turn", 0, OPTION_LINE, struct import_command, in_turn, "NAME",
        "measured in turn with another run of that name, one launch each: their nth launches "
        "are a pair, and a comparison of the two is of pairs"),
    OPTION_ROW("better", 0, OPTION_TEXTS, struct import_command, betters, "[NAME=]WAY",
               "of numbers that are no times, of one or of all that stand for a time: lower or "
               "higher; they are metrics then"),
    OPTION_ROW("cpu-time", 0, OPTION_FLAG, struct import_command, cpu_time, NULL,
               "of gbench and gbench_csv alone: take cpu_time, not real_time"),
    OPTION_ROW("repetitions", 0, OPTION_FLAG, struct import_command, repetitions, NULL,
               "of gbench alone: count repetitions as if they were processes"),
    DB_ROW(struct import_command, db),
    OPTION_END,
};

extern const struct command cmd_import;
const struct command cmd_import = {
    .name = "import",
    .arguments = "FILE...",
    .summary = "put results of other benchmark programs into the history",
    .details =
        "  harness import main-1.json main-2.json main-3.json --label main\n"
        "  harness import head-*.json --label head --commit HEAD\n"
        "  harness import target/criterion --project mylib\n"
        "\n"
        "Known are, by their names for --format:\n"
        "\n" IMPORT_FORMATS(IMPORT_HELP_ROW) "\n"
        "One file is one launch: the unit of evidence is the process. So import\n"
        "the files of several processes in one call; three a side are the least that a comparison\n"
        "can decide with. A file that the history has already adds nothing. docs/import.md is the\n"
        "guide.",
    .options = rows,
    .options_size = sizeof(struct import_command),
    .run = run_import,
};
