// SPDX-License-Identifier: GPL-2.0-or-later
// The text in which JIT compilers say what they have made: /tmp/perf-PID.map, lines of `BEGIN SIZE NAME`
// (hexadecimal).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace offwait {

struct JitFunction {
  std::uint64_t begin = 0;
  std::string name;  ///< as it is written, 1024 bytes at most
};

/// Finds what covers some addresses while the text passes by. Lines of another form are skipped; of two
/// functions at an address the last counts, for code is thrown away and its place used again.
class PerfMapReader {
 public:
  /// Ascending.
  explicit PerfMapReader(std::vector<std::uint64_t> addresses);
  /// A line without its newline.
  void line(std::string_view line);
  /// One for each address.
  const std::vector<std::optional<JitFunction>>& found() const { return found_; }

 private:
  std::vector<std::uint64_t> addresses_;
  std::vector<std::optional<JitFunction>> found_;
};

/// The first 1 GiB of the file, in a confined process; what takes more than 5 s finds nothing.
std::vector<std::optional<JitFunction>> look_up_in_perf_map(int fd,
                                                            const std::vector<std::uint64_t>& addresses);

}  // namespace offwait
