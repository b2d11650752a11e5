# shellcheck shell=bash
# The largest of the models: its head is named as the bottleneck with its share of the roof, the self
# times are the forward's, and a model's name alone stands for its benchmarks. S4-09, S0-28.

say "As it is typed: a leading part of the name"
"$HARNESS" profile 'gpt/tile-large' --model tile-large --batch 4 --seq 64 --device cpu:1 --launches 1 --iterations 3 \
  --seed 1 --no-store >out 2>err || cat err
grep -E '^gpt.*warm$' out
ls profile-gpt-tile-large

say "The prefill"
cp profile-gpt-tile-large/*prefill*/profile.json .
json profile.json bottlenecks by_self 0 operation
json profile.json bottlenecks by_self 0 roof | sed 's/of .*/of SOMETHING/'
fraction=$(json profile.json bottlenecks by_self 0 roof_fraction)
check "with a share of it" awk -v f="$fraction" 'BEGIN { exit !(f > 0 && f <= 1.5) }'
check "and its time" test "$(json profile.json bottlenecks by_self 0 self_ns)" -gt 0
json_length profile.json layers operations

# all_ns PATH...: the sum of a list of times
all_ns() {
  local sum=0 i
  for i in $(seq 0 $(($(json_length profile.json "$@") - 1))); do
    sum=$((sum + $(json profile.json "$@" "$i")))
  done
  echo $sum
}
whole=$(all_ns layers ns)
parts=0
for o in $(seq 0 $(($(json_length profile.json layers operations) - 1))); do
  parts=$((parts + $(all_ns layers operations "$o" self_ns)))
done
check "self times of the operations are the forward's within 2 %" \
  test $((100 * parts)) -ge $((98 * whole)) -a "$parts" -le "$whole"
