/* SPDX-License-Identifier: MIT */
/*
 * Names from users and histories on their way into other languages. All of these first clean the
 * text (base/clean.h), so that a name cannot draw outside its own place. One function a place:
 * the terminal has terminal/terminal.h, JSON has json_text(), file names text_slug().
 */
#ifndef HARNESS_TEXT_ESCAPE_H
#define HARNESS_TEXT_ESCAPE_H

#include "base/strbuf.h"

/* As it is, but cleaned, and no command to a CI system that reads logs: not with "::" at its start
 * (": :" instead), nor "##" anywhere ("# #"). */
void escape_plain(struct strbuf *out, const char *text);
/* Between single quotes, quotes included: 'it''s'. A quote at the start, or behind another, becomes
 * a typographic one: gnuplot would stumble. */
void escape_gnuplot(struct strbuf *out, const char *text);
/* The same for a tick text, where gnuplot takes % for a format: 'a%%b'. */
void escape_gnuplot_tick(struct strbuf *out, const char *text);
/* Markdown text or table cell: | ` < > & * _ [ ] \ ~ $ lose their meaning. What forges look for in
 * the finished text, where entities have gone already (@team, #1, GH-1, :emoji:, addresses of
 * pages), gets a zero-width space inside: nobody is called, nothing is linked. */
void escape_markdown(struct strbuf *out, const char *text);
/* Between double quotes in a Mermaid chart, which knows no escape: quotes and backquotes become
 * typographic ones. */
void escape_mermaid(struct strbuf *out, const char *text);
/* XML text or attribute; what a CI system would obey is written as entities. */
void escape_xml(struct strbuf *out, const char *text);
/* A CSV field (RFC 4180), quoted where it must be. What begins as a formula (= + - @) or as a
 * command to a CI system (::) gets a quote in front, or spreadsheets and runners would obey; "##"
 * is "# #". */
void escape_csv(struct strbuf *out, const char *text);
/* A label's value with its quotes, for OpenMetrics. What cleaning would change, and the first sign
 * of
 * "##[", is written as "\x1b"
 * or
 * "\u202e", backslash and all: names that differ stay different series. */
void escape_openmetrics(struct strbuf *out, const char *text);
/* One word of a POSIX shell; in single quotes unless it needs none. */
void escape_shell(struct strbuf *out, const char *text);
/* " --name value", the value as one word of a shell. */
void escape_shell_option(struct strbuf *out, const char *name, const char *value);

#endif
