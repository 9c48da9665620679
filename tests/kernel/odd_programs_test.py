# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that are not like others: fibers, a main thread that has ended, 32 bits, io_uring, Go.

    odd_programs_test.py OFFWAIT"""
import errno
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import recording
import runner

OFFWAIT = sys.argv[1]

FIBER = r"""
#include <time.h>
#include <ucontext.h>
static ucontext_t outside, fiber;
static char stack[65536];
__attribute__((noinline)) void fiber_wait(void) { struct timespec t = {0, 1500000}; nanosleep(&t, 0); __asm__(""); }
__attribute__((noinline)) void fiber_body(void) { for (;;) { fiber_wait(); swapcontext(&fiber, &outside); } }
int main(void) {
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = sizeof(stack);
  fiber.uc_link = &outside;
  makecontext(&fiber, fiber_body, 0);
  for (;;) swapcontext(&outside, &fiber);
}
"""

LEADER = r"""
#include <pthread.h>
#include <time.h>
__attribute__((noinline)) void nap(void) { struct timespec t = {0, 3000000}; nanosleep(&t, 0); __asm__(""); }
void* worker(void* nothing) { for (;;) nap(); return nothing; }
int main(void) {
  pthread_t thread;
  for (int i = 0; i < 3; ++i) pthread_create(&thread, 0, worker, 0);
  pthread_exit(0);
}
"""

NAPS = r"""
#include <poll.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void nap(void) {
  struct timespec t = {0, 1000000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
  poll(0, 0, 1);
  usleep(1000);
  __asm__("");
}
__attribute__((noinline)) void work(void) { for (;;) nap(); }
int main(void) { work(); }
"""

# Without a C library, because few machines have one of 32 bits. The calls are pipe, fork, write and nanosleep, and
# read and futex.
BITS_32 = r"""
static int call(int number, int a, int b, int c, void* d) {
  int result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
  return result;
}
__attribute__((noinline)) static void work(void) {
  int ends[2], word = 0;
  char byte = 0;
  struct { int s, ns; } ms = {0, 1000000}, longer = {0, 5000000};
  call(42, (int)ends, 0, 0, 0);
  if (call(2, 0, 0, 0, 0) == 0)
    for (call(6, ends[0], 0, 0, 0);;) { call(4, ends[1], (int)&byte, 1, 0); call(162, (int)&longer, 0, 0, 0); }
  for (;;) { call(3, ends[0], (int)&byte, 1, 0); call(240, (int)&word, 128, 0, &ms); }
}
void _start(void) { work(); __asm__ volatile("hlt"); }
"""

URING = r"""
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
  struct io_uring_params params;
  memset(&params, 0, sizeof(params));
  int ring = syscall(SYS_io_uring_setup, 4, &params);
  if (ring < 0) return 1;
  char* sq = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  char* cq = params.features & IORING_FEAT_SINGLE_MMAP ? sq : mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
  struct io_uring_sqe* sqes = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  struct { long long s, ns; } ms = {0, 1000000};
  for (unsigned n = 0;; ++n) {
    unsigned slot = n & 3;
    memset(&sqes[slot], 0, sizeof(*sqes));
    sqes[slot].opcode = IORING_OP_TIMEOUT;
    sqes[slot].addr = (unsigned long)&ms;
    sqes[slot].len = 1;
    ((unsigned*)(sq + params.sq_off.array))[slot] = slot;
    __atomic_store_n((unsigned*)(sq + params.sq_off.tail), n + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) < 0) return 2;
    __atomic_store_n((unsigned*)(cq + params.cq_off.head), n + 1, __ATOMIC_RELEASE);
  }
}
"""

GO = r"""
package main

import "time"

