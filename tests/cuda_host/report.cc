/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <iterator>
#include <map>
#include <mutex>

namespace cuda_host
{

/* In the order of enum cuda_host_kind. */
static const char *const kind_names[] = {
    "__syncthreads()",
    "__syncthreads_or()",
    "__syncthreads_and()",
    "__syncthreads_count()",
    "__syncwarp()",
    "__shfl_sync()",
    "__shfl_xor_sync()",
    "__shfl_up_sync()",
    "__shfl_down_sync()",
    "__ballot_sync()",
    "__any_sync()",
    "__all_sync()",
    "a warp-wide instruction",
    "the end of a warp-wide instruction",
    "the arrival at the barrier of the cluster",
    "the wait at the barrier of the cluster",
    "the wait for an mbarrier",
    "bar.sync, or for products or registers",
};
static_assert(std::size(kind_names) == CUDA_HOST_NAMED + 1);

/* Names that launches gave; template kernels have no symbol that could be looked up. */
struct name_table {
    std::mutex lock;
    std::map<const void *, std::string> names;
};

static struct name_table &kernel_names(void)
{
    static struct name_table names;

    return names;
}

/* The name in "void cuda_launch(...) [with auto KERNEL = scale<4>; Arguments = ...]"; clang writes
 * an & before it, and ends it with a comma where GCC has a semicolon. */
static std::string name_within(const char *text)
{
    static const char key[] = "KERNEL = ";
    const char *start = strstr(text, key);

    if (!start)
        return text;
    start += strlen(key);
    start += *start == '&';
    const char *end = strstr(start, ", Arguments");
    if (!end)
        end = start + strcspn(start, ";]");
    return std::string(start, end);
}

static std::string symbol_name(const void *kernel)
{
    Dl_info info;

    if (!dladdr(const_cast<void *>(kernel), &info) || !info.dli_sname || info.dli_saddr != kernel)
        return "(unnamed)";
    int status = 0;
    char *plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    std::string name = plain ? plain : info.dli_sname;
    free(plain);
    return name;
}

static std::string kernel_name(const void *kernel)
{
    struct name_table &known = kernel_names();
    std::lock_guard<std::mutex> guard(known.lock);
    auto found = known.names.find(kernel);

    return found == known.names.end() ? symbol_name(kernel) : found->second;
}

static std::string triple(uint3 v)
{
    return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

std::string report_launch(const struct launch *launch)
{
    return "kernel " + kernel_name(launch->kernel) + " <<<" + triple(launch->grid) + ", " +
           triple(launch->block) + ", " + std::to_string(launch->shared_bytes) + " B>>>";
}

std::string report_site(struct cuda_host_site site)
{
    const char *slash = strrchr(site.file, '/');

    return std::string(slash ? slash + 1 : site.file) + ":" + std::to_string(site.line);
}

std::string report_place(enum cuda_host_kind kind, struct cuda_host_site site)
{
    return std::string(kind_names[kind]) + " at " + report_site(site);
}

std::string report_thread(const struct thread *t)
{
    return "thread " + triple(t->at);
}

static std::string what_it_does(const struct thread *t)
{
    switch (t->state) {
    case state::RETURNED:
        return " has returned";
    case state::AT_BARRIER:
    case state::AT_WARP:
    case state::AT_CLUSTER:
    case state::AT_MBARRIER:
    case state::AT_NAMED:
        return " waits at " + report_place(t->kind, t->site);
    case state::AT_PREDECESSOR:
        return " waits for the kernel in front";
    case state::READY:
        break;
    }
    return " is running";
}

/* The first of `count` threads from `first` on that is not in `state`. */
static const struct thread *first_missing(const struct block *b, unsigned first, unsigned count,
                                          enum state state)
{
    for (unsigned i = first; i < first + count; i++)
        if (b->threads[i]->state != state)
            return b->threads[i].get();
    return b->threads[first].get();
}

static std::string gathering(const struct meeting *m, unsigned count, const char *whose,
                             const struct thread *missing)
{
    return std::to_string(m->arrived) + " of the " + std::to_string(count) + " " + whose +
           " wait at " + report_place(m->kind, m->site) + ", but " + report_thread(missing) +
           what_it_does(missing);
}

/* Who waits for mbarriers and named barriers: the first thread of each place, and what is missing.
 */
static std::string waiting(const struct block *b)
{
    std::map<std::pair<const void *, int>, std::pair<const struct thread *, unsigned>> places;
    std::string all;

    for (unsigned i = 0; i < b->nr_threads; i++) {
        const struct thread *t = b->threads[i].get();
        if (t->state != state::AT_MBARRIER && t->state != state::AT_NAMED)
            continue;
        auto &place = places[{ t->mbarrier, t->site.line }];
        place.first = place.second++ ? place.first : t;
    }
    for (const auto &[key, who] : places) {
        const struct thread *t = who.first;
        all += (all.empty() ? "" : "; ") + report_thread(t) + what_it_does(t);
        if (who.second > 1)
            all += " (and " + std::to_string(who.second - 1) + " more)";
        all += t->state == state::AT_NAMED
                   ? ", to which too few come"
                   : ", whose phase will not end: " + mbarrier_report(t->mbarrier);
    }
    return all;
}

/* Of what gathers, the first that not all have come to; "" where there is none. */
static std::string gathering_any(const struct block *b)
{
    for (const struct member &m : b->members)
        if (m.barrier.arrived)
            return gathering(&m.barrier, m.threads, "threads of the block",
                             first_missing(b, m.first, m.threads, state::AT_BARRIER));
    for (const struct warp &w : b->warps)
        if (w.meeting.arrived)
            return gathering(&w.meeting, w.lanes, "lanes of a warp",
                             first_missing(b, w.first, w.lanes, state::AT_WARP));
    for (const struct cluster &c : b->clusters)
        if (c.barrier.arrived)
            return gathering(&c.barrier, c.threads, "threads of the cluster",
                             first_missing(b, c.first, c.threads, state::AT_CLUSTER));
    return "";
}

std::string report_stuck(const struct block *b)
{
    std::string meets = gathering_any(b), waits = waiting(b);

    if (meets.empty() && waits.empty())
        return "no thread can go on";
    return meets + (meets.empty() || waits.empty() ? "" : "; ") + waits;
}

} // namespace cuda_host

void cuda_host_name_kernel(const void *kernel, const char *name)
{
    struct cuda_host::name_table &known = cuda_host::kernel_names();
    std::lock_guard<std::mutex> guard(known.lock);

    if (!known.names.contains(kernel))
        known.names[kernel] = cuda_host::name_within(name);
}
