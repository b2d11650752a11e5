# shellcheck shell=bash
# The record of what a device verified, and checks in processes of their own. S4-28.

say "Only what ran on a real CUDA device is recorded"
t verify null/copy/right --device "$FAKE" --record record.json
t verify gemm/linear/naive --record record.json
check "nothing was written" not test -e record.json

say "A crash costs its own case"
t verify null/copy/right --device "$FAKE,crash=4" --isolate --seed 1
t verify null/copy/right --device "$FAKE" --isolate --seed 1

say "So does one that hangs"
t verify null/copy/right --device "$FAKE,hang=4" --isolate --timeout 5s --seed 1
