// SPDX-License-Identifier: GPL-2.0-or-later
// Two threads wait busily for a lock. With --kind function they do so in workload_spin_lock(), a plain
// function that --spin can probe; with --kind annotated the lock is inlined and has the marks of
// offwait/annotate.h.
#include <array>
#include <atomic>
#include <string>
#include <thread>

#include <sched.h>

#include "offwait/annotate.h"
#include "workloads.h"

namespace workload {
namespace {

// A ticket lock serves threads in their order, so each thread waits for the other in every round.
struct SpinLock {
  std::atomic<std::uint32_t> next{0};
  std::atomic<std::uint32_t> serving{0};
  std::atomic<Nanos> released{0};
};

void acquire(SpinLock& lock) {
  const std::uint32_t ticket = lock.next++;
  for (int tries = 0; lock.serving != ticket; ++tries) {
    // The holder may need this very CPU.
    if (tries % 1000 == 999) sched_yield();
  }
}

void release(SpinLock& lock) { lock.serving.store(lock.serving + 1, std::memory_order_release); }

}  // namespace

extern "C" [[gnu::noinline]] void workload_spin_lock(SpinLock* lock) { acquire(*lock); }
extern "C" [[gnu::noinline]] void workload_spin_unlock(SpinLock* lock) { release(*lock); }

void spin(Options& options) {
  const auto rounds = options.number("rounds", 400);
  const auto hold_ns = options.number("hold-us", 1000) * 1000;
  const auto outside_ns = options.number("outside-us", 300) * 1000;
  const std::string kind = options.text("kind", "function");
  if (kind != "function" && kind != "annotated") Options::refuse("--kind is function or annotated");
  ready(options);

  struct Spinner {
    pid_t tid = 0;
    std::int64_t waits = 0;
    Nanos wait_ns = 0;  // Until the other thread let go.
    Nanos lock_ns = 0;  // Until the lock was got.
    Nanos begin_ns = 0;
    Nanos end_ns = 0;
  };
  SpinLock lock;
  std::array<Spinner, 2> spinners;
  std::array<std::thread, 2> threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads.at(i) = std::thread([&, i] {
      Spinner& me = spinners.at(i);
      me.tid = current_tid();
      me.begin_ns = monotonic_now();
      for (std::int64_t round = 0; round < rounds; ++round) {
        const Nanos begin = monotonic_now();
        if (kind == "function") {
          workload_spin_lock(&lock);
        } else {
          offwait_spin_begin(&lock);
          acquire(lock);
          offwait_spin_end(&lock);
        }
        // The thread that held the lock before wrote `released` when it let go.
        const Nanos waited = lock.released - begin;
        if (waited > 0) {
          ++me.waits;
          me.wait_ns += waited;
          me.lock_ns += monotonic_now() - begin;
        }
        spin_cpu(hold_ns);
        lock.released = monotonic_now();
        if (kind == "function") {
          workload_spin_unlock(&lock);
        } else {
          offwait_spin_release(&lock);
          release(lock);
        }
        spin_cpu(outside_ns);
      }
      me.end_ns = monotonic_now();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Spinner& spinner : spinners) {
    print_truth("spinner", {{"tid", static_cast<std::int64_t>(spinner.tid)},
                            {"waits", spinner.waits},
                            {"wait_ns", spinner.wait_ns},
                            {"lock_ns", spinner.lock_ns},
                            {"begin_ns", spinner.begin_ns},
                            {"end_ns", spinner.end_ns}});
  }
}

}  // namespace workload
