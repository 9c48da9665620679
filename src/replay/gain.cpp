// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/gain.h"

namespace offwait {

std::string_view to_string(Certainty certainty) {
  switch (certainty) {
    case Certainty::sure:
      return "sure";
    case Certainty::split:
      return "split";
    case Certainty::rough:
      return "rough";
    case Certainty::up_to:
      return "up-to";
    case Certainty::approximate:
      return "approximate";
  }
  return "rough";
}

}  // namespace offwait
