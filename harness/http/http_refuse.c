/* SPDX-License-Identifier: MIT */
/* Who may ask for what: requests that are refused before anything looks at what they want, who may
 * send changes, and the token. */
#include "http/http_base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool has_body(const struct http *http, struct MHD_Connection *connection)
{
    const char *length = http_header(http, connection, "Content-Length");

    return http_header(http, connection, "Transfer-Encoding") ||
           (length && strcmp(length, "0") != 0);
}

static enum MHD_Result count_host(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    (void)kind;
    (void)value;
    if (strcasecmp(name, "Host") == 0)
        ++*(int *)context;
    return MHD_YES;
}

static bool host_fits(const struct http *http, struct MHD_Connection *connection)
{
    int hosts = 0;

    http->mhd.get_connection_values(connection, MHD_HEADER_KIND, count_host, &hosts);
    return hosts == 1 && guard_host_fits(http_header(http, connection, "Host"), &http->guard);
}

/* In a cookie, or as scripts do it: "Authorization: Bearer TOKEN". */
static bool has_token(const struct http *http, struct MHD_Connection *connection)
{
    static const char bearer[] = "Bearer ";
    const char *cookie =
        http->mhd.lookup_connection_value(connection, MHD_COOKIE_KIND, http->cookie);
    const char *given = http_header(http, connection, "Authorization");

    if (cookie && guard_equal(http->token, cookie))
        return true;
    return given && strncasecmp(given, bearer, sizeof(bearer) - 1) == 0 &&
           guard_equal(http->token, given + sizeof(bearer) - 1);
}

/* An address with the right token: the token moves into a cookie, out of sight and history. */
static bool take_token(struct http *http, struct MHD_Connection *connection,
                       const struct http_visit *visit, enum MHD_Result *result)
{
    const char *given =
        http->mhd.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    char cookie[GUARD_TOKEN_MAX + 128];

    if (!given || !guard_equal(http->token, given))
        return false;
    char *target = guard_uri_without_token(visit->target);
    if (!target)
        return false;
    struct MHD_Response *response =
        http->mhd.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (response) {
        snprintf(cookie, sizeof(cookie), "%s=%s; Path=/; HttpOnly; SameSite=Strict", http->cookie,
                 http->token);
        http_add_headers(http, response, body_text);
        http->mhd.add_response_header(response, "Set-Cookie", cookie);
        http->mhd.add_response_header(response, "Cache-Control", "no-store");
        http->mhd.add_response_header(response, "Location", target);
    }
    free(target);
    *result = http_queue(http, connection, MHD_HTTP_SEE_OTHER, response);
    return true;
}

struct refusal {
    unsigned status;
    const char *message, *name, *value;
};

static struct refusal refuse_closing(unsigned status, const char *message)
{
    return (struct refusal) { status, message, "Connection", "close" };
}

/* Of what asks for something alone. */
static struct refusal refuse_get(struct http *http, struct MHD_Connection *connection)
{
    if (has_body(http, connection))
        return refuse_closing(MHD_HTTP_CONTENT_TOO_LARGE, "a request here has no body");
    return (struct refusal) { 0 };
}

/* A POST changes something, so it must be known to come from a page that this server sent: another
 * site can neither read the key nor, without being asked first, send such headers. */
static struct refusal refuse_post(struct http *http, struct MHD_Connection *connection)
{
    const char *length = http_header(http, connection, "Content-Length");
    const char *type = http_header(http, connection, "Content-Type");
    const char *site = http_header(http, connection, "Sec-Fetch-Site");
    const char *key = http_header(http, connection, HTTP_KEY_HEADER);

    if (!length || http_header(http, connection, "Transfer-Encoding"))
        return refuse_closing(MHD_HTTP_LENGTH_REQUIRED, "say how long it is: Content-Length");
    if (strspn(length, "0123456789") != strlen(length) ||
        strtoull(length, NULL, 10) > HTTP_BODY_MAX)
        return refuse_closing(MHD_HTTP_CONTENT_TOO_LARGE,
                              "what is sent here has at most 8192 bytes");
    if (!type || strncasecmp(type, "application/json", 16) != 0 || (type[16] && type[16] != ';'))
        return refuse_closing(MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                              "what is sent here is JSON: Content-Type: application/json");
    if (!guard_origin_fits(http_header(http, connection, "Origin"),
                           http_header(http, connection, "Host")) ||
        (site && strcmp(site, "same-origin") != 0))
        return refuse_closing(MHD_HTTP_FORBIDDEN,
                              "changes are taken from a page of this server alone");
    if (!key || !guard_equal(http->post_key, key))
        return refuse_closing(MHD_HTTP_FORBIDDEN,
                              "the page is of an earlier start of this server, "
                              "or of none; load it again");
    return (struct refusal) { 0 };
}

