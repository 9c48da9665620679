// SPDX-License-Identifier: GPL-2.0-or-later
// The addresses of a recorded stack, as a Symbolizer wants them.
#pragma once

#include <cstdint>
#include <vector>

#include "symbol/symbolizer.h"

namespace offwait {

/// The addresses of a stack of the process `tgid` (0: the kernel), innermost first. `pcs` is a range of
/// addresses. All but the first are return addresses. If the first is 0, it is not known, and is left out.
template <class Pcs>
std::vector<FrameAddress> frame_addresses(std::uint32_t tgid, const Pcs& pcs) {
  std::vector<FrameAddress> addresses;
  bool is_leaf = true;
  for (const std::uint64_t pc : pcs) {
    if (pc != 0 || !is_leaf) addresses.push_back({static_cast<std::int32_t>(tgid), pc, !is_leaf});
    is_leaf = false;
  }
  return addresses;
}

}  // namespace offwait
