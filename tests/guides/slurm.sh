# shellcheck shell=bash
# Around docs/guides/slurm.md: the distribution's Slurm on loopback.
not_run '*--gres gpu:1*' 'the cluster of this test has no GPU'
# shellcheck source=tests/ci/cluster.sh
. "$GUIDES/../ci/cluster.sh"
before() {
  in_path
  installed
  pictures_maybe
  project toy
  trap cluster_stop EXIT
  cluster_start
}
after() {
  check "all that was asked for, once" test \
    "$(harness history show latest --db sweep/history.db | grep -c '"key"')" -ge 6
  check "the parts by hand are the whole, too" test "$(harness history list --db monday.db | grep -c OK)" = 2
}
