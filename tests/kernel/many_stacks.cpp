// SPDX-License-Identifier: GPL-2.0-or-later
// many_stacks: sleeps twice at the end of each of 4,096 paths of calls, and of the first one again and again.
// A second thread waits at the end of one path all the time.
//
// Prints {"pid": …}, begins when it reads a line on stdin, and then prints a line of JSON: the return
// addresses of the two calls that a path consists of; `paths`, which the main thread slept at in this order;
// and `tid` and `path` of the second thread. A path is a number: its bits, from the lowest one on, are the
// calls from the outermost one on.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr unsigned kCalls = 12;
constexpr unsigned kLongPath = 0x555;

/// Written after a call, so that the compiler cannot turn the call into a tail call, which has no frame.
volatile int after_the_call = 0;
std::array<std::atomic<void*>, 2> return_addresses{};
std::array<int, 2> ends_of_pipe{};

void note_call(unsigned call, void* address) {
  void* const before = return_addresses.at(call).exchange(address);
  if (before != nullptr && before != address) std::_Exit(1);
}

[[gnu::noipa]] void sleep_a_moment() {
  const timespec moment{.tv_sec = 0, .tv_nsec = 1'000'000};
  nanosleep(&moment, nullptr);
  after_the_call = after_the_call + 1;
}

[[gnu::noipa]] void wait_for_the_end() {
  char byte = 0;
  if (read(ends_of_pipe[0], &byte, 1) != 1) std::_Exit(1);
  after_the_call = after_the_call + 1;
}

// NOLINTNEXTLINE(misc-no-recursion)
[[gnu::noipa]] void go(unsigned path, unsigned calls, unsigned last, void (*at_end)()) {
  if (calls < kCalls) note_call(last, __builtin_return_address(0));
  if (calls == 0) {
    at_end();
    after_the_call = after_the_call + 1;
  } else if ((path & 1) == 0) {
    go(path >> 1, calls - 1, 0, at_end);
    after_the_call = after_the_call + 2;
  } else {
    go(path >> 1, calls - 1, 1, at_end);
    after_the_call = after_the_call + 3;
  }
}

}  // namespace

int main() {
  std::printf("{\"pid\": %d}\n", getpid());
  std::fflush(stdout);
  if (std::getchar() == EOF || pipe(ends_of_pipe.data()) != 0) return 1;
  std::atomic<long> tid = 0;
  std::thread long_waiter([&tid] {
    tid = syscall(SYS_gettid);
    go(kLongPath, kCalls, 0, wait_for_the_end);
  });
  std::vector<unsigned> paths;
  // The places of these calls differ, and so do their stacks.
  const auto sleep_at = [&paths](unsigned path) __attribute__((always_inline)) {
    paths.push_back(path);
    go(path, kCalls, 0, sleep_a_moment);
  };
  for (unsigned path = 0; path < 1U << kCalls; ++path) {
    sleep_at(path);
    sleep_at(path);
    if (path % 4 == 0) sleep_at(0);
  }
  if (write(ends_of_pipe[1], "x", 1) != 1) return 1;
  long_waiter.join();
  std::printf(R"({"calls": [%ju, %ju], "tid": %ld, "path": %u, "paths": [0)",
              reinterpret_cast<std::uintptr_t>(return_addresses[0].load()),
              reinterpret_cast<std::uintptr_t>(return_addresses[1].load()), tid.load(), kLongPath);
  for (std::size_t i = 1; i < paths.size(); ++i) std::printf(", %u", paths[i]);
  std::printf("]}\n");
  std::fflush(stdout);
  return std::getchar() == EOF ? 0 : 1;
}
