// SPDX-License-Identifier: GPL-2.0-or-later
// A file with code that some process has mapped, or the vdso.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "process/mapped_files.h"
#include "process/process_root.h"
#include "symbol/module_tables.h"

namespace offwait {

class CodeFile {
 public:
  /// `root`: that of the processes that have mapped it; null: ours, or unknown.
  CodeFile(OpenedFile file, std::string mapped_path, std::shared_ptr<ProcessRoot> root);
  /// The vdso.
  explicit CodeFile(std::string image);

  const std::string& image() const { return image_; }
  const std::string& mapped_path() const { return mapped_path_; }
  const ProcessRoot* root() const { return root_.get(); }
  /// In bytes; 0 for the vdso.
  std::uint64_t size() const;

  bool is_open() const { return static_cast<bool>(file_.fd); }
  /// A copy stays open, because its file may not be asked again.
  void close() {
    if (!file_.is_copy) file_.fd = UniqueFd();
  }
  bool is_copy() const { return file_.is_copy; }
  /// The file's descriptor, or -1. A file that was closed is opened again if the same file is still at its
  /// path; it stays open until close_again(). `own_root`: our root directory.
  int fd(int own_root);
  void close_again();

  // What is read while a recording goes on (reading_ahead.h).
  bool ahead_tried = false;
  std::optional<ModuleTables> tables{};  ///< of this file only, with extents
  std::size_t tables_bytes = 0;          ///< that they take, about

 private:
  OpenedFile file_;
  std::string image_;
  std::string mapped_path_;
  std::shared_ptr<ProcessRoot> root_;
  bool opened_again_ = false;
};

}  // namespace offwait
