# SPDX-License-Identifier: MIT
"""PyTorch, eager, for the harness: makes a callable of a call (see torch.h).

A call comes as JSON: the kernel's name, its dims, the threads, and the address and extents of each
tensor by name. Tensors here are that memory; nothing is copied on the way in, but of a bfloat16
model the weights of layer norms, which become fp32 once, before any launch.
"""
import ctypes
import importlib.util
import json
import math
import os
import sys


def missing(module):
    """Why this cannot run, or "" if it can; without importing anything large."""
    if importlib.util.find_spec(module):
        return ""
    version = ".".join(str(part) for part in sys.version_info[:2])
    return f"Python {version} has no module {module} (Debian: python3-torch)"


def use_threads(torch, threads):
    """PyTorch's own threads, and those of OpenBLAS, which it calls: a setting apart."""
    torch.set_num_threads(threads)
    try:
        blas = ctypes.CDLL("libopenblas.so.0", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        blas.openblas_set_num_threads(ctypes.c_int(threads))
    except (OSError, AttributeError):
        pass  # another BLAS, or one inside PyTorch: it takes OpenMP's number


def tensors_of(torch, call):
    """The call's memory as tensors, by name."""
    kinds = {"fp32": (ctypes.c_float, torch.float32), "int32": (ctypes.c_int32, torch.int32),
             "bf16": (ctypes.c_uint16, torch.bfloat16)}
    tensors = {}
    for name, t in call["tensors"].items():
        c_type, dtype = kinds[t["dtype"]]
        extents = [int(extent) for extent in t["extents"]]
        memory = (c_type * math.prod(extents)).from_address(int(t["address"]))
        tensors[name] = torch.frombuffer(memory, dtype=dtype).view(extents)
    return tensors


def linear(torch, t, call):
    """What F.linear() calls for matrices, with a place for the result."""
    x, w, bias, y = t["x"], t["weight"].t(), t["bias"], t["y"]
    return lambda: torch.addmm(bias, x, w, out=y)


def product(torch, t, call):
    """gemm/nt and gemm/nn, which has its second factor as it is."""
    if "a" in t:
        a, b, c = t["a"], t["b"], t["c"]
    else:
        a, b, c = t["x"], t["weight"].t(), t["y"]
    return lambda: torch.mm(a, b, out=c)


def layernorm(torch, t, call):
    x, gain, bias, y = t["x"], t["gain"], t["bias"], t["y"]
    width = (call["dims"]["width"],)
    return lambda: y.copy_(torch.nn.functional.layer_norm(x, width, gain, bias, 1e-5))


def attend(torch, seq, causal):
    """softmax(q k^T / sqrt(d)) v of [batch, heads, seq, d]: PyTorch's own where it has one."""
    fused = getattr(torch.nn.functional, "scaled_dot_product_attention", None)
    if fused:
        return lambda q, k, v: fused(q, k, v, is_causal=causal)
    future = torch.ones(seq, seq, dtype=torch.bool).triu(1)

    def plain(q, k, v):
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(q.shape[-1]))
        if causal:
            scores = scores.masked_fill(future, float("-inf"))
        return torch.softmax(scores, dim=-1, dtype=torch.float32).to(v.dtype) @ v

    return plain


def attention(causal):
    def make(torch, t, call):
        batch, seq, heads, size = (call["dims"][d] for d in ("batch", "seq", "heads", "headdim"))
        q, k, v = t["qkv"].view(batch, seq, 3, heads, size).permute(2, 0, 3, 1, 4)
        out = t["out"].view(batch, seq, heads, size)
        compute = attend(torch, seq, causal)
        return lambda: out.copy_(compute(q, k, v).transpose(1, 2))

    return make


class Weights:
    """The tensors of the one blob of parameters, by the names of GPT-2's files."""

    def __init__(self, params, call):
        self.params, self.places = params, call["weights"]

    def __getitem__(self, name):
        start, rows, cols = (int(number) for number in self.places[name])
        elements = self.params[start : start + rows * max(cols, 1)]
        return elements.view(rows, cols) if cols else elements

    def layer(self, number):
        names = ("ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias",
                 "attn.c_proj.weight", "attn.c_proj.bias", "ln_2.weight", "ln_2.bias",
                 "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias")
        layer = [self[f"h.{number}.{name}"] for name in names]
        return [w.float() if name.startswith("ln_") else w for name, w in zip(names, layer)]


