/* SPDX-License-Identifier: MIT */
#include "judge/sandbox.h"

#include "base/memory.h"
#include "device/devices.h"
#include "process/process.h"
#include "process/read_only.h"

#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Those whose names begin so, those of devices, and no other: how OpenMP and the BLAS libraries set
 * up their threads, and where the loader finds them. */
static const char *const kept[] = {
    "PATH=",         "HOME=",         "LD_LIBRARY_PATH=",  "OMP_",          "GOMP_",
    "OPENBLAS_",     "HARNESS_ISA=",  "HARNESS_OPENBLAS=", "HARNESS_BLIS=", "HARNESS_ONEDNN=",
    "HARNESS_GGML=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=",    "TSAN_OPTIONS=", NULL,
};

/* Of those: they have OpenMP bind each thread, which is refused in the sandbox, and libgomp ends
 * the process then. Who is judged, and what it is compared with, get their processors from the
 * judge. */
static const char *const dropped[] = { "OMP_PLACES=", "OMP_PROC_BIND=", "GOMP_CPU_AFFINITY=",
                                       NULL };

static bool begins_with_one(const char *setting, const char *const *names)
{
    for (; names && *names; names++)
        if (strncmp(setting, *names, strlen(*names)) == 0)
            return true;
    return false;
}

/* Of the devices of this build, whichever is judged: the environment is the same for all. */
static bool is_of_device(const char *setting)
{
    for (int kind = 0; kind < DEVICE_KIND_NR; kind++) {
        const struct device_lending *lending = device_lending_of((enum device_kind)kind);
        if (lending && begins_with_one(setting, lending->environment))
            return true;
    }
    return false;
}

static bool is_kept(const char *setting)
{
    return !begins_with_one(setting, dropped) &&
           (begins_with_one(setting, kept) || is_of_device(setting));
}

/* Behind the array, whose end it moves. Numba says by a variable of its own where it may keep what
 * it compiles, and asks for a folder that can be written to beside the source without. */
static char *add_setting(char **at, const char *name, const char *value)
{
    char *setting = *at;

    *at += 1 + sprintf(setting, "%s%s", name, value);
    return setting;
}

/* A pool that spins as long as OpenMP likes best keeps processors that the others need, see
 * launch/launch_process.c. */
char **sandbox_environment(const char *folder)
{
    static const char of_all[] = "TMPDIR=", of_numba[] = "NUMBA_CACHE_DIR=";
    static char spin[] = "GOMP_SPINCOUNT=10000", language[] = "LC_ALL=C";
    size_t nr = 0, all = 0;

    while (environ[all])
        all++;
    const size_t pointers = (all + 5) * sizeof(char *);
    const size_t text = sizeof(of_all) + sizeof(of_numba) + 2 * strlen(folder);
    char **env = memory_zeroed(1, pointers + text), *at = (char *)env + pointers;
    env[nr++] = language;
    env[nr++] = add_setting(&at, of_all, folder);
    env[nr++] = add_setting(&at, of_numba, folder);
    if (!getenv("GOMP_SPINCOUNT") && !getenv("OMP_WAIT_POLICY"))
        env[nr++] = spin;
    for (size_t i = 0; i < all; i++)
        if (is_kept(environ[i]))
            env[nr++] = environ[i];
    return env;
}

/* ---- system calls ---- */

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Other processes, and looking into them or signalling them; the system's clock; what the kernel
 * does on its own while a process is stopped. Who makes one of these is at its end. */
static const int forbidden[] = {
#ifdef __NR_fork
    __NR_fork,
#endif
#ifdef __NR_vfork
    __NR_vfork,
#endif
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_kcmp,
    __NR_tkill,
    __NR_rt_sigqueueinfo,
    __NR_rt_tgsigqueueinfo,
    __NR_setpgid,
    __NR_setsid,
    __NR_clock_settime,
    __NR_settimeofday,
    __NR_adjtimex,
    __NR_clock_adjtime,
    __NR_io_setup,
    __NR_userfaultfd,
    __NR_unshare,
    __NR_setns,
    __NR_personality,
    __NR_bpf,
#ifdef __NR_pidfd_open
    __NR_pidfd_open,
    __NR_pidfd_send_signal,
#endif
#ifdef __NR_pidfd_getfd
    __NR_pidfd_getfd,
#endif
#ifdef __NR_io_uring_setup
    __NR_io_uring_setup,
#endif
};

