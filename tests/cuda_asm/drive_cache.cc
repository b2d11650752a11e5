/* SPDX-License-Identifier: MIT */
/* attention/cuda_decode: one query a head against a cache, positions in pieces of several blocks
 * and in one; what the pieces leave for each other is watched (tests/cuda_host/order.h). */
#include "kernels/attention/attention_cuda_decode.h"

#include "drive.h"

struct sizes {
    int batch, length, heads, d, gap, sms; /* gap: elements between rows that are nobody's */
    bool stored;                           /* the caches have the last position already */
};

template <class T> struct drive_cache {
    struct sizes s;
    size_t ld, ld_sequence;
    drive_array<T> q, new_k, new_v, k, v, out;
    drive_array<float> workspace;

    explicit drive_cache(const struct sizes &c)
        : s(c), ld((size_t)(c.heads * c.d + c.gap)), ld_sequence((size_t)(c.length + 1) * ld),
          q((size_t)c.batch * ld, 3, 1), new_k((size_t)c.batch * ld, 2, 2),
          new_v((size_t)c.batch * ld, 1, 3), k((size_t)c.batch * ld_sequence, 2, 4),
          v((size_t)c.batch * ld_sequence, 1, 5), out((size_t)c.batch * ld, 0),
          workspace(attention_cuda_decode_workspace(c.batch, c.heads, c.d, c.length, c.sms) / 4, 0)
    {
        cudaMemset(workspace.at, 0, attention_ticket_bytes(c.batch * c.heads));
        /* Behind the last position may be anything. */
        for (size_t b = 1; b <= (size_t)c.batch; b++)
            for (const drive_array<T> *x : { &k, &v })
                cudaMemset(x->at + b * ld_sequence - ld, 0xff, ld * sizeof(T));
    }
    struct attention_cuda_decode arguments(void) const
    {
        struct attention_cuda_decode a = {};

        a.batch = s.batch, a.length = s.length, a.heads = s.heads, a.headdim = s.d;
        a.q = q.at, a.ldq = a.ld = a.ldo = (int64_t)ld, a.ld_sequence = (int64_t)ld_sequence;
        a.new_k = s.stored ? nullptr : new_k.at, a.new_v = s.stored ? nullptr : new_v.at;
        a.k = k.at, a.v = v.at, a.out = out.at, a.sms = s.sms, a.workspace = workspace.at;
        return a;
    }
    /* Also that the caches have got the last position, and nothing else. */
    void compare(const char *what, const drive_cache &before, const drive_array<T> &queries) const
    {
        std::vector<T> hq = queries.host(), ho = out.host(), hk = k.host(), hv = v.host();
        std::vector<T> wk = before.k.host(), wv = before.v.host();
        std::vector<T> nk = new_k.host(), nv = new_v.host();
        struct drive_compared compared = { what };

        for (int b = 0; b < s.batch && !s.stored; b++)
            for (size_t e = 0; e < (size_t)(s.heads * s.d); e++) {
                size_t to = (size_t)b * ld_sequence + (size_t)(s.length - 1) * ld + e;
                wk[to] = nk[(size_t)b * ld + e], wv[to] = nv[(size_t)b * ld + e];
            }
        for (size_t i = 0; i < wk.size(); i++) {
            compared.element(memcmp(&hk[i], &wk[i], sizeof(T)) == 0, 1, 0);
            compared.element(memcmp(&hv[i], &wv[i], sizeof(T)) == 0, 1, 0);
        }
        for (int b = 0; b < s.batch; b++)
            for (int h = 0; h < s.heads; h++)
                head(compared, hq, wk, wv, ho, (size_t)b, (size_t)(h * s.d));
        compared.verdict();
    }

  private:
    void head(struct drive_compared &compared, const std::vector<T> &hq, const std::vector<T> &hk,
              const std::vector<T> &hv, const std::vector<T> &ho, size_t b, size_t column) const
    {
        std::vector<double> weight((size_t)s.length);
        double most = -INFINITY, sum = 0;

        for (size_t p = 0; p < weight.size(); p++) {
            double score = 0;
            for (size_t e = column; e < column + (size_t)s.d; e++)
                score += (double)cuda_float(hq[b * ld + e]) *
                         (double)cuda_float(hk[b * ld_sequence + p * ld + e]);
            weight[p] = score / sqrt((double)s.d);
            most = fmax(most, weight[p]);
        }
        for (double &w : weight)
            sum += w = exp(w - most);
        for (size_t e = column; e < column + (size_t)s.d; e++) {
            double want = 0;
            for (size_t p = 0; p < weight.size(); p++)
                want += weight[p] / sum * (double)cuda_float(hv[b * ld_sequence + p * ld + e]);
            compared.element((double)cuda_float(ho[b * ld + e]), want,
                             sizeof(T) == 2 ? 0.004 + 0.01 * fabs(want) : 1e-5);
        }
    }
};

/* Tickets are 0 behind each launch: a second one is right as well. */
template <class T> static void check(const struct sizes &s)
{
    const drive_cache<T> cache(s), before(s);
    const struct attention_cuda_decode a = cache.arguments();
    char what[120];

    for (int again = 0; again < 2 && drive_goes_on(); again++) {
        snprintf(what, sizeof(what), "%dx%dx%dx%d+%d of %s, %d SMs%s, launch %d", s.batch, s.length,
                 s.heads, s.d, s.gap, sizeof(T) == 2 ? "bf16" : "fp32", s.sms,
                 s.stored ? ", stored" : "", again + 1);
        cudaMemset(cache.out.at, 0xff, cache.out.nr * sizeof(T));
        attention_cuda_decode_enqueue<T>(&a, nullptr);
        if (drive_ran(what))
            cache.compare(what, before, cache.q);
    }
}

/* Two decodings of which the second takes what the first makes for its queries; it starts early. */
static void check_chain(void)
{
    const struct sizes s = { 1, 70, 2, 32, 0, 1, false };
    const drive_cache<float> first(s), second(s), before(s);
    struct attention_cuda_decode a[2] = { first.arguments(), second.arguments() };

    a[1].q = first.out.at, a[0].early = a[1].early = true;
    if (!drive_chain("dependent decodings",
                     [&](int i) { attention_cuda_decode_enqueue<float>(&a[i], nullptr); }))
        return;
    first.compare("the first of two decodings", before, first.q);
    second.compare("the second of two decodings", before, first.out);
}

/* One SM has a piece a head, eight have several; the last piece is short. */
int main(void)
{
    static const struct sizes cases[] = {
        { 1, 200, 2, 64, 0, 8, false }, { 2, 150, 1, 32, 0, 8, false },
        { 1, 70, 2, 20, 3, 8, false },  { 1, 130, 1, 128, 0, 8, true },
        { 2, 61, 2, 64, 0, 1, false },  { 1, 1, 1, 16, 1, 8, false },
    };

    for (const struct sizes &s : cases) {
        if (drive_goes_on())
            check<float>(s);
        if (drive_goes_on())
            check<bf16>(s);
    }
    if (drive_goes_on())
        check_chain();
    return drive_end();
}
