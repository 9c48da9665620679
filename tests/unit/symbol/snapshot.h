// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "process/mapped_files.h"
#include "symbol/symbolizer.h"

namespace offwait::test {

/// Tells the symbolizer the process's present mappings. Returns false if the process does not exist or may
/// not be looked at.
inline bool snapshot(Symbolizer& symbols, std::int32_t tgid) {
  std::optional<std::vector<Mapping>> mappings = executable_mappings(tgid);
  if (!mappings) return false;
  symbols.note_mappings({tgid, *std::move(mappings)});
  return true;
}

}  // namespace offwait::test
