// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "process/mapped_files.h"
#include "process/proc_maps.h"
#include "process/process_root.h"
#include "symbol/symbolizer.h"

namespace offwait {

inline constexpr std::string_view kVdso = "[vdso]";
/// The most modules whose debug files are open at the same time.
inline constexpr std::size_t kModulesAtOnce = 64;

/// A file with code, or the vdso.
class Symbolizer::Module {
 public:
  Module(OpenedFile file, std::string mapped_path, std::shared_ptr<ProcessRoot> root)
      : file_(std::move(file)), mapped_path_(std::move(mapped_path)), root_(std::move(root)) {}
  explicit Module(std::string image) : image_(std::move(image)) {}

  const std::string& image() const { return image_; }
  const std::string& mapped_path() const { return mapped_path_; }
  const ProcessRoot* root() const { return root_.get(); }

  void close() { file_.fd = UniqueFd(); }

  /// The file's descriptor, or -1. A file that was closed is opened again if the same file is still at its
  /// path; it stays open until close_again().
  int fd(int own_root) {
    if (!file_.fd && image_.empty()) {
      std::optional<OpenedFile> again = open_regular_file(file_.path);
      const int root = root_ != nullptr ? root_->directory.get() : own_root;
      for (const std::string& path : candidate_paths(mapped_path_)) {
        if (again && again->identity == file_.identity) break;
        again = open_regular_below(root, path, Symlinks::follow);
      }
      opened_again_ = again && again->identity == file_.identity;
      if (opened_again_) file_.fd = std::move(again->fd);
    }
    return file_.fd.get();
  }
  void close_again() {
    if (std::exchange(opened_again_, false)) close();
  }

 private:
  OpenedFile file_;
  std::string image_;
  std::string mapped_path_;
  std::shared_ptr<ProcessRoot> root_;
  bool opened_again_ = false;
};

}  // namespace offwait
