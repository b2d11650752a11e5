#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes CUDA sources in which one thing at a time can be wrong, chosen when the program runs.

    mutants.py TREE LIST FILE...

TREE is what calls.py wrote; the FILEs in it are changed in place. CUDA_ASM_MUTANT=N in the
environment makes mutant N of LIST (its lines: number, file, line, kind, text; #2: the second such text
of the file) what happens there:

    drop        a fence, barrier, arrival, wait, copy, commit or register fence does not happen
    parity      a wait is for the other parity
    count       an mbarrier takes one more arrival
    bytes       16 bytes more are expected
    shift       a descriptor's address is 32 bytes further on
    place       a copy's box begins 8 elements further on
    swap        two elements packed into a register change places
    fragment    the row or column of a lane is its neighbour's, or the key at a place
    factor      of two factors of bytes one is the other
    raise       a sum so far stays as it was where the maximum rises
    stage       the next stage of a ring, slot or buffer but one
    rank        the next block of a cluster but one
    exchange    the last exchange of a sum over lanes does not happen
    bound       what is outside of a row or piece is taken for inside, or the last of it for outside
    ticket      one block too early is the last, or the ticket is not left 0
"""
import pathlib
import re
import sys

DROPPED = [
    r"cuda_mbarrier_(?:arrive|arrive_at|expect|publish|init|wait|wait_cluster)", r"cuda_cluster_(?:arrive|wait|barrier|publish)",
    r"cuda_cluster_(?:send(?:16|8|4)|store16|copy)", r"cuda_bulk_load", r"wgmma_(?:fence|commit|publish|keep|meet|done)", r"wgmma_wait<\d+>",
    r"wgmma_(?:take_turn|pass_turn)<TILE>", r"wgmma_(?:raise|lower)_registers<[^;]*?>", r"attention_turn_(?:wait|pass)<C>",
    r"attention_(?:hold|release|in_front)", r"head_release", r"tma_load(?:_to|_3d|_bytes)?", r"tma_store(?:_bytes|_commit)?",
    r"tma_store_wait(?:_read)?<[^;]*?>", r"cuda_pdl_(?:wait|launch)", r"__sync(?:threads|warp)", r"cuda_async_(?:commit|copy<\d+>)", r"cuda_async_wait<[^;()]*>",
    r"wgmma_(?:bf16|tf32|e4m3)<[^;()]*>", r"attention_(?:mask<C>|scale|exchange)", r"atomicMax",
    r"layernorm_matrix_sum", r"mma_(?:round|load_rows|load4|load4_transposed|multiply|bf16)", r"mma_(?:load|step)<[^;()]*>",
    r"__threadfence", r"simt_multiply<[^;()]*>", r"f\[[^;()]*(?:\([^;()]*\))?[^;()]*\]\.read", r"(?:of|x)\.(?:copy|advance)", r"piece", r"merge_lanes<L>",
    r"raise", r"row\[i\]\.(?:read|remember)", r"keep<T, WIDE>", r"attend<[^;()]*>", r"each(?=\(\[&\]\(int i)", r"what", r"bias\.load", r"ahead\.load<OUT>",
    r"load<(?:bf16|float)>", r"put", r"cuda_gelu_two", r"wgmma_load_pairs<[^;()]*>", r"gemm_copy_piece<WIDE>", r"copies\.(?:next|inputs|weights)", r"w\.start", r"(?:load|load_stage|load_queries|hold_queries|mask|soften|gather_rows)<[^;()]*>",
    r"gpt_cluster_pack",
]
# Functions of a lane's number that say what it has of a matrix.
LANE_MAPS = r"\b(?:mma_c|gemm_load_[ab]|attention_lane_[ab]<[^;()]*>|attention_thread_of<\w+>)\(cuda_lane\(\)"
STATEMENT = re.compile(r"(?<![\w:.>&*])(?:" + "|".join(DROPPED) + r")\(")



def neighbour(found, mutant):
    return f"(({found.group()}) ^ ({mutant} ? 1 : 0))"


def one_more(found, mutant):
    return f"{found.group()} + ({mutant} ? 1 : 0)"


# What is written so in one file alone.
OF_ONE_FILE = {
    "kernels/attention/attention_cuda_flash.cu": (
        (r"\bat\.t[xy]\b(?= \+ [ij] \* C::T[XY]|\) \* C::WIDTH)", "fragment", neighbour),
        (r"\boffset(?= <= TX\b)", "exchange", lambda f, m: f"offset * ({m} ? 2 : 1)"),
        (r"(?<=\*= )factor(?=;)", "raise", lambda f, m: f"({m} ? 1.0f : factor)"),
        (r"(?<=\brow >= )a\.seq\b", "bound", one_more),
        (r"\bcolumn(?: \+ x)?(?= < a\.headdim\))", "bound", lambda f, m: f"{f.group()} - ({m} ? 4 : 0)")),
    "kernels/attention/attention_cuda_naive.cu": (
        (r"(?<=\bj < )n\b(?=; j \+= THREADS\) \{\s+scores|; j\+\+\))", "bound", one_more),
        (r"(?<=a\.causal \? )i \+ 1\b", "bound", one_more),
        (r"(?<=shared \+ )SUMS\b", "stage", lambda f, m: f"({m} ? MAXIMA : SUMS)")),
    "kernels/gemm/gemm_cuda_tiled.cu": (
        (r"\balong\b(?=\]|,)", "fragment", neighbour),
        (r"(?<=s\.[xw]\[)[xy]\b", "fragment", neighbour),
        (r"\b(?:row \+ y|col \+ x)\b(?= \+ [ij] \* side)", "fragment", neighbour),
        (r"(?<=\bcol < )cols\b|(?<=\bat_col < )g\.n\b|(?<=\bat_row < )g\.m\b", "bound", one_more)),
    "kernels/gemm/gemm_cuda_wgmma_head_maps.h": (
        (r"\bstart - in\b", "fragment", one_more),
        (r"(?<=HEAD_SECTOR \+ )col\b(?= - shift)", "fragment", neighbour),
        (r"\bown / HEAD_PIECE\b|\bfirst \+ own\b", "bound", one_more),
        (r"(?<=shift < n \? )shift\b", "bound", lambda f, m: f"{f.group()} - ({m} ? 1 : 0)")),
    "models/gpt_cuda_cluster_pack.h": (
        (r"(?<=place\(i / pitch, )i % pitch\b", "fragment", neighbour),),
    "models/gpt_cuda_decode_kinds.h": (
        (r"(?<=int k = )i % 8\b|(?<=int pair = )piece % 4\b", "fragment", neighbour),
        (r"(?<=int col = )piece % \(P::width / 2\)", "fragment", neighbour),
        (r"(?<=warp \* P::blocks \+ )chunk % P::blocks\b", "fragment", neighbour)),
}

COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*\*/\s*\Z") # the one at the end


def closing(text, at):
    depth = 0
    while True:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
        at += 1


def arguments(text):
    found, start, depth = [], 0, 0
    for at, c in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, "<": 0, ")": -1, "]": -1, "}": -1}.get(c, 0)
        if c == "," and depth == 0:
            found.append(text[start:at])
            start = at + 1
    return found + [text[start:]]


class Mutants:
    def __init__(self):
        self.all = []

    def add(self, file, line, kind, text):
        text = " ".join(text.split())
        before = sum(row[0] == file and row[2] == kind and row[3].split(" #")[0] == text for row in self.all)
        self.all.append((file, line, kind, text if before == 0 else f"{text} #{before + 1}"))
        return f"cuda_host_mutant({len(self.all)})"

    def call(self, file, line, name, inside):
        """A statement that is a call, with all that can be wrong about it."""
        args = arguments(inside)
        text = f"{name}({inside})"
        if name.startswith("cuda_mbarrier_wait") and len(args) == 2:
            args[1] = f" ({args[1].strip()}) ^ ({self.add(file, line, 'parity', text)} ? 1u : 0u)"
        if name == "cuda_mbarrier_init":
            args[1] = f" (unsigned)({args[1].strip()}) + ({self.add(file, line, 'count', text)} ? 1u : 0u)"
        if name == "cuda_mbarrier_expect":
            args[1] = f" (unsigned)({args[1].strip()}) + ({self.add(file, line, 'bytes', text)} ? 16u : 0u)"
        if re.fullmatch("tma_(?:load|load_to|load_3d|store)", name):
            col = -2 if name == "tma_load_to" else -1
            args[col] = f" ({args[col].strip()}) + ({self.add(file, line, 'place', text)} ? 8 : 0)"
        drop = self.add(file, line, "drop", text)
        return f"({drop} ? (void)0 : (void){name}({','.join(args)}))"

    def file(self, name, text):
        out, at = [], 0
        for found in STATEMENT.finditer(text):
            before = COMMENT.sub("", text[:found.start()][-600:]).rstrip()
            if found.start() < at or in_comment(text, found.start()):
                continue
            end = closing(text, found.end() - 1)
            if not text[end + 1:].lstrip().startswith(";") or not (before[-1] in ";{})" or before.endswith("else")):
                continue
            line = text.count("\n", 0, found.start()) + 1
            out += [text[at:found.start()], self.call(name, line, found.group()[:-1], text[found.end():end])]
            at = end + 1
        text = "".join(out + [text[at:]])
        text = self.empty(name, text)
        for pattern, kind, change in (
                (r"\bwgmma_matrix(?:_n_major)?\(", "shift", lambda a, m: [f"(uint32_t)({a[0].strip()}) + ({m} ? 32u : 0u)"] + a[1:]),
                (r"\bcuda_(?:bf16x2|e4m3x4)\(", "swap", lambda a, m: [f"{m} ? {a[1].strip()} : {a[0].strip()}", f"{m} ? {a[0].strip()} : {a[1].strip()}"] + a[2:])):
            text = self.expressions(name, text, re.compile(pattern), kind, change)
        for pattern, kind, change in (
                (r">> 4(?=\))", "shift", lambda f, m: f"{f.group()} ^ ({m} ? 2 : 0)"),
                (r"\b(?:attention_)?largest(?:<C>\(a, b\))?\[(\d)\]", "factor", lambda f, m: f"{f.group()[:-2]}({f.group(1)} + ({m} ? 1 : 0)) % 3]"),
                (r"\b(?:lane|cuda_lane\(\)|place|inside) (/|%) (?:2|4|16|part)\b", "fragment",
                 lambda f, m: f"(({f.group()}) ^ ({m} ? {2 if f.group().endswith('% 4') else 1} : 0))"),
                (LANE_MAPS, "fragment", lambda f, m: f"{f.group()} ^ ({m} ? 1 : 0)"),
                (r"\b(?:lane|cuda_lane\(\)) (?:/|%) 8\b|\(int\)threadIdx\.x (?:/|%) (?:PIECES|LANES)\b|"
                 r"\bcuda_warp\(\) (?:/|%) TILE::warps_n", "fragment", lambda f, m: f"(({f.group()}) ^ ({m} ? 1 : 0))"),
                (r"(?:\bgemm_next_stage<[^;()]*>\(\w+(?=\);)|\btile % 2(?= \* C::STAGE)|\bq % 2(?=\])|\.partial\[set(?=\]))", "stage", another_stage),
                (r"\(rank \+ 1(?= \+ i / )", "rank", lambda f, m: f"{f.group()} + ({m} ? 1 : 0)"),
                (r"\(int\)threadIdx\.x (?:/|%) (?:L::LANES|lanes)\b|\bcuda_warp\(\) (?:/|%) TILE::warps_n\b(?=\W+ \* TILE::w[mn];)|\bat\.lane\.(?:row|col)\b(?= \* pitch| \+ |\);)",
                 "fragment", lambda f, m: f"(({f.group()}) ^ ({m} ? 1 : 0))"),
                (r"(?<=\^ )(?:turned|place)(?=\];)|(?<=% 2 \+ )1(?=\];)", "fragment", lambda f, m: f"({f.group()} ^ ({m} ? 1 : 0))"),
                (r"(?<=f\[)(?:\(k \+ 1\)|k) % 2(?=\])", "stage", lambda f, m: f"(({f.group()}) ^ ({m} ? 1 : 0))"),
                (r"\(at \? at : TILE::stages\) - 1\b", "stage", lambda f, m: f"({f.group()} + ({m} ? 1 : 0)) % TILE::stages"),
                (r"(?<= == )\(unsigned\)(?:g\.split|pieces - 1)", "ticket", lambda f, m: f"{f.group()} - ({m} ? 1u : 0u)"),
                (r"(?:\*ticket|g\.tickets\[tile\])(?= = 0;)", "ticket", lambda f, m: f"{m} ? 0u : {f.group()}"),
                (r"\boffset(?= < CUDA_WARP;)", "exchange", lambda f, m: f"offset * ({m} ? 2 : 1)"),
                (r"(?<=L::GROUPS [<>]) end\b|(?<=L::GROUPS >=) end\b", "bound", lambda f, m: f" end + ({m} ? 1 : 0)"),
                (r"(?<=i \* THREADS <) width\b", "bound", lambda f, m: f" width + ({m} ? 1 : 0)"),
                (r"\boffset >= FROM\b", "exchange", lambda f, m: f"{f.group()} * ({m} ? 2 : 1)"),
                (r"\bif \(inside\(i\)(?=\))", "bound", lambda f, m: f"{f.group()} || {m}"),
                *OF_ONE_FILE.get(name, ())):
            text = self.tokens(name, text, pattern, kind, change)
        return text

    def empty(self, name, text):
        """Named barriers and register fences, which are asm statements of the kernel itself."""
        out, at = [], 0
        for found in re.finditer(r"cuda_host_asm\(\[\]\(\) -> const cuda_host_program & \{ static const cuda_host_program program\(", text):
            code = text[found.end():text.index(", ", found.end())]
            if not (code.startswith('"bar.') or code == '""'):
                continue
            end = closing(text, found.start() + len("cuda_host_asm"))
            line = text.count("\n", 0, found.start()) + 1
            drop = self.add(name, line, "drop", "asm " + code)
            out += [text[at:found.start()], f"({drop} ? (void)0 : (void){text[found.start():end + 1]})"]
            at = end + 1
        return "".join(out + [text[at:]])

    def expressions(self, name, text, pattern, kind, change):
        out, at = [], 0
        for found in pattern.finditer(text):
            if found.start() < at or in_comment(text, found.start()):
                continue
            end = closing(text, found.end() - 1)
            args = arguments(text[found.end():end])
            if re.match(r"(?:const )?(?:uint32_t|float|int|void) ", args[0].strip()):
                continue # it is defined here
            mutant = self.add(name, text.count("\n", 0, found.start()) + 1, kind, found.group() + text[found.end():end] + ")")
            out += [text[at:found.end()], ", ".join(change(args, mutant)), ")"]
            at = end + 1
        return "".join(out + [text[at:]])

    def tokens(self, name, text, pattern, kind, change):
        out, at = [], 0
        for found in re.finditer(pattern, text):
            if in_comment(text, found.start()):
                continue
            start = text.rfind("\n", 0, found.start()) + 1
            line = text[start:text.index("\n", start)].strip() if kind == "shift" else found.group()
            line = re.sub(r"\(cuda_host_mutant\(\d+\) \? \(void\)0 : \(void\)", "", line)
            mutant = self.add(name, text.count("\n", 0, found.start()) + 1, kind, line)
            out += [text[at:found.start()], change(found, mutant)]
            at = found.end()
        return "".join(out + [text[at:]])


def another_stage(found, mutant):
    text = found.group()
    if text.startswith("gemm_next_stage"):
        call, stage = text.split("(")
        return f"{call}({mutant} ? {call}({stage}) : {stage}"
    if text.startswith(".partial"):
        return f".partial[{mutant} ? 0 : set"
    return f"({text.split(' ')[0]} + ({mutant} ? 1 : 0)) % 2"


def in_comment(text, at):
    start = text.rfind("\n", 0, at) + 1
    return text.rfind("/*", 0, at) > text.rfind("*/", 0, at) or text[start:at].lstrip().startswith("#define")


def main(tree, listing, *files):
    mutants = Mutants()
    for name in files:
        path = pathlib.Path(tree) / name
        path.write_text('#include "mutant.h"\n#line 1\n' + mutants.file(name, path.read_text()))
    rows = (f"{n}\t{file}\t{line}\t{kind}\t{text}\n" for n, (file, line, kind, text) in enumerate(mutants.all, 1))
    pathlib.Path(listing).write_text("".join(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
