# shellcheck shell=bash
# Where a library gets no thread it ends the process with status 1, which would be "a regression":
# the command has failed, and says so.
if ldd "$HARNESS" | grep -qE 'lib[at]san|libubsan'; then skip "sanitizers have threads of their own"; fi
ldd "$HARNESS" | grep -q libgomp || skip "OpenMP is another one than libgomp"
command -v prlimit >/dev/null || skip "there is no prlimit"

for seed in 1 2 3; do fake seed=$seed --launches 1 --db h/history.db; done
chmod a+rx . h
chmod a+r h/history.db
export OMP_NUM_THREADS=2
as_nobody "root may have any number of threads" prlimit --nproc=1
# Of what libgomp says the words are its own.
limited() { t "$@" | sed -E '/^2> (libgomp: .*)?$/d'; }
limited trend --db h/history.db
limited report --db h/history.db --output /dev/null
limited history list --db h/history.db | head -1 # has one thread