/* Who asks for these and goes on without them has asked nobody. It has the processors that it was
 * given, and the priority; libraries ask for their own threads by number, which no filter can tell
 * from another process's. */
static const int refused[] = { __NR_socket, __NR_socketpair, __NR_sched_setaffinity,
                               __NR_setpriority, __NR_ioprio_set };

/* Newer than the headers of most systems. */
enum { FCHMODAT2 = 452, SETXATTRAT = 463, REMOVEXATTRAT = 466, FILE_SETATTR = 469 };
enum { ENABLE_VERITY = 0x40806685 }; /* FS_IOC_ENABLE_VERITY */

/* What a file's owner may do to it without opening it for writing. Landlock covers none of that,
 * but truncate() from Linux 6.2 on. */
static const int of_owners[] = {
#ifdef __NR_chmod
    __NR_chmod,        __NR_chown,        __NR_lchown,   __NR_utime,
    __NR_utimes,       __NR_futimesat,
#endif
    __NR_fchmod,       __NR_fchmodat,     FCHMODAT2,     __NR_fchown,
    __NR_fchownat,     __NR_utimensat,    __NR_truncate, __NR_setxattr,
    __NR_lsetxattr,    __NR_fsetxattr,    SETXATTRAT,    __NR_removexattr,
    __NR_lremovexattr, __NR_fremovexattr, REMOVEXATTRAT, FILE_SETATTR,
};

/* To make a file empty, who opens it need not want to write: it may want to read, or, by Linux's
 * access mode 3, to do neither, which Landlock asks nothing about before it knows truncation. */
enum { FOR_IOCTL = 3 };

static const struct {
    int call, flags; /* which argument they are */
} opening[] = {
#ifdef __NR_open
    { __NR_open, 1 },
#endif
    { __NR_openat, 2 },
};

static const int executing[] = { __NR_execve, __NR_execveat };

static const uint32_t the_end = SECCOMP_RET_KILL_PROCESS;
static const uint32_t no_right = SECCOMP_RET_ERRNO | EPERM;

/* Allowed towards oneself, as the first argument says: the process's number, or 0. By pthreads a
 * thread's number stands there: that is refused, as above. */
static const struct {
    int call;
    uint32_t otherwise;
} own_only[] = {
    { __NR_kill, the_end },
    { __NR_tgkill, the_end },
    { __NR_prlimit64, no_right },
    { __NR_sched_setscheduler, no_right },
    { __NR_sched_setparam, no_right },
    { __NR_sched_setattr, no_right },
};

/* By a descriptor others are signalled, too: the kernel does it for whoever is named as its owner.
 * And a file's owner changes its flags, one of them for good, by one that is open for reading.
 * Refused, as the second argument says. */
static const struct {
    int call;
    uint32_t what;
} by_descriptor[] = {
    { __NR_fcntl, F_SETOWN },          { __NR_fcntl, F_SETOWN_EX },
    { __NR_ioctl, FIOSETOWN },         { __NR_ioctl, SIOCSPGRP },
    { __NR_ioctl, FS_IOC_SETFLAGS },   { __NR_ioctl, FS_IOC_FSSETXATTR },
    { __NR_ioctl, FS_IOC_SETVERSION }, { __NR_ioctl, ENABLE_VERITY },
};

/* The numbers of terminals, in the second byte, some of which are of all descriptors. Of these only
 * what asks, and what changes nothing but the descriptor: a terminal signals its foreground, its
 * keys can be pressed and its output stopped, all by who has it open for reading. */
