// SPDX-License-Identifier: GPL-2.0-or-later
// What the keys of `offwait top` do: a function from a key to another view, and to what the recording is
// asked for.
#pragma once

#include <cstdint>

#include "report/top_screen.h"
#include "session/top_sink.h"

namespace offwait::cli {

struct TopKey {
  enum class Kind : std::uint8_t {
    none,
    character,
    enter,
    tab,
    back_tab,
    up,
    down,
    right,
    left,
    page_up,
    page_down,
    home,
    end,
    backspace,
    escape,
    end_of_input,
  };
  Kind kind = Kind::none;
  char character = 0;  ///< ASCII
};

/// Changes the view; returns what is wanted of the recording. `saves`: there is a recording to write.
TopWishes press(TopKey key, const TopModel& model, bool saves, TopView& view);

}  // namespace offwait::cli
