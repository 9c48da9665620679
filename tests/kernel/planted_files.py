# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes and reads files in a directory, several at once, and says what it did. Speaks the protocol of recording.py: of each
file {"file": its path at the end, "bytes": N, "tid": the thread that used it, "deleted": bool, "how": a word}.

    planted_files.py DIRECTORY"""
import json
import mmap
import os
import sys
import threading

BLOCK = 4096
ROUNDS = 200
DIRECTORY = os.path.realpath(sys.argv[1])
truths = []


def place(name):
    return os.path.join(DIRECTORY, name)


def tell(how, path, blocks, deleted=False):
    truths.append({"file": path, "bytes": blocks * BLOCK, "tid": threading.get_native_id(), "deleted": deleted, "how": how})


def write_synced(fd, rounds):
    for _ in range(rounds):
        os.write(fd, os.urandom(BLOCK))
        os.fdatasync(fd)


def plain():
    fd = os.open(place("plain file"), os.O_CREAT | os.O_WRONLY)
    write_synced(fd, ROUNDS)
    os.close(fd)
    tell("fdatasync", place("plain file"), ROUNDS)


def direct():
    fd = os.open(place("direct"), os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
    memory = mmap.mmap(-1, 2 * BLOCK)
    for i in range(ROUNDS):
        os.pwrite(fd, memory, i * 2 * BLOCK)
    os.close(fd)
    tell("direct", place("direct"), 2 * ROUNDS)


def renamed():
    fd = os.open(place("old"), os.O_CREAT | os.O_WRONLY)
    write_synced(fd, ROUNDS // 2)
    os.makedirs(place("below/this"))
    os.rename(place("old"), place("below/this/new;name"))
    write_synced(fd, ROUNDS // 2)
    os.close(fd)
    tell("fdatasync", place("below/this/new;name"), ROUNDS)


def deleted():
    fd = os.open(place("gone"), os.O_CREAT | os.O_WRONLY)
    write_synced(fd, ROUNDS // 2)
    os.unlink(place("gone"))
    write_synced(fd, ROUNDS // 2)
    os.close(fd)
    tell("fdatasync", place("gone"), ROUNDS, deleted=True)


def read_back():
    """Reads what plain() has written from the disk, first by calls and then by page faults."""
    fd = os.open(place("plain file"), os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    for i in range(ROUNDS):
        os.pread(fd, BLOCK, i * BLOCK)
    tell("read", place("plain file"), ROUNDS)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    with mmap.mmap(fd, ROUNDS * BLOCK, prot=mmap.PROT_READ) as memory:
        memory.madvise(mmap.MADV_RANDOM)
        total = sum(memory[i * BLOCK] for i in range(ROUNDS))
    tell("fault", place("plain file"), ROUNDS, deleted=total < 0)
    os.close(fd)


def jailed():
    """A process with a root directory of its own."""
    os.mkdir(place("jail"))
    child = os.fork()
    if child == 0:
        os.chroot(place("jail"))
        fd = os.open("/inside", os.O_CREAT | os.O_WRONLY)
        write_synced(fd, ROUNDS)
        os._exit(0)
    os.waitpid(child, 0)
    truths.append({"file": "/inside", "bytes": ROUNDS * BLOCK, "tid": child, "deleted": False, "how": "fdatasync"})


def through_pipe():
    """A thread that waits for what comes through a pipe."""
    reader, writer = os.pipe()
    inode = os.fstat(reader).st_ino
    thread = threading.Thread(target=lambda: [os.read(reader, 1) for _ in range(ROUNDS)] and
                              tell("pipe", f"pipe:[{inode}]", 0))
    thread.start()
    for _ in range(ROUNDS):
        threading.Event().wait(0.001)
        os.write(writer, b"x")
    thread.join()


def main():
    print(json.dumps({"pid": os.getpid()}), flush=True)
    if not sys.stdin.readline():
        return 1
    threads = [threading.Thread(target=run) for run in (plain, direct, renamed, deleted, through_pipe)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read_back()
    jailed()
    for truth in truths:
        print(json.dumps(truth))
    print(json.dumps({"done": True}), flush=True)
    sys.stdin.readline()
    return 0


if __name__ == "__main__":
    sys.exit(main())
