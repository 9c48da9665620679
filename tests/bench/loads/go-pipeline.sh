#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: of a pipeline of goroutines (read, compress, sum), the one that compresses takes all its time on one CPU and the
# others wait for it; the second CPU is idle. Fix: two goroutines that compress (nearly twice), or a lower level of
# compression. Truth: a CPU profile shows compress/flate, and people start as many such goroutines as there are CPUs (pgzip).
. "$(dirname "$0")/lib.sh"
cat >"$scratch/main.go" <<'END'
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"time"
)

func read(file *os.File, blocks chan<- []byte) {
	for offset := int64(0); ; offset = (offset + 65536) % (1 << 20) {
		block := make([]byte, 65536)
		length, _ := file.ReadAt(block, offset)
		blocks <- block[:length]
	}
}

func compress(blocks <-chan []byte, compressed chan<- []byte) {
	for block := range blocks {
		var out bytes.Buffer
		writer := gzip.NewWriter(&out)
		writer.Write(block)
		writer.Close()
		compressed <- out.Bytes()
	}
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	time.AfterFunc(2*time.Minute, func() { os.Exit(0) })
	blocks, compressed := make(chan []byte, 8), make(chan []byte, 8)
	go read(file, blocks)
	go compress(blocks, compressed)
	out, _ := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	for block := range compressed {
		fmt.Fprintln(out, len(block), sha256.Sum256(block))
	}
}
END
GOCACHE=$scratch/cache GOPATH=$scratch/go GO111MODULE=off go build -o "$scratch/pipeline" "$scratch/main.go"
cat /usr/lib/python3.11/*.py >"$scratch/text"
spawn "$scratch/pipeline" "$scratch/text"
record "$load"
