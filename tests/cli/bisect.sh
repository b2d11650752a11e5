# shellcheck shell=bash
# Which commit did it? A culprit in the middle of 16, one commit that does not build, and what is
# said where nothing can be named. U-05, U-06.

toy_repository
toy_commit seed=3 "Start"
git tag good
for i in 1 2 3 4 5 6 7 8; do toy_commit "seed=3,base=$((2000 + i))" "Change $i"; done
toy_commit "slow=1.1,only=4" "Copy four by four

It was meant to be faster."
git tag culprit
toy_commit "slow=1.1,only=4,sd=0" "Change 10"
toy_commit "" "Change 11: does not build"
for i in 12 13 14 15 16; do toy_commit "slow=1.1,only=4,base=$((1990 + i))" "Change $i"; done

# bisect ARG...: with little noise and always the same order and inputs.
bisect() {
  t bisect --build-command 'sh build.sh' --device "$FAKE" --seed 1 null/copy/right "$@" |
    grep -v '^2> block ' | sed -E 's/-[0-9a-f]{8}/-RECIPE/g'
}

say "The culprit is found"
bisect --good good
check "every comparison is kept, in two runs" \
  test "$("$HARNESS" history list | grep -c '  bisect ')" = 12
check "the verdicts, too" test "$("$HARNESS" history verdicts | wc -l)" = 6

say "Again, past a merge: what was built is used again"
git checkout -q -b side culprit~4
toy_commit seed=3 "On the side"
git checkout -q main
GIT_AUTHOR_DATE='2026-01-02 03:04:06Z' GIT_COMMITTER_DATE='2026-01-02 03:04:06Z' \
  git merge -q -s ours -m "Merge the side" side
bisect --good good --bad main --json -o found.json
json found.json result
json found.json culprit title
json found.json culprit author
json found.json commits
json found.json commits_by_merges
json found.json steps 0 answer
json_length found.json tracked
json found.json tracked 0 key
json found.json exit_status

say "The good commit came in by the merge's second parent"
bisect --good side --bad main --batch 4 --json -o merged.json
json merged.json result
json merged.json culprit title
json merged.json commits

say "The culprit itself does not build, nor the one before it"
git checkout -q -b gap good
for i in 1 2 3; do toy_commit "seed=3,base=$((2000 + i))" "Gap $i"; done
toy_commit "" "Gap 4: broken"
toy_commit "" "Gap 5: broken and slower"
for i in 6 7 8; do toy_commit "slow=1.1,only=4,base=$((2000 + i))" "Gap $i"; done
bisect --good good --batch 4

say "Nothing got slower"
bisect --good good --bad good
bisect --good good --bad culprit~1 --batch 4

say "Nothing can be told"
bisect --good good --bad culprit --batch 4 --blocks 2
bisect --good good --bad culprit --batch 4 --blocks 2 --delta p59=10% | grep note

say "Ends that do not build, or hang together wrongly"
bisect --good good --bad 'main^{/Change 11}'
bisect --good culprit --bad good
bisect --good main --bad gap
bisect
bisect --good nowhere
bisect --good good --confidence 30%
bisect --good good --metric cpu_mhz
bisect --good good --fdr 60%
bisect --good good -o file

say "It breaks instead"
git checkout -q -b broken good
toy_commit "seed=3,base=2001" "Fine"
toy_commit "seed=3,crash=4" "Crashes at four"
toy_commit "seed=3,crash=4,base=2001" "Still does"
bisect --good good

say "A commit that builds, and cannot be measured"
git checkout -q -b mute good
for i in 1 2 3; do toy_commit "seed=3,base=$((2000 + i))" "There $i"; done
toy_commit mute "Measures nothing"
for i in 5 6; do toy_commit "slow=1.2,base=$((2000 + i))" "There $i"; done
bisect --good good --batch 4
bisect --good good --batch 4 --bad mute~2
bisect --good good 'null/nothing'

say "An interrupt keeps what is built"
git checkout -q -b hanging good
toy_commit "seed=3,hang=4" "Hangs at four"
# The shell's parent is its guard, whose parent is the program.
# shellcheck disable=SC2016  # for the shell that builds
"$HARNESS" bisect --good good \
  --build-command 'sh build.sh; kill -INT $(cut -d" " -f4 /proc/$PPID/stat); sleep 9' \
  --device "$FAKE" null/copy/right --batch 4 >"$WORK.log/out" 2>"$WORK.log/err"
echo "[$?]"
cat "$WORK.log/err"
