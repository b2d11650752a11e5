/* SPDX-License-Identifier: MIT */
/* What the parts of the comment share. */
#include "reporters/comment/comment_parts.h"

#include "metrics/run_rows.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct comment_history *comment_history_of(const struct comment_histories *histories,
                                                 const struct compare_row *row)
{
    for (size_t i = 0; histories && i < histories->nr; i++)
        if (histories->items[i].item == row->item)
            return &histories->items[i];
    return NULL;
}

const char *comment_label(const struct comment *k, const struct compare_row *row)
{
    return k->labels[row - k->c->rows];
}

void comment_open(const struct comment *k, const char *format, ...)
{
    char summary[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(summary, sizeof(summary), format, arguments);
    va_end(arguments);
    strbuf_addf(k->out, "<details><summary>%s</summary>\n\n", summary);
}

void comment_close(const struct comment *k)
{
    strbuf_adds(k->out, "\n</details>\n\n");
}

const struct run *comment_newest(const struct records *records)
{
    int run = records ? run_newest(records) : -1;

    return run < 0 ? NULL : &records->runs[run];
}

/* Whatever could end the link or the table is percent-encoded (RFC 3986). So is an @ behind the
 * host: ci/comment.sh breaks up what could be the name of somebody. */
void comment_address(const struct comment *k, const char *address)
{
    const char *host = strstr(address, "://"), *path = address;

    if (host)
        path = host + 3 + strcspn(host + 3, "/?#");
    for (; *address; address++) {
        unsigned char c = (unsigned char)*address;
        if (isalnum(c) || strchr("-._~:/?#!$&+,;=%", c) || (c == '@' && address < path))
            strbuf_addc(k->out, *address);
        else
            strbuf_addf(k->out, "%%%02X", c);
    }
}

void comment_link(const struct comment *k, const char *words, const char *address)
{
    strbuf_addf(k->out, "[%s](", words);
    comment_address(k, address);
    strbuf_addc(k->out, ')');
}

bool comment_is_shown(const struct comment *k, const struct comment_picture *picture)
{
    return k->level->charts && k->o->images && picture && picture->file;
}
