/* SPDX-License-Identifier: MIT */
/*
 * Names of runs: short, and no two alike.
 * Covers: S0-30, S1-04, S1-07.
 */
#include "testing.h"

#include "metrics/run_label.h"
#include "stats/random.h"

#include <stdlib.h>

static struct run made(int64_t id, const char *branch, const char *commit)
{
    struct run run = { .id = id, .started_ms = 1790000000000 + id };

    snprintf(run.uuid, sizeof(run.uuid), "00000000-0000-4000-8000-%012d", (int)id);
    snprintf(run.machine.cpu, sizeof(run.machine.cpu), "AMD EPYC 7763");
    snprintf(run.build.compiler, sizeof(run.build.compiler), "GNU 12.2.0");
    snprintf(run.build.branch, sizeof(run.build.branch), "%s", branch);
    snprintf(run.build.commit, sizeof(run.build.commit), "%s", commit);
    return run;
}

static char **label(const struct run *runs, size_t nr, const char *fact)
{
    const struct run *pointers[64];
    struct error err;

    for (size_t i = 0; i < nr; i++)
        pointers[i] = &runs[i];
    return run_labels_create(pointers, nr, fact ? run_fact_find(fact, &err) : NULL);
}

static void check(const struct run *runs, size_t nr, const char *fact, const char *const *expected)
{
    char **labels = label(runs, nr, fact);

    for (size_t i = 0; i < nr; i++)
        assert_string_equal(labels[i], expected[i]);
    run_labels_free(labels, nr);
}

TEST(what_differs_is_said)
{
    struct run runs[3] = { made(1, "main", "aaaaaaa1"), made(2, "main", "bbbbbbb2"),
                           made(3, "topic", "ccccccc3") };

    check(runs, 1, NULL, (const char *[]) { "main aaaaaaa" });
    check(runs, 2, NULL, (const char *[]) { "aaaaaaa", "bbbbbbb" });
    check(runs, 3, NULL, (const char *[]) { "main · aaaaaaa", "main · bbbbbbb", "topic" });
    runs[1].build.dirty = true;
    check(runs, 2, NULL, (const char *[]) { "aaaaaaa", "bbbbbbb+" });
    snprintf(runs[1].machine.cpu, sizeof(runs[1].machine.cpu),
             "Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz");
    check(runs, 2, NULL, (const char *[]) { "AMD EPYC 7763", "Intel Xeon Platinum 8488C" });
}

TEST(equal_builds_are_told_apart)
{
    struct run runs[2] = { made(11, "main", "aaaaaaa1"), made(12, "main", "aaaaaaa1") };

    check(runs, 2, NULL, (const char *[]) { "run 11", "run 12" });
    snprintf(runs[1].build.compiler, sizeof(runs[1].build.compiler), "Clang 16.0.6");
    check(runs, 2, NULL, (const char *[]) { "GNU 12.2.0", "Clang 16.0.6" });
    runs[1] = runs[0]; /* the same run twice */
    check(runs, 2, NULL, (const char *[]) { "main aaaaaaa", "main aaaaaaa (2)" });
}

TEST(a_fact_can_be_asked_for)
{
    struct run runs[3] = { made(1, "main", "aaaaaaa1"), made(2, "main", "bbbbbbb2"),
                           made(3, "main", "ccccccc3") };
    struct error err;

    snprintf(runs[2].build.compiler, sizeof(runs[2].build.compiler), "Clang 16.0.6");
    runs[0].environment = NULL;
    check(runs, 3, "compiler",
          (const char *[]) { "GNU 12.2.0 · aaaaaaa", "GNU 12.2.0 · bbbbbbb", "Clang 16.0.6" });
    runs[0].environment = (char[]) { "{\"cuda_runtime\":\"13.0\",\"gpu_driver\":\"570.1\"}" };
    check(runs, 1, "cuda", (const char *[]) { "CUDA 13.0 driver 570.1" });
    check(runs + 1, 1, "cuda", (const char *[]) { "no CUDA" });
    assert_null(run_fact_find("compilr", &err));
    assert_non_null(strstr(err.message, "\"compiler\""));
}

static const char *pick(struct random *random, const char *const *from)
{
    return from[(size_t)(random_uniform(random) * 3)];
}

/* Any mixture of few values, empty ones among them. */
TEST(no_two_are_alike)
{
    static const char *const texts[] = { "", "a", "a · b" };
    static const char *const facts[] = { NULL, "branch", "label" };
    struct random random;

    random_seed(&random, 7);
    for (int round = 0; round < 300; round++) {
        struct run runs[12];
        for (int i = 0; i < 12; i++) {
            runs[i] = made(round % 2 ? i + 1 : 0, pick(&random, texts), pick(&random, texts));
            snprintf(runs[i].label, sizeof(runs[i].label), "%s", pick(&random, texts));
            if (round % 3 == 0)
                runs[i].uuid[0] = '\0';
        }
        char **labels = label(runs, 12, facts[round % 3]);
        for (int i = 0; i < 12; i++) {
            assert_true(labels[i][0] != '\0');
            for (int k = 0; k < i; k++)
                assert_string_not_equal(labels[i], labels[k]);
        }
        run_labels_free(labels, 12);
    }
}

RUN_TESTS(NULL, NULL)
