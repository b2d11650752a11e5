/* SPDX-License-Identifier: MIT */
/* Where the time of a program goes, with harness-profile and nothing else of harness. */
#include <harness/export.h>

enum { N = 160 };
static float x[N][N] = { { 1, 2, 3 } }, y[N][N], weights[N][N] = { { 4, 5, 6 } };

static void multiply(void)
{
    PROF_SCOPE("multiply", .backend = "cpu", .bytes = 12L * N * N, .flops = 2.0 * N * N * N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                y[i][j] += x[i][k] * weights[k][j];
}

static void layer(void)
{
    PROF_FUNCTION();
    prof_memory(prof_global(), PROF_CPU, sizeof(y)); /* had it been allocated here */
    multiply();
    PROF_SCOPE("relu"); /* to the end of the function */
    for (int i = 0; i < N * N; i++)
        x[i / N][i % N] = y[i / N][i % N] > 0 ? y[i / N][i % N] / N : 0;
    prof_memory(prof_global(), PROF_CPU, -(int64_t)sizeof(y));
}

int main(int argc, char **argv)
{
    prof_set_on(prof_global(), 1);
    for (int i = 0; i < 8; i++)
        layer();
    struct prof_trace trace;
    struct prof_summary summary;
    struct prof_cost cost;
    if (prof_snapshot(prof_global(), &trace) || prof_summarise(&trace, &summary) ||
        prof_overhead(&cost) || prof_print_summary(stdout, &summary, &cost))
        return 1;
    FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL; /* for https://ui.perfetto.dev */
    int failed = file ? prof_write_trace(file, &trace) | fclose(file) : argc > 1;
    prof_summary_release(&summary);
    prof_trace_release(&trace);
    return failed != 0;
}
