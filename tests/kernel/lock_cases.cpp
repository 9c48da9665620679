// SPDX-License-Identifier: GPL-2.0-or-later
// lock_cases CASE: threads that wait for locks of libraries and of their own, and for what is no lock, until
// it is killed.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <latch>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef HAVE_ABSL
#include <absl/synchronization/mutex.h>
#endif

namespace {

constexpr int kThreads = 8;
constexpr long kInsideUs = 1500;
constexpr long kOutsideUs = 200;

void pause_us(long us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

[[noreturn]] void run_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      prctl(PR_SET_NAME, "worker");
      for (;;) work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(1);
}

/// One thread at a time is inside. No name in it says so.
class Turnstile {
 public:
  [[gnu::noinline]] void come() {
    int nobody = 0;
    if (state_.compare_exchange_strong(nobody, 1)) return;
    while (state_.exchange(2) != 0) syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr, 0);
  }
  [[gnu::noinline]] void go() {
    if (state_.exchange(0) == 2) syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

 private:
  std::atomic<int> state_ = 0;
};

Turnstile turnstile;

void use_own_lock(int /*thread*/) {
  turnstile.come();
  pause_us(kInsideUs);
  turnstile.go();
  pause_us(kOutsideUs);
}

#ifdef HAVE_ABSL
absl::Mutex registry;

void use_absl(int /*thread*/) {
  registry.Lock();
  pause_us(kInsideUs);
  registry.Unlock();
  pause_us(kOutsideUs);
}
#endif

/// The first thread works three times as long as the others.
void use_barrier(int thread) {
  static pthread_barrier_t all;
  static const int made = pthread_barrier_init(&all, nullptr, kThreads);
  pause_us(thread == 0 ? 3 * kInsideUs : kInsideUs);
  if (made == 0) pthread_barrier_wait(&all);
}

/// In each round the first thread lets the others go, and waits until they are done.
void use_latch(int thread) {
  struct Round {
    std::latch begun{1};
    std::latch done{kThreads - 1};
  };
  static std::deque<Round> rounds(100'000);
  static thread_local std::size_t next = 0;
  Round& round = rounds.at(next++);
  if (thread == 0) {
    round.begun.count_down();
    round.done.wait();
    return;
  }
  round.begun.wait();
  pause_us(kInsideUs);
  round.done.count_down();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(int)>> cases = {
      {"own", use_own_lock},
      {"barrier", use_barrier},
      {"latch", use_latch},
#ifdef HAVE_ABSL
      {"absl", use_absl},
#endif
  };
  const auto found = argc == 2 ? cases.find(argv[1]) : cases.end();
  if (found == cases.end()) {
    std::fprintf(stderr, "usage: %s CASE\n", argv[0]);
    return 2;
  }
  run_threads(found->second);
}
