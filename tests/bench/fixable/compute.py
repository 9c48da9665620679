#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Four threads that compute, all in one process or in two. Prints how often that got done a second.

    compute.py 1|2 SECONDS
"""
import os
import sys
import threading
import time

THREADS = 4


def checksum(text):
    total = 0
    for letter in text:
        total = (31 * total + letter) % 1000003
    return total


def keep_computing(done, number):
    text = bytes(range(256)) * 8
    while True:
        checksum(text)
        done[number] += 1


def count(threads, seconds):
    done = [0] * threads
    for number in range(threads):
        threading.Thread(target=keep_computing, args=(done, number), daemon=True).start()
    time.sleep(seconds)
    return sum(done)


def main():
    processes, seconds = int(sys.argv[1]), float(sys.argv[2])
    reader, writer = os.pipe()
    for _ in range(processes - 1):
        if os.fork() == 0:
            os.write(writer, f"{count(THREADS // processes, seconds)}\n".encode("ascii"))
            os._exit(0)
    total = count(THREADS // processes, seconds)
    if processes > 1:
        total += int(os.read(reader, 100))  # there is one other
    print(f"rate {total / seconds}", flush=True)
    os._exit(0)  # the threads never end


main()
