// SPDX-License-Identifier: GPL-2.0-or-later
// A bulk-synchronous program with load imbalance: four threads work, meet at a barrier, and work again. One
// of them has four times the work (4 ms, the others 1 ms).
//
// Bottleneck: the thread with the most work. The others wait for it at every barrier; it never waits for
// them.
//
// Wait-for graph: rank-1, rank-2, rank-3 -> rank-0. No knot: rank-0 is a sink, and saturated; look at what it
// runs.
//
// With --alternate the big share moves to the next thread with every phase: the work is balanced over time,
// but not within a phase. Then every thread waits for every other, and all four are the knot.
#include <array>
#include <atomic>
#include <thread>

#include <pthread.h>

#include "run.h"

namespace {

constexpr int kRanks = 4;

[[gnu::noinline]] void big_share() { example::work(4000); }
[[gnu::noinline]] void small_share() { example::work(1000); }

void rank_main(int rank, bool alternate, pthread_barrier_t& barrier, std::atomic<std::int64_t>& phases) {
  example::name_thread("rank-" + std::to_string(rank));
  for (int phase = 0;; ++phase) {
    const int loaded = alternate ? phase % kRanks : 0;
    if (rank == loaded) {
      big_share();
    } else {
      small_share();
    }
    // NOLINTNEXTLINE(bugprone-posix-return): the serial thread is -1
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++phases;
  }
}

}  // namespace

int main(int argc, char** argv) {
  example::Arguments arguments(argc, argv);
  const long seconds = arguments.seconds();
  const bool alternate = arguments.flag("--alternate");
  arguments.refuse_others(" [--alternate]");
  example::block_stop_signals();

  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, kRanks);
  std::atomic<std::int64_t> phases{0};
  for (int rank = 0; rank < kRanks; ++rank)
    std::thread(rank_main, rank, alternate, std::ref(barrier), std::ref(phases)).detach();
  const double elapsed_s = example::wait_for_stop(seconds);
  example::report_and_exit("phases", phases, elapsed_s);
}
