// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as lines of a perf map: the function that is found covers the address.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "symbol/perf_map.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongestName = 1024;
  const std::vector<std::uint64_t> addresses = {0, 0x100, 0x108, 0x10f, 0x7f0000001000, UINT64_MAX};
  offwait::PerfMapReader reader(addresses);
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    reader.line(text.substr(0, end));
  }
  reader.line(text);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto& function = reader.found()[i];
    if (function &&
        (function->begin > addresses[i] || function->name.empty() || function->name.size() > kLongestName)) {
      std::abort();
    }
  }
  return 0;
}
