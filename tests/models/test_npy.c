/* SPDX-License-Identifier: MIT */
/* Covers S0-01 (the logits file that another framework reads): .npy files, byte for byte. */
#include "testing.h"

#include "base/file.h"
#include "models/npy.h"

#include <stdlib.h>

#define PATH HARNESS_TEST_DIR "/test_npy.npy"

TEST(test_header)
{
    static const struct {
        int rank;
        int64_t extent[NPY_RANK];
        const char *shape;
    } cases[] = {
        { 1, { 3 }, "(3,)" },
        { 2, { 2, 5 }, "(2, 5)" },
        { 3, { 4, 64, 7 }, "(4, 64, 7)" },
        { 4, { 1, 2, 3, 4 }, "(1, 2, 3, 4)" },
    };
    static const float data[4 * 64 * 7] = { 1.5F, -2 };
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char want[128];
        size_t length, elements = 1;
        for (int d = 0; d < cases[i].rank; d++)
            elements *= (size_t)cases[i].extent[d];
        assert_ok(npy_write(PATH, data, cases[i].extent, cases[i].rank, &err), &err);
        char *file = file_read(PATH, FILE_RECORDS_MOST, &length, &err);
        assert_non_null(file);
        size_t header = (size_t)(unsigned char)file[8] + 256 * (size_t)(unsigned char)file[9];
        assert_memory_equal(file, "\x93NUMPY\x01\x00", 8);
        assert_int_equal((10 + header) % 64, 0);
        assert_int_equal(file[10 + header - 1], '\n');
        snprintf(want, sizeof(want), "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }",
                 cases[i].shape);
        assert_memory_equal(file + 10, want, strlen(want));
        assert_int_equal(length, 10 + header + elements * sizeof(float));
        assert_memory_equal(file + 10 + header, data, elements * sizeof(float));
        free(file);
    }
}

TEST(test_round_trip)
{
    static const float data[6] = { 0, -0.0F, 1e-45F, 3.4e38F, -1, 0.1F };
    int64_t extent[NPY_RANK];
    int rank;
    struct error err;

    assert_ok(npy_write(PATH, data, (int64_t[]) { 2, 3 }, 2, &err), &err);
    float *read = npy_read(PATH, extent, &rank, &err);
    assert_non_null(read);
    assert_int_equal(rank, 2);
    assert_int_equal(extent[0], 2);
    assert_int_equal(extent[1], 3);
    assert_memory_equal(read, data, sizeof(data));
    free(read);
}

TEST(test_refuses)
{
    static const float data[2] = { 1, 2 };
    int64_t extent[NPY_RANK];
    int rank;
    size_t length;
    struct error err;

    assert_int_equal(npy_write(PATH, data, (int64_t[]) { 1, 1, 1, 1, 1 }, 5, &err), -1);
    assert_int_equal(npy_write(PATH, data, (int64_t[]) { INT64_MAX, 2 }, 2, &err), -1);
    assert_int_equal(npy_write(PATH, data, (int64_t[]) { -1 }, 1, &err), -1);
    assert_int_equal(npy_write("/nonexistent/x.npy", data, (int64_t[]) { 2 }, 1, &err), -1);
    assert_non_null(strstr(err.message, "/nonexistent/x.npy"));

    assert_ok(npy_write(PATH, data, (int64_t[]) { 2 }, 1, &err), &err);
    char *file = file_read(PATH, FILE_RECORDS_MOST, &length, &err);
    assert_non_null(file);
    assert_ok(file_write(PATH, file, length - 1, &err), &err); /* truncated */
    assert_null(npy_read(PATH, extent, &rank, &err));
    assert_ok(file_write(PATH, file, 9, &err), &err);
    assert_null(npy_read(PATH, extent, &rank, &err));
    file[6] = 2; /* version */
    assert_ok(file_write(PATH, file, length, &err), &err);
    assert_null(npy_read(PATH, extent, &rank, &err));
    free(file);
}

RUN_TESTS(NULL, NULL)
