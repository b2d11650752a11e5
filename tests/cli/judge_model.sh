# shellcheck shell=bash
# No forward pass of this tree is refused by the judge, in any arithmetic: the smallest model's.
# shellcheck source=tests/cli/judge_each.sh
. "$CLI/judge_each.sh"
dims=batch=1,seq=5

say "A decode step"
kernel=gpt/nano/decode
judge_all "$(of_kernel)" $dims

# It takes 10 s, mostly the oracle's.
say "A prefill, by another variant each day"
kernel=gpt/nano/prefill
mapfile -t all < <(of_kernel)
today=$(another_each_day "${all[@]}")
judge "$today" $dims
tell_refused <<<"$today"
