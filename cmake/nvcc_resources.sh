#!/bin/sh
# Runs a CUDA compilation and keeps what ptxas tells beside the object: registers, stack and spills, as
# OBJECT.ptxas, which tests/cuda/resources.sh reads. The machine code stays in the object as it is, where
# tests/cuda/machine_code.py finds it. So ccache may stand in front of nvcc: it keeps objects and what is
# told, and no files beside them.
#   nvcc_resources.sh [ccache] nvcc ... -o OBJECT ...
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
"$@" -Xptxas -v --no-compress 2>"$object.ptxas"
status=$?
if [ $status -ne 0 ]; then
  cat "$object.ptxas" >&2
else
  grep -v -e '^ptxas info' -e '^ *Function properties' -e '^ *[0-9]* bytes stack frame' \
    -e '^ *$' "$object.ptxas" >&2
fi
exit $status
