// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the memory of another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace offwait {

/// The memory of a process as it was when each page was first read. Whole pages are read and kept, so that
/// walking a stack takes one or two system calls.
class ProcessMemory {
 public:
  explicit ProcessMemory(std::int32_t tgid);

  /// The eight bytes at an address; nothing if they cannot be read.
  std::optional<std::uint64_t> word(std::uint64_t address);

  /// Forgets what was read.
  void forget() { pages_.clear(); }

 private:
  const std::string& page(std::uint64_t number);

  std::int32_t thread_;                         ///< one that has the memory
  std::map<std::uint64_t, std::string> pages_;  ///< an empty page cannot be read
};

}  // namespace offwait
