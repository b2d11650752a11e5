# shellcheck shell=bash
# Logits and tokens by CUDA kernels, on the host layer. Features: U-02, U-03.
"$HARNESS" list devices | grep -q 'CUDA host layer' || {
  echo "not a build with HARNESS_CUDA=HOST"
  exit 77
}

# What depends on the source's lines.
steady() { sed -E 's/\.cu:[0-9]+/.cu:N/g'; }

# near A B TOLERANCE: the same header, and no float is further off than that share of their rms.
near() {
  cmp -n 128 "$1" "$2" &&
    paste <(floats "$1") <(floats "$2") | awk -v most="$3" '
      NF != 2 || $1 + 0 != $1 || $2 + 0 != $2 { bad = 1; exit }
      { off = $1 - $2; off = off < 0 ? -off : off; if (off > worst) worst = off; sum += $1 * $1 }
      END { exit bad || !NR || worst > most * sqrt(sum / NR) }'
}
floats() { od -An -v -tf4 -w4 -j128 "$1"; }

say Logits
echo '[[1, 2, 3, 4, 5], [50256, 0, 7, 7, 9]]' >batch.json
quiet model logits --model nano --tokens batch.json -o host.npy
for backend in cuda_fp32 cuda_bf16 cuda_cluster_bf16; do
  t model logits --model nano --tokens batch.json -o $backend.npy --backend $backend
done
quiet model logits --model nano --tokens batch.json -o graph.npy --backend cuda_fp32 --device cuda:0,graph
# Twice the tolerances of models/gpt.c: each of the two may be off by one.
check "cuda_fp32 computes what the host does" near host.npy cuda_fp32.npy 1.5e-5
check "a graph too" cmp cuda_fp32.npy graph.npy
check "cuda_bf16 does, less exactly" near host.npy cuda_bf16.npy 0.06
check "that is another type" not near host.npy cuda_bf16.npy 1.5e-5
check "cuda_cluster_bf16 does" near host.npy cuda_cluster_bf16.npy 0.06
quiet model export --model nano --seed 7 -o w.safetensors
quiet model logits --model nano --weights w.safetensors --tokens batch.json -o host.npy
quiet model logits --model nano --weights w.safetensors --tokens batch.json -o cuda.npy --backend cuda_fp32
check "with weights of a file" near host.npy cuda.npy 1.5e-5
check "which are others" not near cuda_fp32.npy cuda.npy 0.06

say Tokens
echo '[1, 2, 3]' >few.json
echo "[$(seq -s, 1 126)]" >many.json
both() {
  "$HARNESS" model generate --model nano "$@" >host
  "$HARNESS" model generate --model nano --backend cuda_fp32 "$@" >cuda
  cmp host cuda
}
check "the host's tokens" both --tokens few.json --length 4
check "beyond the block of 128, too" both --tokens many.json --length 5
check "drawn by chance" both --tokens few.json --length 2 --temperature 1 --top-k 50 --seed 3
"$HARNESS" model generate --model nano --tokens few.json -n 2 --backend cuda_cluster_bf16 >cluster
check "by the cluster kernel" grep -qE '^\[[0-9]+, [0-9]+\]$' cluster

# New variants, and a build without OpenBLAS, change the list.
cut_list() { sed -E 's/(there are:).*( cuda_bf16( \(cuda\))?,| plain,).*/\1 ...\2 .../'; }

say What cannot be, before anything is computed
generate() { t model generate --model nano --tokens few.json "$@" | steady; }
generate --backend cuda_cluster_bf16 --length 63
t model logits --model gpt2 --tokens batch.json -o x.npy --backend cuda_cluster_bf16
generate --backend cuda_fp32 --device cuda:9
CUDA_HOST=devices=0 generate --backend cuda_fp32
generate --backend cuda_fp32 --device cpu | cut_list
generate --device cuda | cut_list
generate --backend cuda_fp32 --threads 2
generate --backend cuda_fp33 | cut_list
CUDA_HOST=fail=cudaSetDevice:1:46 generate --backend cuda_fp32
check "no logits were written" test ! -e x.npy

say What fails under way
CUDA_HOST=memory=16M generate --backend cuda_fp32
CUDA_HOST=fail=launch:30:700 generate --backend cuda_fp32
