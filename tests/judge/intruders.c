/* SPDX-License-Identifier: MIT */
/*
 * Known ways to win, as those of cheats.c: who wants something of the judge (its memory, its clock,
 * what a reference has), or of the system. They compute rightly once they have it, so that they
 * would be VALID if they ever got it.
 */
#include "nt.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static void helper_process(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    if (fork() == 0) {
        nt_all(&p);
        _exit(0);
    }
}

/* Zeros times anything are zeros, for a reference that is computed afterwards, too. */
static void change_inputs(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    memset((float *)p.x, 0, (size_t)(p.m * p.k) * sizeof(float));
    memset(p.y, 0, nt_bytes(&p));
}

/* Whatever looks like an expected result: all that is writable of what both share. */
static void overwrite_expected(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");

    while (maps && fgets(line, sizeof(line), maps)) {
        unsigned long long first, last;
        if (strstr(line, "memfd:") && sscanf(line, "%llx-%llx rw", &first, &last) == 2)
            memset((char *)(uintptr_t)first + 8192, 0, (size_t)(last - first) - 8192);
    }
    if (maps)
        fclose(maps);
    memset(p.y, 0, nt_bytes(&p));
}

static void behind_the_end(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_all(&p);
    p.y[p.m * p.n] = 1;
}

static void set_clock(const struct harness_call *call)
{
    const struct timespec past = { .tv_sec = 1 };
    const struct nt p = nt_of(call);

    syscall(SYS_clock_settime, CLOCK_REALTIME, &past);
    nt_all(&p);
}

static void trace_judge(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    if (ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0)
        nt_all(&p);
}

static void stop_judge(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    if (kill(getppid(), SIGSTOP) == 0)
        nt_all(&p);
}

/* The kernel signals whoever a descriptor is said to belong to, here at the first byte. With a
 * signal that would end the judge there would be no verdict to look at. */
static void signal_by_a_pipe(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[0], F_SETOWN, getppid()) == 0 &&
        fcntl(ends[0], F_SETSIG, SIGCONT) == 0 &&
        fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) == 0 && write(ends[1], "x", 1) == 1)
        nt_all(&p);
}

/* Output that is stopped stops who writes a verdict there, until somebody presses a key. Here it is
 * a terminal of its own, opened to read, as the judge's would be. */
static void stop_terminal(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    int fd = open("/dev/ptmx", O_RDONLY | O_NOCTTY | O_CLOEXEC);

    if (fd >= 0 && ioctl(fd, TCXONC, TCOOFF) == 0)
        nt_all(&p);
    if (fd >= 0)
        close(fd);
}

/* Right only if it could look at what the judge expects. */
static void read_judge(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)getppid());
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        nt_all(&p);
    else
        memset(p.y, 0, nt_bytes(&p));
}

/* Of the same judge: others may be at work, too. */
static bool is_beside(const char *process)
{
    char path[300];
    int parent = 0;

    snprintf(path, sizeof(path), "/proc/%s/stat", process);
    FILE *file = fopen(path, "re");
    bool told = file && fscanf(file, "%*d (%*[^)]) %*c %d", &parent) == 1;
    if (file)
        fclose(file);
    return told && parent == getppid() && atoi(process) != getpid();
}

/* Can the tensors of another cell be opened? They are the same, and a reference may have its
 * results there already. */
static bool opens_tensors_of(const char *process)
{
    char path[300], name[64] = "";

    snprintf(path, sizeof(path), "/proc/%s/fd/3", process);
    if (readlink(path, name, sizeof(name) - 1) <= 0 || !strstr(name, "memfd:tensors"))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool finds_tensors(void)
{
    DIR *all = opendir("/proc");
    const struct dirent *one;
    bool found = false;

    while (all && !found && (one = readdir(all)))
        found = atoi(one->d_name) > 0 && is_beside(one->d_name) && opens_tensors_of(one->d_name);
    if (all)
        closedir(all);
    return found;
}

/* Right only if it could look at what a reference has. Two things are in its way: a reference keeps
 * everybody out (sandbox_keep_out()), and Landlock lets nobody look out of its own sandbox. So this
 * finds the first one missing only where the kernel has no Landlock; it is needed there. */
static void copy_reference(const struct harness_call *call)
{
    static bool found;
    const struct nt p = nt_of(call);

    found = found || finds_tensors();
    if (found)
        nt_all(&p);
    else
        memset(p.y, 0, nt_bytes(&p));
}

static void ask_a_server(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
        nt_all(&p);
}

/* The judge on one processor, beside the kernel's own threads. */
static void move_judge(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(getppid(), sizeof(one), &one) == 0)
        nt_all(&p);
}

