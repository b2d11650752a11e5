/* SPDX-License-Identifier: MIT */
/* Measurements beside which the machine was slower, by its probe. Covers: S0-26, U-12. */
#include "testing.h"

#include "output_records.h"

#include "verdict/machine_probe.h"

static void add_probes(struct records *r, int run, size_t nr, double low, double high)
{
    for (size_t i = 0; i < nr; i++) {
        char key[80];
        snprintf(key, sizeof(key), "pointwise/gelu/simd/fp32/batch=1,seq=1,width=%zu/cpu-2t/warm",
                 r->nr + 1);
        struct measurement *m = made_measurement(r, run, 0, key, 1000, 0.01, 20, r->nr);
        measurement_add_telemetry(m, TELEMETRY_MACHINE,
                                  low + (high - low) * (double)i / (double)nr);
    }
}

static struct slow_machine found(const struct records *r, int run)
{
    struct slow_machine d;

    machine_probe_find_slow(r, run, &d);
    return d;
}

/* A probe that wanders by a tenth is no disturbance, twice the time is one, and the other run's
 * probes do not count. */
TEST(test_stretches)
{
    struct records r = { 0 };

    made_run(&r, 0, "feedbeef", "gcc");
    made_run(&r, 1, "feedbeef", "gcc");
    add_probes(&r, 0, 60, 76e3, 88e3);
    assert_int_equal(found(&r, 0).disturbed, 0);
    add_probes(&r, 0, 20, 142e3, 156e3);
    add_probes(&r, 1, 5, 300e3, 310e3);
    struct slow_machine d = found(&r, 0);
    assert_int_equal(d.probed, 80);
    assert_int_equal(d.disturbed, 20);
    assert_close(d.worst, 155.3e3 / 77.6e3, 1e-3);
    assert_int_equal(found(&r, 1).disturbed, 0);
    records_release(&r);
}

/* Most of a run may be disturbed. */
TEST(test_little_quiet)
{
    struct records r = { 0 };

    made_run(&r, 0, "feedbeef", "gcc");
    add_probes(&r, 0, 20, 150e3, 155e3);
    add_probes(&r, 0, 4, 80e3, 82e3);
    assert_int_equal(found(&r, 0).disturbed, 20);
    records_release(&r);
}

TEST(test_nothing_known)
{
    struct records r = { 0 };

    made_run(&r, 0, "feedbeef", "gcc");
    assert_int_equal(found(&r, 0).probed, 0);
    made_measurement(&r, 0, 0, "pointwise/gelu/simd/fp32/batch=1,seq=1,width=8/cpu-2t/warm", 1000,
                     0.01, 20, 1);
    struct slow_machine d = found(&r, 0);
    assert_int_equal(d.probed, 0);
    assert_int_equal(d.disturbed, 0);
    assert_true(isnan(d.worst));
    records_release(&r);
}

TEST(test_machine_waits)
{
    static const struct {
        double waited, switches, machine;
    } waits[] = {
        { NAN, NAN, 100 }, { 0, 30, 100 }, { 50, 30, 150 }, { 50, 9, 100 }, { 50, 10, 150 }
    };

    for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
        struct records r = { 0 };
        made_run(&r, 0, "feedbeef", "gcc");
        add_probes(&r, 0, 1, 100, 100);
        struct measurement *m = &r.items[0].m; /* 20 samples */
        measurement_add_telemetry(m, "waited_percent", waits[i].waited);
        measurement_add_telemetry(m, "involuntary_switches", waits[i].switches);
        assert_close(machine_probe_time(m, TELEMETRY_MACHINE), waits[i].machine, 1e-9);
        records_release(&r);
    }
}

/* Two probes are compared only if both sides have the same one. */
TEST(probes_of_one_kind_are_compared)
{
    static const struct {
        const char *base, *head, *taken;
    } sides[] = {
        { TELEMETRY_MACHINE, TELEMETRY_MACHINE, TELEMETRY_MACHINE },
        { TELEMETRY_MACHINE_OLD, TELEMETRY_MACHINE_OLD, TELEMETRY_MACHINE_OLD },
        { TELEMETRY_MACHINE_OLD, TELEMETRY_MACHINE, TELEMETRY_MACHINE_OLD },
        { TELEMETRY_MACHINE, TELEMETRY_MACHINE_OLD, TELEMETRY_MACHINE_OLD },
    };

    for (size_t i = 0; i < sizeof(sides) / sizeof(*sides); i++) {
        struct records base = { 0 }, head = { 0 };
        const char *names[] = { sides[i].base, sides[i].head };
        struct records *of[] = { &base, &head };
        for (size_t j = 0; j < 2; j++) {
            made_run(of[j], 0, "feedbeef", "gcc");
            struct measurement *m = made_measurement(of[j], 0, 0, "a/b/c/d/e", 1000, 0.01, 20, 1);
            measurement_add_telemetry(m, names[j], 100);
        }
        const char *taken = machine_probe_name(&base, &head);
        assert_string_equal(taken, sides[i].taken);
        bool both = strcmp(names[0], names[1]) == 0;
        assert_int_equal(isnan(machine_probe_time(&base.items[0].m, taken)) ||
                             isnan(machine_probe_time(&head.items[0].m, taken)),
                         !both);
        records_release(&base);
        records_release(&head);
    }
}

/* What was made again, in words. */
static const struct {
    double repeats, machine, waited, stolen, left;
    const char *words;
} repeats_rows[] = {
    { 0, 0, 0, 0, 0, "" },
    { 1, 1, 0, 0, 0, "1 of 2 measurements were made again, 1 try (machine slower 1)" },
    { 3, 1, 1, 1, 0,
      "1 of 2 measurements were made again, 3 tries (machine slower 1, waiting for a processor 1, "
      "time stolen by the host 1)" },
    { 2, 0, 2, 0, 9,
      "1 of 2 measurements were made again, 2 tries (waiting for a processor 2); 1 stayed "
      "disturbed" },
    { 0, 0, 0, 0, 9, "1 measurement stayed disturbed" },
};

static void add_told(struct measurement *m, const char *name, double value)
{
    if (value > 0)
        measurement_add_telemetry(m, name, value);
}

TEST(test_repeats_in_words)
{
    for (size_t i = 0; i < sizeof(repeats_rows) / sizeof(*repeats_rows); i++) {
        struct records r = { 0 };
        struct machine_probe_repeats count;
        struct strbuf words;
        made_run(&r, 0, "feedbeef", "gcc");
        add_probes(&r, 0, 2, 100, 101);
        struct measurement *m = &r.items[0].m;
        add_told(m, "repeats", repeats_rows[i].repeats);
        add_told(m, "repeats_machine", repeats_rows[i].machine);
        add_told(m, "repeats_waited", repeats_rows[i].waited);
        add_told(m, "repeats_stolen", repeats_rows[i].stolen);
        add_told(m, "disturbed_percent", repeats_rows[i].left);
        strbuf_init(&words);
        machine_probe_repeats_count(&r, 0, &count);
        machine_probe_repeats_words(&count, &words);
        assert_string_equal(words.data, repeats_rows[i].words);
        machine_probe_repeats_count(&r, 1, &count); /* there is no such run */
        assert_int_equal(count.measured, 0);
        strbuf_release(&words);
        records_release(&r);
    }
}

RUN_TESTS(NULL, NULL)
