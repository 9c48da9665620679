// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as the stored capacities of disks give an error, or values that are the same after being stored
// and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "calibrate/calibration.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT(*-reinterpret-cast)
  const auto calibrations = offwait::parse_calibrations(text);
  if (!calibrations.ok()) {
    return 0;
  }
  const std::string stored = offwait::to_json(*calibrations);
  const auto back = offwait::parse_calibrations(stored);
  if (!back.ok() || offwait::to_json(*back) != stored) {
    std::abort();
  }
  return 0;
}
