// SPDX-License-Identifier: GPL-2.0-or-later
// Reading the memory of another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace offwait {

/// What a process had in its memory when it was first asked for; page by page, so that a walk of a stack
/// takes a call or two.
class ProcessMemory {
 public:
  explicit ProcessMemory(std::int32_t tgid) : tgid_(tgid) {}

  /// The eight bytes at an address, nothing if they may not or cannot be read.
  std::optional<std::uint64_t> word(std::uint64_t address);

  /// Forgets what was read.
  void forget() { pages_.clear(); }

 private:
  const std::string& page(std::uint64_t number);

  std::int32_t tgid_;
  std::map<std::uint64_t, std::string> pages_;  ///< empty: cannot be read
};

}  // namespace offwait
