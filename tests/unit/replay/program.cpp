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

void add_throttled_writer(Program& program) {
  program.thread(1, "writer");
  program.thread(2, "compact");
  long at = 0;
  for (long round = 0; round < 480; ++round) {
    program.wait(1, at + 100, at + 250, "disk:vda", "class=disk stack=k;--;fdatasync;sync_log;writer");
    at += 250;
    if (round % 40 < 20) continue;
    program.wait(1, at, at + 1000, "timer", "class=sleep stack=k;--;usleep;delay_write;writer");
    at += 1000;
  }
  for (at = 0; at < kThrottledUs; at += 1000) {
    program.wait(2, at + 600, at + 1000, "disk:vdb", "class=disk stack=k;--;pwrite;merge;compact");
  }
}

Trace late_frame(bool polls) {
  constexpr long kEnd = 400'000;
  Program program(kEnd);
  program.thread(1, "frame");
  long begin = 0;
  for (long round = 0; begin + 10'000 <= kEnd; ++round) {
    const bool late = round % 4 == 3;
    const long work = late ? 6000 : 1000 + round % 4 * 500;
    const long end = begin + (late ? 10'000 : 5000);
    program.wait(1, begin + work, end, "timer", "class=sleep stack=k;--;nanosleep;frame");
    if (polls && !late) program.wait(1, end + 100, end + 200, "timer", "class=poll stack=k;--;poll;frame");
    begin = end;
  }
  return program.trace();
}

}  // namespace offwait::test
