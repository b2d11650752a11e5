# shellcheck shell=bash
# Secrets of the environment never land in the history, in what is exported from it, or in a report:
# what is recorded is an allow-list. U-05.

secrets=(GITHUB_TOKEN GH_TOKEN AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN HARNESS_TOKEN
  HARNESS_GITLAB_TOKEN NPM_TOKEN DATABASE_URL OMP_SECRET OPENBLAS_PASSWORD CUDA_SECRET HARNESS_SECRET
  SSH_AUTH_SOCK USER LOGNAME MAIL HISTFILE)
for name in "${secrets[@]}"; do export "$name=sEcReT-$name"; done
export HTTPS_PROXY=http://ada:sEcReT-proxy@127.0.0.1:9/
# What is meant to be recorded, so that the search below can be seen to find something.
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive

toy_repository
toy_commit seed=3 "First"
toy_commit slow=1.1,only=4 "Second"
# With the secret in the address of the remote, as tokens often are.
git remote add origin "https://ada:sEcReT-remote@example.org/toy.git"
git config user.signingkey sEcReT-config
quiet run null/copy/right --device "$FAKE" --seed 1 --batch 1,2 --launches 2 --iterations 5
"$HARNESS" run null/copy --device "$FAKE,crash=2" --seed 1 --batch 1,2 --launches 1 --iterations 5 \
  >/dev/null 2>&1
t compare --build --build-command 'sh build.sh' --device "$FAKE" --seed 1 null/copy/right --batch 3,4 \
  --baseline HEAD~1 --blocks 3 --format github -o comment.md >/dev/null 2>&1
"$HARNESS" history show 1 >run.json
"$HARNESS" history list --json >list.json
"$HARNESS" history show 1 >records.json
"$HARNESS" run null/copy/right --device "$FAKE" --batch 1 --launches 1 --iterations 2 --gbench-json \
  -o gbench.json >/dev/null 2>&1
"$HARNESS" compare --baseline 1 --head 1 --format junit -o junit.xml >/dev/null 2>&1
"$HARNESS" compare --baseline 1 --head 1 --format json -o compare.json >/dev/null 2>&1
"$HARNESS" report --output report.html >/dev/null 2>&1 || true
"$HARNESS" history backup copy.db >/dev/null
# A command whose words hold some, and are seen by the program all the same.
# shellcheck disable=SC2016  # for the program's shell
"$HARNESS" run --label words --launches 1 --iterations 2 --prepare 'A_PASSWORD=sEcReT-prepare true' -- \
  env API_TOKEN=sEcReT-word sh -c '[ ${#API_TOKEN} = 11 ] && [ ${#1} = 11 ]' \
  --password sEcReT-next "https://ada:sEcReT-user@example.org" >words.txt 2>&1 || cat words.txt
"$HARNESS" history show words >command.json
json command.json runs 0 settings command prepare
json command.json runs 0 settings command argv | tr -d '\n' | tr -s ' '
echo

say "What the environment of a run holds"
json_keys() { # the names alone, in order: values differ from one machine to another
  "$HARNESS" history show 1 | sed -n '/"environment":/,/}/p' | sed -n 's/^[[:space:]]*"\([A-Za-z_0-9]*\)":.*/\1/p'
}
known="environment kernel_release libc governor boost no_turbo smt transparent_hugepages buffers
address_randomisation microcode load1 gpu_driver gpu_uuid gpu_ecc gpu_mig cuda_runtime
CUDA_VISIBLE_DEVICES OMP_NUM_THREADS OMP_THREAD_LIMIT OMP_DYNAMIC OMP_PROC_BIND OMP_PLACES
OMP_WAIT_POLICY GOMP_SPINCOUNT
KMP_BLOCKTIME OPENBLAS_NUM_THREADS HARNESS_ISA OPENBLAS_CORETYPE BLIS_ARCH_TYPE ONEDNN_MAX_CPU_ISA
DNNL_MAX_CPU_ISA MKL_ENABLE_INSTRUCTIONS ATEN_CPU_CAPABILITY"
for key in $(json_keys); do
  case " ${known//$'\n'/ } " in *" $key "*) ;; *) echo "NO: $key is not on the list" ;; esac
done
check "variables that change results are there" test "$(json_keys | grep -c '^OMP_')" = 2

say "No secret is in any file"
find . -type f ! -path './.git/*' ! -path './.harness/builds/*/src/*' | sed 's/-[0-9a-f]*//g' | sort -u |
  grep -v builds
# Samples in the report are compressed: what is in there is looked at, too.
everything() {
  find . -type f ! -path './.git/*' -exec cat {} +
  if [ -f report.html ]; then
    grep -o '>H4sI[A-Za-z0-9+/=]*' report.html | while read -r part; do
      base64 -d <<<"${part#>}" | gzip -dc
    done
  fi
}
everything >"$WORK.log/everything"
check "the search finds what is there" grep -aq OMP_WAIT_POLICY "$WORK.log/everything"
check "and no secret" not grep -aq sEcReT "$WORK.log/everything"
knock_checks "secrets in the environment" "none in any file that is written"
