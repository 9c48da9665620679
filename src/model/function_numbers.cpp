// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/function_numbers.h"

#include <map>

namespace offwait {

std::vector<std::uint32_t> functions_of_frames(const Trace& trace) {
  std::map<Frame, std::uint32_t> functions;
  std::vector<std::uint32_t> out;
  for (const Frame& frame : trace.frames) {
    out.push_back(functions.try_emplace(function_of(frame), static_cast<std::uint32_t>(functions.size()))
                      .first->second);
  }
  return out;
}

}  // namespace offwait
