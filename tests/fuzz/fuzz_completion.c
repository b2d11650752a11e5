/* SPDX-License-Identifier: MIT */
/*
 * cli/help/completion.h: names of strangers behind TAB. The input is a word that somebody has
 * typed, and names, each ended by a NUL. Of the names those are offered that are shown as they are.
 * A bash with the generated completion then presses TAB: each word that it would insert is one word
 * for the shell, one of the names, and nothing in it expands.
 */
#include "fuzz.h"

#include "base/clean.h"
#include "base/strbuf.h"
#include "cli/command.h"
#include "cli/help/completion.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A command with a value that is a name, in the place of those of the program. */
const struct command *const *command_all(void)
{
    static const struct option_row options[] = {
        { .name = "baseline", .argument = "REF", .type = OPTION_STRING, .help = "a name" },
        { .name = NULL },
    };
    static const struct command compare = {
        .name = "compare", .arguments = "", .summary = "compares", .options = options
    };
    static const struct command *const all[] = { &compare, NULL };

    return all;
}

/* ---- bash, asked again and again ---- */

/*
 * Restricted: without output to files, programs by path, and cd; no program is found by name
 * either. In: the word and the lines that `harness baseline list --names` prints, each ended by a
 * NUL. Out: for each reply, ended by NULs, how many words the shell makes of what it would insert,
 * and the first; then "end". "ran": a word of a name was taken for a command.
 */
static const char driver[] =
    "enable -n kill exec source . bind trap\n"
    "harness() { printf %s \"$lines\"; }\n"
    "compopt() { :; }\n"
    "command_not_found_handle() { printf 'ran\\0%s\\0' \"$1\" >&3; }\n"
    /* byte by byte: what is typed need not be UTF-8 */
    "while LC_ALL=C; IFS= read -r -d '' typed && IFS= read -r -d '' lines; do\n"
    "    LC_ALL=C.UTF-8\n"
    "    COMP_WORDS=(harness compare --baseline \"$typed\") COMP_CWORD=3\n"
    "    _harness\n"
    "    before= last=$typed\n"
    "    [[ $last != [\\\"\\']* ]] || last=${last:1}\n"
    "    [[ $last != *,* ]] || before=${last%,*},\n"
    "    for reply in \"${COMPREPLY[@]}\"; do\n"
    "        [[ $reply == \"$before\"* ]] || printf 'before\\0%s\\0' \"$reply\"\n"
    "        eval \"set -- ${reply#\"$before\"}\"\n"
    "        printf '%s\\0%s\\0' $# \"$1\"\n"
    "    done\n"
    "    printf 'end\\0end\\0'\n"
    "done\n";

static FILE *from_bash; /* NULL: there is none */
static int to_bash;

static void be_bash(int end)
{
    char *const environment[] = { "PATH=/nowhere", "LC_ALL=C.UTF-8", NULL };
    struct strbuf script;
    struct error ignored;

    strbuf_init(&script);
    strbuf_adds(&script, "exec 3>&1\n");
    completion_write("bash", &script, &ignored);
    strbuf_adds(&script, driver);
    char *const argv[] = { "bash", "--norc", "--noprofile", "-c", script.data, NULL };
    dup2(end, 0);
    dup2(end, 1);
    if (chdir(fuzz_folder()) == 0)
        execvpe("bash", argv, environment);
    _exit(127);
}

/* Once; false: there is none here. */
static bool have_bash(void)
{
    static bool tried;
    int ends[2];

    if (tried)
        return from_bash != NULL;
    tried = true;
    if (system("bash -c 'mapfile -d \"\" x </dev/null' 2>/dev/null") != 0) {
        fprintf(stderr, "skipped: no bash here; what is offered is checked, TAB is not\n");
        return false;
    }
    fuzz_folder();
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    pid_t pid = fork();
    FUZZ_CHECK(pid >= 0);
    if (pid == 0)
        be_bash(ends[1]);
    close(ends[1]);
    to_bash = ends[0];
    from_bash = fdopen(dup(ends[0]), "r");
    return true;
}

/* libFuzzer looks at its clock by a signal, which may come between. */
static int next_byte(void)
{
    int c;

    while ((c = getc(from_bash)) == EOF && ferror(from_bash) && errno == EINTR)
        clearerr(from_bash);
    return c;
}

static void read_word(struct strbuf *out)
{
    int c;

    strbuf_clear(out);
    while ((c = next_byte()) != '\0') {
        FUZZ_CHECK(c != EOF); /* a name has ended the shell */
        strbuf_addc(out, (char)c);
    }
}

static void write_word(const char *text)
{
    for (size_t left = strlen(text) + 1; left > 0;) {
        ssize_t nr = write(to_bash, text, left);
        FUZZ_CHECK(nr > 0 || errno == EINTR);
        left -= nr > 0 ? (size_t)nr : 0;
        text += nr > 0 ? nr : 0;
    }
}

static bool is_line_of(const char *lines, const struct strbuf *word)
{
    for (const char *end; (end = strchr(lines, '\n')) != NULL; lines = end + 1)
        if ((size_t)(end - lines) == word->length && memcmp(lines, word->data, word->length) == 0)
            return true;
    return false;
}

static void press_tab(const char *typed, const struct strbuf *lines, size_t nr)
{
    struct strbuf words, word;
    size_t offered = 0;

    write_word(typed);
    write_word(lines->data);
    strbuf_init(&words);
    strbuf_init(&word);
    for (;; offered++) {
        read_word(&words);
        read_word(&word);
        if (strcmp(words.data, "end") == 0)
            break;
        FUZZ_CHECK(strcmp(words.data, "1") == 0);
        FUZZ_CHECK(is_line_of(lines->data, &word));
    }
    FUZZ_CHECK(*typed ? offered <= nr : offered == nr);
    strbuf_release(&words);
    strbuf_release(&word);
}

/* ---- the target ---- */

static size_t offer(const char *name, struct strbuf *lines)
{
    size_t before = lines->length;

    terminal_add_name(lines, name);
    if (lines->length == before)
        return 0;
    FUZZ_CHECK(lines->length == before + strlen(name) + 1);
    FUZZ_CHECK(memcmp(lines->data + before, name, strlen(name)) == 0);
    FUZZ_CHECK(clean_is(name) && !strpbrk(name, "\n\r\x1b"));
    return 1;
}

FUZZ_TARGET(completion)
{
    enum { NAMES_MOST = 12 };
    char *typed = fuzz_text(data, size < 300 ? size : 300);
    struct strbuf lines;
    size_t at = strlen(typed) + 1, nr = 0;

    strbuf_init(&lines);
    for (int i = 0; i < NAMES_MOST && at < size; i++) {
        char *name = fuzz_text(data + at, size - at);
        at += strlen(name) + 1;
        nr += offer(name, &lines);
        free(name);
    }
    if (have_bash())
        press_tab(typed, &lines, nr);
    strbuf_release(&lines);
    free(typed);
}
