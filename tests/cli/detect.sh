# shellcheck shell=bash
# Change points in any series of numbers: forms of files, words, JSON, exit status. U-12.

SERIES=$CLI/../fixtures/series
cp "$SERIES"/bimodal_stationary.json "$SERIES"/quality_control_1.json "$SERIES"/lnt_*.json .

say "Steps, drift, neither"
t detect lnt_regress_5.json
t detect lnt_simple_regression.json
t detect lnt_slow_reg.json
t detect lnt_flat_noise.json
t detect quality_control_1.json
t detect bimodal_stationary.json
awk 'BEGIN { for (i = 0; i < 365; i++) print (int(i / 40) % 2 ? 108 : 100) + i * i * 37 % 101 / 100 }' >every_40
t detect every_40

say "JSON"
t detect --json lnt_simple_regression.json
t detect --json lnt_flat_line.json

say "Exit status on request"
t detect --fail lnt_regress_5.json
t detect --fail lnt_flat_line.json
t detect --level 0.1% lnt_regress_5.json
t detect --min-segment 11 lnt_regress_5.json

say "Forms of files"
printf '[1,1,1,1,1,1, 2,2,2,2,2,2]' >array.json
printf '# nightly\n1\n1\n1\n1\n1\n1\n\n2\n2\n2\n2\n2\n2\n' >plain
printf 'date,"time, ms"\r\n' >table.csv
for i in 1 1 1 1 1 1 2 2 2 2 2 2; do printf '2026-01-01,"%s"\r\n' $i >>table.csv; done
t detect array.json
for file in plain table.csv; do
  check "$file says the same" diff <("$HARNESS" detect array.json) <("$HARNESS" detect $file)
done
check "standard input says the same" \
  diff <("$HARNESS" detect array.json) <("$HARNESS" detect - <plain)
: >empty
t detect empty
printf '1\n' >one
t detect one
t detect --fail --min-segment 7 array.json
t detect --json empty

say "Refused"
t detect
t detect absent.csv
t detect array.json plain
t detect --level 60% array.json
printf '1\n2\nthree\n' >text.csv
t detect text.csv
printf 'a\nb\n1\n' >headers.csv
t detect headers.csv
printf 'time\n1\nnan\n' >nan.csv
t detect nan.csv
printf '[1,2,null]' >null.json
t detect null.json
printf '{"value":[1]}' >other.json
t detect other.json
printf '[1,2' >broken.json
t detect broken.json
