// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as Go's table of functions: each name is inside the table, and there are no more functions than
// bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "symbol/go_functions.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const offwait::GoFunctions go = offwait::read_go_functions({reinterpret_cast<const char*>(data), size});
  if (go.functions.size() > size / 8) {
    std::abort();
  }
  for (const offwait::GoFunction& function : go.functions) {
    if (function.name >= go.names.size() || go.names[function.name] == '\0' || function.size == 0) {
      std::abort();
    }
  }
  return 0;
}
