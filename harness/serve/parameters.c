/* SPDX-License-Identifier: MIT */
#include "serve/parameters.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

enum { NAMES_MAX = 16 };

static int parameters_refuse_unknown(const struct http_request *request, const char *const *more,
                                     struct error *err)
{
    static const char *const own[] = { "run", "base", "where", "from", "limit", "token", NULL };
    const char *names[NAMES_MAX] = { NULL };
    size_t nr = 0;

    for (size_t i = 0; own[i]; i++)
        names[nr++] = own[i];
    for (size_t i = 0; more && more[i] && nr + 1 < NAMES_MAX; i++)
        names[nr++] = more[i];
    const char *unknown = http_unknown_parameter(request, names);
    if (!unknown)
        return 0;
    const char *nearest = text_nearest(unknown, names);
    return error_set(err, "there is no parameter \"%.64s\" here%s%s%s", unknown,
                     nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                     nearest ? "\"?" : "");
}

/* An absent or empty parameter leaves the value as it is. */
static int parameters_number(const struct http_request *request, const char *name, int64_t low,
                             int64_t high, int64_t *value, struct error *err)
{
    const char *text = http_parameter(request, name);

    return text && *text ? text_parse_int(text, low, high, name, value, err) : 0;
}

static int parameters_runs(const struct http_request *request, struct parameters *parameters,
                           struct error *err)
{
    const char *text = http_parameter(request, "run");
    struct int_list list = { .nr = 0 };
    int rc = 0;

    if (!text || !*text)
        return 0;
    /* Numbers alone: ranges would make many runs of a short text. */
    if (strspn(text, "0123456789,") != strlen(text))
        rc = error_set(err, "run: \"%.64s\" is no list of run numbers such as 3,7", text);
    if (rc == 0)
        rc = text_parse_ints(text, 1, INT64_MAX, "run", &list, err);
    if (rc == 0 && list.nr > SERVE_RUNS_MAX)
        rc = error_set(err, "run: more than %d runs at once", SERVE_RUNS_MAX);
    for (size_t i = 0; rc == 0 && i < list.nr; i++)
        parameters->runs[parameters->nr_runs++] = list.items[i];
    array_release(&list);
    return rc;
}

static int parameters_base(const struct http_request *request, struct parameters *parameters,
                           struct error *err)
{
    const char *text = http_parameter(request, "base");

    if (text && strcmp(text, "none") == 0) {
        parameters->base = -1;
        return 0;
    }
    return parameters_number(request, "base", 1, INT64_MAX, &parameters->base, err);
}

int parameters_parse(const struct http_request *request, const char *const *more,
                     struct parameters *parameters, struct error *err)
{
    int64_t limit = PARAMETERS_LIMIT;
    const char *where = http_parameter(request, "where");

    *parameters = (struct parameters) { .where = where ? where : "" };
    if (parameters_refuse_unknown(request, more, err) ||
        parameters_runs(request, parameters, err) || parameters_base(request, parameters, err) ||
        parameters_number(request, "from", 1, INT64_MAX, &parameters->from, err) ||
        parameters_number(request, "limit", 1, PARAMETERS_LIMIT_MAX, &limit, err))
        return -1;
    parameters->limit = (size_t)limit;
    return 0;
}

void parameters_name(const struct parameters *parameters, struct strbuf *out)
{
    strbuf_addf(out, "base=%" PRId64 " from=%" PRId64 " limit=%zu run=", parameters->base,
                parameters->from, parameters->limit);
    for (size_t i = 0; i < parameters->nr_runs; i++)
        strbuf_addf(out, "%s%" PRId64, i ? "," : "", parameters->runs[i]);
    strbuf_addf(out, " where=%s", parameters->where);
}
