// SPDX-License-Identifier: GPL-2.0-or-later
// Threads with hostile names sleep a few times each. The last one changes its name between its sleeps.
#include <array>
#include <ctime>
#include <optional>
#include <string_view>
#include <thread>

#include <pthread.h>

#include "workloads.h"

namespace workload {
namespace {

constexpr std::array<std::string_view, 20> kNames{
    "\x1b[31mred",     // colours
    "\x1b]0;own\x07",  // window title
    "a\nb",            // a second line
    "a\r\tb",          //
    "\xff\xfe\x80",    // never UTF-8
    "cut\xe2\x82",     // a character that is cut off
    "\xc0\xaf",        // overlong
    "\xed\xa0\x80",    // a surrogate
    "\xc2\x9b"
    "31m",  // C1 CSI
    // NOLINTNEXTLINE(misc-misleading-bidirectional)
    "\xe2\x80\xae"
    "evil",                                  // right to left
    "\"'`\\",                                // quotes
    "$(id)",                                 //
    "<b>&amp;",                              //
    "exactly15bytes!",                       //
    "\xc3\xa4\xc3\xb6\xc3\xbc\xe2\x82\xac",  // valid, not ASCII
    "a b",                                   //
    "x=y;#z",                                // the text form's own separators
    "%s%n",                                  //
    "\x7f\x01",                              //
    "",                                      //
};

void sleep_rounds(ThreadTruth& truth, std::int64_t rounds) {
  const timespec duration{.tv_sec = 0, .tv_nsec = 3'000'000};
  for (std::int64_t round = 0; round < rounds; ++round) {
    truth.wait([&] {
      clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
      return std::string("timer");
    });
  }
}

}  // namespace

void spawn_names(Options& options) {
  const auto rounds = options.number("rounds", 20);
  ready(options);

  std::array<std::optional<ThreadTruth>, kNames.size() + 1> truths;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    threads.emplace_back([&, i] {
      truths[i].emplace(std::string(kNames[i]));
      sleep_rounds(*truths[i], rounds);
      truths[i]->end();
    });
  }
  threads.emplace_back([&] {
    ThreadTruth& truth = truths.back().emplace("renamed");
    for (const std::string_view name : kNames) {
      pthread_setname_np(pthread_self(), std::string(name).c_str());
      sleep_rounds(truth, 1);
    }
    pthread_setname_np(pthread_self(), "renamed");
    truth.end();
  });
  for (std::thread& thread : threads) thread.join();
  for (const auto& truth : truths) truth->print();
}

}  // namespace workload
