# shellcheck shell=bash
# What the history says: steps, when, between which commits; and the exit status. U-06, U-07, U-11,
# S0-29.

# night SETTINGS: one nightly run of the fake device.
night() { fake "$1" --launches 1 --batch 4,5,6,7 --seq 8; }

# Dates and commits are not the same twice, and a clean tree has other reasons than a dirty one.
plain() {
  t "$@" | sed -E 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}/DATE/g
    s/between [0-9a-f]{7}[+]? \(DATE\) and [0-9a-f]{7}[+]? \(DATE\)/between COMMIT (DATE) and COMMIT (DATE)/
    /^  (the same commit on both sides|no search for the commit: .*)$/d'
}

for i in $(seq 1 9); do night "seed=7$i,sd=0.004"; done
t trend
for i in $(seq 10 16); do night "seed=7$i,sd=0.004"; done
plain trend

say "One of four is slower by a tenth from then on"
for i in $(seq 17 30); do night "seed=7$i,sd=0.004,slow=1.10,only=4"; done
plain trend
"$HARNESS" trend --format markdown >trend.md
head -5 trend.md
echo "cards in Markdown: $(grep -c '^- \*\*▲' trend.md)"
t trend --json -o trend.json
for key in metric family exit_status; do echo "$key: $(json trend.json $key)"; done
for key in steps standing drifts quiet short; do echo "$key: $(json trend.json counts $key)"; done
for key in key points index worse state; do echo "$key: $(json trend.json steps 0 $key)"; done
echo "the last good run: $(json trend.json steps 0 good run)," \
  "the first bad one: $(json trend.json steps 0 bad run)"

say "What is shown, and of which runs"
plain trend 'null/copy/right/*/batch=4,*' --all
plain trend 'null/copy/right/*/batch=4,*' --alone
t trend --alone
t trend nothing
t trend --last 12
t trend --since 2020-01-01 --metric gflops --delta 20%
t trend --since 2999-12-31
t trend --machine elsewhere
t trend --since yesterday
t trend --since 2026-02-31
t trend --since 2026-01-01 --last 3
t trend --metric steal_percent
t trend --format yaml

say "Runs of self-tests are no history"
fake seed=31,slow=3 --launches 1 --batch 4,5,6,7 --seq 8 --label selftest
change .harness/history.db "UPDATE run SET kind = 'trial' WHERE label = 'selftest'"
t trend --json -o again.json
echo "points: $(json again.json steps 0 points)"

say "It went back"
for i in $(seq 32 45); do night "seed=$i,sd=0.004"; done
t trend --json -o back.json
echo "steps: $(json back.json counts steps)," \
  "the older one went back at run $(json back.json steps 1 back run)," \
  "which is the first good one after $(json back.json steps 0 good run)"

say "The environment changed with it"
export HARNESS_DB=$PWD/other.db
for i in $(seq 1 15); do OPENBLAS_NUM_THREADS=1 night "seed=$i,sd=0.004"; done
for i in $(seq 16 30); do OPENBLAS_NUM_THREADS=2 night "seed=$i,sd=0.004,slow=1.10,only=4"; done
t trend --json -o other.json
json other.json counts steps
json other.json steps 0 surroundings

say "A change that is meant to be"
export HARNESS_DB=$PWD/third.db
for i in $(seq 1 12); do night "seed=$i,sd=0.004"; done
fake seed=13,sd=0.004 --launches 5 --batch 4,5,6,7 --seq 8 --label before
fake seed=14,sd=0.004,slow=1.10,only=4 --launches 5 --batch 4,5,6,7 --seq 8 --label after
for i in $(seq 15 28); do night "seed=$i,sd=0.004,slow=1.10,only=4"; done
t trend --json -o meant.json
key=$(json meant.json steps 0 key)
quiet baseline accept "$key" --reason 'seen by nights alone'
"$HARNESS" trend --json -o alone.json
check "without any verdict" test "$(json alone.json steps 0 accepted)" = 'seen by nights alone'
"$HARNESS" baseline accepted --json >accepted.json
check "it is of the run that has all of it" \
  test "$(json accepted.json 0 seen_ms)" = "$(json alone.json steps 0 bad time_ms)"
