# shellcheck shell=bash
# The comment of a pull request and JUnit XML: what they say, that the format leaves the exit status
# alone, and pictures of trends. U-07, S0-15, S0-18, S0-19.

# Without dates, and without what differs from one machine and build to another.
facts() {
  sed -E -e 's/( runs?(, the newest)? of )[0-9-]+ [0-9:]+Z, .*/\1TIME .../' \
    -e 's/, commit [0-9a-f]+( with uncommitted changes)?\. /. /g'
}

for i in $(seq 1 6); do fake "seed=$i,sd=0.004" --launches 3 --batch 1,2,3; done
fake seed=7,sd=0.004 --launches 5 --batch 1,2,3
quiet baseline save main
fake seed=8,sd=0.004,slow=1.10,only=2 --launches 5 --batch 1,2,3 --label slow

say "Something got slower"
status=0
"$HARNESS" compare --baseline main --format github --link-report https://example.org/report.html \
  -o slow.md || status=$?
echo "exit status $status"
facts <slow.md
check "it ends with a newline" test -z "$(tail -c 1 slow.md)"

say "Nothing did, and what is asked for is in the command"
t compare --baseline 6 --head 7 --format github --comment-id 'a b' --metric p50 \
  --delta 'null/*=5%' 'null/*/batch=2,*' 2>&1 | facts

say "Of two commits: measured again, and searched"
# commit FILE RUN COMMIT: the run as a file, as if it were of that commit.
commit() {
  "$HARNESS" history show "$2" |
    sed -E -e 's/"build":\s*\{/&"commit":"'"$3"'","dirty":false,/' >"$1"
}
commit old.json 7 1111111111111111111111111111111111111111
commit new.json 8 2222222222222222222222222222222222222222
"$HARNESS" compare --baseline ./old.json --head ./new.json --format github --no-record |
  sed -n '/^The same on/,$p'

say "Nothing to compare with"
class=$("$HARNESS" list machines | sed -n '2s/^  \([^ ]*\) .*/\1/p')
"$HARNESS" history show 1 | sed "s/\"$class\"/\"elsewhere\"/" >elsewhere.json
t compare --baseline main --head ./elsewhere.json --format github --comment-id x

say "JUnit"
t compare --baseline main --format junit -o slow.xml
head -3 slow.xml | sed -E 's/(hostname|timestamp)="[^"]*"/\1=""/g'
grep -E '<(testcase|failure)' slow.xml | sed -E 's/ time="0\.00000[0-9]+"/ time=""/'
tail -2 slow.xml
if command -v xmllint >/dev/null; then
  xmllint --noout slow.xml || echo "NO: xmllint takes it"
fi

say "Formats and their options"
t compare --baseline main --format yaml
t compare --baseline main --format text --link-plots https://example.org
t compare --baseline main --format github --image-base https://example.org
t compare --baseline main --format github --link-report javascript:x
check "--json is --format json" cmp <("$HARNESS" compare --baseline main --no-record --json) \
  <("$HARNESS" compare --baseline main --no-record --format json)

say "Pictures of what changed"
pictures=("what changed, and each trend of it" "it is a PNG" "the comment shows both"
  "what did not change has no trend" "only with --image-base they are shown")
if command -v gnuplot >/dev/null; then
  quiet compare --baseline 7 --head 7 --format github --images none --comment-id 'a/../b'
  "$HARNESS" compare --baseline main --format github --images trends \
    --image-base https://example.org/raw/ -o pictures.md
  "$HARNESS" compare --baseline main --format github --images trends -o bare.md
  # pngs FOLDER: without what tells equal names apart.
  pngs() { find "$1" -name '*.png' -printf '%f\n' | sed 's/-[0-9a-f]*\.png$//' | sort | paste -sd ' '; }
  check "${pictures[0]}" test "$(pngs trends)" = \
    "overview-slow trend-null-copy-right-fp32-batch-2-seq-16-fake-warm"
  check "${pictures[1]}" test "$(head -c 4 trends/trend-*.png | tail -c 3)" = PNG
  shown() {
    for name in trends/*.png; do
      grep -qF "](https://example.org/raw/${name#*/})" pictures.md || return 1
    done
  }
  check "${pictures[2]}" shown
  check "${pictures[3]}" test "$(pngs none)" = overview-a-b
  check "${pictures[4]}" not grep -q '!\[' bare.md
else
  printf 'yes: %s\n' "${pictures[@]}" # gnuplot is not installed: nothing to look at
fi
