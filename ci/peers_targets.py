# SPDX-License-Identifier: MIT
"""What ci/peers.sh asks of the CPU kernels: a table of targets, each with the sizes that it is about.

The sizes are chosen among the cases of peers_table.py; what is made of a case's times, and of the
machine's roofs, are methods there.
"""
import statistics

GPTS = ("nano", "micro", "mini", "tile-small", "tile-medium", "tile-large")


class Target:
    """One line of the table: a number for each case, what is made of them, and the bound. `value`
    gives None where a case has no such number. `dtype` is the type of ours that is spoken of."""

    def __init__(self, what, against, select, value, bound, reduce="worst", below=False, unit="×",
                 dtype="fp32"):
        self.what, self.against, self.select, self.value = what, against, select, value
        self.bound, self.reduce, self.below, self.unit = bound, reduce, below, unit
        self.dtype = dtype

    def text(self, value):
        return f"{100 * value:.0f} %" if self.unit == "%" else f"{value:.2f}{self.unit}"

    def row(self, results, device):
        found = [(self.value(results, c), c) for c in results.cases.values()
                 if c.device == device and self.select(c)]
        found = [(value, c) for value, c in found if value]
        bound = ("≤ " if self.below else "≥ ") + self.text(self.bound)
        row = {"what": self.what, "dtype": self.dtype, "against": self.against, "device": device,
               "target": bound, "sizes": len(found)}
        if not found:
            return {**row, "reached": None}
        worst, where = (max if self.below else min)(found, key=lambda pair: pair[0])
        mean = statistics.geometric_mean(value for value, _ in found)
        counted = mean if self.reduce == "mean" else worst
        reached = counted <= self.bound if self.below else counted >= self.bound
        return {**row, "mean": mean, "worst": worst, "worst_at": where.name(), "counts": self.reduce,
                "reached": reached, "mean_text": self.text(mean), "worst_text": self.text(worst)}


def rows_of(case):
    return case.dims["batch"] * case.dims["seq"]


def is_square(case):
    return case.kernel == "gemm/nn" and case.dims["n"] == case.dims["k"]


def is_gpt_shape(case):
    return case.kernel == "gemm/nt"


def is_large_product(case):
    """Squares of 512 and more, and the GPTs' products with no side below that."""
    return (case.kernel.startswith("gemm/")
            and min(rows_of(case), case.dims["n"], case.dims["k"]) >= 512)


def is_attention(case):
    return case.kernel in ("attention/causal", "attention/full")


def is_causal(case):
    return case.kernel == "attention/causal"


def is_one_row(case):
    return case.kernel.startswith("gemm/") and rows_of(case) == 1


def is_long_causal(case):
    return case.kernel == "attention/causal" and case.dims["seq"] >= 512


def is_layernorm(case):
    return case.kernel.startswith("layernorm/")


def is_forward(case):
    return case.kernel in [f"gpt/{name}/prefill" for name in GPTS]


def is_usual_forward(case):
    return is_forward(case) and case.dims == {"batch": 4, "seq": 64}


def is_decode(case):
    return case.kernel.endswith("/decode") and case.kernel.startswith("gpt/")


def is_gpt2(case):
    return case.kernel.startswith("gpt/gpt2/")


def is_gpt2_prefill(case):
    return case.kernel == "gpt/gpt2/prefill"


def beside(*peers):
    """Their time over ours in fp32."""
    return lambda _, case: case.ratio(peers)


def beside_best(_, case):
    return case.best_blas_ratio()


def of_copy(results, case):
    return results.of_copy(case)


def of_reading_l2(results, case):
    """The share of the roof of reading there, where all that a launch touches lies in L2, and not in L1."""
    return results.of_reading(case) if results.level(case) == "L2" and results.exceeds_l1(case) else None


def of_floor(value):
    """How much of its time is the floor, where `value` says how many floors it takes."""
    def share(results, case):
        over = value(results, case)
        return 1 / over if over else None
    return share


def narrow_beside(dtype, other="simd"):
    """The time of our fp32, or of a peer, over ours in that type."""
    return lambda _, case: case.narrow_ratio(dtype, other)


def beyond_l2(value):
    """The same, where a decode step's weights do not stay in L2."""
    return lambda results, case: value(results, case) if results.exceeds_l2(case) else None


