// SPDX-License-Identifier: GPL-2.0-or-later
// How much memory the target's cgroups and the machine have, and how much of what was in it had to be read
// again in the window, because there was no room for it.
#pragma once

#include <cstdint>
#include <string>

namespace offwait {

/// A cgroup that processes of the target are in, or one above it; or the machine. What is counted of a cgroup
/// includes the cgroups below it, except how often its limit was reached.
struct MemoryUse {
  std::string cgroup;               ///< its name below the mount; empty: the machine. Hostile bytes
  bool has_target = false;          ///< processes of the target are in it, and not only below it
  std::uint64_t limit_bytes = 0;    ///< what it may use; 0: no limit
  std::uint64_t used_bytes = 0;     ///< at the window's end
  std::uint64_t reached = 0;        ///< how often the limit was reached in the window
  std::uint64_t refault_bytes = 0;  ///< of files, that were read again in the window
  std::uint64_t swap_bytes = 0;     ///< of programs' own memory, that were read back in the window
};

/// What was read again of both kinds.
inline std::uint64_t read_again(const MemoryUse& use) { return use.refault_bytes + use.swap_bytes; }

}  // namespace offwait
