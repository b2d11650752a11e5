/* SPDX-License-Identifier: MIT */
/* What standard output is, how texts of others are printed, and where results go. */
#include "testing.h"

#include "base/file.h"
#include "base/json.h"
#include "terminal/interrupt.h"
#include "terminal/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static const char here_path[] = HARNESS_TEST_DIR "/terminal.out";

static void set_variable(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void check_file(const char *path, const char *text)
{
    struct error err;
    size_t length;
    char *got = file_read(path, FILE_RECORDS_MOST, &length, &err);

    if (!got)
        fail_msg("%s", err.message);
    assert_string_equal(got, text);
    free(got);
}

/* ---- what standard output is ---- */

/* `fd` is standard output and standard error from here on; what they were is in `saved`. */
static void become(int fd, int saved[2])
{
    for (int i = 0; i < 2; i++) {
        fflush(i == 0 ? stdout : stderr);
        saved[i] = dup(STDOUT_FILENO + i);
        assert_true(saved[i] >= 0);
        dup2(fd, STDOUT_FILENO + i);
    }
}

static void become_again(const int saved[2])
{
    for (int i = 0; i < 2; i++) {
        fflush(i == 0 ? stdout : stderr);
        dup2(saved[i], STDOUT_FILENO + i);
        close(saved[i]);
    }
}

/* A terminal that nobody looks at, with so many columns. -1: there is none here. */
static int open_terminal(int columns, int *other_end)
{
    struct winsize size = { .ws_row = 24, .ws_col = (unsigned short)columns };
    char name[64];
    int fd;

    *other_end = posix_openpt(O_RDWR | O_NOCTTY);
    if (*other_end < 0)
        return -1;
    if (grantpt(*other_end) || unlockpt(*other_end) ||
        ptsname_r(*other_end, name, sizeof(name)) != 0 ||
        (fd = open(name, O_RDWR | O_NOCTTY)) < 0) {
        close(*other_end);
        return -1;
    }
    assert_int_equal(ioctl(fd, TIOCSWINSZ, &size), 0);
    return fd;
}

struct kind {
    bool colour, rewrites;
    size_t width;
};

static void check_kind(int fd, const struct kind *expected)
{
    struct kind is;
    int saved[2];

    become(fd, saved);
    is = (struct kind) { terminal_colour(), terminal_rewrites(), terminal_width() };
    bool same = terminal_note_width() == is.width && output_width("-") == is.width &&
                output_colour("-") == is.colour;
    bool file = output_width(here_path) == 0 && !output_colour(here_path);
    become_again(saved);
    assert_int_equal(is.colour, expected->colour);
    assert_int_equal(is.rewrites, expected->rewrites);
    assert_int_equal(is.width, expected->width);
    assert_true(same);
    assert_true(file);
}

static const struct {
    const char *term, *no_color, *columns;
    int window; /* columns, as the terminal says */
    struct kind kind;
} terminals[] = {
    { "xterm", NULL, NULL, 100, { true, true, 100 } },
    { "xterm", "", NULL, 100, { true, true, 100 } },
    { "xterm", "1", NULL, 100, { false, true, 100 } },
    { "xterm", "0", NULL, 100, { false, true, 100 } },
    { "dumb", NULL, NULL, 100, { false, false, 100 } },
    { "", NULL, NULL, 100, { false, false, 100 } },
    { NULL, NULL, NULL, 100, { false, false, 100 } },
    { "xterm", NULL, "72", 100, { true, true, 100 } },
    { "xterm", NULL, NULL, 0, { true, true, 0 } },
    { "xterm", NULL, "72", 0, { true, true, 72 } },
    { "xterm", NULL, "10000", 0, { true, true, 10000 } },
    { "xterm", NULL, "10001", 0, { true, true, 0 } },
    { "xterm", NULL, "72x", 0, { true, true, 0 } },
    { "xterm", NULL, "-72", 0, { true, true, 0 } },
    { "xterm", NULL, "", 0, { true, true, 0 } },
};

TEST(terminals_have_colours_and_a_width_and_files_have_neither)
{
    static const struct kind none = { false, false, 0 };

    for (size_t i = 0; i < COUNT(terminals); i++) {
        int other_end, fd = open_terminal(terminals[i].window, &other_end);
        int file = open(here_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_true(file >= 0);
        set_variable("TERM", terminals[i].term);
        set_variable("NO_COLOR", terminals[i].no_color);
        set_variable("COLUMNS", terminals[i].columns);
        check_kind(file, &none);
        close(file);
        if (fd < 0)
            skip();
        check_kind(fd, &terminals[i].kind);
        close(fd);
        close(other_end);
    }
}

/* ---- what is printed ---- */

TEST(texts_are_cleaned_and_are_no_commands_of_a_log)
{
    static const struct {
        const char *first, *second, *printed;
    } rows[] = {
        { "plain", "text", "plain|text\n" },
        { "\x1b[31mred\x1b[0m", "two\nlines", " [31mred [0m|two lines\n" },
        { "::error::x", "::error::x", ": :error::x|::error::x\n" },
        { "  ::group", "", "  : :group|\n" },
        { "a::b", "##[error]", "a::b|# #[error]\n" },
        { "# #", "##", "# #|##\n" },
    };
    struct strbuf out;

    strbuf_init(&out);
    for (size_t i = 0; i < COUNT(rows); i++) {
        strbuf_clear(&out);
        terminal_add(&out, "%s|%s\n", rows[i].first, rows[i].second);
        assert_string_equal(out.data, rows[i].printed);
    }
    strbuf_release(&out);
}

TEST(a_command_starts_at_each_line)
{
    struct strbuf out;

    strbuf_init(&out);
    terminal_add(&out, "%s\n%s\n", "one", "::two");
    assert_string_equal(out.data, "one\n: :two\n");
    strbuf_release(&out);
}

TEST(names_are_shown_as_they_are_or_not_at_all)
{
    char longest[514], line[516];
    const struct {
        const char *name;
        bool shown;
    } rows[] = {
        { "gemm/nn", true },     { "caf\xc3\xa9", true }, { "", false },
        { "two\nlines", false }, { "bad\xff", false },    { "::debug", false },
        { "a##[x]", false },     { longest + 1, true },   { longest, false },
    };
    struct strbuf out;

    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    strbuf_init(&out);
    for (size_t i = 0; i < COUNT(rows); i++) {
        strbuf_clear(&out);
        terminal_add_name(&out, rows[i].name);
        snprintf(line, sizeof(line), "%s\n", rows[i].name);
        assert_string_equal(out.data, rows[i].shown ? line : "");
    }
    strbuf_release(&out);
}

/* ---- the form, and where it goes ---- */

TEST(formats_are_those_of_the_list)
{
    static const struct {
        const char *format;
        int index;
    } rows[] = {
        { NULL, 0 },    { "text", 0 }, { "markdown", 1 }, { "json", 2 },
        { "yaml", -1 }, { "", -1 },    { "Text", -1 },    { "js", -1 },
    };
    static const char *const formats[] = { "text", "markdown", "json", NULL };
    struct error err;

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(output_choose_format(rows[i].format, formats, &err), rows[i].index);
        if (rows[i].index < 0)
            assert_has(err.message, "there are text, markdown, json");
        assert_int_equal(output_check_format(rows[i].format, &err), rows[i].index < 0 ? -1 : 0);
    }
}

TEST(a_short_option_is_a_format)
{
    static const struct {
        const char *format;
        bool given;
        int rc;
        const char *then;
    } rows[] = {
        { NULL, false, 0, NULL },    { "text", false, 0, "text" }, { NULL, true, 0, "json" },
        { "json", true, 0, "json" }, { "text", true, -1, "text" },
    };
    struct error err;

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *format = rows[i].format;
        assert_int_equal(output_short_format(&format, rows[i].given, "--json", "json", &err),
                         rows[i].rc);
        if (rows[i].rc)
            assert_string_equal(err.message, "--json and --format text: one of the two");
        if (rows[i].then)
            assert_string_equal(format, rows[i].then);
        else
            assert_null(format);
    }
}

