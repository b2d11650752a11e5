/* SPDX-License-Identifier: MIT */
/* Answers with their headers. */
#include "http/http_base.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The page states its own policy for scripts; what only a header can say is said here. */
static const char policy_page[] = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
static const char policy_data[] = "default-src 'none'; frame-ancestors 'none'";

static const struct {
    const char *name, *value;
} headers[] = {
    { "X-Content-Type-Options", "nosniff" },
    { "Referrer-Policy", "no-referrer" },
    { "X-Frame-Options", "DENY" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
};

struct http_answer http_error(unsigned status, size_t column, const char *message)
{
    cJSON *json = cJSON_CreateObject();
    struct strbuf text;

    cJSON_AddStringToObject(json, "error", message);
    if (column > 0)
        cJSON_AddNumberToObject(json, "at", (double)column);
    strbuf_init(&text);
    json_take_script(json, &text);
    strbuf_addc(&text, '\n');
    return (struct http_answer) { .status = status, .body = body_create(&text, body_json) };
}

/* ---- sending ---- */

void http_add_headers(const struct http *http, struct MHD_Response *response, const char *type)
{
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        http->mhd.add_response_header(response, headers[i].name, headers[i].value);
    http->mhd.add_response_header(response, "Content-Type", type);
    http->mhd.add_response_header(response, "Content-Security-Policy",
                                  strcmp(type, body_html) == 0 ? policy_page : policy_data);
}

const char *http_header(const struct http *http, struct MHD_Connection *connection,
                        const char *name)
{
    return http->mhd.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static void http_drop_body(void *body)
{
    body_drop(body);
}

enum MHD_Result http_queue(const struct http *http, struct MHD_Connection *connection,
                           unsigned status, struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    enum MHD_Result result = http->mhd.queue_response(connection, status, response);
    http->mhd.destroy_response(response);
    return result;
}

/* What is whole may be kept by the reader, who asks with its tag whether it still holds. */
static void add_tag(const struct http *http, struct MHD_Response *response,
                    const struct body_form *form, unsigned status)
{
    if (status != MHD_HTTP_OK && status != MHD_HTTP_NOT_MODIFIED) {
        http->mhd.add_response_header(response, "Cache-Control", "no-store");
        return;
    }
    http->mhd.add_response_header(response, "ETag", form->tag);
    http->mhd.add_response_header(response, "Cache-Control", "private, no-cache");
    http->mhd.add_response_header(response, "Vary", "Accept-Encoding, Cookie");
}

/* The reader has this form already. */
static enum MHD_Result send_not_modified(const struct http *http, struct MHD_Connection *connection,
                                         struct body *body, const struct body_form *form)
{
    struct MHD_Response *response =
        http->mhd.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

    if (response) {
        http_add_headers(http, response, body_type(body));
        add_tag(http, response, form, MHD_HTTP_NOT_MODIFIED);
    }
    body_drop(body);
    return http_queue(http, connection, MHD_HTTP_NOT_MODIFIED, response);
}

enum MHD_Result http_send_with(struct http *http, struct MHD_Connection *connection,
                               struct http_answer answer, const char *name, const char *value)
{
    struct body_form form;

    body_form(answer.body, body_gzip_accepted(http_header(http, connection, "Accept-Encoding")),
              &form);
    if (answer.status == MHD_HTTP_OK &&
        body_is_named(&form, http_header(http, connection, "If-None-Match")))
        return send_not_modified(http, connection, answer.body, &form);
    /* The response holds the body until its last byte is sent. */
    struct MHD_Response *response = http->mhd.create_response_from_buffer_with_free_callback_cls(
        form.length, form.bytes, http_drop_body, answer.body);
    if (!response) {
        body_drop(answer.body);
        return MHD_NO;
    }
    http_add_headers(http, response, body_type(answer.body));
    add_tag(http, response, &form, answer.status);
    if (form.gzip)
        http->mhd.add_response_header(response, "Content-Encoding", "gzip");
    if (name)
        http->mhd.add_response_header(response, name, value);
    if (atomic_load(&http->closing) && !(name && strcmp(name, "Connection") == 0))
        http->mhd.add_response_header(response, "Connection", "close");
    return http_queue(http, connection, answer.status, response);
}

enum MHD_Result http_send(struct http *http, struct MHD_Connection *connection,
                          struct http_answer answer)
{
    return http_send_with(http, connection, answer, NULL, NULL);
}

/* ---- news ---- */

static ssize_t read_news(void *reader, uint64_t position, char *out, size_t size)
{
    (void)position;
    size_t nr = events_read(reader, out, size);
    return nr > 0 ? (ssize_t)nr : MHD_CONTENT_READER_END_OF_STREAM;
}

static void end_news(void *reader)
{
    events_leave(reader);
}

enum MHD_Result http_send_news(struct http *http, struct MHD_Connection *connection)
{
    struct events *events = http->options.events;
    const struct http_slot *slot = http_slot_of(http, connection);
    struct events_reader *reader = events ? events_join(events, slot ? slot->member : NULL) : NULL;

    if (!reader)
        return http_send_with(
            http, connection,
            http_error(MHD_HTTP_SERVICE_UNAVAILABLE, 0, "there is no more news: the server ends"),
            "Connection", "close");
    struct MHD_Response *response =
        http->mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, 512, read_news, reader, end_news);
    if (!response) {
        events_leave(reader);
        return MHD_NO;
    }
    http_add_headers(http, response, "text/event-stream");
    http->mhd.add_response_header(response, "Cache-Control", "no-store");
    return http_queue(http, connection, MHD_HTTP_OK, response);
}
