# shellcheck shell=bash
# Sizes, weights and logits for checking elsewhere, and generation. U-03, S0-01; design section 8.

t model
t model info --model nano
t model info --model nanno
t model list --json --model nano
check "--json lists them all" test "$("$HARNESS" model --json | grep -c '"flops_per_token"')" -eq \
  "$("$HARNESS" model | sed -n '2,/^$/p' | grep -c .)"
t model generate --json
for option in weights=w seed=1 tokens=t output=o backend=simd device=cpu threads=1 length=1 temperature=1 top-k=1; do
  t model info "--$option"
done

say "Weights"
t model export --model nano --seed 7 -o w.safetensors
header=$(od -An -tu8 -N8 w.safetensors | tr -d ' ')
head -c $((8 + header)) w.safetensors | tail -c "$header" >header.json
for name in wte.weight wpe.weight h.0.attn.c_attn.weight h.2.mlp.c_proj.bias ln_f.bias; do
  echo "$name $(json header.json $name dtype) $(json header.json $name shape | tr -d ' \n')"
done
check "its size is what the header says" test "$(stat -c %s w.safetensors)" -eq \
  $((8 + header + $(sed 's/.*"data_offsets": *\[[0-9]*, *\([0-9]*\)\].*/\1/' \
    <(grep -oE '"data_offsets": ?\[[0-9]+, ?[0-9]+\]' header.json | sort -t, -k2 -n | tail -1 |
      sed 's/^/x/')) ))
"$HARNESS" model export --model nano --seed 7 -o again.safetensors >/dev/null
"$HARNESS" model export --model nano --seed 8 -o other.safetensors >/dev/null
check "the same seed gives the same weights" cmp w.safetensors again.safetensors
check "another seed gives others" not cmp w.safetensors other.safetensors
for name in - /dev/stdout; do
  "$HARNESS" model export --model nano --seed 7 -o "$name" >again.safetensors
  check "standard output ($name) gets them alone" cmp w.safetensors again.safetensors
done

say "Logits"
echo '[[1, 2, 3], [50256, 0, 7]]' >t.json
t model logits --weights w.safetensors --model nano --tokens t.json -o l.npy
head -c 128 l.npy | tr -d '\000-\037\200-\377' | sed 's/ *$//'
echo
check "the file has a header and 2 x 3 x 50257 floats" \
  test "$(stat -c %s l.npy)" -eq $((128 + 4 * 2 * 3 * 50257))
"$HARNESS" model logits --model nano --seed 7 --tokens t.json -o seeded.npy >/dev/null
check "exported weights give what the seed gives" cmp l.npy seeded.npy
"$HARNESS" model logits --model nano --seed 7 --tokens t.json -o - >seeded.npy
check "standard output gets them alone" cmp l.npy seeded.npy
echo '[1, 2, 3]' >one.json
t model logits --model nano --tokens one.json -o one.npy
head -c 128 one.npy | tr -d '\000-\037\200-\377' | sed 's/ *$//'
echo

say "Agreement"
t model agree --model nano --seed 7
# agreed BACKEND PERCENT: of 1,000 tokens at least so many have the largest logit of fp32.
agreed() {
  "$HARNESS" model agree --model nano --seed 7 --backend "$1" --json >agreement.json
  test "$(json agreement.json agreement same)" -ge $((10 * $2))
}
check "nano in int8 has 97 % of fp32's largest logits" agreed simd_int8 97
check "which is what rounding the weights costs, to a token or two" test \
  "$(($(json agreement.json agreement same) - $(json agreement.json rounded_weights same)))" -ge -2
check "nano in bf16 99 %" agreed simd_bf16 99
t model agree --model nano --tokens one.json --backend simd --json

say "Generation"
"$HARNESS" model generate --model nano --seed 7 --tokens one.json --length 5 >a
"$HARNESS" model generate --weights w.safetensors --model nano --tokens one.json -n 5 --device cpu:1 >b
check "five tokens" grep -qE '^\[[0-9]+(, [0-9]+){4}\]$' a
check "weights from a file give the same tokens" cmp a b
"$HARNESS" model generate --model nano --tokens one.json -n 5 --temperature 1 --top-k 50 --seed 3 >a
"$HARNESS" model generate --model nano --tokens one.json -n 5 --temperature 1 --top-k 50 --seed 3 >b
check "sampling repeats with its seed" cmp a b

"$HARNESS" model generate --model nano --tokens one.json -n 140 >a
check "it goes on beyond the block of 128" test "$(grep -o '[0-9][0-9]*' a | wc -l)" -eq 140

say "Mistakes"
t model logits --model nano --tokens t.json
t model logits --model nano -o l.npy
t model logits --tokens t.json -o l.npy
t_cut model logits --model nano --tokens t.json -o l.npy --backend cudnn
t_cut model generate --model nano --tokens one.json --backend simdd
t model generate --model nano --tokens one.json --device process
t model generate --model nano --tokens one.json --device tpu
t model generate --model nano --tokens one.json --device cpu:1 --threads 2
t model generate --model nano --tokens t.json
t model generate --model nanno --tokens one.json
t model logits --model nano --tokens one.json -o /dev/full
t model show
t model info nano
bad_tokens() {
  printf '%s' "$1" >t.json
  t model logits --model nano --tokens t.json -o bad.npy
}
bad_tokens '[1, 50257]'
bad_tokens '[1, -1]'
bad_tokens '[1, 1.5]'
bad_tokens '[]'
bad_tokens '[[]]'
bad_tokens '[[1], [1, 2]]'
bad_tokens '[1, "two"]'
bad_tokens '{"tokens": [1]}'
bad_tokens '[1,'
bad_tokens "[$(seq -s, 1 129)]"
check "no logits of bad tokens" test ! -e bad.npy
