// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offwait::cli {

/// A file to write to, standard output for `-`, or standard error. Opened before anything is recorded, so
/// that the user does not wait 90 s to learn that a directory is missing.
class Output {
 public:
  static Result<Output> open(const std::string& path);
  static Output standard_error() { return {stderr, "to standard error"}; }

  std::FILE* file() const { return file_.get(); }
  bool is_stream() const { return is_standard(file()); }  ///< standard output or standard error
  bool is_terminal() const;
  bool is_regular() const;  ///< a regular file

  Status write(std::string_view bytes);

 private:
  static bool is_standard(std::FILE* file) { return file == stdout || file == stderr; }
  struct Close {
    void operator()(std::FILE* file) const {
      if (!is_standard(file)) std::fclose(file);
    }
  };
  Output(std::FILE* file, std::string where) : file_(file), where_(std::move(where)) {}

  std::unique_ptr<std::FILE, Close> file_;
  std::string where_;
};

}  // namespace offwait::cli
