# shellcheck shell=bash
# Weights that are cut off or lie about their sizes are refused with a reason. The issue's "Bad
# input".

echo '[1, 2, 3]' >t.json
quiet model export --model nano --seed 7 -o good.safetensors
try() { t model logits --weights "$1" --model "${2:-nano}" --tokens t.json -o l.npy; }

say "Cut off"
for size in 0 5 8 1000 100000; do
  head -c $size good.safetensors >short.safetensors
  try short.safetensors
done
head -c -1 good.safetensors >short.safetensors
try short.safetensors

say "Longer than it should be"
cp good.safetensors long.safetensors
echo >>long.safetensors
try long.safetensors

# file HEADER DATA-BYTES
file() {
  printf '%b' "$(printf '\\x%02x' $((${#1} & 255)) $((${#1} >> 8 & 255)))\0\0\0\0\0\0" >f.safetensors
  printf '%s' "$1" >>f.safetensors
  head -c "$2" /dev/zero >>f.safetensors
}
lie() {
  file "$@"
  try f.safetensors
}
say "Lies"
printf '\xff\xff\xff\xff\xff\xff\xff\x7f{}' >f.safetensors
try f.safetensors
lie 'not JSON' 10
lie '[]' 0
lie '{}' 0
lie '{"wte.weight":{"dtype":"F32","shape":[50257,48],"data_offsets":[0,9649344]}}' 1000
lie '{"wte.weight":{"dtype":"F32","shape":[50257,48],"data_offsets":[0,1000]}}' 1000
lie '{"wte.weight":{"dtype":"F32","shape":[50257,48],"data_offsets":[8,0]}}' 1000
lie '{"wte.weight":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}' 0
lie '{"wte.weight":{"dtype":"F32","shape":[-1,48],"data_offsets":[0,0]}}' 0
lie '{"wte.weight":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}' 4
lie '{"wte.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"wpe.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' 8

say "Of another model, or none"
try good.safetensors micro
try none.safetensors
check "no logits were written" test ! -e l.npy
