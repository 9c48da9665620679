// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the texts under /proc that name disks, interfaces and interrupts, and that count what disks,
// interfaces and CPUs have done.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "event/recording.h"

namespace offwait {

/// One line of /proc/diskstats.
struct DiskStats {
  std::uint32_t dev = 0;  ///< major << 20 | minor
  std::string name;
  std::uint64_t bytes = 0;      ///< read + written + discarded
  std::uint64_t ios = 0;        ///< completed reads, writes, discards and flushes
  std::uint64_t in_flight = 0;  ///< now
};

/// Reads the text of /proc/diskstats. A line of another form is left out.
std::vector<DiskStats> parse_diskstats(std::string_view text);

/// Time since boot of one CPU, or of all together, in clock ticks (sysconf(_SC_CLK_TCK) a second).
struct CpuTicks {
  std::uint64_t busy = 0;   ///< user, nice, system, interrupts, stolen by the hypervisor
  std::uint64_t idle = 0;   ///< idle, and idle with I/O under way
  std::uint64_t steal = 0;  ///< part of `busy`: stolen by the hypervisor
};

/// Reads the text of /proc/stat; nothing if it does not begin with the line `cpu`.
std::optional<CpuTicks> parse_cpu_ticks(std::string_view text);

/// Reads the text of /proc/stat: the same for each CPU that is online, by its number.
std::map<std::uint32_t, CpuTicks> parse_each_cpu_ticks(std::string_view text);

/// One line of /proc/net/dev.
struct NicStats {
  std::string name;
  std::uint64_t received = 0;  ///< bytes
  std::uint64_t sent = 0;
};

/// Reads the text of /proc/PID/net/dev. A line of another form is left out.
std::vector<NicStats> parse_net_dev(std::string_view text);

/// Reads the text of /proc/interrupts: the names of each interrupt's handlers, comma separated, by its
/// number. Interrupts without a number (LOC, RES, …) have no handler with a name and are left out.
std::map<std::uint32_t, std::string> parse_interrupts(std::string_view text);

}  // namespace offwait
