/* SPDX-License-Identifier: MIT */
/*
 * Names from users and histories on their way into other languages. All of these first replace
 * control characters (newlines too) by a space, bytes that are not UTF-8 by '?', and drop the
 * marks that turn the direction of text, so that a name cannot draw outside its own place.
 */
#ifndef HARNESS_OUTPUT_ESCAPE_H
#define HARNESS_OUTPUT_ESCAPE_H

#include "base/strbuf.h"

#include <stddef.h>

/* As it is, but cleaned. */
void escape_plain(struct strbuf *out, const char *text);
/* Between single quotes, quotes included: 'it''s'. */
void escape_gnuplot(struct strbuf *out, const char *text);
/* The same for a tick text, where gnuplot takes % for a format: 'a%%b'. */
void escape_gnuplot_tick(struct strbuf *out, const char *text);
/* Markdown text or table cell: | ` < > & * _ [ ] \ # ~ and @ lose their meaning. */
void escape_markdown(struct strbuf *out, const char *text);
/* XML text or attribute. */
void escape_xml(struct strbuf *out, const char *text);
/* A CSV field (RFC 4180), quoted where it must be. Leading = + - @ of a text get a quote in front,
 * or spreadsheets would run them. */
void escape_csv(struct strbuf *out, const char *text);

/* Characters that a UTF-8 text takes on a terminal: one a code point, two for wide East Asian. */
size_t escape_columns(const char *text);

#endif
