// SPDX-License-Identifier: GPL-2.0-or-later
// The text of /proc/PID/maps as values. Nothing here opens a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace offwait {

/// What the kernel writes behind the path of a file that was removed.
inline constexpr std::string_view kDeleted = " (deleted)";

/// One line: addresses [begin, end) of the process show the file at `path` from byte `offset` on.
struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< in the file; 0 for memory without a file
  std::uint32_t dev_major = 0;
  std::uint32_t dev_minor = 0;
  std::uint64_t inode = 0;
  bool executable = false;
  /// As the kernel writes it: a newline is `\012` (a name may also have these four characters itself), and `
  /// (deleted)` may follow. `[vdso]`, `[heap]`, empty … for memory without a file. Hostile bytes.
  std::string path;
  bool shared = false;  ///< writable, and what one process writes the others see
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

struct Maps {
  std::vector<Mapping> mappings;  ///< in the order of the text
  std::size_t malformed = 0;      ///< lines that are no mapping, or have begin >= end
};

/// Every line of `text`, the last with or without its newline.
Maps parse_maps(std::string_view text);

/// Whether a file (or a memfd, shared memory …) is mapped, as opposed to memory of the process or the kernel.
bool is_file(const Mapping& mapping);

/// The module name that frames show: the last component of `path`, without ` (deleted)`. Escapes stay.
std::string module_name(std::string_view path);

/// The names under which a mapped file may be found, most likely first: without ` (deleted)` and as written,
/// each with `\012` read as a newline and as written. At least one; no two are equal.
std::vector<std::string> candidate_paths(std::string_view path);

}  // namespace offwait
