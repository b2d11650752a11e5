/* SPDX-License-Identifier: MIT */
#include "reporters/trend/trend_command.h"

#include "base/json.h"
#include "core/device.h"
#include "text/escape.h"

#include <string.h>

enum { COMMIT_DIGITS = 12 };

/* What speaks against measuring both ends again; NULL: nothing. */
static const char *reason_against(const struct trends *t, const struct trend_card *card)
{
    const struct trend_repository *repository = t->settings.repository;
    const struct run *good = trend_card_good(t, card), *bad = trend_card_bad(t, card);

    if (good->kind == RUN_IMPORTED || bad->kind == RUN_IMPORTED)
        return "these are results of another program, which only that one can measure again";
    if (!repository->measures(card->trend->series->bench))
        return "this program has no such benchmark, so it cannot measure it again";
    if (!good->build.commit[0] || !bad->build.commit[0])
        return "the commit of a run beside it is not known";
    if (good->build.dirty || bad->build.dirty)
        return "a run beside it was measured with uncommitted changes";
    if (strcmp(good->build.commit, bad->build.commit) == 0)
        return "both sides are the same commit, so it was not the code";
    if (!repository->leads(repository->context, good->build.commit, bad->build.commit))
        return "the repository here does not lead from the one commit to the other";
    return NULL;
}

/* A key is of a device, so that is told where it is not the usual one. */
static void add_device(const struct run *run, struct strbuf *text)
{
    cJSON *settings = run->settings ? cJSON_Parse(run->settings) : NULL;
    const char *device = json_string(settings, "device", DEVICE_SPEC_USUAL);

    if (strcmp(device, DEVICE_SPEC_USUAL) != 0)
        escape_shell_option(text, "--device", device);
    cJSON_Delete(settings);
}

static void add_end(struct strbuf *text, const char *name, const struct run *run)
{
    strbuf_addf(text, " %s %.*s", name, COMMIT_DIGITS, run->build.commit);
}

void trend_command_make(const struct trends *t, const struct trend_card *card,
                        struct trend_command *out)
{
    const struct run *good = trend_card_good(t, card), *bad = trend_card_bad(t, card);
    bool search = card->step && card->rank == TREND_REGRESSION;
    bool asked = card->rank == TREND_REGRESSION || card->rank == TREND_ENVIRONMENT;

    *out = (struct trend_command) { 0 };
    strbuf_init(&out->text);
    if (!asked || !t->settings.repository)
        return;
    out->purpose = search ? "which commit did it"
                          : "whether the code did it: both commits built, and measured in turn";
    out->reason = reason_against(t, card);
    if (out->reason)
        return;
    strbuf_adds(&out->text, search ? "harness bisect" : "harness compare --build");
    add_end(&out->text, search ? "--good" : "--baseline", good);
    add_end(&out->text, search ? "--bad" : "--head", bad);
    if (strcmp(t->settings.metric->id, "p50") != 0)
        escape_shell_option(&out->text, "--metric", t->settings.metric->id);
    add_device(bad, &out->text);
    strbuf_addc(&out->text, ' ');
    escape_shell(&out->text, card->trend->series->bench->key);
}

void trend_command_release(struct trend_command *command)
{
    strbuf_release(&command->text);
}

/* Up to the next space that is not in quotes. */
static size_t word_length(const char *text)
{
    bool quoted = false;
    size_t length = 0;

    for (; text[length] && (quoted || text[length] != ' '); length++)
        quoted ^= text[length] == '\'';
    return length;
}

/* An option stays with its value. */
static size_t piece_length(const char *text)
{
    size_t length = word_length(text);
    const char *next = text + length + 1;

    if (strncmp(text, "--", 2) != 0 || !text[length] || strncmp(next, "--", 2) == 0)
        return length;
    return length + 1 + word_length(next);
}

void trend_command_fold(const char *text, size_t indent, size_t width, struct strbuf *out)
{
    enum { BACKSLASH = 2, FURTHER = 2 };
    size_t used = indent;

    strbuf_pad(out, out->length + indent, ' ');
    for (bool first = true; *text; first = false) {
        size_t length = first ? word_length(text) : piece_length(text);
        size_t tail = text[length] ? BACKSLASH : 0;
        if (!first && width && used + 1 + length + tail > width) {
            strbuf_adds(out, " \\\n");
            used = indent + FURTHER;
            strbuf_pad(out, out->length + used, ' ');
        } else if (!first) {
            strbuf_addc(out, ' ');
            used++;
        }
        strbuf_add(out, text, length);
        used += length;
        text += length + (text[length] == ' ');
    }
}
