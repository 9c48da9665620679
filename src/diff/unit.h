// SPDX-License-Identifier: GPL-2.0-or-later
// The unit that the amounts of recordings are counted per, so that they can be compared: a server that does
// more in a second waits more often in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diff/profile.h"

namespace offwait {

/// What amounts are counted per.
struct ComparedUnit {
  enum class Kind : std::uint8_t {
    second,
    answer,  ///< to a client
    call,    ///< of `functions`
    run,     ///< of the command, from its start to its end
  };
  /// Why it is a second, although something else may be meant.
  enum class Reason : std::uint8_t {
    none,         ///< it is no second
    not_counted,  ///< no recording counts progress
    not_before,   ///< a recording before does not, and all after do
    not_after,
    in_some,    ///< recordings of either side do not
    different,  ///< recordings count different things
  };
  Kind kind = Kind::second;
  Reason reason = Reason::not_counted;
  std::vector<std::string> functions{};  ///< hostile bytes
};
/// `second`, `answer`, `call`, `run`.
std::string_view to_string(ComparedUnit::Kind kind);
/// What all recordings count, if it is the same; else a second. Each side has one or more.
ComparedUnit unit_of(const std::vector<const Profile*>& before, const std::vector<const Profile*>& after);
/// How many units a recording has; seconds, if the unit is one.
double units_of(const Profile& profile, const ComparedUnit& unit);

}  // namespace offwait
