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
begin
sed "s/$PORT/PORT/" address
check "it is alive" is "$(ask "$PORT" /healthz | tail -1)" ok
check "the page" is "$(status "$PORT" /)" 200
check "the page's data has the run" grep -q '"uuid":' <(ask "$PORT" /api/core)
check "a filter" is "$(status "$PORT" '/api/core?where=batch%20%3E%3D%201')" 200
check "a wrong filter" is "$(status "$PORT" '/api/core?where=batch')" 400
check "nothing else" is "$(status "$PORT" /etc/passwd)" 404
check "a foreign name is refused" is "$(status "$PORT" / 'Host: evil.example')" 421
t serve --port "$PORT" 2>&1 | sed "s/$PORT/PORT/"
say "Ctrl-C ends it"
end INT
check "nobody listens there any more" closed "$PORT"

say "So does SIGTERM"
begin --watch
check "it is alive" is "$(status "$PORT" /healthz)" 200
end TERM

say "By its other name"
rm -f address
"$HARNESS" plot --host 127.0.0.1 --port 0 >address 2>errors &
PID=$!
wait_for test -s address
PORT=$(sed -E 's#.*:([0-9]+)/$#\1#' address)
check "it is alive" is "$(status "$PORT" /healthz)" 200
end INT

say "A token"
begin --host 0.0.0.0 --token a-token-of-24-characters
sed -i "s#http://$(hostname):$PORT/#http://NAME:PORT/#" errors
sed "s/$PORT/PORT/" address
check "none: refused" is "$(status "$PORT" /)" 401
check "a wrong one: refused" is "$(status "$PORT" '/?token=a-token-of-24-character5')" 401
check "in the address: becomes a cookie" is "$(status "$PORT" '/?token=a-token-of-24-characters')" 303
check "the cookie" is "$(status "$PORT" / "Cookie: harness_token_$PORT=a-token-of-24-characters")" 200
check "as a script does it" is "$(status "$PORT" / 'Authorization: Bearer a-token-of-24-characters')" 200
end INT

say "What does not start"
t serve --host 0.0.0.0
t serve --host example.org
t serve --token short
t serve --allow-host http://bench.example.org:8080
t serve --baseline nobody 2>&1 | sed "s, \(Branches\|Newest runs\): .*,,"
t plot --port 8080
t serve --port 70000
t serve --db nowhere.db
t serve 7
echo nonsense >text.db
t serve --db text.db
