#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: every request writes a line to the log, a file with O_SYNC on a disk that needs 1 ms for a request, and Go's log
# package holds its mutex meanwhile; 16 clients queue for it, CPUs are idle. Fix: do not sync each line, or write the log in a
# goroutine of its own (many times as much); a disk twice as fast gains nearly twice. Truth: a mutex or block profile points
# at log.(*Logger).Output.
. "$(dirname "$0")/lib.sh"
slow_disk 1000
port=$(free_port)
cat >"$scratch/main.go" <<'END'
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

func answer(w http.ResponseWriter, r *http.Request) {
	log.Printf("%s %s from %s", r.Method, r.URL.Path, r.RemoteAddr)
	fmt.Fprintln(w, "ok")
}

func main() {
	file, err := os.OpenFile(os.Args[2], os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_SYNC, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	log.SetOutput(file)
	http.HandleFunc("/", answer)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
END
GOCACHE=$scratch/cache GOPATH=$scratch/go GO111MODULE=off go build -o "$scratch/logger" "$scratch/main.go"
serve "$scratch/logger" "$port" "$scratch/disk/log"
until_ready port_open "$port"
ask 16 "127.0.0.1:$port"
record "$server"
