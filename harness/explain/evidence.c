/* SPDX-License-Identifier: MIT */
#include "explain/evidence.h"

#include "base/memory.h"
#include "metrics/run_rows.h"
#include "verdict/differences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- measurements ---- */

/* Telemetry that is a quantity as it stands. */
static const struct {
    const char *name;
    enum explain_quantity quantity;
} evidence_telemetry[] = {
    { "cpu_mhz", EXPLAIN_CLOCK },
    { TELEMETRY_MACHINE, EXPLAIN_PROBE },
    { "command_system_ms", EXPLAIN_SYSTEM },
    { "instructions", EXPLAIN_INSTRUCTIONS },
    { "cycles", EXPLAIN_CYCLES },
    { "cache_misses", EXPLAIN_CACHE_MISSES },
    { "branch_misses", EXPLAIN_BRANCH_MISSES },
    { "command_page_faults", EXPLAIN_FAULTS },
};

/* Of one run of what is measured, ns. NaN: there are none. */
static double evidence_median(const struct measurement *m)
{
    double *samples = memory_zeroed(m->nr_samples + 1, sizeof(*samples));
    double batch = m->batch ? (double)m->batch : 1;

    for (size_t i = 0; i < m->nr_samples; i++)
        samples[i] = (double)m->samples[i] / batch;
    double median = m->nr_samples ? stats_median(samples, m->nr_samples) : NAN;
    free(samples);
    return median;
}

static bool evidence_is_program(const struct measurement *m)
{
    return isfinite(measurement_telemetry(m, "command_user_ms")) &&
           isfinite(measurement_telemetry(m, "command_system_ms"));
}

/* Of a program its own and its children's time; of a kernel this process's. */
static double evidence_busy(const struct measurement *m, double ns)
{
    double user = measurement_telemetry(m, "command_user_ms");
    double system = measurement_telemetry(m, "command_system_ms");

    return evidence_is_program(m) ? (user + system) * 1e6 / ns
                                  : measurement_telemetry(m, "cpu_seconds_per_second");
}

/* How long threads waited is told of those of this process, which of a program are none. */
static void evidence_add_program(struct explain_case *c, const struct measurement *m, double ns,
                                 enum explain_side side)
{
    double preempted = measurement_telemetry(m, "command_involuntary_switches");

    c->is_program = true;
    explain_add(c, EXPLAIN_PREEMPTED, side, preempted * 1e9 / ns);
}

void evidence_add_measurement(struct explain_case *c, const struct measurement *m,
                              enum explain_side side)
{
    double ns = evidence_median(m);

    if (m->outcome != OUTCOME_OK || !(ns > 0))
        return;
    explain_add(c, EXPLAIN_TIME, side, ns);
    explain_add(c, EXPLAIN_BUSY, side, evidence_busy(m, ns));
    if (evidence_is_program(m))
        evidence_add_program(c, m, ns, side);
    else
        explain_add(c, EXPLAIN_WAITED, side, measurement_telemetry(m, "waited_percent"));
    for (size_t i = 0; i < sizeof(evidence_telemetry) / sizeof(evidence_telemetry[0]); i++)
        explain_add(c, evidence_telemetry[i].quantity, side,
                    measurement_telemetry(m, evidence_telemetry[i].name));
}

/* ---- profiles among records ---- */

/* The operation of `bench` that a key is of: "gpt/nano:attention/..." of "gpt/nano/...". NULL: it
 * is none. */
static const char *evidence_operation(const struct benchmark_name *name,
                                      const struct benchmark_name *bench)
{
    struct benchmark_name same = *bench;
    size_t length = strlen(bench->kernel);

    if (strncmp(name->kernel, bench->kernel, length) != 0 || name->kernel[length] != ':')
        return NULL;
    benchmark_name_operation(&same, name->kernel + length + 1);
    return strcmp(same.key, name->key) == 0 ? name->kernel + length + 1 : NULL;
}

/* One profiled launch on its way: its whole, and the sum of its operations' self times. */
struct profiled_launch {
    int run, seq;
    double whole, sum;
};

static struct profiled_launch *profiled_launch_of(struct profiled_launch *launches, size_t *nr,
                                                  const struct record *r)
{
    for (size_t i = 0; i < *nr; i++)
        if (launches[i].run == r->run && launches[i].seq == r->launch_seq)
            return &launches[i];
    launches[*nr] = (struct profiled_launch) { r->run, r->launch_seq, NAN, 0 };
    return &launches[(*nr)++];
}

static void add_profiled_record(struct explain_case *c, const struct record *r,
                                const char *operation, struct profiled_launch *launch,
                                enum explain_side side)
{
    double self = measurement_telemetry(&r->m, "self_ns");

    if (strcmp(operation, BENCHMARK_WHOLE) == 0) {
        launch->whole = evidence_median(&r->m);
        explain_add(c, EXPLAIN_SCOPED, side, launch->whole);
    } else if (isfinite(self)) {
        launch->sum += self;
        explain_add_operation(c, operation, side, self);
    } else {
        c->is_without_self = true;
    }
}

/* Work on a GPU may go on beside the host: then there is no rest. */
static void add_rest(struct explain_case *c, const struct profiled_launch *l,
                     enum explain_side side)
{
    if (l->sum > 0 && l->whole > l->sum)
        explain_add_operation(c, "outside the operations", side, l->whole - l->sum);
}

