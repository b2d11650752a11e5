/* SPDX-License-Identifier: MIT */
/* A program that cannot be given its input or the place for its output is not run. */
#include "testing.h"

#include "base/error.h"
#include "base/memory.h"
#include "command/command.h"
#include "command/command_run.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <string.h>

/* ---- what grows the list of a program's descriptors, in place of the library's ---- */

static int left; /* until a call fails; 0: none does */

static bool fails(void)
{
    return left > 0 && --left == 0;
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *restrict actions, int fd,
                                     const char *restrict path, int flags, mode_t mode)
{
    int (*own)(posix_spawn_file_actions_t *, int, const char *, int, mode_t);

    *(void **)&own = dlsym(RTLD_NEXT, "posix_spawn_file_actions_addopen");
    return fails() ? ENOMEM : own(actions, fd, path, flags, mode);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd, int to)
{
    int (*own)(posix_spawn_file_actions_t *, int, int);

    *(void **)&own = dlsym(RTLD_NEXT, "posix_spawn_file_actions_adddup2");
    return fails() ? ENOMEM : own(actions, fd, to);
}

/* ---- tests ---- */

TEST(a_program_without_its_descriptors)
{
    enum { DESCRIPTORS = 3 };
    struct command_spec spec = { .name = "t" };
    struct command_guest guest;
    struct error err;
    float wrong = 0;
    uint64_t ns;

    string_list_add(&spec.argv, "true");
    command_guest_init(&guest, &spec);
    struct call call = { .kernel = &guest.kernel,
                         .variant = &guest.variants[0],
                         .shape = guest.shape };
    call.tensor[0].data = &wrong;
    assert_ok(command_prepare(&call, &err), &err);
    for (int nth = 1; nth <= DESCRIPTORS; nth++) {
        left = nth;
        assert_int_equal(command_execute(&call, &ns, &err), -1);
        assert_string_equal(err.message, "cannot start true: Cannot allocate memory");
    }
    left = 0;
    assert_ok(command_execute(&call, &ns, &err), &err);
    command_release(&call);
    command_guest_release(&guest);
    command_spec_release(&spec);
}

RUN_TESTS(NULL, NULL)
