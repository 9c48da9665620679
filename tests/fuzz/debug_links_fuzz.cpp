// SPDX-License-Identifier: GPL-2.0-or-later
// Links to debug files in any bytes: a build ID and a link are bounded, and a link is a plain file name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "symbol/debug_links.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("debug_links_fuzz", MFD_CLOEXEC);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  const auto links = offwait::read_debug_links(file);
  if (links.ok()) {
    constexpr std::size_t kLongestName = 255;
    constexpr std::size_t kLongestPath = 4096;
    constexpr std::size_t kLongestId = 64;
    const std::string& name = links->debuglink;
    if (name.size() > kLongestName || name.find('/') != std::string::npos || name == ".." ||
        links->supplement.size() > kLongestPath || links->build_id.size() > kLongestId ||
        links->supplement_build_id.size() > kLongestId) {
      std::abort();
    }
  }
  return 0;
}
