// SPDX-License-Identifier: GPL-2.0-or-later
// The finder of functions and marked places on any bytes: no crash, no hang, and only places it may name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "symbol/elf_symbols.h"
#include "symbol/probe_places.h"

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
  // Behind the bytes is a hole, which costs nothing and in which sections may lie.
  constexpr off_t kHole = off_t{8} << 20;
  must(pwrite(file.get(), data, size, 0) == static_cast<ssize_t>(size) &&
       ftruncate(file.get(), static_cast<off_t>(size) + kHole) == 0);
  // files_to_probe() gives no others.
  if (!offwait::ElfSymbols::read(file.get()).ok()) {
    return 0;
  }
  std::vector<offwait::ProbedFile> files;
  files.push_back({"it", std::move(file)});
  for (const char* name : {"f", "tas::SpinLock::lock"}) {
    const std::vector<offwait::ProbePlace> places = offwait::places_of_function(files, name);
    must(places.size() <= offwait::kMostProbePlaces);
    for (const offwait::ProbePlace& place : places) {
      must(place.path == "it");
    }
  }
  const std::vector<offwait::DeclaredPlace> places = offwait::declared_places(files);
  must(places.size() <= offwait::kMostProbePlaces);
  for (const offwait::DeclaredPlace& declared : places) {
    must(declared.place.path == "it" && declared.name.find('\0') == std::string::npos);
  }
  return 0;
}
