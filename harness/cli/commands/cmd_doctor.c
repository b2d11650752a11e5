/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/shared_options.h"
#include "doctor/doctor.h"
#include "session/history_file.h"
#include "terminal/terminal.h"
#include "text/table.h"

#include <stdio.h>
#include <string.h>

struct doctor_options {
    const char *root, *db;
    bool json;
};

static const enum table_tone tones[DOCTOR_STATE_NR] = {
    [DOCTOR_FINE] = TABLE_GOOD,
    [DOCTOR_NOTE] = TABLE_PLAIN,
    [DOCTOR_WARN] = TABLE_BAD,
    [DOCTOR_UNKNOWN] = TABLE_DIM,
};

static size_t count_findings(const struct doctor_finding *findings, size_t nr,
                             enum doctor_state state)
{
    size_t found = 0;

    for (size_t i = 0; i < nr; i++)
        found += findings[i].state == state;
    return found;
}

static int doctor_exit_status(const struct doctor_finding *findings, size_t nr)
{
    return count_findings(findings, nr, DOCTOR_WARN) > 0 ? EXIT_UNDECIDED : EXIT_SAME;
}

static int print_findings_json(const struct doctor_finding *findings, size_t nr, struct error *err)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "schema_version", 1);
    cJSON *checks = cJSON_AddArrayToObject(json, "checks");
    for (size_t i = 0; i < nr; i++) {
        cJSON *check = cJSON_CreateObject();
        json_add_string(check, "check", findings[i].check);
        json_add_string(check, "state", doctor_state_name(findings[i].state));
        json_add_string(check, "found", findings[i].found);
        json_add_string(check, "mend", findings[i].mend);
        cJSON_AddItemToArray(checks, check);
    }
    json_add_int(json, "exit_status", doctor_exit_status(findings, nr));
    return output_json(json, NULL, err);
}

static int print_findings(const struct doctor_finding *findings, size_t nr, struct error *err)
{
    static const struct table_column columns[] = {
        { .title = "check", .fit = TABLE_NAME },
        { .title = "state" },
        { .title = "found", .fit = TABLE_PROSE },
        { .title = "mend", .fit = TABLE_PROSE },
    };
    size_t warnings = count_findings(findings, nr, DOCTOR_WARN);
    struct strbuf text;
    struct table t;

    table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < nr; i++) {
        table_row(&t);
        table_cell(&t, TABLE_PLAIN, "%s", findings[i].check);
        table_cell(&t, tones[findings[i].state], "%s", doctor_state_name(findings[i].state));
        table_cell(&t, TABLE_PLAIN, "%s", findings[i].found);
        table_cell(&t, TABLE_PLAIN, "%s", findings[i].mend);
    }
    strbuf_init(&text);
    table_text(&t, terminal_width(), terminal_colour(), &text);
    if (warnings)
        strbuf_addf(&text, "\n%zu of %zu checks found what will spoil measurements.\n", warnings,
                    nr);
    else
        strbuf_addf(&text, "\nNone of %zu checks found anything that spoils measurements.\n", nr);
    int rc = output_page(&text, NULL, err);
    strbuf_release(&text);
    table_release(&t);
    return rc;
}

static int check_doctor_root(const char *root, struct error *err)
{
    struct strbuf proc;

    strbuf_init(&proc);
    strbuf_addf(&proc, "%s/proc", root);
    bool there = file_exists(proc.data);
    strbuf_release(&proc);
    return there ? 0 : error_set(err, "--root: there is no folder proc in \"%s\"", root);
}

static int run_doctor(int argc, char **argv, void *options, struct error *err)
{
    const struct doctor_options *o = options;
    struct doctor_finding findings[DOCTOR_MAX];
    struct doctor_input in;
    struct strbuf history;

    if (command_no_more(argc, argv, 0, err) || (o->root && check_doctor_root(o->root, err)))
        return -1;
    strbuf_init(&history);
    history_path(o->db, &history);
    doctor_input_make(&in, o->root ? o->root : "", history.data);
    size_t nr = doctor_run(&in, findings);
    strbuf_release(&history);
    int rc = o->json ? print_findings_json(findings, nr, err) : print_findings(findings, nr, err);
    return rc ? -1 : doctor_exit_status(findings, nr);
}

static const struct option_row rows[] = {
    JSON_ROW(struct doctor_options, json),
    OPTION_ROW("root", 0, OPTION_STRING, struct doctor_options, root, "FOLDER",
               "look at copies of /proc and /sys of another machine there; nothing is watched"),
    DB_ROW(struct doctor_options, db),
    OPTION_END,
};

extern const struct command cmd_doctor;
const struct command cmd_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "say what in this environment will spoil measurements, and the mend",
    .details =
        "  harness doctor\n"
        "\n"
        "Looks at settings of the system, this build and the GPUs, and watches the machine\n"
        "for a second: asleep for one half, at work for the other. States are fine, note\n"
        "(worth knowing), warn (will spoil measurements) and unknown (the system does not\n"
        "tell). Nothing is changed.\n"
        "\n"
        "Exit status: 0 nothing warns, 77 something would spoil measurements, 2 usage.",
    .options = rows,
    .options_size = sizeof(struct doctor_options),
    .run = run_doctor,
};
