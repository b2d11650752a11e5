# shellcheck shell=bash
# CUDA on the host layer, with the faults that a GPU can have. Features: U-02.
"$HARNESS" list devices | grep -q 'CUDA host layer' || {
  echo "not a build with HARNESS_CUDA=HOST"
  exit 77
}

# What depends on the source's lines and on rounding.
steady() { sed -E -e 's/\.cu:[0-9]+/.cu:N/g' -e 's/ error [0-9].*//' -e 's/ +$//'; }
gelu() { t verify pointwise/gelu/cuda --test-shapes --seed 1 "$@" | steady; }

say Devices that are not there
export CUDA_HOST=devices=0
gelu --device cuda
CUDA_HOST=driver=12040 gelu --device cuda
CUDA_HOST=capability=7.5 gelu --device cuda
CUDA_HOST=devices=1 gelu --device cuda:9
CUDA_HOST=devices=2 gelu --device cuda:9,graph
unset CUDA_HOST

say A device that is busy
CUDA_HOST=fail=cudaSetDevice:1:46 gelu --device cuda

say Stream and graph compute the same
gelu --device cuda
gelu --device cuda:graph

say A fault costs its case, and the rest goes on in a new process
CUDA_HOST=fail=launch:4:700 gelu --device cuda --isolate
CUDA_HOST=fail=launch:4:719 gelu --device cuda:graph --isolate

say Not so within one process
CUDA_HOST=fail=launch:8:700 gelu --device cuda

say Parameters of a device that was not asked for
t tune gemm/nn/cuda_simt
t tune attention/causal
t tune pointwise/bias

say Memory that does not suffice
CUDA_HOST=memory=64K gelu --device cuda
CUDA_HOST=fail=cudaMalloc:2:2 gelu --device cuda

say "Tiles race, and --tuned takes the winner"
small=(--batch 1 --seq 16 --dim n=24 --dim k=64)
race=(tune gemm/nt/cuda_simt "${small[@]}" --param 'tile=1,2,3' --param 'split=1,8' --rounds 2 --seed 1)
t "${race[@]}"
"$HARNESS" "${race[@]}" --device cuda --json >tuned.json 2>err || [ $? -eq 77 ] || cat err
sed -nE 's/^\t\t\t"(key|kept|code)":[[:space:]]*(.*[^,]),?$/\1 \2/p
  s/^\t\t\t\t\t"(setting|outcome|message)":[[:space:]]*(.*[^,]),?$/  \1 \2/p' tuned.json
of_tile() { steady | sed -E 's/tile=[123]/tile=T/; s/[0-9]{4}-..-../DAY/; s/, not decided//'; }
t verify gemm/nt/cuda_simt "${small[@]}" --device cuda --seed 1 --tuned | of_tile
"$HARNESS" run gemm/nt/cuda_simt "${small[@]}" --device cuda --tuned --launches 1 --iterations 3 --format csv 2>err |
  sed -nE 's/^.*"?(gemm[^"]*\/warm)"?,.*(OK|WRONG|FAILED).*/\2 \1/p' | of_tile
t verify gemm/nt/cuda_simt "${small[@]}" --dim k=72 --device cuda --tuned
# 0 is what each one's plan chooses, to be raced against the others.
t verify gemm/nt/cuda_simt "${small[@]}" --device cuda --seed 1 --param tile=0 --param split=0 | steady
t verify attention/causal/cuda_flash --batch 1 --seq 5 --dim heads=2 --dim headdim=16 --device cuda --seed 1 --param tile=0 | steady
t verify attention/decode/cuda_decode --batch 1 --seq 5 --dim heads=2 --dim headdim=16 --device cuda --seed 1 --param pieces=0 | steady
t verify layernorm/plain/cuda_rows --batch 1 --seq 5 --dim width=64 --device cuda --seed 1 --param way=0 | steady
"$HARNESS" judge --spec gemm/nt --variant cuda_simt "${small[@]}" --device cuda --tuned --against cuda_naive --rounds 1 \
  --iterations 3 --other-shapes 1 >out 2>err || cat err
head -n 2 out | of_tile
