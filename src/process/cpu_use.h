// SPDX-License-Identifier: GPL-2.0-or-later
// The CPU time of all processes of the machine, as /proc/PID/stat counts it (proc(5)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace offwait {

/// What a process has used since it began, in clock ticks (sysconf(_SC_CLK_TCK) a second).
struct ProcessTicks {
  std::string name;  ///< its main thread's; hostile bytes
  std::int32_t parent = 0;
  std::uint64_t start = 0;     ///< ticks after boot: with its PID this tells it from every other process
  std::uint64_t own = 0;       ///< by its threads
  std::uint64_t children = 0;  ///< by children that ended and were waited for, and by theirs
};

/// From the text of /proc/PID/stat; nothing if it has another form.
std::optional<ProcessTicks> parse_process_ticks(std::string_view stat);

/// Processes by their PIDs.
using ProcessTable = std::map<std::int32_t, ProcessTicks>;

/// All processes that this one may see.
ProcessTable read_process_table();

struct ProcessUse {
  std::int32_t tgid = 0;
  std::string name;            ///< hostile bytes
  std::uint64_t own = 0;       ///< ticks
  std::uint64_t children = 0;  ///< ticks of children that ended meanwhile, and of theirs
};

/// What processes used between two readings: at most `most` of them, the ones that used most first. Those in
/// `left_out` are not listed, and neither is what they used as children that ended.
std::vector<ProcessUse> used_between(const ProcessTable& before, const ProcessTable& after,
                                     const std::unordered_set<std::int32_t>& left_out, std::size_t most);

}  // namespace offwait
