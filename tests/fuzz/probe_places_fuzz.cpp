// SPDX-License-Identifier: GPL-2.0-or-later
// The finder of functions and marked places on any bytes: no crash, no hang, and only places inside the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "symbol/probe_reader.h"

namespace {

void must(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  offwait::UniqueFd file(memfd_create("probe_places_fuzz", MFD_CLOEXEC));
  // A hole follows the bytes, so that sections can lie beyond them; it takes no space.
  constexpr off_t kHole = off_t{8} << 20;
  must(pwrite(file.get(), data, size, 0) == static_cast<ssize_t>(size) &&
       ftruncate(file.get(), static_cast<off_t>(size) + kHole) == 0);
  for (const char* name : {"f", "tas::SpinLock::lock"}) {
    const auto places = offwait::candidates_in(file.get(), name);
    constexpr std::size_t kMostCandidates = 1024;
    must(places.size() <= kMostCandidates);
    for (const offwait::MarkedPlace& place : places) {
      must(place.name == name || place.name.starts_with("_Z"));
    }
  }
  const auto places = offwait::marks_in(file.get());
  must(places.size() <= offwait::kMostProbePlaces);
  for (const offwait::MarkedPlace& place : places) {
    must(place.name.find('\0') == std::string::npos);
  }
  return 0;
}