def gpt(torch, t, call, positions, attention_of):
    """minGPT's forward. attention_of(layer, qkv) gives attention's output [batch, seq, width].

    Of bfloat16 are weights, products and attention, as under torch.autocast; the residual stream and
    layer norms stay fp32.
    """
    functional = torch.nn.functional
    narrow = t["params"].dtype

    def product(x, w, b):
        return functional.linear(x.to(narrow), w, b)

    if narrow == torch.float32:
        product = functional.linear
    config, weights = call["config"], Weights(t["params"], call)
    width = (config["width"],)
    wte, wpe, head = weights["wte.weight"], weights["wpe.weight"], weights["lm_head.weight"]
    gain, bias = weights["ln_f.weight"].float(), weights["ln_f.bias"].float()
    layers = [weights.layer(number) for number in range(config["layers"])]
    tokens, logits = t["tokens"], t["logits"]

    def forward():
        x = functional.embedding(tokens, wte).float() + wpe[positions].float()
        for number, (g1, b1, w_qkv, b_qkv, w_o, b_o, g2, b2, w_fc, b_fc, w_2, b_2) in enumerate(
            layers
        ):
            h = functional.layer_norm(x, width, g1, b1, 1e-5)
            h = attention_of(number, product(h, w_qkv, b_qkv))
            x = x + product(h, w_o, b_o)
            h = functional.layer_norm(x, width, g2, b2, 1e-5)
            h = functional.gelu(product(h, w_fc, b_fc), approximate="tanh")
            x = x + product(h, w_2, b_2)
        x = functional.layer_norm(x, width, gain, bias, 1e-5).to(narrow)
        x = x.view(logits.shape[0], -1)
        if call["alloc"]:
            logits.copy_(functional.linear(x, head))
        else:
            torch.mm(x, head.t(), out=logits)

    return forward


def split_heads(x, heads):
    """[batch, seq, width] as [batch, heads, seq, width / heads]."""
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def join_heads(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def prefill(torch, t, call):
    seq, heads, width = call["dims"]["seq"], call["config"]["heads"], call["config"]["width"]
    compute = attend(torch, seq, True)

    def attention_of(_, qkv):
        q, k, v = (split_heads(x, heads) for x in qkv.split(width, dim=2))
        return join_heads(compute(q, k, v))

    return gpt(torch, t, call, slice(0, seq), attention_of)


def decode(torch, t, call):
    """One token at the last position; its key and value go into the caches first."""
    seq, heads, width = call["dims"]["seq"], call["config"]["heads"], call["config"]["width"]
    compute = attend(torch, 1, False)

    def attention_of(number, qkv):
        q, k, v = qkv.split(width, dim=2)
        keys, values = t["k_cache"][number], t["v_cache"][number]
        keys[:, seq - 1 :] = k
        values[:, seq - 1 :] = v
        return join_heads(compute(*(split_heads(x, heads) for x in (q, keys, values))))

    return gpt(torch, t, call, slice(seq - 1, seq), attention_of)


MAKERS = {
    "gemm/linear": linear,
    "gemm/nt": product,
    "gemm/nn": product,
    "attention/causal": attention(True),
    "attention/full": attention(False),
    "layernorm/plain": layernorm,
    "prefill": prefill,
    "decode": decode,
}


def prepare(text):
    """The callable of a call. Runs it once, so that what does not work says so here."""
    import torch

    call = json.loads(text)
    name = call["kernel"]
    make = MAKERS[name.rsplit("/", 1)[1] if name.startswith("gpt/") else name]
    use_threads(torch, call["threads"])
    with torch.inference_mode():
        compute = make(torch, tensors_of(torch, call), call)

    def launch():
        with torch.inference_mode():
            compute()

    launch()
    return launch
