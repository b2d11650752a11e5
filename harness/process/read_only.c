/* SPDX-License-Identifier: MIT */
#include "process/read_only.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As linux/landlock.h has them, which older systems lack, or have without the newer rights; the
 * numbers are those of all architectures. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, BELOW_A_PATH = 1 };
enum {
    WRITE_FILE = 1 << 1,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_CHAR = 1 << 6,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    MAKE_SOCK = 1 << 9,
    MAKE_FIFO = 1 << 10,
    MAKE_BLOCK = 1 << 11,
    MAKE_SYM = 1 << 12,
    REFER = 1 << 13,    /* from version 2 on */
    TRUNCATE = 1 << 14, /* 3 */
};

struct ruleset {
    uint64_t files;
};
struct below {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

static int landlock_version(void)
{
    return (int)syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
}

static uint64_t to_write(int of_version)
{
    uint64_t all = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_CHAR | MAKE_DIR | MAKE_REG |
                   MAKE_SOCK | MAKE_FIFO | MAKE_BLOCK | MAKE_SYM;

    return all | (of_version >= 2 ? REFER : 0) | (of_version >= 3 ? TRUNCATE : 0);
}

bool read_only_there(void)
{
    return landlock_version() > 0;
}

enum {
    CONTENT = WRITE_FILE | TRUNCATE, /* all that a file that is no folder takes */
    FILES = MAKE_REG | REMOVE_FILE,
    FOLDERS = MAKE_DIR | REMOVE_DIR | MAKE_SYM | REFER,
};

static int leave_out(int rules, const char *path, uint64_t rights)
{
    const int at = open(path, O_PATH | O_CLOEXEC);
    struct below rule = { .folder = at };
    struct stat status;
    int rc = 0;

    if (at < 0)
        return 0;
    if (fstat(at, &status) == 0) {
        rule.allowed = S_ISDIR(status.st_mode) ? rights : rights & CONTENT;
        rc = (int)syscall(ADD_RULE, rules, BELOW_A_PATH, &rule, 0);
    }
    close(at);
    return rc;
}

int read_only_enter(const char *const *but, size_t nr, const char *own, struct error *err)
{
    const struct ruleset all = { to_write(landlock_version()) };
    const int rules = (int)syscall(CREATE_RULESET, &all, sizeof(all), 0);
    int rc = rules < 0 ? -1 : prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

    for (size_t i = 0; rc == 0 && i < nr; i++)
        rc = leave_out(rules, but[i], all.files & (CONTENT | FILES));
    if (rc == 0 && own)
        rc = leave_out(rules, own, all.files & (CONTENT | FILES | FOLDERS));
    if (rc == 0)
        rc = (int)syscall(RESTRICT_SELF, rules, 0);
    const int number = errno;
    if (rules >= 0)
        close(rules);
    return rc == 0 ? 0
                   : error_set(err, "files cannot be kept from being written to (Landlock): %s",
                               strerror(number));
}
