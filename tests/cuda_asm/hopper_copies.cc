/* SPDX-License-Identifier: MIT */
/* The copy engine: tensor maps, boxes, bytes in a row. */
#include "cuda_host_asm.h"
#include "hopper_state.h"
#include "report.h"

#include <cudaTypedefs.h>

#include <cstring>

namespace cuda_host
{

static const char bulk_store[] = "bulk store", bulk_load[] = "bulk copy";
constexpr uint64_t MAP_MAGIC = 0x70616d726f736e65;

namespace
{
/* What a CUtensorMap holds here. */
struct map {
    uint64_t magic;
    unsigned char *data;
    uint64_t extent[MOST_RANK], pitch[MOST_RANK]; /* elements; bytes, pitch[0] the element's */
    uint32_t box[MOST_RANK];
    uint32_t rank, swizzled, tf32;
};
static_assert(sizeof(struct map) <= sizeof(CUtensorMap));
} // namespace

/* What the driver refuses. */
static const char *map_wrong(const struct map *m)
{
    if (reinterpret_cast<uintptr_t>(m->data) % 16)
        return "the tensor is not aligned to 16 bytes";
    for (unsigned i = 0; i < m->rank; i++) {
        if (m->extent[i] == 0 || m->extent[i] > 1ull << 32)
            return "an extent is 0 or too large";
        if (m->box[i] == 0 || m->box[i] > 256)
            return "a box has 1 to 256 elements along each axis";
        if (i > 0 && (m->pitch[i] % 16 || m->pitch[i] >= 1ull << 40))
            return "a pitch is no multiple of 16 bytes";
    }
    uint64_t row = m->box[0] * m->pitch[0];
    if (row % 16)
        return "a row of the box is no multiple of 16 bytes";
    return m->swizzled && row > 128 ? "a swizzled row of the box is more than 128 bytes" : nullptr;
}

static CUresult encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *data,
                       const cuuint64_t *extents, const cuuint64_t *pitches, const cuuint32_t *box,
                       const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                       CUtensorMapL2promotion, CUtensorMapFloatOOBfill)
{
    struct map m = {};

    m.magic = MAP_MAGIC;
    m.data = static_cast<unsigned char *>(data);
    m.rank = rank;
    m.swizzled = swizzle == CU_TENSOR_MAP_SWIZZLE_128B;
    m.tf32 = type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    for (unsigned i = 0; i < rank; i++) {
        m.extent[i] = extents[i];
        m.box[i] = box[i];
        m.pitch[i] = i > 0 ? pitches[i - 1] : type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ? 2 : 4;
    }
    const char *wrong = map_wrong(&m);
    if (wrong) {
        fprintf(stderr, "CUDA host layer: no tensor map: %s\n", wrong);
        return CUDA_ERROR_INVALID_VALUE;
    }
    memset(map, 0, sizeof(*map));
    memcpy(map, &m, sizeof(m));
    return CUDA_SUCCESS;
}

/* ---- Boxes ---- */

static struct map map_at(struct thread *t, const void *at, struct cuda_host_site site)
{
    struct map m;

    if (reinterpret_cast<uintptr_t>(at) % 64)
        block_fail(t, "the tensor map at %s is not aligned to 64 bytes", report_site(site).c_str());
    memcpy(&m, at, sizeof(m));
    if (m.magic != MAP_MAGIC)
        block_fail(t, "%s has a tensor map that nothing has described", report_site(site).c_str());
    return m;
}

void hopper_check_map(struct thread *t, const void *map, struct cuda_host_site site)
{
    map_at(t, map, site);
}

static size_t box_bytes(const struct map &m)
{
    size_t bytes = m.pitch[0];

    for (unsigned i = 0; i < m.rank; i++)
        bytes *= m.box[i];
    return bytes;
}

/* f(place in the box, place in the tensor or null, bytes) for each run of 16 bytes of the box. The
 * tensor's part of a run is the elements that it has, at its front. */
