// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/stack_cut.h"

#include <catch2/catch.hpp>

namespace offwait {
namespace {

TEST_CASE("each cut is known by its frame, and no other frame is one") {
  for (std::size_t i = 0; i < kStackCuts; ++i) {
    const auto cut = static_cast<StackCut>(i);
    CHECK(cut_of(cut_frame(cut)) == cut);
  }
  CHECK(cut_frame(StackCut::no_frame_pointer) == "[cut: no frame pointer]");
  CHECK(to_string(StackCut::no_frame_pointer) == "no-frame-pointer");
  for (const char* frame : {"", "[cut]", "[cut: ]", "main+0x1 (p)", "[cut: too deep]+0x1 (p)"}) {
    CHECK_FALSE(cut_of(frame).has_value());
  }
}

}  // namespace
}  // namespace offwait
