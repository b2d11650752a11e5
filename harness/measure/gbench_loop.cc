/* SPDX-License-Identifier: MIT */
#include "measure/gbench_loop.h"

#include <benchmark/benchmark.h>
#include <iterator>
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

void iterate_round(benchmark::State &state, Round *round)
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

/* What the library has read of the environment (BENCHMARK_OUT, BENCHMARK_REPETITIONS) is meant for
 * programs that are measured, and stays there for them. Of this loop nothing of it holds; flags
 * that the library does not know yet it leaves alone. */
bool refuse_environment()
{
    static char flags[][48] = {
        "harness",
        "--benchmark_list_tests=false",
        "--benchmark_min_time=",
        "--benchmark_min_warmup_time=0",
        "--benchmark_repetitions=1",
        "--benchmark_dry_run=false",
        "--benchmark_enable_random_interleaving=false",
        "--benchmark_perf_counters=",
        "--benchmark_out=",
        "--benchmark_out_format=json", /* of these it ends the process, where it knows no such form
                                        */
        "--benchmark_format=console",
        "--benchmark_color=auto",
        "--benchmark_time_unit=",
        "--v=0",
    };
    char *argv[std::size(flags) + 1] = { nullptr };
    int argc = 0;

    for (auto &flag : flags)
        argv[argc++] = flag;
    benchmark::Initialize(&argc, argv);
    return true;
}

} // namespace

int loop_run(const struct loop *loop, struct error *err)
{
    static const bool refused = refuse_environment();
    SilentReporter reporter;
    Round round = { loop, err, false };
    int64_t iterations;

    (void)refused;
    while (!round.failed && (iterations = loop->next(loop->context)) > 0) {
        benchmark::RegisterBenchmark(loop->name, iterate_round, &round)
            ->UseManualTime()
            ->Iterations(iterations);
        benchmark::RunSpecifiedBenchmarks(&reporter, ".");
        benchmark::ClearRegisteredBenchmarks();
    }
    return round.failed ? -1 : 0;
}
