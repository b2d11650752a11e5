# shellcheck shell=bash
# HARNESS_* variables with nonsense: refused with the name and what it may be, or said where they
# matter; the same table in the program, its manual page, the documentation and the code. U-11.
docs=$CLI/../../docs/environment.md

say "Nonsense is refused by each command"
for command in list run verify judge profile compare bisect baseline history import export trend detect \
  plot report serve roofline model selftest doctor; do
  status=0
  HARNESS_ISA=nonsense "$HARNESS" $command >out 2>err || status=$?
  check "$command refuses it" test $status -eq 2
  grep -q '^harness: HARNESS_ISA is .nonsense.: .*; it may be portable, avx2, avx512, avx512_vnni, avx512_bf16 or avx512_amx$' err || cat err
done
for setting in HARNESS_ISA=nonsense HARNESS_ISA=avx-512 HARNESS_FAKE=nonsense HARNESS_FAKE=base=x \
  HARNESS_SWEEP=$'a\nb' HARNESS_SWEEP=$'a\e[31mb' HARNESS_SWEEP=$'a\xe2\x80\xaeb' HARNESS_SWEEP=$'a\xff' \
  "HARNESS_SWEEP=$(printf '%0201d' 0)"; do
  status=0
  env "$setting" "$HARNESS" history list >out 2>err || status=$?
  cut -c1-120 err
  check "${setting%%=*}: one line, status 2" test "$status-$(wc -l <err)" = 2-1
done
knock_checks "a variable HARNESS_* with nonsense, each command" "status 2 with its name and what it may be"

say "Help and version are always there"
HARNESS_ISA=nonsense quiet help
HARNESS_ISA=nonsense quiet version
HARNESS_ISA=nonsense quiet help environment

say "An empty one is as none"
for name in $("$HARNESS" help environment | sed -n 's/^  \(HARNESS_[A-Z_]*\)=.*/\1/p'); do
  env "$name=" "$HARNESS" list machines >out 2>err || echo "$name: status $?"
  [ ! -s err ] || sed "s/^/$name: /" err
done
HARNESS_ISA='' quiet verify pointwise/gelu/simd --test-shapes --seed 1

say "Slips are told, other names are not"
for name in HARNESS_IAS HARNESS_ISAS HARNESS_D HARNESS_TOKN HARNESS_SEED HARNESS_OUT HARNESS_CI; do
  echo "$name: $(env "$name=x" "$HARNESS" list machines 2>&1 >out)"
done

say "A file that is none"
HARNESS_DB=$WORK t history list
HARNESS_DB=/dev/null t history list
HARNESS_DB=/nonexistent/folder/h.db t history list
HARNESS_OPENBLAS=/dev/null t verify gemm/nt/openblas --batch 1 --seq 5 --device cpu:1 |
  grep -c '^UNSUPPORTED .*HARNESS_OPENBLAS: /dev/null'

say "One table"
printed() {
  "$HARNESS" help environment | sed -nE 's/^  (HARNESS_[A-Z_]+)=(.*)/\1 | \2/p; s/^      read by (.*)/\1/p; s/^      (.*)/\1/p'
}
printed >program
tr -d '`' <"$docs" | sed -nE 's/^\| (HARNESS_[A-Z_]+) \| (.*) \| (.*) \| (.*) \|$/\1 | \2\n\3\n\4/p' >page
check "the page has what the program prints" cmp <(tr -d '`' <program) page
names=$(sed -nE 's/^(HARNESS_[A-Z_]+) .*/\1/p' program)
check "there are some" test "$(wc -w <<<"$names")" -gt 15
for name in $names; do
  "$HARNESS" help --man | grep -q "$name" || echo "not on the manual page: $name"
done
# What the sources read.
cd "$CLI/../.." || exit 1
{
  grep -rhoE '(getenv\(|variable = )"HARNESS_[A-Z_]+"' harness kernels models | grep -oE 'HARNESS_[A-Z_]+'
  grep -rhoE '(^|[^\\])\$\{?HARNESS_[A-Z]+(_[A-Z]+)*' ci --include='*.sh' --exclude=test.sh | grep -oE 'HARNESS_[A-Z_]+'
} | sort -u >"$WORK/read"
while read -r name; do
  grep -qw "$name" <<<"$names" || echo "read, but not in the table: $name"
done <"$WORK/read"
check "the sources read some" test "$(wc -l <"$WORK/read")" -gt 12
