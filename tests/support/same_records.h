/* SPDX-License-Identifier: MIT */
/* Records that went through a file, a pipe or a history and came back: every field is as it was. */
#ifndef HARNESS_TESTS_SAME_RECORDS_H
#define HARNESS_TESTS_SAME_RECORDS_H

#include "testing.h"

#include "core/record.h"

/* The same to the last bit, or both NaN; both values in the message. */
static inline void assert_same_real(double a, double b)
{
    if (!(a == b || (isnan(a) && isnan(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

/* Or both NULL. */
static inline void assert_same_text(const char *a, const char *b)
{
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_ptr_equal(a, b);
}

static inline void assert_same_name(const struct benchmark_name *a, const struct benchmark_name *b)
{
    assert_string_equal(a->key, b->key);
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->variant, b->variant);
    assert_string_equal(a->math, b->math);
    assert_string_equal(a->device, b->device);
    assert_string_equal(a->cache, b->cache);
    assert_string_equal(a->fill, b->fill);
    assert_int_equal(a->nr_dims, b->nr_dims);
    for (int i = 0; i < a->nr_dims; i++) {
        assert_string_equal(a->dims[i].name, b->dims[i].name);
        assert_true(a->dims[i].value == b->dims[i].value);
    }
}

static inline void assert_same_measurement(const struct measurement *a, const struct measurement *b)
{
    assert_same_name(&a->bench, &b->bench);
    assert_int_equal(a->outcome, b->outcome);
    assert_same_text(a->message, b->message);
    assert_int_equal(a->vendor, b->vendor);
    assert_same_real(a->max_error, b->max_error);
    assert_same_real(a->tolerance, b->tolerance);
    assert_same_real(a->checked, b->checked);
    assert_same_real(a->flops, b->flops);
    assert_same_real(a->bytes, b->bytes);
    assert_same_real(a->tokens, b->tokens);
    assert_true(a->footprint == b->footprint);
    assert_int_equal(a->batch, b->batch);
    assert_int_equal(a->nr_samples, b->nr_samples);
    for (size_t i = 0; i < a->nr_samples; i++)
        assert_true(a->samples[i] == b->samples[i]);
    assert_int_equal(a->stop, b->stop);
    assert_int_equal(a->warmups, b->warmups);
    assert_string_equal(a->clock, b->clock);
    assert_true(a->started_ms == b->started_ms);
    assert_same_real(a->seconds, b->seconds);
    assert_int_equal(a->nr_telemetry, b->nr_telemetry);
    for (int i = 0; i < a->nr_telemetry; i++) {
        assert_string_equal(a->telemetry[i].name, b->telemetry[i].name);
        assert_same_real(a->telemetry[i].value, b->telemetry[i].value);
    }
}

/* What a run is: its kind, its side of an A/B, its part of a sweep. */
static inline void assert_same_facts(const struct run *run, enum run_kind kind,
                                     const struct run_ab *ab, const struct run_shard *shard)
{
    assert_int_equal(run->kind, kind);
    assert_string_equal(run->ab.id, ab->id);
    assert_string_equal(run->ab.side, ab->side);
    assert_int_equal(run->ab.block, ab->block);
    assert_string_equal(run->shard.sweep, shard->sweep);
    assert_int_equal(run->shard.index, shard->index);
    assert_int_equal(run->shard.count, shard->count);
    assert_string_equal(run->shard.plan, shard->plan);
}

/* But for the number that a history gives it. */
static inline void assert_same_run(const struct run *a, const struct run *b)
{
    const struct machine *m = &a->machine, *n = &b->machine;

    assert_string_equal(a->uuid, b->uuid);
    assert_true(a->started_ms == b->started_ms && a->ended_ms == b->ended_ms);
    assert_string_equal(a->suite, b->suite);
    assert_string_equal(a->label, b->label);
    assert_same_facts(a, b->kind, &b->ab, &b->shard);
    assert_string_equal(m->id, n->id);
    assert_string_equal(m->class_name, n->class_name);
    assert_string_equal(m->cpu, n->cpu);
    assert_string_equal(m->isa, n->isa);
    assert_string_equal(m->gpu, n->gpu);
    assert_true(m->cores == n->cores && m->threads == n->threads && m->l1d == n->l1d &&
                m->l2 == n->l2 && m->l3 == n->l3 && m->l3_shared_by == n->l3_shared_by &&
                m->memory == n->memory);
    assert_string_equal(a->build.version, b->build.version);
    assert_string_equal(a->build.commit, b->build.commit);
    assert_string_equal(a->build.branch, b->build.branch);
    assert_int_equal(a->build.dirty, b->build.dirty);
    assert_string_equal(a->build.compiler, b->build.compiler);
    assert_string_equal(a->build.flags, b->build.flags);
    assert_string_equal(a->build.build_type, b->build.build_type);
    assert_same_text(a->environment, b->environment);
    assert_same_text(a->settings, b->settings);
}

#endif
