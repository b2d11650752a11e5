# shellcheck shell=bash
# Mistakes are refused before anything runs: one line that names what was meant, status 2, and no
# trace in the history. The "Bad input".

say "Words"
t runn
t xyzzy
t run --lauches 3
t run -z
t run --launches
t run --json=yes
t version extra

say "What to measure"
t_cut run gem
t_cut run 'gemm/liner/*'
t_cut run nul/copy --device fake
t run ''  --device fake
t_cut run --model nan
t_cut run --model nano,tile-larg
t_cut run gemm --variant smid
t_cut run gemm --dtype fp33
t_cut run gemm --dim heds=3
t run gemm --dim heads=3
t run gemm --dim n
t run gemm --dim n=
t run gemm --dim =3
t run layernorm --variant openblas,naive --model nano
t_cut run --suite quik
t_cut run --suite ''
t run --suite ./none.json
t run --suite quick gemm
t run --suite ci --batch 3
t_cut run null --device cpuu
t run null --device fake:bas=3
t run null --device fake:base=x
t run gemm --device cpu:0 | sed 's/to [0-9]*/to N/'
t run gemm --device cpu:x
t run gemm --cache hot
t run gemm --cache ''
t run gemm --variant ''
t run gemm --variant simd,,naive
t run --model ''

say "Numbers"
for list in 0 -1 x '' '1,' 1,,2 0,-1,x 1000000000000 99999999999999999999 1.5 4:1:*2 1:8 1:8:*1 1:8:/2
do
  t run gemm --batch "$list"
done
t run gemm --seq 0
t run gemm --dim n=1000000000000
t run null --device fake --launches 0
t run null --device fake --launches 1001
t run null --device fake --iterations 0
t run null --device fake --seed 0
t run null --device fake --min-time 3x
t run null --device fake --max-time -1s
t run null --device fake --timeout 0
t run null --device fake --shard 0/2
t run null --device fake --shard 3/2
t run null --device fake --shard 1
t run null/copy/right --device fake --shard 7/7
t run null --device fake --format xml
t run null --device fake --format csv --json
t run null --device fake --json --gbench-json
t compare --baseline main --json --format text
t compare --format markdown --json -- true --versus true
t compare --replay --json --format text
t compare --replay --format markdown
t trend --json --format markdown

say "No history, and none was made"
t history list
t compare --baseline main
t plot
check "no history was made" test ! -e .harness

say "References and settings, with a history"
fake seed=3 --launches 1
unknown() { t "$@" | sed -E 's/(is "[^"]*")[.;] .*/\1 .../'; }
unknown compare --baseline foo
unknown compare --baseline 1 --head 99
unknown compare --baseline baseline:latest
unknown history show 99
t compare
t compare 1
t compare --baseline 1 --head 1 --metric p51
t compare --baseline 1 --head 1 --metric n
t compare --baseline 1 --head 1 --delta 0
t compare --baseline 1 --head 1 --delta -3%
t compare --baseline 1 --head 1 --delta x
t compare --baseline 1 --head 1 --delta 5
t compare --baseline 1 --head 1 --delta p50=1.5
t compare --baseline 1 --head 1 --fdr 5
t trend --delta 3
t compare --baseline 1 --head 1 --fdr 70%
t compare --baseline 1 --head 1 --format xml
t compare --baseline ./none.json
echo '{"runs": [{"uuid": 3}]}' >odd.json
t compare --baseline ./odd.json
echo 'not JSON' >odd.json
t compare --baseline ./odd.json
echo '{"schema_version": 1, "base": "a", "rows": []}' >odd.json
t compare --baseline ./odd.json
t export ./odd.json --format csv
t history lst
t history verify now
t history backup
t baseline sav
t baseline save
t baseline save latest
t baseline save 12
t baseline save 'a b'
t baseline save a b
t baseline show none
t baseline remove none
t plot --only rooflin
t plot --format jpg
t roofline all
t roofline --device fake
t roofline --spec foo=3 --db none.db
t roofline --spec bandwidth.dram --db none.db
t roofline --spec bandwidth.dram=3x --db none.db
check "nothing was measured for that" test ! -e none.db
t verify gem --device fake
t verify null/copy --device fake --variant rigt
t verify null/copy --device fake --dtype fp33
t verify null/copy/right --device fake --dtype fp32 --batch 1 --seed 1
t history verify
