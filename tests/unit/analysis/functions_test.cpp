// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/functions.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include <fmt/format.h>

#include "analysis/analyse.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

Findings findings_of(const test::Program& program, const std::vector<std::string>& what_ifs = {}) {
  AnalysisOptions options;
  options.views = true;
  options.function_gains = true;
  for (const std::string& what_if : what_ifs) options.what_ifs.push_back(*parse_what_if(what_if));
  const Result<Findings> found = analyse(program.trace(), options);
  if (!found) FAIL(found.error().message);
  return *found;
}

const FoundFunction& row(const FoundFunctions& functions, const std::string& name) {
  const auto found =
      std::find_if(functions.rows.begin(), functions.rows.end(),
                   [&name](const FoundFunction& one) { return one.function.function == name; });
  if (found == functions.rows.end()) FAIL("no row " << name);
  return *found;
}

void sample(test::Program& program, int tid, long at_us, const std::string& stack) {
  program.line(fmt::format("on_cpu {} at={}000 stack={}", tid, at_us, stack));
}

/// Each round of 4 ms: 1 ms in `parse`, called by `handle`, and 1 ms in `handle` itself, then 2 ms in
/// `fsync`, called by `save`. Samples are taken each 0.5 ms.
test::Program server(int rounds = 100) {
  test::Program program(rounds * 4000L);
  program.thread(1, "server");
  for (long at = 0; at < rounds * 4000L; at += 4000) {
    sample(program, 1, at + 100, "--;parse;handle;main");
    sample(program, 1, at + 600, "--;parse;parse;handle;main");
    sample(program, 1, at + 1100, "--;handle%20at%20h.c:20;main");
    sample(program, 1, at + 1600, "--;handle%20at%20h.c:22;main");
    program.wait(1, at + 2000, at + 4000, "disk:vda", "class=disk stack=io_schedule;--;fsync;save;main");
  }
  return program;
}

}  // namespace

TEST_CASE("time on CPUs and in waits counts for the innermost function, and for its callers once") {
  const FoundFunctions found = findings_of(server()).views.functions;
  CHECK(found.counted.cpu_s == Approx(0.2));
  CHECK(found.counted.io_s == Approx(0.2));
  CHECK(found.samples == 400);
  const FoundFunction& parse = row(found, "parse");
  CHECK(parse.self.cpu_s == Approx(0.1));
  CHECK(parse.all.cpu_s == Approx(0.1));  // a recursion counts once
  CHECK(parse.samples == 200);
  const FoundFunction& handle = row(found, "handle");
  CHECK(handle.self.cpu_s == Approx(0.1));
  CHECK(handle.all.cpu_s == Approx(0.2));
  const FoundFunction& sync = row(found, "fsync");
  CHECK(sync.self.io_s == Approx(0.2));
  CHECK(sync.self.cpu_s == 0);
  CHECK(sync.waits == 99);  // the last one ends with the window
  const FoundFunction& all = row(found, "main");
  CHECK(all.self.total_s() == 0);
  CHECK(all.all.cpu_s == Approx(0.2));
  CHECK(all.all.io_s == Approx(0.2));
  // The widest first.
  CHECK(found.rows[0].function.function == "fsync");
}

TEST_CASE("a row has the line with most time, and who called it") {
  test::Program program = server();
  sample(program, 1, 1200, "--;handle%20at%20h.c:22;main");
  const FoundFunctions found = findings_of(program).views.functions;
  CHECK(row(found, "handle").file == "h.c");
  CHECK(row(found, "handle").line == 22);
  CHECK(row(found, "parse").file.empty());
  REQUIRE(!row(found, "fsync").callers.empty());
  CHECK(row(found, "fsync").callers.front().function == "save");
  CHECK(row(found, "fsync").caller_share == Approx(1));
}

TEST_CASE("the subclasses are those of blocked samples") {
  test::Program program(1000, 8);
  program.thread(1, "a");
  program.thread(2, "b");
  const auto wait = [&](long from, const std::string& wait_class, const std::string& waker) {
    program.wait_and_queue(1, from, from + 50, from + 60, waker,
                           fmt::format("class={} stack=k;--;f_{}", wait_class, wait_class));
  };
  wait(0, "disk", "disk:vda");
  wait(100, "futex", "thread:2");
  wait(200, "lock", "thread:2");
  wait(300, "pipe", "thread:2");
  wait(400, "sleep", "timer");
  const FoundFunctions found = findings_of(program).views.functions;
  CHECK(row(found, "f_disk").self.io_s == Approx(50e-6));
  CHECK(row(found, "f_futex").self.lock_s == Approx(50e-6));
  CHECK(row(found, "f_lock").self.lock_s == Approx(50e-6));
  CHECK(row(found, "f_pipe").self.other_s == Approx(50e-6));
  CHECK(row(found, "f_sleep").self.other_s == Approx(50e-6));
  for (const char* const name : {"f_disk", "f_futex", "f_lock", "f_pipe", "f_sleep"}) {
    CHECK(row(found, name).self.runnable_s == Approx(10e-6));
  }
}

