// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/blocks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/nameless_file.h"

namespace offwait {

void Blocks::Free::operator()(std::byte* data) const {
  if (mapped) {
    ::munmap(data, kBlockBytes);
  } else {
    delete[] data;  // NOLINT(cppcoreguidelines-owning-memory): this is the deleter of its owner
  }
}

void Blocks::keep_in_memory(std::size_t bytes, std::string directory) {
  most_in_memory_ = std::max<std::size_t>(1, bytes / kBlockBytes);
  directory_ = std::move(directory);
}

void Blocks::add() {
  if (blocks_.size() - in_file_ >= most_in_memory_ && moved_.ok()) moved_ = move_one();
  // NOLINTNEXTLINE(modernize-avoid-c-arrays)
  blocks_.push_back(Block{{new std::byte[kBlockBytes], Free{}}, 0});
}

Status Blocks::move_one() {
  if (!file_) {
    OFFWAIT_TRY(file_, nameless_file(directory_));
  }
  Block& block = blocks_[in_file_];
  const auto begin = static_cast<off_t>(in_file_ * kBlockBytes);
  for (std::size_t written = 0; written < kBlockBytes;) {
    const ssize_t now = ::pwrite(file_.get(), block.data.get() + written, kBlockBytes - written,
                                 begin + static_cast<off_t>(written));
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return Error{fmt::format("cannot write to {}: {}", directory_, std::strerror(errno))};
    written += static_cast<std::size_t>(now);
  }
  void* const mapped = ::mmap(nullptr, kBlockBytes, PROT_READ, MAP_SHARED, file_.get(), begin);
  if (mapped == MAP_FAILED)
    return Error{fmt::format("cannot map a file in {}: {}", directory_, std::strerror(errno))};
  block.data = {static_cast<std::byte*>(mapped), Free{true}};
  ++in_file_;
  return success();
}

void Blocks::forget(const Block& block) { ::madvise(block.data.get(), kBlockBytes, MADV_DONTNEED); }

}  // namespace offwait
