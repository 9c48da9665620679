// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as the tables that a confined process has read: they are refused, or every place can be asked
// for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "symbol/module_tables.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  offwait::MessageReader message({reinterpret_cast<const char*>(data), size});
  const std::optional<offwait::ModuleTables> tables = offwait::ModuleTables::read(message);
  if (!tables) return 0;
  for (std::uint64_t offset = 0; offset < 0x4000; offset += 61) {
    const auto place = tables->at(offset);
    if (place && place->name.size() > size) std::abort();
  }
  return 0;
}