TEST_CASE("the inside of a wait counts for the call that waits") {
  test::Program program(4000);
  program.thread(1, "a");
  program.thread(2, "b");
  program.wait(
      1, 0, 1000, "thread:2",
      "class=futex "
      "stack=futex_wait;--;__lll_lock_wait+0x1%20(libc.so.6);pthread_mutex_lock+0x2%20(libc.so.6);"
      "std::mutex::lock()+0x3%20(app);Cache::lookup(int)+0x4%20(app);start_thread+0x5%20(libc.so.6)");
  const FoundFunctions found = findings_of(program).views.functions;
  CHECK(row(found, "std::mutex::lock()").self.lock_s == Approx(1e-3));
  CHECK(row(found, "std::mutex::lock()").callers.front().function == "Cache::lookup(int)");
  CHECK(row(found, "Cache::lookup(int)").all.lock_s == Approx(1e-3));
  CHECK(found.rows.size() == 2);
}

TEST_CASE("waits for requests and threads that nobody waits for are set aside") {
  test::Program program = server();
  program.thread(2, "ticker");
  for (long at = 0; at < 400'000; at += 40'000) {
    program.wait(2, at, at + 39'000, "timer", "class=sleep stack=k;--;nanosleep;tick");
  }
  program.line("thread 3 tgid=3 comm=client start=0 exit=- outside=yes");
  const Findings findings = findings_of(program);
  REQUIRE(!findings.progress.empty());
  const FoundFunctions& found = findings.views.functions;
  CHECK(found.threads == 1);
  CHECK(found.names == std::vector<std::string>{"server"});
  CHECK(found.apart_s == Approx(0.4));
  CHECK(std::none_of(found.rows.begin(), found.rows.end(),
                     [](const FoundFunction& one) { return one.function.function == "tick"; }));
}

TEST_CASE("a function's gain is that of its work and of its own waits") {
  const Findings findings =
      findings_of(server(), {"function parse cpu /2", "function save /2", "function handle cpu *2"});
  const FoundFunctions& found = findings.views.functions;
  // Of 4 ms, `parse` takes 1 and `fsync` takes 2.
  REQUIRE(row(found, "parse").gain);
  CHECK(row(found, "parse").gain->gain == Approx(4 / 3.5 - 1).margin(0.003));
  REQUIRE(row(found, "handle").gain);
  CHECK(row(found, "handle").gain->gain == Approx(4 / 3.0 - 1).margin(0.003));
  REQUIRE(row(found, "fsync").io_gain);
  CHECK(row(found, "fsync").io_gain->gain == Approx(4 / 3.0 - 1).margin(0.003));
  CHECK_FALSE(row(found, "fsync").cpu_gain);
  REQUIRE(row(found, "main").gain);
  CHECK(row(found, "main").gain->gain == Approx(1).margin(0.005));
  CHECK(row(found, "main").cpu_gain->gain == Approx(4 / 3.0 - 1).margin(0.003));
  CHECK(row(found, "main").io_gain->gain == Approx(4 / 3.0 - 1).margin(0.003));
  REQUIRE(findings.what_ifs.size() == 3);
  CHECK(findings.what_ifs[0].gain == Approx(4 / 3.5 - 1).margin(0.003));
  CHECK(findings.what_ifs[1].gain == Approx(4 / 3.0 - 1).margin(0.003));
  CHECK(findings.what_ifs[2].gain == Approx(4 / 6.0 - 1).margin(0.003));
  // What calls that are not made leave to others is not known.
  CHECK(findings.what_ifs[1].certainty == Certainty::sure);
  const Findings without = findings_of(server(), {"function fsync /1000"});
  CHECK(without.what_ifs[0].gain == Approx(1).margin(0.02));
  CHECK(without.what_ifs[0].certainty == Certainty::approximate);
  CHECK(without.what_ifs[0].doubt == Doubt::left_out);
}

TEST_CASE("a gain's range is the wider the fewer samples it rests on, and few give none") {
  const auto width = [](int rounds) {
    const FoundFunctions found = findings_of(server(rounds)).views.functions;
    const std::optional<Gain>& gain = row(found, "parse").gain;
    REQUIRE(gain);
    REQUIRE(gain->low);
    return *gain->high - *gain->low;
  };
  // 1.645 / sqrt(samples), of the gain, to both sides; the replay's own error besides.
  const double gain = 4 / 3.5 - 1;
  CHECK(width(50) > 2 * gain * 1.645 / 10.1);
  CHECK(width(50) > width(400));
  CHECK_FALSE(row(findings_of(server(5)).views.functions, "parse").gain);
}

TEST_CASE("work is scaled where the samples show the function") {
  // After a request of one kind `a` runs for 1 ms, after one of the other kind `b` does. Twice as many of the
  // first kind come, so `a` takes 2 of 3 ms.
  test::Program program(300'000);
  program.thread(1, "server");
  for (long at = 0; at < 300'000; at += 1500) {
    const bool first = at / 1500 % 3 != 2;
    program.wait(1, at, at + 500, "timer",
                 fmt::format("class=sleep stack=k;--;wait_{};main", first ? "a" : "b"));
    for (long then = 550; then < 1500; then += 100) {
      sample(program, 1, at + then, fmt::format("--;{};main", first ? "a" : "b"));
    }
  }
  const FoundFunctions found = findings_of(program).views.functions;
  CHECK(row(found, "a").gain->gain == Approx(4.5 / 3.5 - 1).margin(0.005));
  CHECK(row(found, "b").gain->gain == Approx(4.5 / 4 - 1).margin(0.005));
  CHECK(row(found, "wait_a").other_gain->gain == Approx(4.5 / 4 - 1).margin(0.005));
}

TEST_CASE("a function that waits half as often is ready to run half as long, too") {
  // 1 ms of work, 2 ms at the disk, 1 ms until it runs, though CPUs are free.
  test::Program program(400'000, 8);
  program.thread(1, "server");
  for (long at = 0; at < 400'000; at += 4000) {
    program.wait_and_queue(1, at + 1000, at + 3000, at + 4000, "disk:vda",
                           "class=disk stack=k;--;pread;load;main");
    for (long then = 50; then < 1000; then += 100) sample(program, 1, at + then, "--;parse;main");
  }
  const Findings findings =
      findings_of(program, {"function load /2", "function load io /2", "function load runnable /2"});
  const FoundFunction& load = row(findings.views.functions, "load");
  CHECK(load.gain->gain == Approx(4 / 2.5 - 1).margin(0.005));
  CHECK(load.io_gain->gain == Approx(4 / 3.0 - 1).margin(0.005));
  CHECK(load.runnable_gain->gain == Approx(4 / 3.5 - 1).margin(0.005));
  REQUIRE(findings.what_ifs.size() == 3);
  CHECK(findings.what_ifs[0].gain == Approx(load.gain->gain));
  CHECK(findings.what_ifs[1].gain == Approx(load.io_gain->gain));
  CHECK(findings.what_ifs[2].gain == Approx(load.runnable_gain->gain));
}

TEST_CASE("critical stacks have a cause, and wakers what they ran before") {
  test::Program program(10'000, 8);
  program.thread(1, "a");
  program.thread(2, "b");
  // `b` waits for the lock all the time, but for 1 ms at the end.
  program.wait(2, 0, 9000, "thread:1", "class=futex stack=f;--;lock;two waker_stack=w;--;unlock;one");
  program.wait(1, 2000, 4000, "disk:vda", "class=disk stack=io_schedule;--;pread;one");
  const FoundThreads found = findings_of(program).views.threads;
  REQUIRE(found.rows.size() == 2);
  CHECK(found.rows[0].name == "a");
  CHECK(found.rows[0].critical_s == Approx(7e-3 + 0.5e-3));
  CHECK(found.rows[0].time.io_s == Approx(2e-3));
  CHECK(found.rows[1].time.lock_s == Approx(9e-3));
  REQUIRE(found.stacks.size() == 1);
  CHECK(found.stacks[0].cause == CriticalCause::io);
  CHECK(found.stacks[0].critical_s == Approx(2e-3));
  CHECK(found.files.size() == 1);
  REQUIRE(found.wakers.size() == 1);
  CHECK(found.wakers[0].critical_s == Approx(5e-3));  // since it ran again after the disk
  CHECK(found.wakers[0].stack.frames.back().function == "one");
  CHECK(found.critical_s == Approx(8e-3));
}

TEST_CASE("file activity is told apart by file") {
  test::Program program(1000, 8);
  program.thread(1, "a");
  program.line("object 1 kind=file path=/data/log dev=8:1 inode=7");
  program.line("object 2 kind=journal dev=8:1");
  const std::string in = "class=disk stack=io_schedule;--;fsync;save";
  program.wait(1, 100, 200, "disk:vda", in + " object=1");
  program.wait(1, 500, 600, "disk:vda", in + " object=2");
  program.wait(1, 650, 700, "disk:vda", in);
  const FoundThreads found = findings_of(program).views.threads;
  REQUIRE(found.stacks.size() == 1);
  CHECK(found.stacks[0].critical_s == Approx(450e-6));
  CHECK(found.stacks[0].count == 3);
  REQUIRE(found.files.size() == 3);
  REQUIRE(found.files[0].file);
  CHECK(found.files[0].file->kind == Object::Kind::journal);
  CHECK(found.files[0].critical_s == Approx(300e-6));
  REQUIRE(found.files[1].file);
  CHECK(found.files[1].file->path == "/data/log");
  CHECK(found.files[1].critical_s == Approx(100e-6));
  CHECK(found.files[1].count == 1);
  CHECK_FALSE(found.files[2].file);
  CHECK(found.files[2].critical_s == Approx(50e-6));
}
