// SPDX-License-Identifier: GPL-2.0-or-later
// Code that every example needs: to read arguments, to use CPU time, and to run until it is told to stop.
#pragma once

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include <pthread.h>

namespace example {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

/// Uses `us` of CPU time in the calling thread; being preempted does not shorten it.
inline void work(std::int64_t us) {
  const std::int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

inline void name_thread(const std::string& name) { pthread_setname_np(pthread_self(), name.c_str()); }

/// The command line. The example takes the options that it knows; then all others are refused.
class Arguments {
 public:
  Arguments(int argc, char** argv) : program_(argv[0]), left_(argv + 1, argv + argc) {}

  bool flag(const std::string& name) { return std::erase(left_, name) > 0; }

  std::string value(const std::string& name, const std::string& otherwise) {
    for (std::size_t i = 0; i + 1 < left_.size(); ++i) {
      if (left_[i] != name) continue;
      std::string found = left_[i + 1];
      left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(i),
                  left_.begin() + static_cast<std::ptrdiff_t>(i) + 2);
      return found;
    }
    return otherwise;
  }

  /// N of `--seconds N`; 0 without the option, which means until SIGINT or SIGTERM.
  long seconds() {
    const std::string text = value("--seconds", "0");
    char* end = nullptr;
    const long seconds = std::strtol(text.c_str(), &end, 10);
    if (end == text.c_str() || *end != '\0' || seconds < 0) left_.push_back(text);
    return seconds;
  }

  void refuse_others(const char* usage) const {
    if (left_.empty()) return;
    std::cerr << "usage: " << program_ << " [--seconds N]" << usage << "\n";
    std::exit(2);
  }

 private:
  std::string program_;
  std::vector<std::string> left_;
};

/// Blocks SIGINT and SIGTERM, so that wait_for_stop gets them. Call this before starting threads, which
/// inherit it.
inline void block_stop_signals() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

/// Waits for SIGINT, SIGTERM or `seconds` (0: no limit). Returns the seconds that passed. A process that is
/// stopped and goes on (SIGSTOP, SIGCONT) waits on.
inline double wait_for_stop(long seconds) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  const std::int64_t begin = clock_ns(CLOCK_MONOTONIC);
  std::int64_t passed = 0;
  const auto wait = [&] {
    if (seconds == 0) return sigwaitinfo(&stop, nullptr);
    const std::int64_t left = std::max<std::int64_t>(seconds * 1'000'000'000 - passed, 0);
    const timespec limit{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    return sigtimedwait(&stop, nullptr, &limit);
  };
  while (wait() < 0 && errno == EINTR) passed = clock_ns(CLOCK_MONOTONIC) - begin;
  return static_cast<double>(clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
}

/// Prints the one line of output and exits. The threads are not joined, since most of them are blocked.
[[noreturn]] inline void report_and_exit(const char* what, std::int64_t done, double elapsed_s) {
  std::cout << std::fixed << std::setprecision(1) << static_cast<double>(done) / elapsed_s << " " << what
            << "/s" << std::endl;
  std::_Exit(0);
}

}  // namespace example
