/* SPDX-License-Identifier: MIT */
#include "measure/gbench_loop.h"

#include <benchmark/benchmark.h>
#include <string>
#include <vector>

namespace
{

/* We keep the samples ourselves; the library's own report is not printed. */
class SilentReporter : public benchmark::BenchmarkReporter
{
  public:
    bool ReportContext(const Context &) override
    {
        return true;
    }
    void ReportRuns(const std::vector<Run> &) override
    {
    }
};

struct Round {
    const struct loop *loop;
    struct error *err;
    bool failed;
};

void iterate(benchmark::State &state, Round *round)
{
    for (auto _ : state) {
        uint64_t ns = 0;
        if (round->loop->sample(round->loop->context, &ns, round->err) != 0) {
            round->failed = true;
            state.SkipWithError(round->err->message);
            break;
        }
        state.SetIterationTime(static_cast<double>(ns) * 1e-9);
    }
}

} // namespace

int loop_run(const struct loop *loop, struct error *err)
{
    SilentReporter reporter;
    Round round = { loop, err, false };
    int64_t iterations;

    while (!round.failed && (iterations = loop->next(loop->context)) > 0) {
        benchmark::RegisterBenchmark(loop->name, iterate, &round)
            ->UseManualTime()
            ->Iterations(iterations);
        benchmark::RunSpecifiedBenchmarks(&reporter, ".");
        benchmark::ClearRegisteredBenchmarks();
    }
    return round.failed ? -1 : 0;
}
