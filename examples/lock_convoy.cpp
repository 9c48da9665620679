// SPDX-License-Identifier: GPL-2.0-or-later
// Eight threads that need one lock nearly all the time: each works 200 µs with the lock and 20 µs without.
//
// Bottleneck: the lock. However many CPUs there are, at most 5,000 rounds a second are possible, and
// about 1.1 threads run.
//
// Wait-for graph: every thread waits for every other. The knot is the convoy. After threads that wait alike
// are merged it is one actor, convoy×8, with an edge to itself.
#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "run.h"

namespace {

constexpr int kThreads = 8;

[[gnu::noinline]] void critical_section(std::mutex& mutex) {
  const std::scoped_lock lock(mutex);
  example::work(200);
}

[[gnu::noinline]] void outside() { example::work(20); }

void convoy(std::mutex& mutex, std::atomic<std::int64_t>& done) {
  example::name_thread("convoy");
  for (;;) {
    critical_section(mutex);
    ++done;
    outside();
  }
}

}  // namespace

int main(int argc, char** argv) {
  example::Arguments arguments(argc, argv);
  const long seconds = arguments.seconds();
  arguments.refuse_others("");
  example::block_stop_signals();

  std::mutex mutex;
  std::atomic<std::int64_t> done{0};
  for (int i = 0; i < kThreads; ++i) std::thread(convoy, std::ref(mutex), std::ref(done)).detach();
  const double elapsed_s = example::wait_for_stop(seconds);
  example::report_and_exit("rounds", done, elapsed_s);
}