template <class F> static void box_each(const struct map &m, const struct tensor_box &box, F f)
{
    uint32_t deep = m.rank > 2 ? m.box[2] : 1;
    int64_t per = static_cast<int64_t>(16 / m.pitch[0]);

    for (uint32_t z = 0; z < deep; z++)
        for (uint32_t y = 0; y < m.box[1]; y++)
            for (uint32_t x = 0; x < m.box[0]; x += static_cast<uint32_t>(per)) {
                int64_t c = box.at[0] + static_cast<int64_t>(x), r = box.at[1] + int64_t { y };
                int64_t d = m.rank > 2 ? box.at[2] + int64_t { z } : 0;
                bool rows = r >= 0 && r < static_cast<int64_t>(m.extent[1]) && d >= 0 &&
                            (m.rank < 3 || d < static_cast<int64_t>(m.extent[2]));
                size_t place = ((z * m.box[1] + y) * size_t { m.box[0] } + x) * m.pitch[0];
                unsigned char *at = m.data + c * static_cast<int64_t>(m.pitch[0]) +
                                    r * static_cast<int64_t>(m.pitch[1]) +
                                    (m.rank > 2 ? d * static_cast<int64_t>(m.pitch[2]) : 0);
                int64_t have = std::min(per, static_cast<int64_t>(m.extent[0]) - c);
                f(place, at, rows && c > -per ? have : 0, c < 0 ? -c : 0);
            }
}

