/* SPDX-License-Identifier: MIT */
/* Three Google Benchmarks, as any project has them. */
#include "work.h"

#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

template <typename T> static void BM_sum(benchmark::State &state)
{
    std::vector<T> values(static_cast<std::size_t>(state.range(0)), T(1));
    const int work = example_work();

    for (auto _ : state) {
        for (int i = 0; i < work; i++) {
            T sum = std::accumulate(values.begin(), values.end(), T(0));
            benchmark::DoNotOptimize(sum);
            benchmark::ClobberMemory();
        }
    }
}

BENCHMARK_TEMPLATE(BM_sum, float)->Arg(1024)->Arg(16384);
BENCHMARK_TEMPLATE(BM_sum, double)->Arg(16384);
BENCHMARK_MAIN();