quiet baseline unaccept 1
"$HARNESS" compare --baseline before --head after >compare.txt
quiet baseline accept "$key" --reason 'larger tables, fewer misses'
"$HARNESS" baseline accepted --json >accepted.json
check "a verdict and a step of the same change are one" test "$(json_length accepted.json)" = 1
t trend --json -o meant.json
json meant.json steps 0 accepted
check "the card says so" test "$(json meant.json cards 0 rank)" = accepted
check "and asks for no search" test "$(grep -c '"command":' meant.json)" = 0
check "who accepted it, and when" grep -q ": larger tables, fewer misses" <("$HARNESS" trend)

say "What was written about runs"
echo "annotations before: $(json_length meant.json annotations)"
bad=$(json meant.json steps 0 bad run)
quiet history annotate "$bad" 'new BIOS | and a fan'
quiet history annotate 3 'set up'
"$HARNESS" trend >annotated.txt
grep -o 'annotated: .*' annotated.txt
sed -nE "s/^20[0-9-]+ +($bad)  [0-9a-f]* +/the bad run: /p; s/^20[0-9-]+ +3  [0-9a-f]* +/run 3: /p" annotated.txt
t trend --json -o noted.json
check "JSON tells them at their runs" \
  test "$(json noted.json annotations 0 at run) $(json noted.json annotations 1 text)" = "$bad set up"

say "The command on a card works as it stands"
toy_repository
git remote add origin git@forge.example:owner/name.git
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(toy NONE)
add_custom_target(harness COMMAND "${CMAKE_COMMAND}" -E env "BUILD=${CMAKE_BINARY_DIR}" sh build.sh
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
END
git add CMakeLists.txt
toy_commit seed=3,sd=0.004 "Start"
good=$(git rev-parse HEAD)
toy_commit seed=4,sd=0.004 "Nothing"
toy_commit seed=5,sd=0.004,slow=1.10,only=4 "Copy four by four"
toy_commit seed=6,sd=0.004,slow=1.10,only=4 "Nothing again"
bad=$(git rev-parse HEAD)
export HARNESS_DB=$PWD/.harness/history.db
# toy_night SETTINGS: as the build of a commit would measure.
toy_night() {
  HARNESS_FAKE=$1 quiet run null/copy/right --device fake:base=2000 --seed 1 --iterations 20 \
    --launches 1 --batch 4,5 --seq 8
}
for i in $(seq 1 12); do toy_night "seed=$i,sd=0.004"; done
for i in $(seq 13 24); do toy_night "seed=$i,sd=0.004,slow=1.10,only=4"; done
# of_commit HASH RUNS: what was measured becomes a commit's.
of_commit() {
  change "$HARNESS_DB" "INSERT INTO build (version, commit_hash, branch, dirty, compiler, flags, build_type)
    SELECT version, '$1', 'main', 0, compiler, flags, build_type FROM build ORDER BY id LIMIT 1;
    UPDATE run SET build = (SELECT max(id) FROM build) WHERE $2;"
}
of_commit "$good" 'id <= 12'
of_commit "$bad" 'id > 12'
t trend --json -o card.json
check "the forge's page of the commit" test "$(json card.json steps 0 bad address)" = \
  "https://forge.example/owner/name/commit/$bad"
command=$(json card.json cards 0 command)
echo "$command" | sed -E "s/[0-9a-f]{12}/COMMIT/g; s/fake:[^ ']*/FAKE/"
eval "${command/#harness/$HARNESS}" >found.txt 2>progress.txt
echo "status: $?"
grep -o 'Copy four by four' found.txt | head -1