static struct refusal refuse_method(struct http *http, struct MHD_Connection *connection,
                                    const char *method)
{
    if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
        return refuse_get(http, connection);
    if (http->post_key && strcmp(method, "POST") == 0)
        return refuse_post(http, connection);
    return http->post_key
               ? (struct refusal) { MHD_HTTP_METHOD_NOT_ALLOWED, "GET, HEAD and POST only", "Allow",
                                    "GET, HEAD, POST" }
               : (struct refusal) { MHD_HTTP_METHOD_NOT_ALLOWED,
                                    "nothing can be changed here: GET and HEAD only", "Allow",
                                    "GET, HEAD" };
}

static bool find_refusal(struct http *http, struct MHD_Connection *connection,
                         const struct http_visit *visit, const char *method,
                         struct refusal *refusal)
{
    *refusal = (struct refusal) { 0 };
    if (atomic_load(&http->closing))
        *refusal =
            (struct refusal) { MHD_HTTP_SERVICE_UNAVAILABLE, "this server is closing", NULL, NULL };
    else if (!visit->target)
        *refusal = refuse_closing(MHD_HTTP_URI_TOO_LONG, "this address is too long");
    else if (!guard_uri_fits(visit->target))
        *refusal = refuse_closing(MHD_HTTP_BAD_REQUEST, "this address is malformed");
    else if (!host_fits(http, connection))
        *refusal = (struct refusal) { MHD_HTTP_MISDIRECTED_REQUEST,
                                      "this server is not called that; --allow-host NAME lets a "
                                      "further name in",
                                      NULL, NULL };
    else
        *refusal = refuse_method(http, connection, method);
    return refusal->status != 0;
}

/* Does the request bring a token at all? */
static bool brings_token(const struct http *http, struct MHD_Connection *connection)
{
    return http->mhd.lookup_connection_value(connection, MHD_COOKIE_KIND, http->cookie) ||
           http_header(http, connection, "Authorization") ||
           http->mhd.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
}

static struct refusal refuse_without_token(void)
{
    return (struct refusal) { MHD_HTTP_UNAUTHORIZED,
                              "this server wants its token: add ?token=TOKEN to the "
                              "address once, or send Authorization: Bearer TOKEN",
                              "WWW-Authenticate", "Bearer" };
}

/* False where the token is right. After too many wrong ones none is looked at, right or wrong: else
 * the answer would tell. */
static bool check_token(struct http *http, struct MHD_Connection *connection,
                        const struct http_visit *visit, struct refusal *refusal, bool *taken,
                        enum MHD_Result *result)
{
    struct http_slot *slot = http_slot_of(http, connection);

    *taken = false;
    *refusal = refuse_without_token();
    if (!brings_token(http, connection))
        return true;
    if (!slot || !slot->member || !quota_may_guess(http->quotas, slot->member)) {
        *refusal = (struct refusal) { MHD_HTTP_TOO_MANY_REQUESTS,
                                      "too many wrong tokens; try again in some seconds",
                                      "Retry-After", "5" };
        return true;
    }
    *taken = take_token(http, connection, visit, result);
    if (*taken || has_token(http, connection))
        return false;
    quota_guessed(http->quotas, slot->member);
    return true;
}

bool http_refuse(struct http *http, struct MHD_Connection *connection, struct http_visit *visit,
                 const char *method, const char *path, enum MHD_Result *result)
{
    struct refusal refusal;

    if (!find_refusal(http, connection, visit, method, &refusal)) {
        /* A probe of health has no token to give, and learns nothing. */
        if (!http->token || strcmp(path, "/healthz") == 0)
            return false;
        bool taken;
        if (!check_token(http, connection, visit, &refusal, &taken, result))
            return taken;
    }
    *result = http_send_with(http, connection, http_error(refusal.status, 0, refusal.message),
                             refusal.name, refusal.value);
    return true;
}
