/* SPDX-License-Identifier: MIT */
/* Covers S0-01 (the logits file that another framework reads): .npy files, byte for byte;
 * and what is read of those of others. */
#include "testing.h"

#include "base/file.h"
#include "core/npy.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>

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
    struct npy a;
    struct error err;

    assert_ok(npy_write(PATH, data, (int64_t[]) { 2, 3 }, 2, &err), &err);
    assert_ok(npy_read(&a, PATH, 1 << 20, &err), &err);
    assert_int_equal(a.dtype, DTYPE_FP32);
    assert_int_equal(a.elements, 6);
    assert_memory_equal(a.data, data, sizeof(data));
    npy_release(&a);
}

TEST(test_unwritable)
{
    static const float data[2] = { 1, 2 };
    struct error err;

    assert_int_equal(npy_write(PATH, data, (int64_t[]) { 1, 1, 1, 1, 1 }, 5, &err), -1);
    assert_int_equal(npy_write(PATH, data, (int64_t[]) { INT64_MAX, 2 }, 2, &err), -1);
    assert_int_equal(npy_write(PATH, data, (int64_t[]) { -1 }, 1, &err), -1);
    assert_int_equal(npy_write("/nonexistent/x.npy", data, (int64_t[]) { 2 }, 1, &err), -1);
    assert_non_null(strstr(err.message, "/nonexistent/x.npy"));
}

/* A file of `version`, with this header (of its own length, or one that is claimed) and then the
 * first `bytes` of 1.5, -2, 3 and NaN. */
static void write_file(int version, const char *header, size_t claimed, size_t bytes)
{
    static const float data[4] = { 1.5F, -2, 3, NAN };
    size_t length = claimed ? claimed : strlen(header);
    unsigned char file[1024] = { 0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0 };
    size_t at = 8;
    struct error err;

    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        file[at++] = (unsigned char)(length >> 8 * i & 0xff);
    memcpy(file + at, header, strlen(header));
    at += strlen(header);
    memcpy(file + at, data, bytes);
    assert_ok(file_write(PATH, file, at + bytes, &err), &err);
}

#define F4 "{'descr': '<f4', 'fortran_order': False, 'shape': "

