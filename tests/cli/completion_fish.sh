# shellcheck shell=bash
# fish completes by the file that the program writes. U-09.
command -v fish >/dev/null || skip "there is no fish here to read the completion file"
"$HARNESS" help --completion fish >file
check "syntax" fish --no-execute file
mkdir data
touch data/run.json

# offered LINE: what may stand at its end
offered() {
  # shellcheck disable=SC2016  # fish's own
  PATH=$(dirname "$HARNESS"):$PATH fish --no-config -c 'source file; complete -C $argv[1]' "$1" 2>&1 |
    cut -f 1 | sort | tr '\n' ' '
  echo
}
echo "r: $(offered 'harness r')"
echo "run --cac: $(offered 'harness run --cac')"
echo "run --suite: $(offered 'harness run --suite f')"
echo "run --db: $(offered 'harness run --db data/')"
echo "run gemm/n: $(offered 'harness run gemm/n')"
echo "help doc: $(offered 'harness help doc')"
echo "history: $(offered 'harness history ')"
echo "history restore data/: $(offered 'harness history restore data/')"
echo "history verify --test: $(offered 'harness history verify --test')"
echo "history verify --: $(offered 'harness history verify --')"
echo "baseline accept --: $(offered 'harness baseline accept --')"
echo "baseline --re: $(offered 'harness baseline --re')"
echo "verify --test: $(offered 'harness verify --test')"
echo "help run --cac: $(offered 'harness help run --cac')"
echo "plugin new: $(offered 'harness plugin new ')"
echo "judge ./d: $(offered 'harness judge ./d')"
echo "tune ./d: $(offered 'harness tune ./d')"
echo "tune gemm/n: $(offered 'harness tune gemm/n')"
fake seed=3 --launches 1
quiet baseline save before
echo "export: $(offered 'harness export ')"
echo "baseline show: $(offered 'harness baseline show ')"
# shellcheck disable=SC2016  # fish's own
PATH=$(dirname "$HARNESS"):$PATH fish --no-config -c 'source file; complete -C "harness history pr"' | tr '\t' ':'
