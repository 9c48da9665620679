#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks reach their root when a process unloads a library and loads another one at the same addresses.

    mappings_test.py OFFWAIT"""
import re
import subprocess
import sys
import tempfile
import unittest
from urllib.parse import unquote

import runner
from recording import start_offwait

OFFWAIT = sys.argv[1]
ROUNDS, CALLS = 10, 60
# The frames of the two libraries differ in size, so that a walk by the wrong library's table fails.
LIBRARY = """
#include <unistd.h>
__attribute__((noinline)) void enter_%(name)s(void) {
  volatile char frame[%(bytes)d];
  frame[0] = 1;
  usleep(2000);
  frame[1] = 1;
}
"""
PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  getchar();
  for (int round = 0; round < %(rounds)d; ++round) {
    for (int library = 1; library <= 2; ++library) {
      void* handle = dlopen(argv[library], RTLD_NOW);
      void (*enter)(void) = (void (*)(void))dlsym(handle, library == 1 ? "enter_a" : "enter_b");
      for (int call = 0; call < %(calls)d; ++call) enter();
      fprintf(stderr, "%%p\\n", (void*)enter);
      dlclose(handle);
    }
  }
  return argc == 3 ? 0 : 1;
}
"""


class MappingsTest(unittest.TestCase):
    def test_another_library_at_the_same_place(self):
        with tempfile.TemporaryDirectory() as scratch:
            def build(name, text, *options):
                with open(f"{scratch}/{name}.c", "w", encoding="ascii") as source:
                    source.write(text)
                subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-o", f"{scratch}/{name}", f"{scratch}/{name}.c", *options],
                               check=True)

            build("a.so", LIBRARY % {"name": "a", "bytes": 100}, "-shared", "-fPIC")
            build("b.so", LIBRARY % {"name": "b", "bytes": 3000}, "-shared", "-fPIC")
            build("program", PROGRAM % {"rounds": ROUNDS, "calls": CALLS}, "-ldl")
            program = subprocess.Popen([f"{scratch}/program", f"{scratch}/a.so", f"{scratch}/b.so"], stdin=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            recorder = start_offwait(OFFWAIT, ["dump", "-o", f"{scratch}/dump", "-p", str(program.pid), "-d", "60s"])
            _, addresses = program.communicate("\n")
            recorder.communicate(timeout=60)
            self.assertEqual(program.returncode, 0)
            pages = {int(address, 16) >> 12 for address in addresses.split()}
            self.assertEqual(len(pages), 1, "the libraries were not loaded at the same place")
            with open(f"{scratch}/dump", encoding="ascii") as lines:
                stacks = [unquote(line) for line in lines if line.startswith("wait ") and "class=sleep" in line]
        # Both functions are at the same address, so the name does not say which of the two it was.
        complete = sum(1 for stack in stacks if re.search(r"enter_[ab]\+.*;main\+.*;_start\+", stack))
        cut = sum(1 for stack in stacks if "[cut:" in stack)
        print(f"{complete} of {2 * ROUNDS * CALLS} complete, {cut} cut in {2 * ROUNDS} loadings")
        # The first stacks after a loading are cut until its code is known, which takes longer beside other programs.
        self.assertGreater(complete, 0.5 * 2 * ROUNDS * CALLS)
        # Once the code is known, all stacks of the loading are complete: only the next loading has cut ones again.
        cut_again = sum("[cut:" in after and "[cut:" not in before for before, after in zip(stacks, stacks[1:]))
        self.assertLess(cut_again, 2 * ROUNDS)
        # Each stack is either complete or marked as cut.
        self.assertLessEqual(len(stacks) - complete - cut, 1, stacks)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[2:], ["gcc"]))