void evidence_add_records(struct explain_case *c, const struct records *records,
                          const char *machine, enum explain_side side)
{
    struct benchmark_name bench;
    struct error ignored;
    size_t nr = 0;

    if (benchmark_name_parse(c->key, &bench, &ignored))
        return;
    struct profiled_launch *launches = memory_zeroed(records->nr + 1, sizeof(*launches));
    for (size_t i = 0; i < records->nr; i++) {
        const struct record *r = &records->items[i];
        if (!run_is_on(&records->runs[r->run], machine))
            continue;
        if (strcmp(r->m.bench.key, c->key) == 0)
            evidence_add_measurement(c, &r->m, side);
        const char *operation = evidence_operation(&r->m.bench, &bench);
        if (operation && r->m.outcome == OUTCOME_OK)
            add_profiled_record(c, r, operation, profiled_launch_of(launches, &nr, r), side);
    }
    for (size_t i = 0; i < nr; i++)
        add_rest(c, &launches[i], side);
    free(launches);
}

/* ---- facts ---- */

/* The first row whose part is in the name, whatever the case, says what a fact is about. */
static const struct {
    const char *part;
    enum explain_fact_kind kind;
} evidence_names[] = {
    { "commit", FACT_IDENTITY },
    { "branch", FACT_IDENTITY },
    { "uncommitted", FACT_IDENTITY },
    { "harness", FACT_IDENTITY },
    { "machine id", FACT_IDENTITY },
    { "CUDA_VISIBLE", FACT_IDENTITY },
    { "gpu_uuid", FACT_IDENTITY },
    { "num_threads", FACT_THREADS },
    { "threads", FACT_THREADS },
    { "thread_limit", FACT_THREADS },
    { "omp_dynamic", FACT_THREADS },
    { "cores", FACT_THREADS },
    { "affinity", FACT_THREADS },
    { "proc_bind", FACT_THREADS },
    { "places", FACT_THREADS },
    { "quota", FACT_THREADS },
    { "jobs", FACT_THREADS },
    { "smt", FACT_THREADS },
    { "governor", FACT_CLOCK },
    { "boost", FACT_CLOCK },
    { "turbo", FACT_CLOCK },
    { "mhz", FACT_CLOCK },
    { "frequency", FACT_CLOCK },
    { "clock", FACT_CLOCK },
    { "power", FACT_CLOCK },
    { "gpu_driver", FACT_LIBRARY },
    { "cuda_runtime", FACT_LIBRARY },
    { "LD_LIBRARY_PATH", FACT_LIBRARY },
    { "LD_PRELOAD", FACT_LIBRARY },
    { "librar", FACT_LIBRARY },
    { "blas", FACT_LIBRARY },
    { "dnn", FACT_LIBRARY },
    { "blis", FACT_LIBRARY },
    { "mkl", FACT_LIBRARY },
    { "plugin", FACT_IDENTITY },
    { "compiler", FACT_BUILD },
    { "flags", FACT_BUILD },
    { "build type", FACT_BUILD },
    { "HARNESS_ISA", FACT_BUILD },
    { "hugepages", FACT_MEMORY },
    { "buffers", FACT_MEMORY },
    { "numa", FACT_MEMORY },
    { "cache", FACT_MEMORY },
    { "MALLOC_", FACT_MEMORY },
    { "instruction set", FACT_MACHINE },
    { "microcode", FACT_OTHER },
    { "machine", FACT_MACHINE },
    { "gpu", FACT_MACHINE },
};

enum explain_fact_kind evidence_fact_kind(const char *name)
{
    if (strcmp(name, "CPU") == 0)
        return FACT_MACHINE;
    if (strncasecmp(name, "lib", 3) == 0)
        return FACT_LIBRARY;
    for (size_t i = 0; i < sizeof(evidence_names) / sizeof(evidence_names[0]); i++)
        if (strcasestr(name, evidence_names[i].part))
            return evidence_names[i].kind;
    return FACT_OTHER;
}

/* What says how long a session was or who wrote it, not how anything ran. */
static bool is_of_the_session(const char *name)
{
    static const char *const names[] = { "blocks",  "launches", "iterations", "argv",
                                         "partner", "repeats",  "bench",      "params" };
    static const char *const folders[] = { "command.", "plugins.", "params.", "gate." };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        if (strncmp(name, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

void evidence_add_runs(struct explain_case *c, const struct run *base, const struct run *head)
{
    struct differences d;

    differences_find(base, head, &d);
    for (size_t i = 0; i < d.nr; i++)
        if (!d.items[i].weather && !is_of_the_session(d.items[i].name))
            explain_add_fact(c, evidence_fact_kind(d.items[i].name), d.items[i].name,
                             d.items[i].base, d.items[i].head);
    differences_release(&d);
}

/* ---- builds ---- */

static void add_build_fact(struct explain_case *c, enum explain_fact_kind kind, const char *name,
                           const char *base, const char *head)
{
    if (base && head && strcmp(base, head) != 0)
        explain_add_fact(c, kind, name, base, head);
}

void evidence_add_builds(struct explain_case *c, const struct code_diff *code)
{
    const struct code_build *b = code->build;

    add_build_fact(c, FACT_BUILD, "compiler", b[0].compilers, b[1].compilers);
    add_build_fact(c, FACT_BUILD, "flags", b[0].flags, b[1].flags);
    add_build_fact(c, FACT_LIBRARY, "libraries", b[0].libraries, b[1].libraries);
}
