// SPDX-License-Identifier: GPL-2.0-or-later
// A recording with everything that is known of it: what a live recording has at its end, and what a recording
// file holds. It refers to no process and no file of the recorded host.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/capacity.h"
#include "event/named_stacks.h"
#include "event/recording.h"
#include "model/trace.h"
#include "process/address_spaces.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// What is known when a recording begins. Hostile bytes: the target has named itself, and so has the host.
struct AboutRecording {
  std::string target;  ///< as in Recording, like the next four
  std::string start_time;
  std::string kernel;
  std::uint32_t cpus = 0;
  std::string offwait;
  std::int32_t command = 0;               ///< as in Recording
  std::string host;                       ///< uname -n
  std::string architecture;               ///< uname -m: system calls have its numbers
  std::vector<std::string> command_line;  ///< offwait's own
  std::vector<Label> labels;
  std::string counted_function;  ///< as in KernelRecording
};

struct NamedRecording {
  AboutRecording about;
  KernelRecording kernel;
  NamedStacks stacks;
  std::map<DataAddress, DataName> data;  ///< what lies at the addresses of locks
  KnownDevices devices;
  std::map<std::string, std::string> build_ids;  ///< of mapped files by path, if functions have no names
};

}  // namespace offwait
