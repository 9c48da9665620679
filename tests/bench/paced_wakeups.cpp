// SPDX-License-Identifier: GPL-2.0-or-later
// One thread wakes many others in turn and computes for some 20 us in between, all on one CPU. The others
// have a realtime priority, so that each runs at once when it is woken, and then waits again: every wakeup is
// two context switches, and their rate hardly depends on the number of threads. Prints "ready" when all
// threads wait, reads a line, and prints the seconds that the wakeups took. Needs root.
//
//   paced_wakeups THREADS WAKEUPS
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr int kIterations = 20'000;
constexpr std::size_t kStackBytes = 64 << 10;

struct alignas(64) Seat {
  std::atomic<int> turn{0};
};

std::atomic<std::size_t> waiting{0};

void* wait_for_turns(void* argument) {
  Seat& seat = *static_cast<Seat*>(argument);
  const sched_param lowest{.sched_priority = 1};
  if (::sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) {
    std::perror("paced_wakeups");
    ::_exit(1);
  }
  ++waiting;
  for (int seen = 0;; seen = seat.turn.load()) {
    while (seat.turn.load() == seen) ::syscall(SYS_futex, &seat.turn, FUTEX_WAIT_PRIVATE, seen, nullptr);
  }
}

bool start(std::vector<Seat>& seats) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  for (Seat& seat : seats) {
    pthread_t thread{};
    if (::pthread_create(&thread, &attributes, wait_for_turns, &seat) != 0) return false;
  }
  while (waiting.load() < seats.size()) ::sched_yield();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::vector<Seat> seats(std::strtoul(argv[1], nullptr, 10));
  const unsigned long wakeups = std::strtoul(argv[2], nullptr, 10);
  if (seats.empty() || !start(seats)) {
    std::fprintf(stderr, "paced_wakeups: cannot start %zu threads\n", seats.size());
    return 1;
  }
  std::printf("ready\n");
  std::fflush(stdout);
  std::getchar();
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned long i = 0; i < wakeups; ++i) {
    Seat& seat = seats[i % seats.size()];
    ++seat.turn;
    ::syscall(SYS_futex, &seat.turn, FUTEX_WAKE_PRIVATE, 1);
    for (volatile int spun = 0; spun < kIterations;) spun = spun + 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%f\n", took.count());
  std::fflush(stdout);
  ::_exit(0);  // the threads wait forever
}
