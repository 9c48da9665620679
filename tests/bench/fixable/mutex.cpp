// SPDX-License-Identifier: GPL-2.0-or-later
// Twelve threads hold a mutex while they sleep for 2 ms, as if they asked a remote service for something: all
// the same one, or each its own. Prints how often that got done a second.
//
//   mutex one|each SECONDS
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

namespace {

constexpr std::size_t kThreads = 12;
constexpr int kRounds = 20'000;  // some 50 us

std::array<std::mutex, kThreads> registry_lock;
std::atomic<long> done = 0;

__attribute__((noinline)) void ask_service() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

__attribute__((noinline)) void use_answer() {
  volatile double value = 1;
  for (int i = 0; i < kRounds; ++i) value = value * 1.0000001;
}

void work(std::mutex& lock) {
  for (;;) {
    {
      const std::lock_guard<std::mutex> held(lock);
      ask_service();
    }
    use_answer();
    ++done;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("mutex one|each SECONDS\n", stderr);
    return 2;
  }
  const bool each = std::string_view(argv[1]) == "each";
  const long seconds = std::strtol(argv[2], nullptr, 10);
  for (std::size_t i = 0; i < kThreads; ++i) {
    std::thread([&lock = registry_lock[each ? i : 0]] { work(lock); }).detach();
  }
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  std::printf("rate %.1f\n", static_cast<double>(done) / static_cast<double>(seconds));
  std::fflush(stdout);
  std::_Exit(0);
}
