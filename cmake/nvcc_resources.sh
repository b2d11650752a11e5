#!/bin/sh
# Runs a CUDA compilation and keeps what it tells beside the object: of ptxas the registers, stack and
# spills as OBJECT.ptxas, and the machine code for each architecture as OBJECT.machine/*.cubin.
# tests/cuda/resources.sh and tests/cuda/machine_code.py read them.
#   nvcc_resources.sh nvcc ... -o OBJECT ...
object=
previous=
for argument in "$@"; do
  [ "$previous" = -o ] && object=$argument
  previous=$argument
done
case $object in
  *.o) ;;
  *) exec "$@" ;; # not a compilation: a link, a compiler check
esac
rm -rf "$object.machine"
mkdir "$object.machine"
"$@" -Xptxas -v --keep --keep-dir "$object.machine" 2>"$object.ptxas"
status=$?
find "$object.machine" -type f ! -name '*.cubin' -delete
if [ $status -ne 0 ]; then
  cat "$object.ptxas" >&2
else
  grep -v -e '^ptxas info' -e '^ *Function properties' -e '^ *[0-9]* bytes stack frame' \
    -e '^ *$' "$object.ptxas" >&2
fi
exit $status
