// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/code_file.h"

#include <utility>

namespace offwait {

CodeFile::CodeFile(OpenedFile file, std::string mapped_path, std::shared_ptr<ProcessRoot> root)
    : file_(std::move(file)), mapped_path_(std::move(mapped_path)), root_(std::move(root)) {}

CodeFile::CodeFile(std::string image) : image_(std::move(image)) {}

std::uint64_t CodeFile::size() const {
  constexpr std::size_t kSize = 2;  // in FileIdentity
  return static_cast<std::uint64_t>(file_.identity[kSize]);
}

int CodeFile::fd(int own_root) {
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

void CodeFile::close_again() {
  if (std::exchange(opened_again_, false)) close();
}

}  // namespace offwait