TEST(names_of_standard_output)
{
    static const struct {
        const char *path;
        bool standard;
    } rows[] = {
        { NULL, true },
        { "-", true },
        { "/dev/stdout", true },
        { "/dev/fd/1", true },
        { "/proc/self/fd/1", true },
        { "./-", false },
        { "/dev/stderr", false },
        { "out.txt", false },
        { "", false },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(output_is_standard(rows[i].path), rows[i].standard);
        assert_string_equal(output_file(rows[i].path),
                            rows[i].standard ? "/dev/stdout" : rows[i].path);
    }
}

/* What the function says goes to `path`, which may be standard output: that is a file here. */
static int write_to(const char *path, const char *text,
                    int (*say)(const struct strbuf *, const char *, struct error *))
{
    int fd = open(here_path, O_WRONLY | O_CREAT | O_TRUNC, 0600), saved[2];
    struct strbuf out;
    struct error err;

    assert_true(fd >= 0);
    strbuf_init(&out);
    strbuf_adds(&out, text);
    become(fd, saved);
    int rc = say(&out, path, &err);
    become_again(saved);
    close(fd);
    strbuf_release(&out);
    return rc;
}

static int say_json(const struct strbuf *text, const char *path, struct error *err)
{
    return output_json(cJSON_Parse(text->data), path, err);
}

TEST(results_go_to_a_file_or_to_standard_output)
{
    static const char folder[] = HARNESS_TEST_DIR "/terminal.made";
    static const char file[] = HARNESS_TEST_DIR "/terminal.made/deep/result";
    static const char words[] =
        "a line of many words, which no terminal that is narrow would show "
        "in one piece, and which goes on and on and on\n";
    static const struct {
        int (*say)(const struct strbuf *, const char *, struct error *);
        const char *text, *written;
    } rows[] = {
        { output_text, "", "" },
        { output_text, "two\n  lines", "two\n  lines" },
        { output_text, words, words },
        { output_page, words, words },
        { say_json, "{\"a\":[1]}", "{\n\t\"a\":\t[1]\n}\n" },
    };
    struct error err;

    setenv("COLUMNS", "40", 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(write_to("-", rows[i].text, rows[i].say), 0);
        check_file(here_path, rows[i].written);
        assert_int_equal(write_to(file, rows[i].text, rows[i].say), 0);
        check_file(file, rows[i].written);
        check_file(here_path, "");
        assert_ok(file_remove_folder(folder, &err), &err);
    }
}

/* ---- Ctrl+C ---- */

TEST(the_first_signal_is_kept_and_a_second_one_kills)
{
    static const int signals[] = { SIGINT, SIGTERM };
    struct sigaction now;

    assert_int_equal(interrupt_signal(), 0);
    for (size_t i = 0; i < COUNT(signals); i++) {
        const volatile sig_atomic_t *flag = interrupt_watch();
        raise(signals[i]);
        assert_int_equal(*flag, signals[i]);
        assert_int_equal(interrupt_signal(), signals[i]);
        assert_int_equal(sigaction(signals[i], NULL, &now), 0);
        assert_true(now.sa_handler == SIG_DFL);
    }
}

RUN_TESTS(NULL, NULL)
