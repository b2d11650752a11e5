/* SPDX-License-Identifier: MIT */
#include "serve/edits.h"

#include "base/file.h"
#include "base/json.h"
#include "core/clock.h"
#include "store/annotations.h"
#include "store/verdicts.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SEEN_MS = 5000, LOOK_MS = 50 };

/* What was sent, checked as far as that goes without the history. */
struct edit {
    cJSON *json; /* owns the texts */
    const char *machine, *key, *text;
    bool drift;
    int64_t run;
};

int edits_check(const char *path, const struct store_teller *tell, struct error *err)
{
    struct store *store;

    int there = file_look(path, err);
    if (there <= 0)
        return there ? -1 : error_set(err, "%s: there is no history to write to", path);
    if (store_open_telling(&store, path, STORE_WRITE, tell, err))
        return -1;
    store_close(store);
    return 0;
}

static int edit_parse(const struct http_request *request, struct edit *e, struct error *err)
{
    static const char *const texts[] = { "machine", "key", "kind", "text" };

    if (strstr(request->posted, "\\u0000")) /* what comes behind it would be lost */
        return error_set(err, "a text without NUL is expected");
    e->json = json_parse(request->posted, request->posted_length, "what was sent", err);
    if (!e->json)
        return -1;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!cJSON_IsString(cJSON_GetObjectItemCaseSensitive(e->json, texts[i])))
            return error_set(err, "\"%s\" is missing, or no text", texts[i]);
    const char *kind = json_string(e->json, "kind", "");
    e->machine = json_string(e->json, "machine", "");
    e->key = json_string(e->json, "key", "");
    e->text = json_string(e->json, "text", "");
    e->drift = strcmp(kind, "drift") == 0;
    e->run = json_int(e->json, "run", -1);
    if (!e->drift && strcmp(kind, "step") != 0)
        return error_set(err, "\"kind\" is step or drift");
    if (e->run <= 0)
        return error_set(err, "\"run\" is missing, or no number of a run");
    return store_annotation_check(e->text, "an annotation", err);
}

/* ---- the card ---- */

static bool edit_means(const struct edit *e, const struct trends *t, const struct trend_card *card)
{
    return e->drift == !card->step && strcmp(card->trend->series->bench->key, e->key) == 0 &&
           trend_card_bad(t, card)->id == e->run;
}

/* False: there is none. */
static bool edit_find_card(const struct edit *e, const struct trends *t, struct trend_card *found)
{
    size_t nr, i = 0;
    struct trend_card *cards = trends_cards(t, &nr);

    while (i < nr && !edit_means(e, t, &cards[i]))
        i++;
    if (i < nr)
        *found = cards[i];
    free(cards);
    return i < nr;
}

/* ---- writing ---- */

typedef int edit_write_fn(const struct serve *s, struct store *store, const struct edit *e,
                          const struct trends *t, const struct trend_card *card, struct error *err);

static int edit_accept(const struct serve *s, struct store *store, const struct edit *e,
                       const struct trends *t, const struct trend_card *card, struct error *err)
{
    struct acceptance a = trend_card_accept(t, card);

    a.reason = (char *)e->text;
    a.author = (char *)(s->options.author ? s->options.author : "");
    a.accepted_ms = clock_epoch_ms();
    return store_acceptance_add(store, &a, 1, err);
}

static int edit_annotate(const struct serve *s, struct store *store, const struct edit *e,
                         const struct trends *t, const struct trend_card *card, struct error *err)
{
    (void)s;
    (void)t;
    (void)card;
    return store_annotate(store, e->run, clock_epoch_ms(), e->text, err);
}

static const struct {
    const char *path;
    edit_write_fn *write;
} edits[] = {
    { "/api/accept", edit_accept },
    { "/api/annotate", edit_annotate },
};

/* One handle a change: who writes seldom does not hold the history open for writing. */
static int edit_write(struct serve *s, const struct edit *e, const struct trends *t,
                      const struct trend_card *card, edit_write_fn *write, struct error *err)
{
    struct store *store;

    if (!file_exists(s->options.path))
        return error_set(err, "%s: the history is not there any more", s->options.path);
    if (store_open_telling(&store, s->options.path, STORE_WRITE, &s->options.tell, err))
        return -1;
    int rc = write(s, store, e, t, card, err);
    store_close(store);
    return rc;
}

static size_t edit_count(const struct class_history *history)
{
    const struct trend_settings *settings = &history->trends.settings;

    return settings->nr_accepted + settings->nr_annotations;
}

/* Until what others ask for has it. */
static void edit_wait(struct serve *s, const struct http_request *request, const struct edit *e,
                      size_t before)
{
    const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
    bool seen = false, failed;

    for (int ms = 0; ms < SEEN_MS && !seen && http_request_over(request) == HTTP_GO_ON;
         ms += LOOK_MS) {
        nanosleep(&pause, NULL);
        struct class_history *history = watcher_history(s->watcher, e->machine, &failed);
        seen = history && edit_count(history) != before;
        class_history_drop(history);
    }
}

static struct http_answer edit_apply(struct serve *s, const struct http_request *request,
                                     const struct edit *e, edit_write_fn *write)
{
    struct trend_card card;
    struct error err;
    bool failed;
    struct class_history *history = watcher_history(s->watcher, e->machine, &failed);
    struct strbuf text;

    if (!history || !edit_find_card(e, &history->trends, &card)) {
        class_history_drop(history);
        return http_error(MHD_HTTP_NOT_FOUND, 0,
                          "the history does not have that change any more; load the page again");
    }
    if (write == edit_accept && trend_card_acceptance(&card)) {
        class_history_drop(history);
        return http_error(MHD_HTTP_CONFLICT, 0, "it is accepted already; load the page again");
    }
    size_t before = edit_count(history);
    int rc = edit_write(s, e, &history->trends, &card, write, &err);
    class_history_drop(history);
    if (rc)
        return http_error(MHD_HTTP_INTERNAL_SERVER_ERROR, 0, err.message);
    edit_wait(s, request, e, before);
    strbuf_init(&text);
    strbuf_adds(&text, "{\"saved\":true}\n");
    return (struct http_answer) { .status = MHD_HTTP_OK, .body = body_create(&text, body_json) };
}

struct http_answer edits_answer(struct serve *s, const struct http_request *request)
{
    struct edit e = { 0 };
    struct error err;
    size_t i = 0, nr = sizeof(edits) / sizeof(edits[0]);

    while (i < nr && strcmp(edits[i].path, request->path) != 0)
        i++;
    if (i == nr)
        return http_error(MHD_HTTP_NOT_FOUND, 0, "nothing can be sent to this address");
    struct http_answer answer = edit_parse(request, &e, &err)
                                    ? http_error(MHD_HTTP_BAD_REQUEST, 0, err.message)
                                    : edit_apply(s, request, &e, edits[i].write);
    cJSON_Delete(e.json);
    return answer;
}
