// SPDX-License-Identifier: GPL-2.0-or-later
// Threads take turns at one pthread mutex, hold it for some microseconds and work less than that without it,
// so that most of them wait for it. Prints the seconds that this took.
//
//   contended_mutex THREADS ROUNDS
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kHeld = 5000, kOutside = 1000;  // iterations

void work(int iterations) {
  for (volatile int i = 0; i < iterations;) i = i + 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const unsigned long rounds = std::strtoul(argv[2], nullptr, 10);
  std::mutex mutex;
  std::vector<std::thread> threads(std::strtoul(argv[1], nullptr, 10));
  const auto begin = std::chrono::steady_clock::now();
  for (std::thread& thread : threads) {
    thread = std::thread([&mutex, rounds] {
      for (unsigned long round = 0; round < rounds; ++round) {
        {
          const std::lock_guard lock(mutex);
          work(kHeld);
        }
        work(kOutside);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%f\n", took.count());
  return 0;
}
