// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit/replay/program.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "model/validate.h"
#include "trace/text.h"

namespace offwait::test {

namespace {

std::string ns(long us) { return std::to_string(us * 1000); }

}  // namespace

Program::Program(long end_us, int cpus) {
  text = "offwait-waits 1\nwindow 0 " + ns(end_us) + "\n";
  line("recording cpus=" + std::to_string(cpus));
}

void Program::line(const std::string& line) { text += line + "\n"; }

void Program::thread(int tid, const std::string& name, const std::string& more) {
  line("thread " + std::to_string(tid) + " tgid=1 comm=" + name + " " + more);
}

void Program::wait(int tid, long block_us, long wake_us, const std::string& waker, const std::string& more) {
  wait_and_queue(tid, block_us, wake_us, wake_us, waker, more);
}

void Program::wait_and_queue(int tid, long block_us, long wake_us, long run_us, const std::string& waker,
                             const std::string& more) {
  line("wait " + std::to_string(tid) + " block=" + ns(block_us) + " wake=" + ns(wake_us) +
       " run=" + ns(run_us) + " waker=" + waker + " " + more);
}

Trace Program::trace() const {
  Result<Trace> trace = parse_text(text, "test");
  if (!trace.ok()) {
    FAIL(trace.error().message);
  }
  REQUIRE(validate(*trace).ok());
  return std::move(trace).value();
}

Trace three_at_a_lock() {
  Program program(90'000);
  for (int tid = 1; tid <= 3; ++tid) program.thread(tid, "worker");
  for (int turn = 1; turn < 90; ++turn) {
    program.wait(1 + turn % 3, std::max(0, turn * 1000 - 1500), turn * 1000,
                 "thread:" + std::to_string(1 + (turn + 2) % 3),
                 "class=futex futex=1 stack=f;--;pthread_mutex_lock;main");
  }
  return program.trace();
}

}  // namespace offwait::test
