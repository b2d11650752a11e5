#!/bin/sh
# Runs a CUDA compilation and keeps what ptxas tells about registers, stack and spills beside the
# object, as OBJECT.ptxas; tests/cuda/resources.sh reads it.
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
"$@" -Xptxas -v 2>"$object.ptxas"
status=$?
if [ $status -ne 0 ]; then
  cat "$object.ptxas" >&2
else
  grep -v -e '^ptxas info' -e '^ *Function properties' -e '^ *[0-9]* bytes stack frame' \
    -e '^ *$' "$object.ptxas" >&2
fi
exit $status
