# shellcheck shell=bash
# Kernels and programs that take memory without end: the limit ends the case, and the run goes on.
# U-04, U-11, S0-22.

export CLI_TEST_MARK=$$
hogs() { marked_with "$CLI_TEST_MARK" /dev/zero; }
# How much it came to is the machine's affair; that it is more than is allowed is not.
limited() { t "$@" | sed -E 's/it held [0-9.]+ [MG]iB of/it held N of/'; }

say "A kernel costs its case"
limited run null/copy/right --device "$FAKE,grow=3" --memory-limit 400M --seed 1 --launches 2 \
  --iterations 5
others_are_measured() {
  [ "$(grep -c '^batch=.*  OK  ' "$WORK.log/out")" -eq 5 ] && says_why
}
says_why() { "$HARNESS" history show latest | grep -q 'killed: out of memory limit, it held'; }
knock_if "a kernel that allocates without end" "killed at --memory-limit; the other five are measured" \
  others_are_measured
t history list

say "A program, too"
limited run --memory-limit 400M --launches 1 --iterations 3 --name hog -- tail /dev/zero
knock_if "a program that allocates without end" "killed at --memory-limit" says_why

say "And all that it started counts"
limited run --memory-limit 400M --launches 1 --iterations 3 --name hogs -- \
  sh -c 'tail /dev/zero & tail /dev/zero & wait'
check "none of it is left" wait_for not hogs
knock_checks "two processes of a program do" "killed together, none is left"

say "What is known to need more is not begun"
t run null/copy/right --device "$FAKE" --batch 1000 --seq 1,100000 --memory-limit 100M --launches 1 \
  --seed 1 --iterations 5

say "Checks in processes of their own"
limited verify null/copy/right --device "$FAKE,grow=1" --batch 1,2 --seed 1 --isolate \
  --memory-limit 400M

say "What is no limit"
t run null/copy/right --memory-limit much
t run null/copy/right --memory-limit 1000
t compare --baseline 1 --head 1 --memory-limit 1G
t history verify
