// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of names, as the room has them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace offwait {

template <std::size_t Size>
bool is_one_of(std::string_view name, const std::array<std::string_view, Size>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <std::size_t Size>
bool starts_with_one_of(std::string_view name, const std::array<std::string_view, Size>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [name](std::string_view start) { return name.starts_with(start); });
}

}  // namespace offwait
