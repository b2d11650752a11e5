/* SPDX-License-Identifier: MIT */
#include "banks.h"

#include "block.h"
#include "cuda_host_banks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <map>

namespace cuda_host
{

enum : unsigned { LANES = 32, BANKS = 32, WORD = 4, AT_ONCE = 128, WIDEST = 16 };

/* Of a lane: a block of code begins, or shared memory is touched (`of` some block). `depth`: of the
 * frame in its stack. */
struct step {
    const void *place;
    const struct member *of;
    uintptr_t memory;
    unsigned depth, bytes;
};

/* The steps of a warp's lanes since they met. */
struct warp_steps {
    std::array<std::vector<struct step>, LANES> lanes;
};

struct counted {
    uint64_t times, passes;
    unsigned worst;
};

static std::vector<struct warp_steps> warps; /* of all that run */
static std::map<std::pair<const void *, unsigned>, struct counted> accesses;

/* ---- The file ---- */

static void write_at_end(void)
{
    FILE *f = fopen(getenv("CUDA_HOST_BANKS"), "w");

    if (!f)
        return;
    for (const struct cuda_host_bank_access &a : cuda_host_banks_end()) {
        Dl_info of = {};
        struct link_map *map = nullptr;
        if (!dladdr1(a.place, &of, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP))
            continue;
        fprintf(f, "%s %#zx %u %llu %llu %u\n", of.dli_fname,
                reinterpret_cast<size_t>(a.place) - map->l_addr, a.bytes,
                static_cast<unsigned long long>(a.times), static_cast<unsigned long long>(a.passes),
                a.worst);
    }
    fclose(f);
}

bool banks_on = getenv("CUDA_HOST_BANKS") && atexit(write_at_end) == 0;

/* ---- Steps ---- */

/* The block whose shared memory has it; null: it is none that the thread reaches. */
static const struct member *shared_of(const struct thread *t, uintptr_t memory)
{
    for (unsigned i = 0; i < t->cluster->nr_members; i++) {
        const struct member *m = &t->cluster->members[i];
        if (memory - reinterpret_cast<uintptr_t>(m->shared) < t->owner->launch->shared_bytes)
            return m;
    }
    return nullptr;
}

static void take(const struct code_place &place, const struct member *of, uintptr_t memory,
                 unsigned bytes)
{
    const struct thread *t = thread_self();
    size_t warp = static_cast<size_t>(t->warp - t->owner->warps.data());
    uintptr_t top = reinterpret_cast<uintptr_t>(t->context.bottom) + t->context.size;

    if (warps.size() <= warp)
        warps.resize(t->owner->warps.size());
    warps[warp].lanes[t->lane].push_back(
        { place.at, of, memory,
          static_cast<unsigned>(top - reinterpret_cast<uintptr_t>(place.frame)), bytes });
}

void banks_step(const struct code_place &place)
{
    if (thread_self())
        take(place, nullptr, 0, 0);
}

void banks_touch(const struct code_place &place, const void *memory, size_t bytes)
{
    if (!thread_self())
        return;
    uintptr_t at = reinterpret_cast<uintptr_t>(memory);
    const struct member *of = shared_of(thread_self(), at);
    for (size_t done = 0; of && done < bytes; done += WIDEST)
        take(place, of, at + done, static_cast<unsigned>(std::min<size_t>(bytes - done, WIDEST)));
}

/* ---- Passes ---- */

using accesses_of_lanes = std::array<const struct step *, LANES>; /* null: not of this one */

/* The most words that `count` lanes from `first` on ask of a bank of a block. */
static unsigned passes_of(const accesses_of_lanes &lanes, unsigned first, unsigned count,
                          const struct member *of)
{
    std::array<std::array<uintptr_t, LANES>, BANKS> words;
    std::array<unsigned, BANKS> nr = {};
    unsigned most = 0;

    for (unsigned lane = first; lane < first + count; lane++) {
        const struct step *s = lanes[lane];
        if (!s || s->of != of)
            continue;
        for (uintptr_t word = s->memory / WORD; word <= (s->memory + s->bytes - 1) / WORD; word++) {
            uintptr_t *bank = words[word % BANKS].data(), *end = bank + nr[word % BANKS];
            if (std::find(bank, end, word) == end)
                *end = word, nr[word % BANKS]++;
            most = std::max(most, nr[word % BANKS]);
        }
    }
    return most;
}

/* Of the lanes from `first` on up to this one, none other is of its block. */
static bool is_first_of(const accesses_of_lanes &lanes, unsigned first, unsigned lane)
{
    while (first < lane && !(lanes[first] && lanes[first]->of == lanes[lane]->of))
        first++;
    return first == lane;
}

/* Of one block's at a time, as blocks of a cluster may reach several. */
static void count(const accesses_of_lanes &lanes, const struct step *any)
{
    unsigned at_once =
        std::min<unsigned>(LANES, AT_ONCE / std::max<unsigned>(std::bit_ceil(any->bytes), WORD));
    unsigned worst = 0;

    for (unsigned lane = 0; lane < LANES; lane++) {
        unsigned first = lane / at_once * at_once;
        if (lanes[lane] && is_first_of(lanes, first, lane))
            worst = std::max(worst, passes_of(lanes, first, at_once, lanes[lane]->of));
    }
    struct counted *c = &accesses[{ any->place, any->bytes }];
    c->times++;
    c->passes += worst;
    c->worst = std::max(c->worst, worst);
}

/* ---- Lanes in step ---- */

/* Who of two goes on first: in the function that is called, and there further up in the code. */
static bool is_behind(const struct step &a, const struct step &b)
{
    return a.depth != b.depth ? a.depth > b.depth : a.place < b.place;
}

/* The next steps of those that are furthest behind; false: all have come to the end. */
static bool next_of(const struct warp_steps &w, std::array<size_t, LANES> &at,
                    accesses_of_lanes &now, const struct step **first)
{
    *first = nullptr;
    for (unsigned lane = 0; lane < LANES; lane++)
        if (at[lane] < w.lanes[lane].size() &&
            (!*first || is_behind(w.lanes[lane][at[lane]], **first)))
            *first = &w.lanes[lane][at[lane]];
    if (!*first)
        return false;
    for (unsigned lane = 0; lane < LANES; lane++) {
        now[lane] = nullptr;
        if (at[lane] == w.lanes[lane].size())
            continue;
        const struct step &s = w.lanes[lane][at[lane]];
        if (s.place != (*first)->place || s.depth != (*first)->depth)
            continue;
        now[lane] = s.of ? &s : nullptr;
        at[lane]++;
    }
    return true;
}

static void play(struct warp_steps *w)
{
    std::array<size_t, LANES> at = {};
    accesses_of_lanes now;
    const struct step *first;

    while (next_of(*w, at, now, &first)) {
        auto any = std::find_if(now.begin(), now.end(), [](const struct step *s) { return s; });
        if (any != now.end())
            count(now, *any);
    }
    for (std::vector<struct step> &lane : w->lanes)
        lane.clear();
}

void banks_meet(const struct block *b, size_t first, size_t nr)
{
    for (size_t i = first; banks_on && i < first + nr && i < warps.size(); i++) {
        if (b->failure.empty())
            play(&warps[i]);
        else
            warps[i] = {};
    }
}

} // namespace cuda_host

using namespace cuda_host;

void cuda_host_banks_begin(void)
{
    accesses.clear();
    banks_on = true;
}

std::vector<cuda_host_bank_access> cuda_host_banks_end(void)
{
    std::vector<cuda_host_bank_access> found;

    banks_on = false;
    for (const auto &[where, c] : accesses)
        found.push_back({ where.first, where.second, c.times, c.passes, c.worst });
    return found;
}

/* ---- What -fsanitize-coverage=trace-pc calls; loads and stores come by order.cc ---- */

/* NOLINTBEGIN(bugprone-reserved-identifier) */
extern "C" void __sanitizer_cov_trace_pc(void);
extern "C" void __sanitizer_cov_trace_pc(void)
{
    if (banks_on)
        banks_step(CODE_PLACE_OF_CALLER);
}
/* NOLINTEND(bugprone-reserved-identifier) */
