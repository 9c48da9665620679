// SPDX-License-Identifier: GPL-2.0-or-later
// Reads places to probe from one ELF file. Reads hostile bytes, so it must run in a confined process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace offwait {

/// The most places of one recording; the rest is left out, because each place costs a breakpoint.
inline constexpr std::size_t kMostProbePlaces = 64;

/// The most functions that one name is looked for among.
inline constexpr std::size_t kMostCandidates = 1024;

struct MarkedPlace {
  std::string name;
  std::uint64_t offset = 0;  ///< in the file, inside an executable segment
};

/// The functions whose symbol is `name`, or may be `name` once it is demangled, with their symbols; at most
/// kMostCandidates. None if the file is not ELF.
std::vector<MarkedPlace> candidates_in(int fd, const std::string& name);

/// Functions whose symbols have the last part of `name` in them, in upper or lower case; at most
/// kMostCandidates.
std::vector<MarkedPlace> similar_in(int fd, const std::string& name);

/// The places that the program marks with USDT notes of the provider `offwait`, with their names; at most
/// kMostProbePlaces.
std::vector<MarkedPlace> marks_in(int fd);

}  // namespace offwait
