// SPDX-License-Identifier: GPL-2.0-or-later
// Threads in a ring pass a token on; each waits on a futex of its own. Prints the seconds that this took.
//
//   futex_ring THREADS ROUNDS
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct alignas(64) Seat {
  std::atomic<int> token{0};
};

void wait_for_token(Seat& seat) {
  while (seat.token.load() == 0) ::syscall(SYS_futex, &seat.token, FUTEX_WAIT_PRIVATE, 0, nullptr);
  seat.token.store(0);
}

void hand_over(Seat& seat) {
  seat.token.store(1);
  ::syscall(SYS_futex, &seat.token, FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto count = static_cast<std::size_t>(std::strtoul(argv[1], nullptr, 10));
  const unsigned long rounds = std::strtoul(argv[2], nullptr, 10);
  std::vector<Seat> seats(count);
  std::vector<std::thread> threads;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&seats, i, rounds] {
      for (unsigned long round = 0; round < rounds; ++round) {
        wait_for_token(seats[i]);
        hand_over(seats[(i + 1) % seats.size()]);
      }
    });
  }
  hand_over(seats[0]);
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%f\n", took.count());
  return 0;
}
