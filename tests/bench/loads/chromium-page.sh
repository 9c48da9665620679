#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: a page asks for 8 things one after the other (await fetch in a loop), each of which the server answers after 30 ms;
# then it loads again. The browser mostly waits for the network. Fix: fetch them together (up to 8 times as fast), or a faster
# server; less script or painting gains little. Truth: the network panel shows a waterfall; people use Promise.all.
. "$(dirname "$0")/web.sh"
upstream 0.03
port=$(free_port)
cat >"$scratch/index.html" <<'END'
<!doctype html><title>page</title><p id="got"></p><script>
(async () => {
  for (let i = 0; i < 8; ++i) got.textContent += await (await fetch('/slow?' + Math.random())).text();
  const loads = Number(sessionStorage.getItem('loads')) + 1;
  sessionStorage.setItem('loads', loads);
  if (loads < 200) location.reload();
})();
</script>
END
nginx 'worker_processes 1;' '' "server { listen 127.0.0.1:$port; root $scratch;
  location /slow { proxy_pass http://$upstream; add_header Cache-Control no-store; } }"
export HOME=$scratch
spawn chromium --headless=new --no-sandbox --disable-gpu --no-first-run --user-data-dir="$scratch/profile" \
  "http://127.0.0.1:$port/"
sleep 4 # it takes long to start
record "$load"
