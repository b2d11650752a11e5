# SPDX-License-Identifier: MIT
"""What PyTorch takes on this GPU for the sizes of suite gpu-anchors, as JSON.

Matrix products, attention and layernorm by PyTorch's own functions, and the six GPT forwards as a
plain nn.Module of minGPT's definition, eager and through torch.compile with CUDA graphs. Inputs are
random and normal. Attention is timed as PyTorch chooses, and by each of its ways that takes the
case (flash, cudnn). A time is the median over samples between two CUDA events; a sample is as many
calls as last 0.2 ms together, after 25 ms of warming up, as the harness does it.

Several of these programs may run at the same time, each with some of the cases, so that one compiles
while another measures: --lock FILE is held while a time is taken.

Exit status 77 where there is no PyTorch or no GPU.
"""
import argparse
import contextlib
import fcntl
import json
import statistics
import sys
import time

try:
    import torch
    import torch.nn.functional as F
    from torch import nn
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError:
    print("gpu_torch.py: this python3 has no torch")
    sys.exit(77)

# layers, heads, width, block; vocabulary 50257
CONFIGS = {
    "nano": (3, 3, 48, 128),
    "micro": (4, 4, 128, 256),
    "mini": (6, 6, 192, 256),
    "tile-small": (4, 4, 64, 128),
    "tile-medium": (6, 4, 128, 256),
    "tile-large": (8, 8, 256, 512),
}
VOCABULARY = 50257
# What matters most first: a budget may end before the last.
MATHS = {"bf16": torch.bfloat16, "tf32": torch.float32, "fp32": torch.float32}
WAYS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
SAMPLES, SAMPLE_MS, WARM_MS = 50, 0.2, 25.0


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.c_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x):
        batch, seq, width = x.shape
        heads = self.c_attn(x).view(batch, seq, 3, self.heads, width // self.heads)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(batch, seq, width))

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, layers, heads, width, block):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, width), nn.Embedding(block, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))


def elapsed_ms(call, times):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(times):
        call()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop)


@contextlib.contextmanager
def alone(lock):
    """Holds the file named `lock`, if any."""
    if not lock:
        yield
        return
    with open(lock, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def measure(call):
    """Median ns of one call, the samples behind it, and the calls in each."""
    recent, spent = [], 0.0
    while spent < WARM_MS or len(recent) < 3:
        recent.append(elapsed_ms(call, 1))
        spent += recent[-1]
    one = statistics.median(recent[len(recent) // 2 :])
    batch = max(1, round(SAMPLE_MS / one))
    samples = [elapsed_ms(call, batch) / batch * 1e6 for _ in range(SAMPLES)]
    return {"median_ns": statistics.median(samples), "samples": len(samples), "batch": batch}


def random(*shape, dtype):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def linear(dtype, batch, seq, n, k):
    x, w = random(batch * seq, k, dtype=dtype), random(n, k, dtype=dtype)
    bias = random(n, dtype=dtype)
    return lambda: F.linear(x, w, bias)


def attention(dtype, batch, seq, heads, headdim, way=None):
    q, k, v = random(batch, seq, 3, heads, headdim, dtype=dtype).permute(2, 0, 3, 1, 4)
    if way is None:
        return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def call():
        with sdpa_kernel(WAYS[way]):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return call


def layernorm(dtype, batch, seq, width):
    x = random(batch * seq, width, dtype=dtype)
    gain, bias = random(width, dtype=dtype), random(width, dtype=dtype)
    return lambda: F.layer_norm(x, (width,), gain, bias)


def kernel_cases():
    """(kernel, maker, dims), in the harness's names."""
    for size in (1024, 4096, 8192):
        yield "gemm/linear", linear, {"batch": 1, "seq": size, "n": size, "k": size}
    for n in (256, 768, 1024, VOCABULARY):
        yield "gemm/linear", linear, {"batch": 4, "seq": 64, "n": n, "k": 256}
    for seq in (512, 4096, 16384):
        for headdim in (64, 128):
            dims = {"batch": 1, "seq": seq, "heads": 16, "headdim": headdim}
            yield "attention/causal", attention, dims
    for width in (1024, 4096, 8192):
        yield "layernorm/plain", layernorm, {"batch": 1, "seq": 4096, "width": width}


def forward_of(name, math, compiled):
    torch.manual_seed(1)
    torch._dynamo.reset()  # each model is compiled anew: there is a limit for all together
    model = Gpt(*CONFIGS[name]).to("cuda", MATHS[math]).eval()
    tokens = torch.randint(VOCABULARY, (4, 64), device="cuda")
    run = torch.compile(model, mode="reduce-overhead") if compiled else model

    def call():
        with torch.inference_mode():
            return run(tokens)

    return call


def modes_of(kernel, math):
    """As PyTorch chooses, and its single ways that take such a case."""
    yield "eager", {}
    if kernel.startswith("attention") and math == "bf16":
        for way in WAYS:
            yield way, {"way": way}


def cases(parts, maths):
    """(kernel, math, mode, dims, function that makes the call)."""
    if "kernels" in parts:
        for kernel, make, dims in kernel_cases():
            for math in maths:
                if math == "tf32" and not kernel.startswith("gemm"):
                    continue
                for mode, more in modes_of(kernel, math):
                    yield (kernel, math, mode, dims,
                           lambda m=make, t=MATHS[math], d=dims, w=more: m(t, **d, **w))
    for mode in ("eager", "compile"):
        if mode not in parts:
            continue
        for math in maths:
            for name in CONFIGS:
                dims = {"batch": 4, "seq": 64}
                make = lambda n=name, m=math, c=mode == "compile": forward_of(n, m, c)
                yield f"gpt/{name}/prefill", math, mode, dims, make


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True, help="JSON file to write")
    parser.add_argument("--parts", default="kernels,eager,compile",
                        help="of kernels, eager, compile (default all)")
    parser.add_argument("--maths", default=",".join(MATHS), help="of bf16, tf32, fp32 (default all)")
    parser.add_argument("--lock", help="a file to hold while a time is taken")
    parser.add_argument("--budget", type=float, default=120, help="seconds; the rest is left out")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("gpu_torch.py: torch sees no GPU")
        return 77
    started, results, left_out = time.monotonic(), [], []
    for kernel, math, mode, dims, make in cases(options.parts.split(","), options.maths.split(",")):
        case = {"kernel": kernel, "math": math, "mode": mode, "dims": dims}
        if time.monotonic() - started > options.budget:
            left_out.append({**case, "why": f"the budget of {options.budget:g} s was spent"})
            continue
        torch.set_float32_matmul_precision("high" if math == "tf32" else "highest")
        try:
            call = make()
            for _ in range(3):  # compiles, and records its graph
                call()
            torch.cuda.synchronize()
            with alone(options.lock):
                results.append({**case, **measure(call)})
        except Exception as problem:  # out of memory, no compiler: one case less
            left_out.append({**case, "why": str(problem).splitlines()[0][:200]})
        torch.cuda.empty_cache()
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump({"schema_version": 1, "torch": torch.__version__, "cuda": torch.version.cuda,
                   "device": torch.cuda.get_device_name(), "results": results,
                   "left_out": left_out}, file, indent=1)
    print(f"{len(results)} timed, {len(left_out)} left out, {time.monotonic() - started:.0f} s")
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main())
