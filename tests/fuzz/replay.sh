#!/usr/bin/env bash
# replay.sh FUZZ_REPLAY TARGET FOLDER: plays a target its seeds, which are put into FOLDER, and what
# was found before; then, for $HARNESS_FUZZ_MUTANTS seconds of the processor, changed copies of them. CTest
# unit.fuzz_TARGET.
set -euo pipefail
folder="$3/$2"
rm -rf "$folder"
"$(dirname "$0")/seeds.sh" "$2" "$folder"
mutants=()
[ -z "${HARNESS_FUZZ_MUTANTS:-}" ] || mutants=(--mutants "$HARNESS_FUZZ_MUTANTS,$folder.mutant")
exec "$1" "${mutants[@]}" "$2" "$folder"
