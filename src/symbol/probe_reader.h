// SPDX-License-Identifier: GPL-2.0-or-later
// Places to probe in one ELF file. Reads hostile bytes: for confined processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace offwait {

/// Places of one recording at most, the rest is left out: each costs a breakpoint.
inline constexpr std::size_t kMostProbePlaces = 64;

struct MarkedPlace {
  std::string name;
  std::uint64_t offset = 0;  ///< in the file, inside an executable segment
};

/// Functions whose symbol is `name`, and such as may be it once they are demangled; by their symbols, 1024 at
/// most. What is no ELF file has none.
std::vector<MarkedPlace> candidates_in(int fd, const std::string& name);

/// Places that the program has marked itself with USDT notes of the provider `offwait`: their names,
/// kMostProbePlaces at most.
std::vector<MarkedPlace> marks_in(int fd);

}  // namespace offwait
