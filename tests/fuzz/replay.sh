#!/usr/bin/env bash
# replay.sh FUZZ_REPLAY TARGET FOLDER: plays a target its seeds, which are put into FOLDER, and what
# was found before. CTest unit.fuzz_TARGET.
set -euo pipefail
folder="$3/$2"
rm -rf "$folder"
"$(dirname "$0")/seeds.sh" "$2" "$folder"
exec "$1" "$2" "$folder"
