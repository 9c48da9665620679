// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a frame's text, `ns::do_commit(int)+0x1f (server) at src/db.cc:120`.
#pragma once

#include <string>
#include <string_view>

namespace offwait {

/// Only what the recorder appended is taken off the function: a module is separated by a space and comes
/// after an offset or `(inlined)`.
struct FrameParts {
  std::string_view function;  ///< `ns::do_commit(int)`, or all that there is: `[module+0xoff]`
  std::string_view module;    ///< ` (server)`, or nothing
  std::string_view line;      ///< `src/db.cc:120`, or nothing
};
FrameParts parts_of(std::string_view frame);

/// `ns::do_commit(int)+0x1f (server) at src/db.cc:120` → `ns::do_commit (db.cc:120)`: without offset, module
/// and argument types. What has no function (`[module+0xoff]`) stays as it is.
std::string short_frame(std::string_view frame);

/// `void ns::Pool<Task, 8>::run (pool.h:12)` → `ns::Pool<…>::run (pool.h:12)`
std::string narrow_frame(std::string_view short_frame);

/// `void ns::run<void (*)(int)>(Task const&)` → `ns::run`; `std::function<void ()>::operator()() const` →
/// `std::function::operator()`; with `arguments` in place of each template's.
std::string outline(std::string_view function, std::string_view arguments = "");

/// Of libc or libstdc++.
bool in_library(std::string_view frame);

/// The frame itself, without its line.
std::string_view without_line(std::string_view frame);

/// Without offset and line, but with its module: equal for all places of one function.
std::string function_of(std::string_view frame);

}  // namespace offwait
