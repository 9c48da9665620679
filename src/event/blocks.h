// SPDX-License-Identifier: GPL-2.0-or-later
// Memory that only grows, in blocks. Once it is full, older blocks lie in a file and are read from there.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

class Blocks {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  struct Free {
    bool mapped = false;
    void operator()(std::byte* data) const;
  };
  struct Block {
    std::unique_ptr<std::byte[], Free> data;  // NOLINT(modernize-avoid-c-arrays): not zeroed, unlike a vector
    std::size_t used = 0;
  };

  /// The last block, or a new one if that has no room for `bytes`, which is kBlockBytes at most.
  Block& room(std::size_t bytes) {
    if (blocks_.empty() || kBlockBytes - blocks_.back().used < bytes) [[unlikely]]
      add();
    return blocks_.back();
  }

  /// Keeps so many bytes in memory, and one block at least. From then on older blocks are moved to a file in
  /// this directory. It has no name, so that it is gone with this process.
  void keep_in_memory(std::size_t bytes, std::string directory);

  /// An Error says why blocks stay in memory though they are too many, as that the file system is full.
  const Status& moved() const { return moved_; }
  /// Memory of the blocks that are not in the file.
  std::size_t bytes_in_memory() const { return (blocks_.size() - in_file_) * kBlockBytes; }

  /// Calls visit(const Block&) for each block, in order. Blocks of the file take memory only meanwhile.
  template <class Visitor>
  void for_each(Visitor&& visit) const {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      visit(blocks_[i]);
      if (i < in_file_) forget(blocks_[i]);
    }
  }
  /// The same, and frees each block after its visit. There are none afterwards.
  template <class Visitor>
  void take_each(Visitor&& visit) {
    for (Block& block : blocks_) {
      visit(std::as_const(block));
      block.data.reset();
    }
    blocks_.clear();
    in_file_ = 0;
  }

 private:
  void add();
  /// Moves the oldest block that is in memory.
  Status move_one();
  static void forget(const Block& block);

  std::vector<Block> blocks_;
  std::size_t in_file_ = 0;  ///< the first ones
  std::size_t most_in_memory_ = SIZE_MAX;
  std::string directory_;
  UniqueFd file_;
  Status moved_ = success();
};

}  // namespace offwait