# The variants torch_alloc and torch, see models/gpt_torch.c.
AS_WRITTEN = "PyTorch as usually written: new logits each time (here also copied)"
IN_PLACE = "PyTorch, logits written in place"

TARGETS = [
    Target("sgemm, squares", "OpenBLAS", is_square, beside("openblas"), 1.10),
    Target("sgemm, squares", "the best of OpenBLAS, BLIS, oneDNN", is_square, beside_best, 1.00),
    Target("sgemm, squares", "the FMA roof", is_square, lambda r, c: r.of_fma(c), 0.90, unit="%"),
    Target("sgemm, GPT shapes", "OpenBLAS", is_gpt_shape, beside("openblas"), 1.25, "mean"),
    Target("sgemm, GPT shapes", "the best of OpenBLAS, BLIS, oneDNN", is_gpt_shape, beside_best,
           1.05, "mean"),
    Target("sgemm, GPT shapes, each", "OpenBLAS", is_gpt_shape, beside("openblas"), 1.00),
    Target("attention", "two products of OpenBLAS and a softmax", is_attention, beside("openblas"),
           1.5),
    Target("attention", "PyTorch", is_attention, beside("torch"), 1.5),
    Target("attention, causal", "the same, not causal, S ≥ 512", is_long_causal,
           lambda r, c: r.causal_share(c), 0.60, below=True, unit="%"),
    Target("attention, causal", "the FMA roof", is_causal, lambda r, c: r.of_fma(c), 0.85, unit="%"),
    Target("sgemm of one row, in L2", "the roof of reading", is_one_row, of_reading_l2, 0.85,
           unit="%"),
    Target("layernorm, residual + layernorm", "the copy roof of where it lies", is_layernorm,
           of_copy, 0.90, unit="%"),
    Target("forward, B=4 S=64", AS_WRITTEN, is_usual_forward, beside("torch_alloc"), 4.0),
    Target("forward, all sizes measured", AS_WRITTEN, is_forward, beside("torch_alloc"), 4.0),
    Target("forward, all sizes measured", IN_PLACE, is_forward, beside("torch"), 4.0),
    Target("forward", "its floor: FLOPs ÷ FMA roof + weights and logits ÷ bandwidth", is_forward,
           lambda r, c: r.over_floor(c), 1.3, below=True),
    Target("forward", "how much of its time is that floor", is_forward,
           of_floor(lambda r, c: r.over_floor(c)), 0.85, unit="%"),
    Target("decode step", "its floor: weights, cache and logits ÷ bandwidth of reading", is_decode,
           lambda r, c: r.over_read_floor(c), 1.5, below=True),
    Target("decode step", "how much of its time is that floor", is_decode,
           of_floor(lambda r, c: r.over_read_floor(c)), 0.85, unit="%"),
    Target("decode step", "the same ÷ bandwidth of reading and writing at once", is_decode,
           lambda r, c: r.over_floor(c, with_flops=False), 1.5, below=True),
    Target("gpt2, prefill", AS_WRITTEN, is_gpt2_prefill, beside("torch_alloc"), 2.0),
    Target("gpt2, prefill and decode", IN_PLACE, is_gpt2, beside("torch"), 2.0),
    Target("bf16 gemm, 512 and more", "our fp32", is_large_product, narrow_beside("bf16"), 1.7,
           dtype="bf16"),
    Target("bf16 gemm, 512 and more", "the roof of bf16 products", is_large_product,
           lambda r, c: r.of_narrow_roof(c, "bf16"), 0.90, unit="%", dtype="bf16"),
    Target("bf16 forward, B=4 S=64", "our fp32", is_usual_forward, narrow_beside("bf16"), 1.6,
           dtype="bf16"),
    Target("bf16 forward, all sizes measured", "our fp32", is_forward, narrow_beside("bf16"), 1.6,
           dtype="bf16"),
    Target("bf16 forward, B=4 S=64", AS_WRITTEN, is_usual_forward,
           narrow_beside("bf16", "torch_alloc"), 4.0, "mean", dtype="bf16"),
    Target("bf16 decode step, weights beyond L2", "our fp32", is_decode,
           beyond_l2(narrow_beside("bf16")), 1.8, dtype="bf16"),
    Target("int8 decode step, weights beyond L2", "our fp32", is_decode,
           beyond_l2(narrow_beside("int8")), 3.0, dtype="int8"),
]
