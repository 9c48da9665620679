// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the files in which JIT compilers list the functions that they generate: /tmp/perf-PID.map, with lines
// `BEGIN SIZE NAME` (numbers in hexadecimal). A file is believed only if it belongs to the user of its
// process or to root, and is reached without symlinks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace offwait {

struct JitFunction {
  std::uint64_t begin = 0;
  std::string name;  ///< as written, at most 1024 bytes
};

/// Finds the functions at some addresses while the text is read line by line. Lines of another form are
/// skipped. Of two functions at an address the last one counts, because generated code is discarded and its
/// place used again.
class PerfMapReader {
 public:
  /// `addresses` ascend.
  explicit PerfMapReader(std::vector<std::uint64_t> addresses);
  /// Takes the next line, without its newline.
  void line(std::string_view line);
  /// The functions found so far, one entry for each address.
  const std::vector<std::optional<JitFunction>>& found() const { return found_; }

 private:
  std::vector<std::uint64_t> addresses_;
  std::vector<std::optional<JitFunction>> found_;
};

/// Looks in the first 1 GiB of the file, in a confined process; finds nothing if that takes more than 5 s.
std::vector<std::optional<JitFunction>> look_up_in_perf_map(int fd,
                                                            const std::vector<std::uint64_t>& addresses);

}  // namespace offwait
