# shellcheck shell=bash
# The live page where there is no network: a namespace with the loopback address alone, without a
# route to anywhere. S1-27.
unshare -rn true 2>/dev/null || skip "network namespaces are not permitted here"
command -v ip >/dev/null || skip "there is no ip command to bring the loopback address up"
fake seed=3 --launches 2
"$HARNESS" serve --host nowhere >"$WORK.log/probe" 2>&1 || true
grep -q 'built without' "$WORK.log/probe" && skip "$(sed 's/^harness: //' "$WORK.log/probe")"

cat >inside.sh <<'END'
ip link set lo up
echo "routes: $(ip route | wc -l)"
"$HARNESS" serve --port 0 --watch --open >address 2>errors &
pid=$!
for _ in $(seq 400); do [ -s address ] && break; sleep 0.05; done
port=$(sed -E 's#.*:([0-9]+)/$#\1#' address)
for path in / /api/core /api/table /api/figure/latency-kernels /healthz; do
  exec 9<>"/dev/tcp/127.0.0.1/$port"
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$path" >&9
  echo "$path: $(head -1 <&9 | cut -d' ' -f2)"
  exec 9>&-
done
kill -INT $pid
wait $pid
echo "[$?]"
END
unshare -rn bash inside.sh
