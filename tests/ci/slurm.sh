# shellcheck shell=bash
# A sweep as a Slurm array, for real: controller and daemon of the distribution's Slurm on loopback,
# four tasks, one of them killed in the middle and requeued; the merged history has what the
# unsharded run has, each benchmark once. U-04, U-11, S2-09.
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
need_tools munged slurmctld slurmd sbatch squeue scontrol sinfo python3 jq
"$HARNESS" help history | grep -q merge || skip "this harness merges no histories yet"

cluster=$WORK/cluster
mkdir -p "$cluster"/{state,spool,munge}
chmod 755 "$WORK" "$cluster"
chmod 711 "$cluster/munge"
export SLURM_CONF=$cluster/slurm.conf

# By their pid files, and only if the process is the one we started.
stop() {
  local name pid
  for name in slurmd slurmctld munged; do
    pid=$(cat "$cluster/$name.pid" 2>/dev/null) || continue
    grep -qsF "$cluster" "/proc/$pid/cmdline" || continue
    kill "$pid"
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
  done
}
trap stop EXIT

head -c 128 /dev/urandom >"$cluster/munge/key"
chmod 400 "$cluster/munge/key"
munged --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" \
  --pid-file="$cluster/munged.pid" --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" \
  >"$cluster/munged.out" 2>&1 || skip "munged does not start: $(tail -n 1 "$cluster/munged.out")"

read -r controller daemon < <(python3 -c '
import socket
s = [socket.socket() for _ in "ab"]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))')
host=$(hostname -s)
cat >"$SLURM_CONF" <<CONF
ClusterName=harness
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller
SlurmdPort=$daemon
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
CredType=cred/munge
# How long a requeued job waits is this: long enough for a revoked launch to be forgotten.
AuthInfo=socket=$cluster/munge/socket,cred_expire=5
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,sched_min_interval=100000,batch_sched_delay=0
SlurmdParameters=config_overrides
KillWait=2
MinJobAge=300
ReturnToService=2
JobRequeue=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=10 State=UP
CONF
started() {
  "$1" -f "$SLURM_CONF" "${@:2}" >"$cluster/$1.out" 2>&1 && wait_for test -s "$cluster/$1.pid" && return
  skip "$1 does not start here: $(cat "$cluster/$1.out" "$cluster/$1.log" 2>/dev/null | grep -i -e error -e fatal | tail -n 1)"
}
started slurmctld
started slurmd -N "$host"
ready() { sinfo --noheader --format=%T | grep -qx idle; }
wait_for ready || skip "the node does not come up: $(grep -i error "$cluster/slurmd.log" | tail -n 1)"

# The second task measures for long the first time.
sweep=(null/copy/right --device "$FAKE" --batch 1:4:+1 --seq '8,16,32' --launches 2 --iterations 5
  --seed 1)
cat >slow-harness <<WRAPPER
#!/bin/sh
case " \$* " in *" --shard 2/4 "*)
  [ -e "$WORK/second-time" ] || { touch "$WORK/measures"; set -- "\$@" --launches 1000; } ;;
esac
exec "$HARNESS" "\$@"
WRAPPER
chmod +x slow-harness

say "Submitted, killed, requeued, merged"
HARNESS=$WORK/slow-harness "$CI/slurm/submit.sh" --shards 4 --shared --output shared \
  --sbatch --time=5 "${sweep[@]}" >submitted 2>&1
sed -E 's/job [0-9]+/job N/; s/slurm-[0-9TZ]+/slurm-TIME/' submitted
job=$(sed -n 's/.*: job \([0-9]*\): .*/\1/p' submitted)
merge=$(cat shared/log/merge.job)
check "the second task is in the middle of it" wait_for test -e measures
sleep 1
touch second-time
check "it is killed and requeued" scontrol requeue "${job}_1"
# ended JOB: no task of it is left.
ended() { ! squeue --noheader --jobs="$1" 2>/dev/null | grep -q .; }
for _ in $(seq 120); do # a requeued task is let in again after some seconds
  ended "$merge" && break
  sleep 0.5
done
check "all have ended" ended "$merge"
check "the second task was started twice" grep -q 'Restarts=1 ' <(scontrol show job "${job}_1")
tail -n 1 shared/log/merge.log
find shared -type f ! -path '*/log/*' | sort

# keys REF DB: a line for each measurement.
keys() { "$HARNESS" history show "$1" --db "$2" | jq -r '.runs[].measurements[].key' | sort; }
label=$(sed -n 's/.*labelled \(slurm-[^;]*\); .*/\1/p' submitted)
say "The whole is what one run has"
quiet run "${sweep[@]}" --db whole.db
"$HARNESS" history list --db shared/history.db | grep -c "$label"
keys "$label" shared/history.db >sharded
check "the same benchmarks, each as often" cmp sharded <(keys latest whole.db)
wc -l <sharded
"$HARNESS" history verify --db shared/history.db >/dev/null && echo "the history is sound"

say "Once more into the same folder: nothing is measured or merged twice"
"$CI/slurm/submit.sh" --shards 4 --shared --output shared --wait "${sweep[@]}" >again 2>&1
echo "[$?]"
check "the parts say so" test "$(grep -l 'measured already' shared/log/shard-*.log | wc -l)" = 4
check "as many as before" cmp sharded <(keys "$label" shared/history.db)

say "Everything is shut down"
pids=$(cat "$cluster"/*.pid)
stop
trap - EXIT
# shellcheck disable=SC2086  # a list of numbers
check "no daemon is left" not kill -0 $pids
