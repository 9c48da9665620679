// SPDX-License-Identifier: GPL-2.0-or-later
// Compares tables with what elfutils' libdw says of the same file: every row of libdw's, in every function.
// Rules are compared by their effect: on a machine with invented registers and memory, both have to find the
// same caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace offwait::test {

struct Comparison {
  std::uint64_t entries = 0;  ///< FDEs that libdw sees
  std::uint64_t functions = 0;
  std::uint64_t rows = 0;     ///< compared
  std::uint64_t unfit = 0;    ///< of these: libdw has a rule, the table says NONE
  std::uint64_t fp_lost = 0;  ///< of these: libdw knows the caller's fp, the table says it is lost
  std::vector<std::string> differences;
};

/// Compares nothing if the file is no ELF file with a table.
Comparison compare_with_libdw(const std::string& path);

}  // namespace offwait::test