enum { CLASS_OF_TERMINALS = 0x5400, CLASS = 0xff00 };
static const uint32_t TCGETS_2 = 0x802c542a; /* newer C libraries ask so whether it is one */
static const uint32_t harmless[] = {
    TCGETS,   TCGETS_2, TCGETA,  TIOCGPGRP, TIOCGSID, TIOCGWINSZ,
    TIOCOUTQ, FIONREAD, FIONBIO, FIOCLEX,   FIONCLEX, FIOQSIZE,
};

enum { PROGRAM_MOST = 350 };

struct program {
    struct sock_filter lines[PROGRAM_MOST];
    unsigned short nr;
};

static void add_instruction(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    p->lines[p->nr++] = (struct sock_filter) { code, yes, no, k };
}

static void add_load(struct program *p, size_t offset)
{
    add_instruction(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void add_load_call(struct program *p)
{
    add_load(p, offsetof(struct seccomp_data, nr));
}

static void add_return(struct program *p, uint32_t what)
{
    add_instruction(p, BPF_RET | BPF_K, what, 0, 0);
}

/* For the call in the accumulator: what then, if it is this one. */
static void add_case(struct program *p, int call, uint32_t what)
{
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
    add_return(p, what);
}

/* The low half of an argument: numbers of processes and flags fit in it. */
static size_t argument_offset(int i)
{
    return offsetof(struct seccomp_data, args) + 8 * (size_t)i +
           (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0);
}

/* Of a call that was loaded: what then, for whom it names another process. */
static void add_own_only(struct program *p, int call, uint32_t otherwise, pid_t self)
{
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 5);
    add_load(p, argument_offset(0));
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)self, 0, 1);
    add_return(p, SECCOMP_RET_ALLOW);
    add_return(p, otherwise);
}

static void add_by_descriptor(struct program *p, int call, uint32_t what)
{
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
    add_load(p, argument_offset(1));
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, what, 0, 1);
    add_return(p, no_right);
    add_load_call(p);
}

static void add_terminals(struct program *p)
{
    const uint8_t nr = sizeof(harmless) / sizeof(harmless[0]);

    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 0, (uint8_t)(nr + 6));
    add_load(p, argument_offset(1));
    add_instruction(p, BPF_ALU | BPF_AND | BPF_K, CLASS, 0, 0);
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, CLASS_OF_TERMINALS, 0, (uint8_t)(nr + 2));
    add_load(p, argument_offset(1));
    for (uint8_t i = 0; i < nr; i++)
        add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, harmless[i], (uint8_t)(nr - i), 0);
    add_return(p, no_right);
    add_load_call(p);
}

/* A descriptor that signals whoever is its owner, or is taken for that. */
static void add_asynchronous(struct program *p)
{
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, __NR_fcntl, 0, 6);
    add_load(p, argument_offset(1));
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, F_SETFL, 0, 3);
    add_load(p, argument_offset(2));
    add_instruction(p, BPF_JMP | BPF_JSET | BPF_K, O_ASYNC, 0, 1);
    add_return(p, no_right);
    add_load_call(p);
}

static void add_emptying(struct program *p, int call, int flags)
{
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 6);
    add_load(p, argument_offset(flags));
    add_instruction(p, BPF_ALU | BPF_AND | BPF_K, FOR_IOCTL | O_TRUNC, 0, 0);
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, O_RDONLY | O_TRUNC, 1, 0);
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, FOR_IOCTL | O_TRUNC, 0, 1);
    add_return(p, SECCOMP_RET_ERRNO | EACCES);
    add_load_call(p);
}

/* A thread that is made with a policy of its own (PTHREAD_EXPLICIT_SCHED) asks for the usual one,
 * mostly, and does not begin where that is refused. It has it: nothing is to be done. */
static void add_usual_policy(struct program *p)
{
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, __NR_sched_setscheduler, 0, 4);
    add_load(p, argument_offset(1));
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, SCHED_OTHER, 0, 1);
    add_return(p, SECCOMP_RET_ERRNO | 0);
    add_load_call(p);
}

static void write_program(struct program *p, enum sandbox_kind kind)
{
    const uint32_t lacking = SECCOMP_RET_ERRNO | ENOSYS;

    add_load(p, offsetof(struct seccomp_data, arch));
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0);
    add_return(p, the_end);
    add_load_call(p);
