// SPDX-License-Identifier: GPL-2.0-or-later
// The demangler on any name: it answers, briefly, and the next name is none the worse for it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "symbol/demangle.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto demangle = std::make_unique<offwait::Demangler>();
  constexpr std::size_t kLongest = 1024 + 3;  // and `…`
  for (const char* prefix : {"", "_Z"}) {
    const std::string name = (*demangle)(prefix + std::string(data, data + size));
    if (name.size() > kLongest || (name.empty() && *prefix != '\0')) {
      std::abort();
    }
    if (demangle->given_up()) {
      demangle = std::make_unique<offwait::Demangler>();
    }
    if ((*demangle)("_Z1fv") != "f()") {
      std::abort();
    }
  }
  return 0;
}
