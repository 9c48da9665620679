// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/monotonic.h"

#include <sstream>
#include <string>

#include <sys/stat.h>

#include "base/read_file.h"

namespace offwait {
namespace {

/// The file has the offsets of the namespace of this process's children, which kernels before 5.19 let it
/// choose without entering it.
bool is_in_namespace_of_children() {
  struct stat own {};
  struct stat childrens {};
  return ::stat("/proc/self/ns/time", &own) == 0 &&
         ::stat("/proc/self/ns/time_for_children", &childrens) == 0 && own.st_ino == childrens.st_ino;
}

// Read when the program starts, since confined processes can open nothing.
const Nanos own_offset =
    is_in_namespace_of_children() ? monotonic_offset(read_file("/proc/self/timens_offsets")) : 0;

}  // namespace

Nanos monotonic_now() { return read_clock(CLOCK_MONOTONIC) - own_offset; }

Nanos monotonic_offset(std::string_view offsets) {
  std::istringstream words{std::string(offsets)};
  std::string clock;
  for (Nanos seconds = 0, rest = 0; words >> clock >> seconds >> rest;) {
    if (clock == "monotonic") return seconds * kSecond + rest;
  }
  return 0;
}

}  // namespace offwait
