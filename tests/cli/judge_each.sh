# shellcheck shell=bash
# Variants of this tree, judged: `./variants` lists them. Sourced by tests, after lib.sh; they set
# `kernel`, which these functions are about, and `judged`, the kind of device, if that is not the CPU.
# shellcheck disable=SC2154
judged=${judged:-cpu}
case $judged in
  cpu) quick=(--rounds 1 --iterations 2 --other-shapes 1 --device cpu:1) ;;
  *) quick=(--rounds 1 --iterations 3 --other-shapes 1 --device "$judged") ;;
esac
# "KERNEL VARIANT own|vendor|peer", of that device.
"$HARNESS" list variants --json >list.json
awk -F'"' -v judged="$judged" '
  $2 == "name" { at = match($4, "/[^/]*$"); kernel = substr($4, 1, at - 1); variant = substr($4, at + 1) }
  $2 == "device" { device = $4 }
  $2 == "vendor" { whose = /true/ ? "vendor" : "own" }
  $2 == "peer" && /true/ { whose = "peer" }
  $2 == "built" && /true/ && device == judged { print kernel, variant, whose }' list.json >variants
# another_each_day WORD...: one of them.
another_each_day() {
  local day=$(($(date +%s) / 86400))
  shift $((day % $#))
  echo "$1"
}
# of_kernel [WHOSE]: its variants.
of_kernel() {
  awk -v k="$kernel" -v w="${1:-}" '$1 == k && (w == "" || $3 == w) { print $2 }' variants
}
is_valid() {
  grep -qE "^$kernel/$1/[a-z0-9]+: VALID" out
}
# valid: of those that it is given.
valid() {
  local variant
  while read -r variant; do
    ! is_valid "$variant" || echo "$variant"
  done
}
# verdict VARIANT: its lines.
verdict() {
  awk -v name="$kernel/$1/" '/^[a-z]/ { on = index($0, name) == 1 } on' out
}
# Whose verdict is another one, or is missing: in full, unless it is not here.
tell_refused() {
  local variant why
  while read -r variant; do
    ! is_valid "$variant" || continue
    why=$(verdict "$variant" | sed -nE '/UNSUPPORTED: .*(not installed|has no module|cannot be loaded|cannot open)/{s/.*UNSUPPORTED: //p;q}')
    if [ -n "$why" ]; then
      echo "skipped: $kernel/$variant: $why"
    else
      echo "NOT VALID: $kernel/$variant"
      verdict "$variant"
    fi
  done
}
# operation_dims: sizes of a few ms; nothing for what is no operation.
operation_dims() {
  case $kernel in
    gemm/*) echo batch=1,seq=9,n=33,k=40 ;;
    attention/*) echo batch=1,seq=19,heads=2,headdim=16 ;;
    layernorm/* | pointwise/*) echo batch=2,seq=9,width=48 ;;
    embedding/*) echo batch=2,seq=9,width=48,vocab=100 ;;
    gpt/* | scope/*) ;; # judge_model.sh; the cost of scopes
    *) echo sizes=missing ;; # which is an error that shows
  esac
}
# judge VARIANT,... DIMS
judge() {
  "$HARNESS" judge --spec "$kernel" --variant "$1" --dim "$2" "${quick[@]}" >out 2>err || true
  ! grep seccomp err || skip "the kernel has no seccomp"
  cat err
}
# judge_all VARIANT-LIST DIMS: prints those of our own that are valid, and the rest in full.
judge_all() {
  judge "$(paste -sd, <<<"$1")" "$2"
  echo "$kernel $(grep -xFf <(of_kernel own) <<<"$1" | valid | paste -sd' ')"
  tell_refused <<<"$1"
}
