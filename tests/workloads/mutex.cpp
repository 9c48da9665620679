// SPDX-License-Identifier: GPL-2.0-or-later
// A convoy on one lock. --lock pthread is a real mutex: a woken thread may find it taken and wait again, so
// with more than two threads the truth only says that a peer was the waker. --lock handoff is a ticket lock
// on futexes: the thread that unlocks names its successor, so every waker is known.
#include <array>
#include <atomic>
#include <optional>
#include <thread>

#include <pthread.h>

#include "futex.h"
#include "workloads.h"

namespace workload {
namespace {

class HandoffLock {
 public:
  static constexpr std::size_t kMaxThreads = 64;

  void lock(ThreadTruth& truth) {
    const std::uint32_t ticket = next_.fetch_add(1);
    Slot& slot = slots_[ticket % kMaxThreads];
    for (std::uint32_t granted = slot.granted; granted != ticket; granted = slot.granted) {
      truth.wait([&] {
        futex_wait(slot.granted, granted);
        return thread_waker(slot.granter);
      });
    }
  }

  void unlock() {
    const std::uint32_t ticket = ++serving_;
    Slot& slot = slots_[ticket % kMaxThreads];
    slot.granter = current_tid();
    slot.granted = ticket;
    futex_wake_one(slot.granted);
  }

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> granted{0};
    std::atomic<pid_t> granter{0};
  };
  std::atomic<std::uint32_t> next_{0};
  std::uint32_t serving_ = 0;  // Written by the holder only.
  std::array<Slot, kMaxThreads> slots_{};
};

}  // namespace

void mutex(Options& options) {
  const auto count = static_cast<std::size_t>(options.number("threads", 4));
  const auto rounds = options.number("rounds", 100);
  const auto hold_ns = options.number("hold-us", 1500) * 1000;
  const auto outside_ns = options.number("outside-us", 200) * 1000;
  const std::string kind = options.text("lock", "pthread");
  if ((kind != "pthread" && kind != "handoff") || count < 1 || count > HandoffLock::kMaxThreads)
    Options::refuse("--lock is pthread or handoff, --threads 1 to 64");
  ready(options);

  pthread_mutex_t pthread_lock = PTHREAD_MUTEX_INITIALIZER;
  HandoffLock handoff_lock;
  std::vector<std::optional<ThreadTruth>> truths(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (auto& truth : truths) {
    threads.emplace_back([&] {
      truth.emplace("convoy");
      for (std::int64_t round = 0; round < rounds; ++round) {
        if (kind == "handoff") {
          handoff_lock.lock(*truth);
          spin_cpu(hold_ns);
          handoff_lock.unlock();
        } else {
          truth->wait([&] {
            pthread_mutex_lock(&pthread_lock);
            return std::string("peer");
          });
          spin_cpu(hold_ns);
          pthread_mutex_unlock(&pthread_lock);
        }
        spin_cpu(outside_ns);
      }
      truth->end();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& truth : truths) truth->print();
}

}  // namespace workload