func main() {
	for i := 0; i < 4; i++ {
		go func() {
			for {
				time.Sleep(time.Millisecond)
			}
		}()
	}
	select {}
}
"""


class OddProgramsTest(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def waits_of(self, program):
        """The waits of the target and the text of its report."""
        target = subprocess.Popen([program])
        try:
            with tempfile.NamedTemporaryFile(suffix=".txt") as file:
                made = subprocess.run([OFFWAIT, "dump", "-p", str(target.pid), "-d", "1s", "-o", file.name], capture_output=True,
                                      text=True, check=False)
                self.assertIsNone(target.poll(), "the program has ended")
                self.assertEqual(made.returncode, 0, made.stderr)
                dump = recording.Dump(file.name)
                report = subprocess.run([OFFWAIT, "report", file.name], capture_output=True, text=True, check=True).stdout
        finally:
            target.kill()
            target.wait()
        threads = {thread.tid for thread in dump.threads if not thread.outside}
        waits = [wait for wait in dump.waits if wait.tid in threads]
        self.assertGreater(len(waits), 50)
        return waits, report

    def compiled(self, code, *options):
        source, program = self.place / "program.c", self.place / "program"
        source.write_text(code)
        made = subprocess.run(["gcc", "-O1", "-g", "-o", program, source, *options], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest(made.stderr)
        return program

    def test_the_end_of_a_fibers_stack_is_complete(self):
        waits, report = self.waits_of(self.compiled(FIBER))
        for wait in waits[1:-1]:
            self.assertRegex(wait.stack, r"fiber_wait.*fiber_body")
            self.assertNotIn("[cut", wait.stack)
        self.assertNotIn("STACKS", report)

    def test_threads_whose_main_thread_has_ended_have_stacks(self):
        waits, report = self.waits_of(self.compiled(LEADER, "-pthread"))
        for wait in waits[3:-3]:
            self.assertRegex(wait.stack, r"nap.*worker")
            self.assertNotIn("[cut", wait.stack)
        self.assertNotIn("STACKS", report)

    def test_a_program_of_32_bits_has_classes_and_stacks_say_why_they_are_cut(self):
        program = self.compiled(BITS_32, "-m32", "-nostdlib", "-static", "-ffreestanding", "-no-pie", "-fno-pie",
                                "-fno-stack-protector", "-fomit-frame-pointer")
        try:
            waits, report = self.waits_of(program)
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            self.skipTest("this kernel runs no programs of 32 bits")
        self.assertEqual({wait.cls for wait in waits}, {"pipe", "futex", "sleep"})
        for wait in waits:
            if wait.cls == "futex":
                self.assertIsNotNone(wait.object)
        cut = {urllib.parse.unquote(wait.stack.rsplit(";", 1)[-1]) for wait in waits if "[cut" in wait.stack}
        self.assertEqual(cut, {"[cut: 32-bit program]"})
        self.assertIn("of 32-bit programs, whose stacks are not walked", " ".join(report.split()))
        self.assertNotIn("java", report)

    def test_stacks_go_on_through_the_libc_of_musl(self):
        if not shutil.which("musl-gcc"):
            self.skipTest("no musl-gcc")
        source, program = self.place / "program.c", self.place / "program"
        source.write_text(NAPS)
        for options in ([], ["-static"]):
            subprocess.run(["musl-gcc", "-O1", "-g", *options, "-o", program, source], check=True)
            waits, report = self.waits_of(program)
            for wait in waits[1:-1]:
                self.assertRegex(wait.stack, r"nap.*work.*main")
                self.assertNotIn("memset", wait.stack)
                self.assertNotIn("[cut", wait.stack)
            self.assertNotIn("STACKS", report)

    def test_stacks_of_threads_of_musl_are_complete(self):
        if not shutil.which("musl-gcc"):
            self.skipTest("no musl-gcc")
        source, program = self.place / "program.c", self.place / "program"
        source.write_text(LEADER)
        subprocess.run(["musl-gcc", "-O1", "-g", "-o", program, source], check=True)
        waits, report = self.waits_of(program)
        naps = [wait for wait in waits if "nap" in wait.stack]
        self.assertGreater(len(naps), 20)
        for wait in naps:
            self.assertRegex(wait.stack, r"nap.*worker")
            self.assertNotIn("main", wait.stack)
        self.assertEqual({wait.stack for wait in waits[:-1] if "[cut" in wait.stack}, set())
        self.assertNotIn("STACKS", report)

    def test_waits_for_completions_of_io_uring_have_a_class(self):
        waits, _ = self.waits_of(self.compiled(URING))
        self.assertEqual({wait.cls for wait in waits}, {"poll"})

    def test_stacks_of_threads_of_go_are_complete(self):
        if not shutil.which("go"):
            self.skipTest("no Go")
        (self.place / "program.go").write_text(GO)
        subprocess.run(["go", "build", "-o", "program", "program.go"], cwd=self.place, check=True,
                       env={"PATH": "/usr/bin:/bin:/usr/local/go/bin", "HOME": str(self.place), "GO111MODULE": "off"})
        waits, report = self.waits_of(self.place / "program")
        self.assertEqual({wait.stack for wait in waits if "[cut" in wait.stack}, set())
        self.assertNotIn("STACKS", report)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[2:], ["gcc"]))
