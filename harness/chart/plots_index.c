/* SPDX-License-Identifier: MIT */
/* index.html of a folder of figures: what there is, by section, and why something is absent; where
 * each lies, and the words that summary.txt and the terminal share with it. */
#include "chart/plots.h"

#include "base/file.h"
#include "chart/chapter.h"
#include "text/escape.h"

#include <string.h>

const char *plots_folder_of(const struct preset *preset)
{
    return chapter_of(preset);
}

const char *plots_description_of(const struct preset *preset)
{
    return preset->description ? preset->description : preset->title;
}

static bool plots_is_first_reason(const struct plots_summary *summary, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (summary->items[i].reason &&
            strcmp(summary->items[i].reason, summary->items[at].reason) == 0)
            return false;
    return true;
}

void plots_add_absences(const struct plots_summary *summary, const char *indent, struct strbuf *out)
{
    for (size_t i = 0; i < summary->nr; i++) {
        const char *reason = summary->items[i].reason, *comma = ": ";
        if (!reason || !plots_is_first_reason(summary, i))
            continue;
        strbuf_addf(out, "%s%s", indent, reason);
        for (size_t k = i; k < summary->nr; k++) {
            if (!summary->items[k].reason || strcmp(summary->items[k].reason, reason) != 0)
                continue;
            strbuf_addf(out, "%s%s", comma, summary->items[k].preset->name);
            comma = ", ";
        }
        strbuf_addc(out, '\n');
    }
}

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>Figures</title>\n<style>\n"
    "body { font: 15px/1.5 system-ui, sans-serif; max-width: 1240px; margin: 0 auto; padding: 16px;"
    " color: #222; background: #fff; }\n"
    "nav a { margin-right: 14px; }\na { color: #00588a; }\n"
    "h2 { margin: 36px 0 8px; text-transform: capitalize; }\nfigure { margin: 0 0 28px; }\n"
    "img { width: 100%; height: auto; border: 1px solid #d9d9d9; }\n"
    "figcaption, .absent { color: #555; }\n</style>\n<h1>Figures</h1>\n";

static void index_add_text(struct strbuf *out, const char *before, const char *text,
                           const char *after)
{
    strbuf_adds(out, before);
    escape_xml(out, text);
    strbuf_adds(out, after);
}

/* SVG where it is there: it stays sharp. PDF has no place in a page, so it is a link. */
static void index_add_picture(struct strbuf *out, const struct plot_result *r, unsigned formats)
{
    const char *folder = plots_folder_of(r->preset), *name = r->preset->name;
    enum picture_format shown = formats & 1u << PICTURE_SVG   ? PICTURE_SVG
                                : formats & 1u << PICTURE_PNG ? PICTURE_PNG
                                                              : PICTURE_PDF;
    const char *ending = picture_format_name(shown);

    strbuf_addf(out, "<figure id=\"%s\">\n<a href=\"%s/%s.%s\">", name, folder, name, ending);
    if (shown == PICTURE_PDF)
        index_add_text(out, "", r->preset->title, "</a>\n");
    else {
        strbuf_addf(out, "<img loading=\"lazy\" src=\"%s/%s.%s\"", folder, name, ending);
        index_add_text(out, " alt=\"", r->alt ? r->alt : r->preset->title, "\"></a>\n");
    }
    index_add_text(out, "<figcaption>", plots_description_of(r->preset), "</figcaption>\n");
    strbuf_adds(out, "</figure>\n");
}

static size_t index_count(const struct plots_summary *summary, const char *folder)
{
    size_t nr = 0;

    for (size_t i = 0; i < summary->nr; i++)
        nr += !summary->items[i].reason &&
              strcmp(plots_folder_of(summary->items[i].preset), folder) == 0;
    return nr;
}

int plots_write_index(const struct plots_summary *summary, const char *folder, unsigned formats,
                      struct error *err)
{
    struct strbuf out, path, absences;

    strbuf_init(&out);
    strbuf_init(&path);
    strbuf_init(&absences);
    strbuf_adds(&out, head);
    strbuf_adds(&out, "<nav>");
    for (size_t k = 0; chapter_names[k]; k++)
        if (index_count(summary, chapter_names[k]))
            strbuf_addf(&out, "<a href=\"#%s\">%s</a>", chapter_names[k], chapter_names[k]);
    strbuf_adds(&out, "</nav>\n");
    for (size_t k = 0; chapter_names[k]; k++) {
        if (!index_count(summary, chapter_names[k]))
            continue;
        strbuf_addf(&out, "<h2 id=\"%s\">%s</h2>\n", chapter_names[k], chapter_names[k]);
        for (size_t i = 0; i < summary->nr; i++)
            if (!summary->items[i].reason &&
                strcmp(plots_folder_of(summary->items[i].preset), chapter_names[k]) == 0)
                index_add_picture(&out, &summary->items[i], formats);
    }
    plots_add_absences(summary, "", &absences);
    if (absences.length)
        index_add_text(&out,
                       "<h2 id=\"absent\">Absent, and why</h2>\n<pre class=\"absent\" "
                       "style=\"white-space: pre-wrap\">",
                       absences.data, "</pre>\n");
    strbuf_adds(&out, "</html>\n");
    strbuf_addf(&path, "%s/index.html", folder);
    int rc = file_write(path.data, out.data, out.length, err);
    strbuf_release(&out);
    strbuf_release(&path);
    strbuf_release(&absences);
    return rc;
}
