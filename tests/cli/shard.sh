# shellcheck shell=bash
# Parts of a sweep make the whole: each benchmark once.

keys() {
  "$HARNESS" run null/copy/right --device fake --batch 1:7:+1 --seq 1:64:*2 --launches 1 \
    --iterations 1 --format csv "$@" 2>/dev/null | sed -n 's/.*"\(null[^"]*\)".*/\1/p' | sort
}
keys >whole
for i in 1 2 3 4; do
  keys --shard $i/4 >part$i
  echo "part $i has $(wc -l <part$i)"
done
check "the parts make the whole" cmp whole <(sort part?)
check "no benchmark is twice" test -z "$(sort part? | uniq -d)"
check "the whole is all 49" test "$(wc -l <whole)" -eq 49