#ifdef __x86_64__
    /* The x32 calls have other numbers. */
    add_instruction(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    add_return(p, the_end);
#endif
#ifdef __NR_clone3
    add_case(p, __NR_clone3, lacking); /* its flags lie in memory: libraries take clone() then */
#endif
#ifdef __NR_openat2
    add_case(p, __NR_openat2, lacking); /* the same, openat() */
#endif
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
        add_case(p, forbidden[i], the_end);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        add_case(p, refused[i], no_right);
    for (size_t i = 0; i < sizeof(of_owners) / sizeof(of_owners[0]); i++)
        add_case(p, of_owners[i], no_right);
    for (size_t i = 0; i < sizeof(opening) / sizeof(opening[0]); i++)
        add_emptying(p, opening[i].call, opening[i].flags);
    for (size_t i = 0; kind != SANDBOX_EXECUTES && i < sizeof(executing) / sizeof(executing[0]);
         i++)
        add_case(p, executing[i], the_end);
    for (size_t i = 0; i < sizeof(by_descriptor) / sizeof(by_descriptor[0]); i++)
        add_by_descriptor(p, by_descriptor[i].call, by_descriptor[i].what);
    add_terminals(p);
    add_asynchronous(p);
    add_usual_policy(p);
    for (size_t i = 0; i < sizeof(own_only) / sizeof(own_only[0]); i++)
        add_own_only(p, own_only[i].call, own_only[i].otherwise, getpid());
    add_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3); /* threads alone */
    add_load(p, argument_offset(0));
    add_instruction(p, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    add_return(p, the_end);
    add_return(p, SECCOMP_RET_ALLOW);
}

/* As root: what else could look into any process. */
static void drop_rights(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct none[2] = { { 0 } };

    syscall(SYS_capset, &head, none);
}

/* ---- files ---- */

bool sandbox_keeps_files(void)
{
    return read_only_there();
}

/* Those that there are of these patterns. */
static void find_files(const char *const *names, glob_t *found)
{
    for (; names && *names; names++)
        glob(*names, found->gl_pathv ? GLOB_APPEND : 0, NULL, found);
}

/* As root a process without any rights owns the system's files still, its settings among them; and
 * whoever is judged could change what a reference loads. Written to are its own folder, shared
 * memory (OpenMP libraries have some), and devices: nowhere, and those of this build. */
static int keep_files(struct error *err)
{
    static const char *const but[] = { "/dev/shm", "/dev/null", "/dev/zero", "/dev/full", NULL };
    glob_t found = { .gl_pathc = 0 };

    if (!sandbox_keeps_files())
        return 0;
    find_files(but, &found);
    for (int kind = 0; kind < DEVICE_KIND_NR; kind++) {
        const struct device_lending *lending = device_lending_of((enum device_kind)kind);
        find_files(lending ? lending->files : NULL, &found);
    }
    int rc =
        read_only_enter((const char *const *)found.gl_pathv, found.gl_pathc, getenv("TMPDIR"), err);
    globfree(&found);
    return rc;
}

/* ---- the whole ---- */

int sandbox_check(struct error *err)
{
    uint32_t action = SECCOMP_RET_KILL_PROCESS;

    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
        return 0;
    return error_set(err,
                     "nobody can be judged here: the kernel has no filters of system calls "
                     "(seccomp): %s",
                     strerror(errno));
}

int sandbox_enter(enum sandbox_kind kind, struct error *err)
{
    const struct rlimit no_core = { 0, 0 };
    struct program program = { .nr = 0 };

    setrlimit(RLIMIT_CORE, &no_core);
    drop_rights();
    if (keep_files(err))
        return -1;
    write_program(&program, kind);
    const struct sock_fprog all = { program.nr, program.lines };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &all))
        return error_set(err,
                         "nobody can be judged here: the kernel takes no filter of system calls "
                         "(seccomp): %s",
                         strerror(errno));
    return 0;
}

void sandbox_keep_out(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}
