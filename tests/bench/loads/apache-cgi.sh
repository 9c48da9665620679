#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: a CGI script that sleeps 100 ms (a slow service) and that is started anew for each of 4 clients' requests. Apache has
# workers enough and only waits for the script. Fix: make the script answer sooner; more workers do not help 4 clients. Truth:
# people look at the script (strace), then cache its answer or run it in a persistent process.
. "$(dirname "$0")/web.sh"
port=$(free_port)
mkdir "$scratch/cgi"
printf '#!/usr/bin/perl\nselect(undef, undef, undef, 0.1);\nprint "Content-Type: text/plain\\n\\nok\\n";\n' >"$scratch/cgi/slow"
chmod 755 "$scratch/cgi/slow"
apache "StartServers 8
  MaxRequestWorkers 8
  LoadModule alias_module modules/mod_alias.so
  LoadModule cgi_module modules/mod_cgi.so
  ScriptAlias / $scratch/cgi/"
ask 4 "127.0.0.1:$port/slow"
record "$server"
