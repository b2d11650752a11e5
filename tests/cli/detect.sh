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

say "What was named and is no longer, and what the points of today leave open"
# A ramp from point 30 on; a step at 6 after which the series wanders.
printf '%s\n' 100.0 100.3 99.7 100.2 100.6 100.3 101.1 99.4 100.0 99.5 99.5 99.9 100.2 100.3 100.4 101.6 \
  100.6 98.9 100.1 99.6 99.6 100.9 99.8 98.6 100.2 99.8 99.2 99.4 99.6 100.0 99.7 100.3 \
  101.8 100.2 100.4 101.1 102.3 101.3 103.0 101.3 101.8 102.7 102.4 102.8 103.8 104.3 104.1 \
  104.1 105.4 105.0 104.8 106.1 104.9 105.9 106.5 106.2 106.1 107.0 106.6 106.8 106.8 108.7 \
  107.6 109.1 108.8 108.6 109.5 109.4 109.6 108.8 110.0 110.9 110.8 111.4 112.0 111.5 112.9 \
  110.7 111.8 110.5 >ramp
printf '%s\n' 100.2 100.6 100.5 100.4 100.0 98.9 106.3 107.8 106.5 107.3 107.3 107.3 107.9 107.6 105.8 \
  107.3 108.7 110.7 105.7 105.1 104.3 104.0 103.2 102.1 101.8 101.2 102.7 103.5 104.0 105.7 >wanders
t detect ramp
t detect wanders
head -n 53 ramp >before
t detect before
t detect --json ramp | sed -n '/withdrawn/,/]/p'

say "Nothing was found: what would have been"
head -n 11 ramp >few
t detect few
t detect lnt_flat_line.json


say "Not sure, and no longer"
# Three points elsewhere; a wave of which the first part looked like a step.
awk 'BEGIN { for (i = 0; i < 40; i++) print 100 + i * i * 37 % 101 / 100 + (i > 36) * 1.2 }' >newest
t detect newest
awk 'BEGIN { for (i = 0; i < 80; i++) printf "%.3f\n", 100 + sin(i / 8) + i * i * 37 % 101 / 100 }' >wave
t detect wave

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
if command -v python3 >/dev/null; then # as node gives its children
  fact "a socket is standard input, too" python3 -c 'import socket, subprocess, sys
ours, theirs = socket.socketpair()
ours.sendall(open("plain", "rb").read())
ours.close()
subprocess.run([sys.argv[1], "detect", "-"], stdin=theirs, check=True)' "$HARNESS"
fi
{ echo 500 && seq 12; } >thirteen
check "a file is read from where it stands" \
  diff <(seq 12 | "$HARNESS" detect -) <({ read -r _ && "$HARNESS" detect -; } <thirteen)
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
