/* SPDX-License-Identifier: MIT */
/*
 * Catch2's --reporter xml, of versions 2 and 3. Of the times there is a summary, in ns:
 *
 *     <TestCase name="sorting"> <Section name="small">
 *       <BenchmarkResults name="sort 64" samples="100" iterations="3" ...>
 *         <mean value="41.7" lowerBound="41.4" upperBound="42.5" ci="0.95"/>
 *         <standardDeviation value="2.4" .../> <outliers variance="0.5" lowMild="1" .../>
 */
#include "importers/base/import_base.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

enum { CATCH2_LEVELS_MOST = 32 };

struct catch2 {
    struct import_build *b;
    XML_Parser parser;
    size_t length[CATCH2_LEVELS_MOST]; /* of `path` outside of each open part */
    int depth;
    struct strbuf path;    /* "sorting/small" */
    struct import_case *c; /* of the results that are open; NULL: none */
    bool refused, ended;
};

static const char *catch2_attribute(const XML_Char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return "";
}

static bool catch2_number(const XML_Char **attributes, const char *name, double *value)
{
    char text[64];

    import_copy(text, sizeof(text), catch2_attribute(attributes, name));
    return import_value(&(cJSON) { .type = cJSON_String, .valuestring = text }, value);
}

static void catch2_refuse(struct catch2 *x, const char *why, const char *what)
{
    if (!x->refused)
        import_refuse(x->b, NULL, why, what);
    x->refused = true;
    XML_StopParser(x->parser, XML_FALSE);
}

static void catch2_open_part(struct catch2 *x, const char *name)
{
    if (x->depth == CATCH2_LEVELS_MOST) {
        catch2_refuse(x, "sections are deeper than %s", "32");
        return;
    }
    x->length[x->depth++] = x->path.length;
    strbuf_addf(&x->path, "%s%s", x->path.length ? "/" : "", name);
}

static void catch2_open_results(struct catch2 *x, const XML_Char **attributes)
{
    struct import_name name;
    double value;

    import_name_init(&name, x->path.data);
    import_name_part(&name, catch2_attribute(attributes, "name"));
    x->c = import_case(x->b, &name);
    import_note_again(x->b, x->c);
    if (x->b->crowded) {
        x->refused = true;
        import_crowded(x->b);
        XML_StopParser(x->parser, XML_FALSE);
    }
    if (catch2_number(attributes, "samples", &value))
        import_beside(x->b, x->c, "summary_samples", value);
    if (catch2_number(attributes, "iterations", &value))
        import_beside(x->b, x->c, "summary_iterations", value);
}

static void catch2_read_number(struct catch2 *x, const XML_Char **attributes, const char *attribute,
                               const char *name)
{
    double value;

    if (catch2_number(attributes, attribute, &value))
        import_beside(x->b, x->c, name, value);
}

static void catch2_read_mean(struct catch2 *x, const XML_Char **attributes)
{
    double value;

    if (!catch2_number(attributes, "value", &value)) {
        catch2_refuse(x, "the mean of \"%.80s\" is no number", x->c->m.bench.key);
        return;
    }
    if (import_statistic(x->b, x->c, NULL, value)) {
        x->refused = true;
        XML_StopParser(x->parser, XML_FALSE);
    }
    catch2_read_number(x, attributes, "lowerBound", "summary_mean_lower_ns");
    catch2_read_number(x, attributes, "upperBound", "summary_mean_upper_ns");
}

static void catch2_read_outliers(struct catch2 *x, const XML_Char **attributes)
{
    static const char *const keys[] = { "lowMild", "lowSevere", "highMild", "highSevere" };
    double sum = 0, value;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        sum += catch2_number(attributes, keys[i], &value) ? value : 0;
    import_beside(x->b, x->c, "summary_outliers", sum);
}

static void XMLCALL catch2_open(void *context, const XML_Char *tag, const XML_Char **attributes)
{
    struct catch2 *x = context;

    x->b->line = (int)XML_GetCurrentLineNumber(x->parser);
    if (strcmp(tag, "TestCase") == 0 || strcmp(tag, "Section") == 0)
        catch2_open_part(x, catch2_attribute(attributes, "name"));
    else if (strcmp(tag, "Catch") == 0 || strcmp(tag, "Catch2TestRun") == 0)
        import_fact(x->b, "tool_version", catch2_attribute(attributes, "catch2-version"));
    else if (strcmp(tag, "BenchmarkResults") == 0)
        catch2_open_results(x, attributes);
    else if (x->c && strcmp(tag, "mean") == 0)
        catch2_read_mean(x, attributes);
    else if (x->c && strcmp(tag, "standardDeviation") == 0)
        catch2_read_number(x, attributes, "value", "summary_std_ns");
    else if (x->c && strcmp(tag, "outliers") == 0)
        catch2_read_outliers(x, attributes);
    else if (x->c && strcmp(tag, "failed") == 0)
        import_fail(x->c, OUTCOME_FAILED, catch2_attribute(attributes, "message"));
}

static void XMLCALL catch2_close(void *context, const XML_Char *tag)
{
    struct catch2 *x = context;

    if (strcmp(tag, "BenchmarkResults") == 0)
        x->c = NULL;
    if ((strcmp(tag, "TestCase") == 0 || strcmp(tag, "Section") == 0) && x->depth > 0) {
        x->path.length = x->length[--x->depth];
        x->path.data[x->path.length] = '\0';
    }
}

/* Entities of a file's own are how XML is made to grow: Catch2 has none. */
static void XMLCALL catch2_doctype(void *context, const XML_Char *name, const XML_Char *system,
                                   const XML_Char *public, int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    catch2_refuse(context, "a %s declaration: Catch2 writes none", "DOCTYPE");
}

static int catch2_end(struct catch2 *x, enum XML_Status status)
{
    enum XML_Error error = XML_GetErrorCode(x->parser);

    x->b->line = (int)XML_GetCurrentLineNumber(x->parser);
    if (x->refused)
        return -1;
    if (status == XML_STATUS_OK)
        return 0;
    bool cut = error == XML_ERROR_NO_ELEMENTS || error == XML_ERROR_UNCLOSED_TOKEN ||
               error == XML_ERROR_UNCLOSED_CDATA_SECTION || error == XML_ERROR_PARTIAL_CHAR;
    return import_refuse(x->b, NULL, "%s: %s", cut ? "truncated XML" : "not valid XML",
                         XML_ErrorString(error));
}

static int catch2_parse(struct import_build *b)
{
    struct catch2 x = { .b = b, .parser = XML_ParserCreate("UTF-8") };

    if (!x.parser)
        return import_refuse(b, NULL, "no memory for an XML parser");
    b->clock = "Catch2";
    b->statistic = "the mean";
    strbuf_init(&x.path);
    XML_SetUserData(x.parser, &x);
    XML_SetElementHandler(x.parser, catch2_open, catch2_close);
    XML_SetStartDoctypeDeclHandler(x.parser, catch2_doctype);
    int rc = catch2_end(&x, XML_Parse(x.parser, b->text, (int)b->length, XML_TRUE));
    b->line = 0;
    XML_ParserFree(x.parser);
    strbuf_release(&x.path);
    return rc;
}

static bool catch2_fits(const char *text, size_t length)
{
    static const char mark[] = "<Catch";
    size_t most = length < 4096 ? length : 4096;

    for (size_t i = 0; i + sizeof(mark) <= most; i++)
        if (memcmp(text + i, mark, sizeof(mark) - 1) == 0)
            return true;
    return false;
}

const struct import_format_row import_catch2 = { .fits_text = catch2_fits, .parse = catch2_parse };
