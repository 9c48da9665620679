// SPDX-License-Identifier: GPL-2.0-or-later
// The command line as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/nanos.h"
#include "cli/duration.h"
#include "device/capacity.h"
#include "model/thread_filter.h"
#include "report/folded.h"
#include "session/recording_options.h"

namespace offwait {

enum class Command : std::uint8_t {
  profile,    ///< record, analyse, print
  report,     ///< analyse a file, print
  dump,       ///< record, write as text
  calibrate,  ///< measure a disk
  doctor,     ///< say what this host allows
};

struct Options {
  Command command = Command::profile;
  // What to record, one of these:
  std::vector<std::int32_t> pids;
  std::int32_t tid = 0;
  std::string cgroup;
  std::string unit;
  std::string container;
  bool all = false;
  std::vector<std::string> command_line;  ///< a program to run, and its arguments
  // How:
  std::optional<Nanos> duration;  ///< until interrupted or the target exits
  bool stacks = true;
  std::uint32_t sample_hz = 99;  ///< 0: no samples
  bool java = false;             ///< have JVMs tell the names of what they have compiled
  bool debuginfod = false;       ///< ask debuginfod-find for debug files
  std::vector<SpinFunction> spins;
  // What to read and write; `-` is standard input or output:
  std::string input;         ///< of calibrate: what to measure
  std::string output = "-";  ///< of dump
  std::string json;          ///< empty: none
  std::string folded;        ///< empty: none
  FoldedKind folded_kind = FoldedKind::off_cpu;
  FoldedWeight folded_weight = FoldedWeight::wait;
  // How to analyse:
  Threshold min_weight{true, 0.20, 0};
  Threshold noise{true, 0.01, 0};
  bool merge = true;
  bool keep_false_wakeups = false;
  ThreadFilter filter;
  std::vector<NamedCapacity> disk_capacities;
  std::vector<NamedNicCapacity> nic_capacities;
  // How to print:
  bool explain = false;
  int verbosity = 0;
  bool full_stacks = false;
  bool quiet = false;
  // How to measure a disk; `duration` is of each measurement:
  std::uint64_t file_bytes = 1'000'000'000;
};

/// The process is over before anything was done: the text was asked for (--help, --version; exit 0), or the
/// command line is wrong (exit 2).
struct Exit {
  int status = 0;
  std::string text;  ///< for stdout if status is 0, else for stderr
};

std::variant<Options, Exit> parse_options(int argc, const char* const* argv);

}  // namespace offwait
