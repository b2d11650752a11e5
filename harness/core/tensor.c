/* SPDX-License-Identifier: MIT */
#include "core/tensor.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[DTYPE_NR] = {
    [DTYPE_FP32] = { "fp32", 4 },   [DTYPE_BF16] = { "bf16", 2 }, [DTYPE_FP16] = { "fp16", 2 },
    [DTYPE_INT32] = { "int32", 4 }, [DTYPE_FP64] = { "fp64", 8 },
};

const char *dtype_name(enum dtype dtype)
{
    return dtypes[dtype].name;
}

const char *math_name(enum math math)
{
    static const char *const names[MATH_NR] = {
        [MATH_FP32] = "fp32", [MATH_TF32] = "tf32", [MATH_BF16] = "bf16",
        [MATH_FP64] = "fp64", [MATH_FP16] = "fp16", [MATH_INT32] = "int32",
        [MATH_NONE] = "none", [MATH_FP8] = "fp8",   [MATH_INT8] = "int8",
    };

    return names[math];
}

bool math_rounds_weights(enum math math)
{
    return math == MATH_INT8;
}

size_t dtype_size(enum dtype dtype)
{
    return dtypes[dtype].size;
}

double dtype_roundoff(enum dtype dtype)
{
    static const double roundoff[DTYPE_NR] = {
        [DTYPE_FP32] = 0x1p-24,
        [DTYPE_BF16] = 0x1p-9,
        [DTYPE_FP16] = 0x1p-11,
        [DTYPE_FP64] = 0x1p-53,
    };

    return roundoff[dtype];
}

bool dtype_holds(enum dtype dtype, double x)
{
    /* Half a unit in the last place beyond the largest number, where rounding leads to infinity. */
    static const double beyond[DTYPE_NR] = {
        [DTYPE_FP32] = 0x1.ffffffp127, [DTYPE_BF16] = 0x1.ffp127, [DTYPE_FP16] = 65520,
        [DTYPE_INT32] = 0x1p31,        [DTYPE_FP64] = HUGE_VAL,
    };

    return fabs(x) < beyond[dtype];
}

enum math dtype_math(enum dtype dtype)
{
    static const enum math maths[DTYPE_NR] = {
        [DTYPE_FP32] = MATH_FP32,   [DTYPE_BF16] = MATH_BF16, [DTYPE_FP16] = MATH_FP16,
        [DTYPE_INT32] = MATH_INT32, [DTYPE_FP64] = MATH_FP64,
    };

    return maths[dtype];
}

static int64_t extent_product(const int64_t *factors, int nr)
{
    int64_t result = 1;

    for (int i = 0; i < nr; i++)
        if (__builtin_mul_overflow(result, factors[i], &result))
            return INT64_MAX;
    return result;
}

int64_t tensor_elements(const struct tensor *t)
{
    return extent_product(t->extent, t->rank);
}

int64_t tensor_bytes(const struct tensor *t)
{
    int64_t factors[2] = { tensor_elements(t), (int64_t)dtype_size(t->dtype) };

    return extent_product(factors, 2);
}

int64_t tensor_rows(const struct tensor *t)
{
    return extent_product(t->extent, t->rank - 1);
}

int64_t tensor_cols(const struct tensor *t)
{
    return t->extent[t->rank - 1];
}

uint16_t bf16_from_float(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    if (isnan(x))
        return (uint16_t)(bits >> 16 | 0x40); /* stays a (quiet) NaN */
    bits += 0x7fff + (bits >> 16 & 1);
    return (uint16_t)(bits >> 16);
}

float bf16_to_float(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* By way of float, but rounded once: a float that is a tie between two bfloat16 only because it was
 * rounded itself is first moved back to the side where the value lies. */
static uint16_t bf16_from_double(double x)
{
    float nearest = (float)x;
    uint32_t bits;

    memcpy(&bits, &nearest, sizeof(bits));
    if ((bits & 0xffff) == 0x8000 && (double)nearest != x)
        nearest = nextafterf(nearest, (double)nearest < x ? INFINITY : -INFINITY);
    return bf16_from_float(nearest);
}

/* IEEE binary16, value by value: tensors of this type are only ever converted, never computed. */
static double fp16_to_double(uint16_t x)
{
    int exponent = x >> 10 & 31, fraction = x & 1023;
    double sign = x >> 15 ? -1 : 1;

    if (exponent == 31)
        return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

static uint16_t fp16_from_double(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double magnitude = fabs(x);
    int exponent;

    if (isnan(x))
        return 0x7e00;
    if (magnitude >= 65520)
        return sign | 0x7c00;
    if (magnitude < ldexp(1, -14))
        return (uint16_t)(sign | (int)nearbyint(ldexp(magnitude, 24)));
    frexp(magnitude, &exponent);
    /* A fraction that rounds up to 2048 carries into the exponent by the addition. */
    int fraction = (int)nearbyint(ldexp(magnitude, 11 - exponent));
    return (uint16_t)(sign | (((exponent + 14) << 10) + fraction - 1024));
}

double tensor_get(const struct tensor *t, int64_t i)
{
    switch (t->dtype) {
    case DTYPE_BF16:
        return (double)bf16_to_float(((const uint16_t *)t->data)[i]);
    case DTYPE_FP16:
        return fp16_to_double(((const uint16_t *)t->data)[i]);
    case DTYPE_INT32:
        return ((const int32_t *)t->data)[i];
    case DTYPE_FP64:
        return ((const double *)t->data)[i];
    default:
        return (double)((const float *)t->data)[i];
    }
}

void tensor_set(struct tensor *t, int64_t i, double value)
{
    switch (t->dtype) {
    case DTYPE_BF16:
        ((uint16_t *)t->data)[i] = bf16_from_double(value);
        break;
    case DTYPE_FP16:
        ((uint16_t *)t->data)[i] = fp16_from_double(value);
        break;
    case DTYPE_INT32:
        ((int32_t *)t->data)[i] = (int32_t)nearbyint(value);
        break;
    case DTYPE_FP64:
        ((double *)t->data)[i] = value;
        break;
    default:
        ((float *)t->data)[i] = (float)value;
        break;
    }
}

static const int32_t int32_poison = INT32_MIN + 0x5eed;

void tensor_poison(const struct tensor *t, void *data)
{
    int64_t nr = tensor_elements(t);

    if (t->dtype != DTYPE_INT32)
        memset(data, 0xff, (size_t)tensor_bytes(t));
    for (int64_t i = 0; t->dtype == DTYPE_INT32 && i < nr; i++)
        ((int32_t *)data)[i] = int32_poison;
}

bool tensor_is_poison(const struct tensor *t, double element)
{
    return !isfinite(element) || (t->dtype == DTYPE_INT32 && element == (double)int32_poison);
}
