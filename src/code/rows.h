// SPDX-License-Identifier: GPL-2.0-or-later
// The table of what names mean, in parts. The most specific row that matches a name decides alone, so a row
// has all roles of the names that it matches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/roles.h"

namespace offwait {

/// What a pattern is compared with.
enum class NameForm : std::uint8_t {
  outline,  ///< simple_name()
  whole,    ///< the name with everything that the compiler adds
};

struct Row {
  std::string_view pattern;  ///< `*` stands for any text, at the start, at the end, or at both
  Roles roles{};
  NameForm form = NameForm::outline;
};

/// Every thread begins so.
inline constexpr Roles kThreadStart{.noise = Noise::start, .begins_thread = true};

std::span<const Row> rows_of_c();          ///< glibc, musl, libstdc++
std::span<const Row> rows_of_runtimes();   ///< Rust, Go, Java, Python, Erlang
std::span<const Row> rows_of_libraries();  ///< databases, and libraries that have locks of their own
/// All of them.
std::vector<Row> all_rows();

/// The name without arguments, template arguments and return type; a C name also without `__GI_` and leading
/// underscores, but for `_start`.
std::string simple_name(std::string_view function);

/// Whether the row's pattern matches a function with this name and this simple_name().
bool matches(const Row& row, std::string_view function, std::string_view simple);

}  // namespace offwait
