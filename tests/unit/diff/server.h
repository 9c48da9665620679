// SPDX-License-Identifier: GPL-2.0-or-later
// Recordings of a small simulated server.
#pragma once

#include <cstdint>
#include <string>

#include "diff/compare.h"
#include "model/trace.h"

namespace offwait::test {

/// Workers answer requests, one after the other: each computes, takes a lock, and writes to a disk. Times are
/// means of exponential distributions, in ms. A housekeeper sleeps and wakes beside them, and an idle thread
/// waits throughout.
struct Server {
  int workers = 4;
  double compute_ms = 0.4;
  double locked_ms = 0.2;  ///< 0: there is no lock
  double disk_ms = 1.0;    ///< 0: nothing is written
  double seconds = 0.4;
  double run_to_run = 0;     ///< standard deviation of the logarithm by which all times of a recording differ
  bool responses = true;     ///< answers are counted
  std::string name = "srv";  ///< of threads; followed by a number
  std::string program = "/usr/sbin/srv";
  std::string start = "serve";  ///< function in which workers begin
  int first_tid = 100;
  std::string more{};  ///< lines to add
};

/// The text form of a recording.
std::string text_of(const Server& server, std::uint64_t seed);
Trace recorded(const Server& server, std::uint64_t seed);
/// Profile and findings (without answers) of a trace.
RecordingToCompare to_compare(const Trace& trace, const std::string& file = "test.txt");
RecordingToCompare to_compare(const Server& server, std::uint64_t seed);

/// `what` of these many recordings of both servers, with seeds from `seed` on.
Comparison compared(const Server& before, const Server& after, std::uint64_t seed,
                    std::size_t recordings = 1);

/// Lines of a thread of a Server that waits `count` times, `each_ms` long, at a lock that another one holds:
/// spread over two seconds.
std::string waits_at_lock(int count, double each_ms);

/// How many amounts of all tables changed.
std::size_t changes(const Comparison& comparison);

}  // namespace offwait::test
