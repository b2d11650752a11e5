# shellcheck shell=bash
# What in the environment spoils measurements: machines of files, and this one, of which only the
# form is known. U-05, U-12.
unset OMP_WAIT_POLICY GOMP_SPINCOUNT OMP_THREAD_LIMIT OMP_DYNAMIC

# doctor TREE: its table, without the row that is about this build.
doctor() {
  "$HARNESS" doctor --root "$1" | sed -E '/^build /d; /checks found/d; s/^(check .*found) +mend$/\1/'
}
# Exactly where a row warns, the exit status is 77.
status_fits() {
  local status=0
  "$HARNESS" doctor "$@" --json >doctor.json || status=$?
  if grep -q '"warn"' doctor.json; then [ $status -eq 77 ]; else [ $status -eq 0 ]; fi &&
    [ "$(json doctor.json exit_status)" -eq $status ]
}

say "A machine that was prepared"
cpu=good/sys/devices/system/cpu
mkdir -p good/proc/self good/proc/sys/kernel $cpu/cpu0/cpufreq $cpu/cpufreq $cpu/smt \
  good/sys/devices/system/clocksource/clocksource0 good/sys/kernel/mm/transparent_hugepage \
  good/sys/class/powercap/intel-rapl:0 $cpu/cpu0/thermal_throttle good/sys/fs/cgroup
echo performance >$cpu/cpu0/cpufreq/scaling_governor
echo 0 >$cpu/cpufreq/boost
echo 0 >$cpu/smt/active
echo 0-3 >$cpu/online
echo 0 >$cpu/cpu0/thermal_throttle/core_throttle_count
echo tsc >good/sys/devices/system/clocksource/clocksource0/current_clocksource
echo 'always [madvise] never' >good/sys/kernel/mm/transparent_hugepage/enabled
echo 120000000 >good/sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw
echo 1 >good/sys/class/powercap/intel-rapl:0/energy_uj
echo package-0 >good/sys/class/powercap/intel-rapl:0/name
echo 'max 100000' >good/sys/fs/cgroup/cpu.max
echo '0.05 0.10 0.20 1/200 999' >good/proc/loadavg
printf 'Name:\tharness\nCpus_allowed_list:\t0-3\n' >good/proc/self/status
printf 'HOME=/root\0' >good/proc/self/environ
mkdir -p good/sys/class/power_supply
printf 'flags\t\t: fpu avx2\n' >good/proc/cpuinfo
printf 'MemTotal: 8000 kB\nMemAvailable: 6000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n' \
  >good/proc/meminfo
echo 2 >good/proc/sys/kernel/randomize_va_space
echo 1 >good/proc/sys/kernel/perf_event_paranoid
mkdir -p good/sys/bus/event_source/devices/cpu
echo 4 >good/sys/bus/event_source/devices/cpu/type
doctor good
check "the exit status fits" status_fits --root good

say "The same machine in everyday use"
cp -r good bad
cpu=bad/sys/devices/system/cpu
echo powersave >$cpu/cpu0/cpufreq/scaling_governor
echo 1 >$cpu/cpufreq/boost
echo 1 >$cpu/smt/active
mkdir -p $cpu/cpu{0,1,2,3}/topology
echo 0-1 | tee $cpu/cpu{0,1}/topology/thread_siblings_list >/dev/null
echo 2-3 | tee $cpu/cpu{2,3}/topology/thread_siblings_list >/dev/null
echo 9 >$cpu/cpu0/thermal_throttle/core_throttle_count
echo acpi_pm >bad/sys/devices/system/clocksource/clocksource0/current_clocksource
echo '[always] madvise never' >bad/sys/kernel/mm/transparent_hugepage/enabled
rm bad/sys/class/powercap/intel-rapl:0/energy_uj
echo '150000 100000' >bad/sys/fs/cgroup/cpu.max
echo '3.50 1.10 0.20 4/200 999' >bad/proc/loadavg
printf 'flags\t\t: fpu hypervisor\n' >bad/proc/cpuinfo
printf 'MemTotal: 8000 kB\nMemAvailable: 600 kB\nSwapTotal: 900 kB\nSwapFree: 100 kB\n' \
  >bad/proc/meminfo
echo 4 >bad/proc/sys/kernel/perf_event_paranoid
mkdir -p bad/sys/class/power_supply/{AC,BAT0} bad/proc/driver/nvidia
echo 0 >bad/sys/class/power_supply/AC/online
echo 1 >bad/sys/class/power_supply/BAT0/present
echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05' >bad/proc/driver/nvidia/version
doctor bad
check "the exit status fits" status_fits --root bad
json doctor.json checks 0 check
json doctor.json checks 0 state
json doctor.json checks 0 mend

say "A machine that tells nothing, and variables"
mkdir -p dumb/proc/self
doctor dumb
printf 'Cpus_allowed_list:\t0-1\n' >dumb/proc/self/status
OMP_WAIT_POLICY=active doctor dumb | grep '^OpenMP' # of this machine
# variables NAME=VALUE...: those of the other machine
variables() { printf '%s\0' "$@" >dumb/proc/self/environ; }
variables OMP_WAIT_POLICY=active
doctor dumb | grep '^OpenMP'
variables OMP_NUM_THREADS=8
doctor dumb | grep '^OpenMP'
variables OMP_NUM_THREADS=2 GOMP_SPINCOUNT=5
doctor dumb | grep '^OpenMP'
variables OPENBLAS_CORETYPE=Haswell
doctor dumb | grep '^instruction sets'

say "This machine"
check "the exit status fits" status_fits
check "it was watched" not grep -q 'not watched' doctor.json
check "nothing is written" test ! -e .harness

say "A history that others may replace"
mkdir shared
fake seed=1 --launches 1 --batch 1 --db shared/h.db
of_history() { "$HARNESS" doctor --db shared/h.db --json | sed -n '/"history"/,/}/p' | sed "s#$WORK#WORK#g"; }
of_history
"$HARNESS" history verify --db shared/h.db | tail -n +2
chmod 777 shared
of_history
"$HARNESS" history verify --db shared/h.db | tail -n +2 | sed "s#$WORK#WORK#g"
check "it is no harm to measurements" not grep -q warn <(of_history)

say "Bad input"
t doctor now
t doctor --root nowhere