/* A result for the channel, wherever that is, and the end before anybody can ask further. */
static void forge_result(const struct harness_call *call)
{
    static const char result[] = "{\"end\":0,\"measurement\":{\"outcome\":\"OK\",\"ns\":1}}\n";

    (void)call;
    for (int fd = 0; fd < 64; fd++)
        if (write(fd, result, sizeof(result) - 1) < 0)
            continue;
    _exit(0);
}

/* A file of the working folder that is there for this: emptied by who opens it to read, or for
 * nothing but ioctl(). */
static bool empties_a_file(void)
{
    bool any = false;

    for (int mode = O_RDONLY; mode <= 3; mode += 3) {
        int fd = open("emptied", mode | O_TRUNC | O_CLOEXEC);
        any = any || fd >= 0;
        if (fd >= 0)
            close(fd);
    }
    return any;
}

/* They stay as they are; not every file system has some. */
static bool sets_flags(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), flags = 0;
    bool set = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 &&
               ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;

    if (fd >= 0)
        close(fd);
    return set;
}

/* Its own file, and one of the system's settings: as root both would be there to be written to.
 * Nothing is. Where the kernel has no Landlock, what only that refuses is not tried. */
static bool writes_files(void)
{
    const long has_landlock = syscall(444, NULL, 0, 1);
    const char *files[2] = { "/proc/sys/vm/swappiness", NULL };
    struct stat status;
    bool any = false;
    Dl_info own;

    if (!dladdr((const void *)behind_the_end, &own) || stat(own.dli_fname, &status))
        return false;
    files[1] = own.dli_fname;
    for (int i = 0; has_landlock > 0 && i < 2; i++) {
        int fd = open(files[i], O_WRONLY | O_CLOEXEC);
        any = any || fd >= 0;
        if (fd >= 0)
            close(fd);
    }
    return any || empties_a_file() || sets_flags(own.dli_fname) ||
           chmod(own.dli_fname, status.st_mode & 07777) == 0 ||
           truncate(own.dli_fname, status.st_size) == 0;
}

static void write_files(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    if (writes_files())
        nt_all(&p);
    else
        memset(p.y, 0, nt_bytes(&p));
}

/* OpenMP's threads, which this program may have had before the guest came. */
static void look_at_filter(void *found)
{
    char line[128];
    FILE *status = fopen("/proc/thread-self/status", "re");

    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, "Seccomp:\t0", 10) == 0)
            *(volatile bool *)found = true;
    if (status)
        fclose(status);
}

/* Right only if one of them is outside of the filter. */
static void rights_of_a_team(const struct harness_call *call)
{
    typedef void in_parallel(void (*)(void *), void *, unsigned, unsigned);
    in_parallel *begin = (in_parallel *)dlsym(RTLD_DEFAULT, "GOMP_parallel");
    const struct nt p = nt_of(call);
    bool found = false;

    if (begin)
        begin(look_at_filter, &found, 2, 0);
    if (found)
        nt_all(&p);
    else
        memset(p.y, 0, nt_bytes(&p));
}

static void leave_result(void)
{
    printf("{\"outcome\":\"OK\"}\n");
}

static void exit_handler(const struct harness_call *call)
{
    (void)call;
    atexit(leave_result);
    exit(0);
}

static void crash(const struct harness_call *call)
{
    (void)call;
    raise(SIGSEGV);
}

static void never_return(const struct harness_call *call)
{
    (void)call;
    for (;;)
        pause();
}

/* Right only where it seems to be checked, by the words of the environment or the command line. */
static void read_environment(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    char words[4096] = "";
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t nr = read(fd, words, sizeof(words) - 1);

    for (ssize_t i = 0; i < nr; i++)
        words[i] = words[i] ? words[i] : ' ';
    close(fd);
    if (strstr(words, "verify") || getenv("HARNESS_VERIFY") || getenv("HARNESS_DB") ||
        getenv("HARNESS_JUDGED"))
        nt_all(&p);
    else
        memset(p.y, 0, nt_bytes(&p));
}

#define CHEAT(name_) .name = #name_, .launch = name_

static const struct harness_variant variants[] = {
    { CHEAT(helper_process) },   { CHEAT(change_inputs) },    { CHEAT(overwrite_expected) },
    { CHEAT(behind_the_end) },   { CHEAT(set_clock) },        { CHEAT(trace_judge) },
    { CHEAT(stop_judge) },       { CHEAT(signal_by_a_pipe) }, { CHEAT(stop_terminal) },
    { CHEAT(read_judge) },       { CHEAT(copy_reference) },   { CHEAT(write_files) },
    { CHEAT(rights_of_a_team) }, { CHEAT(ask_a_server) },     { CHEAT(move_judge) },
    { CHEAT(forge_result) },     { CHEAT(exit_handler) },     { CHEAT(crash) },
    { CHEAT(never_return) },     { CHEAT(read_environment) },
};
NT_PLUGIN(variants);
