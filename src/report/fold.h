// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks shortened to what says where in the program it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace offwait {

/// `ns::do_commit(int)+0x1f (server) at src/db.cc:120` → `ns::do_commit (db.cc:120)`: without offset, module
/// and argument types. What has no function (`[module+0xoff]`) stays as it is.
std::string short_frame(std::string_view frame);

/// The same without offset and line, but with its module: equal for all places of one function.
std::string function_of(std::string_view frame);

struct FoldedStack {
  std::vector<std::string> kernel;  ///< short frames, leaf first
  std::vector<std::string> user;    ///< short frames, leaf first
  std::size_t left_out = 0;         ///< user frames (all frames, if there is no "--") beyond the limit
};

/// At most 2 kernel frames, without the ways into the kernel and to the scheduler that every wait
/// has, and at most `limit` user frames. A stack without "--" is all `user`.
FoldedStack fold(const std::vector<std::string>& stack, std::size_t limit);

}  // namespace offwait