static uint32_t tf32_nearest(uint32_t bits)
{
    bool finite = (bits & 0x7f800000u) != 0x7f800000u;

    return finite ? (bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u : bits;
}

/* Where the 128-byte swizzle has it: it goes by the address itself. */
static size_t swizzled(const struct map &m, size_t place)
{
    return m.swizzled ? place ^ (place >> 3 & 0x70) : place;
}

static std::vector<unsigned char> box_read(const struct map &m, const struct tensor_box &box)
{
    std::vector<unsigned char> all(box_bytes(m), 0);
    size_t size = m.pitch[0];

    box_each(m, box, [&](size_t place, const unsigned char *at, int64_t have, int64_t skip) {
        unsigned char *to = all.data() + swizzled(m, place);
        for (int64_t i = skip; i < have; i++) {
            uint32_t bits = 0;
            memcpy(&bits, at + static_cast<size_t>(i) * size, size);
            bits = m.tf32 ? tf32_nearest(bits) : bits;
            memcpy(to + static_cast<size_t>(i) * size, &bits, size);
        }
    });
    return all;
}

/* A row is cut at a multiple of 16 bytes: behind the last element lies what the box has there. */
static void box_write(const struct map &m, const struct tensor_box &box, const unsigned char *from)
{
    box_each(m, box, [&](size_t place, unsigned char *at, int64_t have, int64_t) {
        if (have > 0)
            memcpy(at, from + swizzled(m, place), 16);
    });
}

/* The barrier at which a copy ends. */
static void *ends_at(struct thread *t, uint32_t barrier, struct cuda_host_site site)
{
    void *at = shared_at(t, barrier, 8, 8, false, site).at;

    if (!cuda_host_mbarrier_published(at))
        block_fail(t, "the copy at %s ends on a barrier that fence.mbarrier_init has not published",
                   report_site(site).c_str());
    return at;
}

static void box_check(struct thread *t, const struct map &m, const struct tensor_box &box,
                      struct cuda_host_site site)
{
    if (m.rank != box.rank)
        block_fail(t, "a box of %u axes of a tensor of %u, at %s", box.rank, m.rank,
                   report_site(site).c_str());
}

void hopper_load_box(struct thread *t, uint32_t to, const struct tensor_box &box, uint32_t barrier,
                     uint16_t ranks, struct cuda_host_site site)
{
    struct map m = map_at(t, box.map, site);
    unsigned own = static_cast<unsigned>(t->member - t->cluster->members);
    bool many = ranks != 0;

    box_check(t, m, box, site);
    for (unsigned rank = 0; rank < 16; rank++) {
        if (many ? !(ranks >> rank & 1) : rank != own)
            continue;
        uint32_t there = many ? (rank + 1) * SHARED_OF_RANK : 0;
        struct shared_place p =
            shared_at(t, to + there, box_bytes(m), m.swizzled ? 1024 : 128, false, site);
        void *end = ends_at(t, barrier + there, site);
        engine_poison(p.member, p.at, box_bytes(m));
        engine_start(t->owner, { bulk_load, t, site, 0, false, false, nullptr, [=] {
                                    std::vector<unsigned char> data = box_read(m, box);
                                    engine_write(p.member, p.at, data.data(), data.size());
                                    cuda_host_mbarrier_complete(end,
                                                                static_cast<unsigned>(data.size()));
                                } });
    }
}

/* ---- Stores, in groups of their thread ---- */

static void store(struct thread *t, struct shared_place from, size_t bytes,
                  struct cuda_host_site site, std::function<void(const unsigned char *)> write)
{
    auto data = std::make_shared<std::vector<unsigned char>>(bytes);
    auto read = [=] { memcpy(data->data(), engine_view(from.member, from.at), bytes); };

    engine_start(t->owner, { bulk_store, t, site, hopper_of(t)->stores, false, true, read,
                             [=] { write(data->data()); } });
}

void hopper_store_box(struct thread *t, const struct tensor_box &box, uint32_t from,
                      struct cuda_host_site site)
{
    struct map m = map_at(t, box.map, site);

    box_check(t, m, box, site);
    store(t, shared_at(t, from, box_bytes(m), m.swizzled ? 1024 : 128, true, site), box_bytes(m),
          site, [=](const unsigned char *data) { box_write(m, box, data); });
}

static void whole_pieces(struct thread *t, uintptr_t to, uintptr_t from, unsigned bytes,
                         struct cuda_host_site site)
{
    if (bytes == 0 || bytes % 16 || to % 16 || from % 16)
        block_fail(t, "the bulk copy of %u bytes at %s is not of whole 16-byte pieces", bytes,
                   report_site(site).c_str());
}

void hopper_store_bytes(struct thread *t, void *to, uint32_t from, unsigned bytes,
                        struct cuda_host_site site)
{
    whole_pieces(t, reinterpret_cast<uintptr_t>(to), from, bytes, site);
    store(t, shared_at(t, from, bytes, 16, true, site), bytes, site,
          [=](const unsigned char *data) { memcpy(to, data, bytes); });
}

void hopper_stores_commit(struct thread *t)
{
    hopper_of(t)->stores++;
}

void hopper_stores_wait(struct thread *t, unsigned allow, bool read)
{
    uint64_t groups = hopper_of(t)->stores;

    if (groups > allow)
        engine_finish(t->owner, t, bulk_store, groups - allow - 1, !read);
}

/* ---- Bytes ---- */

void hopper_load_bytes(struct thread *t, uint32_t to, const void *from, unsigned bytes,
                       uint32_t barrier, struct cuda_host_site site)
{
    whole_pieces(t, to, reinterpret_cast<uintptr_t>(from), bytes, site);
    struct shared_place p = shared_at(t, to, bytes, 16, false, site);
    void *end = ends_at(t, barrier, site);

    engine_poison(p.member, p.at, bytes);
    engine_start(t->owner, { bulk_load, t, site, 0, false, false, nullptr, [=] {
                                engine_write(p.member, p.at, from, bytes);
                                cuda_host_mbarrier_complete(end, bytes);
                            } });
}

void hopper_copy_bytes(struct thread *t, uint32_t to, uint32_t from, unsigned bytes,
                       uint32_t barrier, struct cuda_host_site site)
{
    whole_pieces(t, to, from, bytes, site);
    struct shared_place p = shared_at(t, to, bytes, 16, false, site);
    struct shared_place s = shared_at(t, from, bytes, 16, true, site);
    void *end = ends_at(t, barrier, site);

    engine_poison(p.member, p.at, bytes);
    engine_start(t->owner, { bulk_load, t, site, 0, false, false, nullptr, [=] {
                                std::vector<unsigned char> data(bytes);
                                memcpy(data.data(), engine_view(s.member, s.at), bytes);
                                engine_write(p.member, p.at, data.data(), bytes);
                                cuda_host_mbarrier_complete(end, bytes);
                            } });
}

void hopper_send(struct thread *t, uint32_t to, const void *data, unsigned bytes, uint32_t barrier,
                 struct cuda_host_site site)
{
    struct shared_place p = shared_at(t, to, bytes, bytes, false, site);
    void *end = ends_at(t, barrier, site);
    std::vector<unsigned char> held(static_cast<const unsigned char *>(data),
                                    static_cast<const unsigned char *>(data) + bytes);

    engine_poison(p.member, p.at, bytes);
    engine_start(t->owner, { "store to another block", t, site, 0, false, false, nullptr, [=] {
                                engine_write(p.member, p.at, held.data(), bytes);
                                cuda_host_mbarrier_complete(end, bytes);
                            } });
}

} // namespace cuda_host

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult *status)
{
    bool known = strcmp(name, "cuTensorMapEncodeTiled") == 0;

    *function = known ? reinterpret_cast<void *>(cuda_host::encode) : nullptr;
    *status = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    cudaError_t rc = cudaSuccess;

    for (size_t row = 0; row < height && rc == cudaSuccess; row++)
        rc = cudaMemsetAsync(static_cast<char *>(to) + row * pitch, value, width, stream);
    return rc;
}
