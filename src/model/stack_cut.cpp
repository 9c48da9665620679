// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/stack_cut.h"

#include <array>

namespace offwait {

namespace {

struct Names {
  std::string_view name;
  std::string_view frame;
};
constexpr std::array<Names, kStackCuts> kNames = {{
    {"deep", "[cut: too deep]"},
    {"no-mapping", "[cut: no mapping]"},
    {"no-rule", "[cut: no unwind rule]"},
    {"no-frame-pointer", "[cut: no frame pointer]"},
    {"unreadable", "[cut: stack unreadable]"},
    {"32-bit", "[cut: 32-bit program]"},
}};

}  // namespace

std::string_view to_string(StackCut cut) { return kNames.at(static_cast<std::size_t>(cut)).name; }

std::string_view cut_frame(StackCut cut) { return kNames.at(static_cast<std::size_t>(cut)).frame; }

std::optional<StackCut> cut_of(std::string_view frame) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames.at(i).frame == frame) {
      return static_cast<StackCut>(i);
    }
  }
  return std::nullopt;
}

}  // namespace offwait
