// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/runtimes.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "unit/replay/program.h"

using namespace offwait;

namespace {

/// The runtimes of threads 1 and 2 of one process, and of thread 3 of another. Thread 2 waits in `stack`.
std::vector<Runtime> runtimes_with(const std::string& stack) {
  test::Program program(10'000);
  program.line("thread 1 tgid=1 comm=a start=0 exit=-");
  program.line("thread 2 tgid=1 comm=b start=0 exit=-");
  program.line("thread 3 tgid=3 comm=c start=0 exit=-");
  program.wait(2, 0, 5000, "thread:3", "class=futex stack=futex_wait;--;" + stack);
  program.wait(3, 6000, 7000, "thread:1", "class=futex stack=futex_wait;--;pthread_cond_wait;main");
  const Trace trace = program.trace();
  std::vector<Runtime> out(3);
  const std::vector<Runtime> found = runtimes_of(trace);
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    out[static_cast<std::size_t>(trace.actors[id].tid) - 1] = found[id];
  }
  return out;
}

}  // namespace

TEST_CASE("one stack tells the runtime of its whole process") {
  using Runtimes = std::vector<Runtime>;
  const auto both = [](Runtime runtime) { return Runtimes{runtime, runtime, Runtime::none}; };
  CHECK(runtimes_with("runtime.futex.abi0+0x23%20(etcd);runtime.mcall;main.main") == both(Runtime::go));
  CHECK(runtimes_with("Unsafe_Park+0x1%20(libjvm.so);Interpreter") == both(Runtime::java));
  CHECK(runtimes_with("Unsafe_Park+0x1%20(libjvm.so);Ljava/lang/VirtualThread;::run") ==
        both(Runtime::java_virtual_threads));
  CHECK(runtimes_with("ethr_event_wait+0x1%20(beam.smp)") == both(Runtime::erlang));
  CHECK(runtimes_with("tokio::runtime::park::Inner::park;main") == both(Runtime::tokio));
  CHECK(runtimes_with("g_switch+0x1%20(_greenlet.cpython-311.so)") == both(Runtime::greenlets));
}

TEST_CASE("functions that only look like a runtime's tell none") {
  const std::vector<Runtime> none(3, Runtime::none);
  CHECK(runtimes_with("runtime.mcaller;main") == none);
  CHECK(runtimes_with("app::tokio::runtime::run;main") == none);
  CHECK(runtimes_with("beam+0x1%20(app)") == none);
}

TEST_CASE("pools of Java hide no waits, tasks that are switched in the program do") {
  CHECK_FALSE(hides_waits(Runtime::java));
  CHECK(hides_waits(Runtime::java_virtual_threads));
  CHECK(hides_waits(Runtime::go));
  CHECK_FALSE(hides_waits(Runtime::none));
}