TEST(test_reads_what_numpy_may_write)
{
    static const struct {
        int version;
        const char *header;
        size_t bytes;
        enum dtype dtype;
        int64_t elements;
        double first;
    } rows[] = {
        { 1, F4 "(3,), }\n", 12, DTYPE_FP32, 3, 1.5 },
        { 2, F4 "(3,), }   \n", 12, DTYPE_FP32, 3, 1.5 }, /* data off any alignment */
        { 3, F4 "(1, 3, 1, 1, 1), }\n", 12, DTYPE_FP32, 3, 1.5 },
        { 1, F4 "()}", 4, DTYPE_FP32, 1, 1.5 },
        { 1, "{\"shape\": (3), \"fortran_order\":False,\"descr\":\"<f4\"}", 12, DTYPE_FP32, 3,
          1.5 },
        { 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 8, DTYPE_FP64, 1,
          -(2 + 0x3fc00000 * 0x1p-51) },
        { 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", 4, DTYPE_FP16, 2, 0 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct npy a;
        struct error err;
        write_file(rows[i].version, rows[i].header, 0, rows[i].bytes);
        assert_ok(npy_read(&a, PATH, 1 << 20, &err), &err);
        assert_int_equal(a.dtype, rows[i].dtype);
        assert_int_equal(a.elements, rows[i].elements);
        struct tensor t = { .dtype = a.dtype, .data = (void *)a.data };
        assert_true(tensor_get(&t, 0) == rows[i].first);
        npy_release(&a);
    }
}

/* Each by a message that says what is wrong with it. */
TEST(test_refuses)
{
    static const struct {
        const char *header; /* NULL: the text alone is the file */
        size_t claimed, bytes;
        int version;
        const char *says;
    } rows[] = {
        { F4 "(3,), }", 0, 12, 4, "version 4.0" },
        { F4 "(3,), }", 0, 11, 1, "cut off" },
        { F4 "(3,), }", 0, 13, 1, "1 bytes behind its array" },
        { F4 "(3,), }", 900, 12, 1, "ends within its header" },
        { F4 "(3,), }", 60000, 0, 2, "ends within its header" },
        { F4 "(3,), }", 0xfffffff0, 0, 2, "more than any array needs" },
        { F4 "(4,), }", 0, 16, 1, "element 3 is no number (NaN)" },
        { F4 "(0,), }", 0, 0, 1, "without elements" },
        { F4 "(3, 0, 5), }", 0, 0, 1, "without elements" },
        { F4 "(9223372036854775807, 9), }", 0, 12, 1, "its header is not as" },
        { F4 "(99999999999999999999), }", 0, 12, 1, "its header is not as" },
        { F4 "(4611686018427387904,), }", 0, 12, 1, "cut off" },
        { F4 "(-3,), }", 0, 12, 1, "near \"-3,), }" },
        { F4 "(3,), 'more': 1}", 0, 12, 1, "near \" 1}" },
        { F4 "(3,)", 0, 12, 1, "its header is not as" },
        { F4 "(3,), } x", 0, 12, 1, "near \"x\"" },
        { "{'descr': '<f4', 'shape': (3,), }", 0, 12, 1, "its header is not as" },
        { "", 0, 12, 1, "its header is not as" },
        { "{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }", 0, 12, 1, "'>f4'" },
        { "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", 0, 8, 1,
          "array.astype('float32')" },
        { "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 3), }", 0, 12, 1,
          "numpy.ascontiguousarray" },
        { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }", 0, 12, 1,
          "records of several fields" },
        { NULL, 0, 0, 0, "is no .npy file of NumPy's" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct npy a;
        struct error err;
        if (rows[i].header)
            write_file(rows[i].version, rows[i].header, rows[i].claimed, rows[i].bytes);
        else
            assert_ok(file_write(PATH, "1.5 -2 3 no number at all", 25, &err), &err);
        assert_int_equal(npy_read(&a, PATH, 1 << 20, &err), -1);
        if (!strstr(err.message, rows[i].says) || !strstr(err.message, PATH))
            fail_msg("row %zu: \"%s\" is not in: %s", i, rows[i].says, err.message);
        npy_release(&a);
    }
}

TEST(test_other_files)
{
    struct npy a;
    struct error err;

    assert_ok(file_write(PATH, "PK\x03\x04 and so on", 14, &err), &err);
    assert_int_equal(npy_read(&a, PATH, 1 << 20, &err), -1);
    assert_non_null(strstr(err.message, "numpy.save()"));
    npy_release(&a);
    write_file(1, F4 "(3,), }", 0, 12);
    assert_int_equal(npy_read(&a, PATH, 16, &err), -1); /* larger than what is read of one */
    npy_release(&a);
    assert_int_equal(npy_read(&a, HARNESS_TEST_DIR, 16, &err), -1);
    npy_release(&a);
    assert_int_equal(npy_read(&a, "/nonexistent/x.npy", 16, &err), -1);
    npy_release(&a);
}

/* NumPy itself is the judge: what it saves is read as what it has. */
TEST(test_numpy_itself)
{
    static const char script[] =
        "p=python3; $p -c 'import numpy' 2>/dev/null || p=/usr/bin/python3; $p -c \"import sys\n"
        "try: import numpy\n"
        "except ImportError: sys.exit(77)\n"
        "x = (numpy.arange(24) - 7).reshape(2, 3, 4) / 8\n"
        "numpy.save(sys.argv[1], x.astype(sys.argv[2]), allow_pickle=False)\" " PATH " %s";
    static const char *const dtypes[] = { "float16", "float32", "float64" };
    struct error err;

    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        char command[sizeof(script) + 16];
        struct npy a;
        snprintf(command, sizeof(command), script, dtypes[i]);
        int status = system(command); /* NOLINT(cert-env33-c): a constant */
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            skip(); /* python3-numpy is not installed */
        assert_int_equal(status, 0);
        assert_ok(npy_read(&a, PATH, 1 << 20, &err), &err);
        assert_int_equal(a.elements, 24);
        struct tensor t = { .dtype = a.dtype, .data = (void *)a.data };
        for (int64_t e = 0; e < 24; e++)
            assert_true(tensor_get(&t, e) == (double)(e - 7) / 8);
        npy_release(&a);
    }
}

RUN_TESTS(NULL, NULL)
