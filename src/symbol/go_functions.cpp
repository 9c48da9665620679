// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/go_functions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace offwait {
namespace {

constexpr std::uint32_t kMagic118 = 0xfffffff0;
constexpr std::uint32_t kMagic120 = 0xfffffff1;
constexpr std::uint64_t kMostFunctions = std::uint64_t{4} << 20U;

template <class Number>
Number number_at(std::string_view bytes, std::uint64_t at) {
  Number number{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof(number)) {
    std::memcpy(&number, bytes.data() + at, sizeof(number));
  }
  return number;
}

}  // namespace

GoFunctions read_go_functions(std::string_view section) {
  // The header has a magic number, two bytes of padding, the least size of an instruction and the size of a
  // pointer. Numbers of that size follow: functions, files, first address of the code; then places in the
  // section of names, units, files, pc tables and functions.
  constexpr std::size_t kHeaderSize = 72;
  GoFunctions result;
  const auto magic = number_at<std::uint32_t>(section, 0);
  if (section.size() < kHeaderSize || (magic != kMagic118 && magic != kMagic120) || section[4] != 0 ||
      section[5] != 0 || section[7] != 8) {
    return result;
  }
  const auto header = [section](std::size_t index) {
    return number_at<std::uint64_t>(section, 8 + 8 * index);
  };
  const std::uint64_t count = header(0);
  const std::uint64_t text = header(2);
  const std::uint64_t names = header(3);
  const std::uint64_t names_end = std::min<std::uint64_t>(header(4), section.size());
  const std::uint64_t table_at = header(7);
  if (text == 0 || names >= names_end || table_at >= section.size() || count > kMostFunctions) {
    return result;
  }
  result.names = section.substr(names, names_end - names);
  // The table has pairs of a function's entry and the place of its record, which begins with its entry and
  // its name; the last entry is the end of the code.
  const std::string_view table = section.substr(table_at);
  if (table.size() / 8 < count) {
    return result;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto entry = number_at<std::uint32_t>(table, 8 * i);
    const auto record = number_at<std::uint32_t>(table, 8 * i + 4);
    const auto next = number_at<std::uint32_t>(table, 8 * i + 8);
    const auto name = number_at<std::uint32_t>(table, std::uint64_t{record} + 4);
    if (next > entry && number_at<std::uint32_t>(table, record) == entry && name < result.names.size() &&
        result.names[name] != '\0') {
      result.functions.push_back({text + entry, next - entry, name});
    }
  }
  return result;
}

}  // namespace offwait
