// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/evictable.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "base/read_file.h"

namespace offwait {
namespace {

using Numbers = EvictableVector<std::uint64_t>;
constexpr std::size_t kMany = kLeastEvictable / sizeof(std::uint64_t);

/// The path of the file in which the array lies; empty for ordinary memory.
std::string file_of(const Numbers& numbers) {
  std::ostringstream begin;
  begin << '\n' << std::hex << reinterpret_cast<std::uintptr_t>(numbers.data()) << '-';
  const std::string maps = read_file("/proc/self/maps");
  const std::size_t at = maps.find(begin.str());
  if (at == std::string::npos) return "";
  const std::string line = maps.substr(at + 1, maps.find('\n', at + 1) - at - 1);
  const std::size_t path = line.find('/');
  return path == std::string::npos ? "" : line.substr(path);
}

TEST_CASE("a large array lies in a file without a name, and a small one in memory") {
  Numbers numbers;
  numbers.reserve(kMany - 1);
  CHECK(file_of(numbers).empty());
  numbers.push_back(7);
  numbers.reserve(kMany);
  CHECK_THAT(file_of(numbers),
             Catch::Matchers::Contains("/offwait-") && Catch::Matchers::EndsWith(" (deleted)"));
  CHECK(numbers == Numbers{7});
}

TEST_CASE("a large array lies in memory where no file can be made") {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/proc/none", 1);
  Numbers numbers;
  numbers.reserve(kMany);
  numbers.push_back(7);
  CHECK(file_of(numbers).empty());
  CHECK(numbers == Numbers{7});
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
}

}  // namespace
}  // namespace offwait
