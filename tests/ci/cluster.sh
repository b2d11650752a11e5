# shellcheck shell=bash
# The distribution's Slurm on loopback: controller, daemon and munge, in $WORK/cluster. Sourced by
# tests, with skip, need_tools and wait_for of theirs.
PATH=$PATH:/usr/sbin:/sbin
cluster=$WORK/cluster

# By their pid files, and only if the process is the one we started.
cluster_stop() {
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

# cluster_daemon NAME OPTION...: started, and its pid file is there.
cluster_daemon() {
  "$1" -f "$SLURM_CONF" "${@:2}" >"$cluster/$1.out" 2>&1 && wait_for test -s "$cluster/$1.pid" && return
  skip "$1 does not start here: $(cat "$cluster/$1.out" "$cluster/$1.log" 2>/dev/null |
    grep -i -e error -e fatal | tail -n 1)"
}

cluster_ready() { sinfo --noheader --format=%T | grep -qx idle; }

# One node of four processors, one partition. Ends the test with its reason where that cannot be.
cluster_start() {
  local controller daemon host
  need_tools munged slurmctld slurmd sbatch squeue scontrol sinfo python3
  mkdir -p "$cluster"/{state,spool,munge}
  chmod 755 "$WORK" "$cluster"
  chmod 711 "$cluster/munge"
  export SLURM_CONF=$cluster/slurm.conf
  head -c 128 /dev/urandom >"$cluster/munge/key"
  chmod 400 "$cluster/munge/key"
  munged --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" \
    --pid-file="$cluster/munged.pid" --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" \
    >"$cluster/munged.out" 2>&1 || skip "munged does not start: $(tail -n 1 "$cluster/munged.out")"

  read -r controller daemon < <(python3 -c 'import socket
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
  cluster_daemon slurmctld
  cluster_daemon slurmd -N "$host"
  wait_for cluster_ready ||
    skip "the node does not come up: $(grep -i error "$cluster/slurmd.log" | tail -n 1)"
}
