/* SPDX-License-Identifier: MIT */
/* Names of kernels for tables; the long ones are of PyTorch 2.11 and of this project. Features:
 * S4-22. */
#include "gputrace/kernel_name.h"

#include "testing.h"

#include <string.h>

TEST(names_are_short)
{
    static const struct {
        const char *whole, *expected;
    } rows[] = {
        { "gemm_kernel", "gemm_kernel" },
        { "", "" },
        { "void gemm<bf16, tile<32, 64>, true>(args<bf16>)", "gemm<bf16, tile<32, 64>, true>" },
        { "void (anonymous namespace)::flash<(anonymous namespace)::tiling<32, 1>, true>(work)",
          "flash<tiling<32, 1>, true>" },
        { "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, bool)",
          "vectorized_gather_kernel<16, long>" },
        { "void k<f(int)::{lambda()#1}>(int)", "k<f(int)::{lambda()#1}>" },
        { "float* make<(a::b)0>(float*)", "make<(b)0>" },
        { "void k<a::f(int)::{lambda()#1}::operator()() const::{lambda(c::T)#2}>(int)",
          "k<f(int)::{lambda()#1}::operator()() {lambda(T)#2}>" },
        { "nvjet_sm90_tst_8x64_64x16_4x2_h_bz_bias_TNN",
          "nvjet_sm90_tst_8x64_64x16_4x2_h_bz_bias_TNN" },
        { "Memset (Device)", "Memset (Device)" },
        { "memcpy HtoD", "memcpy HtoD" },
        { "graph 3", "graph 3" },
        { "void (*)(int)", "void (*)(int)" },
        { "unbalanced<a(b", "unbalanced<a(b" },
        { "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1>("
          "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1::Params)",
          "Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_alig…" },
    };
    char buffer[KERNEL_NAME_SIZE];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(kernel_name_short(rows[i].whole, buffer), rows[i].expected);
}

/* Whatever comes in: it ends in the buffer, and at a character. */
TEST(long_names_are_cut_between_characters)
{
    char name[600], buffer[KERNEL_NAME_SIZE];

    for (int bytes = 1; bytes <= 4; bytes++) {
        static const char *const letters[] = { "a", "é", "€", "😀" };
        name[0] = '\0';
        for (int i = 0; i < 140; i++)
            strcat(name, letters[bytes - 1]);
        kernel_name_short(name, buffer);
        size_t length = strlen(buffer), tail = strlen("…");
        assert_true(length < sizeof(buffer) && length > tail);
        assert_string_equal(buffer + length - tail, "…");
        assert_int_equal((length - tail) % (size_t)bytes, 0);
    }
}

RUN_TESTS(NULL, NULL)
