# shellcheck shell=bash
# The live page from the command line: its address on the first line, its end by signals, what it
# refuses. S1-08, S1-21, S1-25, S1-26, S2-07.
fake seed=3 --launches 2

"$HARNESS" serve --host nowhere >"$WORK.log/probe" 2>&1 || true
grep -q 'built without' "$WORK.log/probe" && skip "$(sed 's/^harness: //' "$WORK.log/probe")"

# ask PORT PATH [HEADER]: status line and body of a request, over the shell's own sockets.
ask() {
  local host='Host: localhost' more=${3:-X-None: 1}
  case $more in Host:*) host=X-None:\ 1 ;; esac
  exec 9<>"/dev/tcp/127.0.0.1/$1" || return 1
  printf 'GET %s HTTP/1.1\r\n%s\r\n%s\r\nConnection: close\r\n\r\n' "$2" "$host" "$more" >&9
  tr -d '\r' <&9
  exec 9>&-
}
status() { ask "$@" | head -1 | cut -d' ' -f2; }
closed() { ! (exec 9<>"/dev/tcp/127.0.0.1/$1"); }
is() { [ "$1" = "$2" ]; }

# begin OPTION...: a server in the background, at any free port; sets PID, URL and PORT.
begin() {
  rm -f address
  "$HARNESS" serve --port 0 "$@" >address 2>errors &
  PID=$!
  wait_for test -s address || { cat errors; return; }
  URL=$(head -1 address)
  PORT=${URL#http://*:}
  PORT=${PORT%%/*}
}

# end SIGNAL: its exit status.
end() {
  local status=0
  kill -"$1" "$PID"
  wait "$PID" || status=$?
  sed "s/^/2> /" errors
  echo "[$status]"
}

say "The first line is the address"
begin --open
sed "s/$PORT/PORT/" address
check "it is alive" is "$(ask "$PORT" /healthz | tail -1)" ok
check "the page" is "$(status "$PORT" /)" 200
check "the page's data has the run" grep -q '"uuid":' <(ask "$PORT" /api/core)
check "the numbers for Prometheus" grep -q '^harness_ok{' <(ask "$PORT" /metrics)
check "a filter" is "$(status "$PORT" '/api/core?where=batch%20%3E%3D%201')" 200
check "a wrong filter" is "$(status "$PORT" '/api/core?where=batch')" 400
check "nothing else" is "$(status "$PORT" /etc/passwd)" 404
check "a foreign name is refused" is "$(status "$PORT" / 'Host: evil.example')" 421
t serve --port "$PORT" 2>&1 | sed "s/$PORT/PORT/"
say "Ctrl-C ends it"
end INT
check "nobody listens there any more" closed "$PORT"

say "So does SIGTERM"
begin --watch --open
check "it is alive" is "$(status "$PORT" /healthz)" 200
end TERM

say "By its other name"
rm -f address
"$HARNESS" plot --host 127.0.0.1 --port 0 >address 2>errors &
PID=$!
wait_for test -s address
PORT=$(sed -E 's#.*:([0-9]+)/.*#\1#' address)
check "it is alive" is "$(status "$PORT" /healthz)" 200
end INT

say "A token"
export HARNESS_TOKEN=a-token-of-24-characters
begin --host 0.0.0.0
unset HARNESS_TOKEN
sed -i "s#http://$(hostname):$PORT/#http://NAME:PORT/#" errors
sed "s/$PORT/PORT/" address
check "none: refused" is "$(status "$PORT" /)" 401
check "a wrong one: refused" is "$(status "$PORT" '/?token=a-token-of-24-character5')" 401
check "in the address: becomes a cookie" is "$(status "$PORT" '/?token=a-token-of-24-characters')" 303
check "the numbers for Prometheus, too: refused" is "$(status "$PORT" /metrics)" 401
check "and with it: let in" is "$(status "$PORT" /metrics 'Authorization: Bearer a-token-of-24-characters')" 200
check "the cookie" is "$(status "$PORT" / "Cookie: harness_token_$PORT=a-token-of-24-characters")" 200
check "as a script does it" is "$(status "$PORT" / 'Authorization: Bearer a-token-of-24-characters')" 200
check "no program that it starts has it" not grep -q a-token <(ps -o args= -p "$PID")
end INT

# The folder of the test is for its user alone; so is its history.
say "A history that not all may read has a token, made at the start"
begin
sed "s/$PORT/PORT/; s/=[0-9a-f]*$/=TOKEN/" address
TOKEN=$(sed 's/.*token=//' address)
check "of 192 bits" is ${#TOKEN} 48
check "none: refused" is "$(status "$PORT" /)" 401
check "this one: let in" is "$(status "$PORT" / "Authorization: Bearer $TOKEN")" 200
end INT
FIRST=$TOKEN
begin
check "another one the next time" not grep -q "$FIRST" address
end INT

say "One that all may read has none, and stays so"
PUBLIC=$(mktemp -d /tmp/harness-public-XXXXXX)
trap 'rm -rf "$PUBLIC"; count_facts' EXIT
chmod 755 "$PUBLIC"
install -m 644 .harness/history.db "$PUBLIC/history.db"
begin --db "$PUBLIC/history.db"
sed "s/$PORT/PORT/" address
check "none is wanted" is "$(status "$PORT" /)" 200
BEFORE=$(ask "$PORT" /api/core | grep -o '"newest":[0-9]*')
check "the newest run is told" test -n "$BEFORE"
fake seed=4 --launches 2
install -m 600 .harness/history.db "$PUBLIC/private"
mv "$PUBLIC/private" "$PUBLIC/history.db"
sleep 3
check "a file for one user in its place is not shown" \
  is "$(ask "$PORT" /api/core | grep -o '"newest":[0-9]*')" "$BEFORE"
end INT >ended
sed "s#$PUBLIC#PUBLIC#" ended
begin --db "$PUBLIC/history.db"
check "mode 600: a token" grep -q token= address
end INT >ended
sed "s#$PUBLIC#PUBLIC#" ended
chmod 644 "$PUBLIC/history.db"
chmod 750 "$PUBLIC"
begin --db "$PUBLIC/history.db"
check "in a closed folder: a token" grep -q token= address
end INT >ended
sed "s#$PUBLIC#PUBLIC#" ended
chmod 755 "$PUBLIC"

say "From a file"
printf 'a-token-of-24-characters\n' >token
chmod 600 token
begin --token-file token
check "none: refused" is "$(status "$PORT" /)" 401
check "this one: let in" is "$(status "$PORT" / 'Authorization: Bearer a-token-of-24-characters')" 200
end INT
chmod 604 token
t serve --token-file token
chmod 620 token
t serve --token-file token
chmod 600 token
t serve --token-file none
t serve --token-file .
t serve --token-file /dev/null
: >empty
chmod 600 empty
t serve --token-file empty
head -c 300 /dev/zero | tr '\0' a >long
chmod 600 long
t serve --token-file long
t serve --token-file token --open

say "Where all would read it, none is shown"
touch "$PUBLIC/log"
chmod 644 "$PUBLIC/log"
STATUS=0
"$HARNESS" serve --port 0 >"$PUBLIC/log" 2>errors || STATUS=$?
sed 's/^/2> /' errors
echo "[$STATUS]"
check "it holds nothing" not test -s "$PUBLIC/log"

say "What does not start"
t serve --host 0.0.0.0
t serve --host 0.0.0.0 --open
t serve --token a-token-of-24-characters
t serve --host example.org
HARNESS_TOKEN=short t serve
t serve --allow-host http://bench.example.org:8080
t serve --baseline nobody 2>&1 | sed "s, \(Branches\|Newest runs\): .*,,"
t plot --port 8080
t serve --port 70000
t serve --db nowhere.db
t serve 7
echo nonsense >text.db
t serve --db text.db

say "What is named: runs, in their history; files, in one that is gone when it ends"
fake seed=4 --launches 2 --label after
mkdir results temporary
"$HARNESS" export 1 -o results/one.json
"$HARNESS" export 2 -o results/two.json
# named WORD...: what the address asks for, and the runs that the page has then.
named() {
  rm -f address
  HARNESS_TOKEN=a-token-of-24-characters TMPDIR=$WORK/temporary "$HARNESS" plot --host 127.0.0.1 --port 0 "$@" >address 2>errors &
  PID=$!
  wait_for test -s address
  PORT=$(sed -E 's#.*:([0-9]+)/.*#\1#' address)
  sed "s/:$PORT/:PORT/" address
  ask "$PORT" "/api/core?$(sed 's/.*?//' address)" 'Authorization: Bearer a-token-of-24-characters' | tail -1 >core.json
  json core.json title && echo
  end TERM
}
named 1 2
named 2 1
named ./results
check "nothing is left" test -z "$(ls temporary)"
