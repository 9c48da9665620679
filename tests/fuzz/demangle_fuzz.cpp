// SPDX-License-Identifier: GPL-2.0-or-later
// The demangler on any name: it returns a bounded answer, and still demangles the next name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "symbol/demangle.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongest = 1024 + 3;  // 3 bytes for `…`
  for (const char* prefix : {"", "_Z", "_R"}) {
    const auto demangled = offwait::demangle({prefix + std::string(data, data + size), "_Z1fv"});
    const std::string& name = demangled.names[0];
    if (name.size() > kLongest || (name.empty() && *prefix != '\0') || demangled.names[1] != "f()") {
      std::abort();
    }
  }
  return 0;
}
