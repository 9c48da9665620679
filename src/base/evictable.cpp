// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/evictable.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "base/nameless_file.h"

namespace offwait {
namespace {

/// The file's blocks are allocated at once: a write to a page that the disk has no room for would end this
/// process.
void* map_file(std::size_t bytes) {
  const Result<UniqueFd> file = nameless_file(overflow_directory());
  if (!file || ::posix_fallocate(file->get(), 0, static_cast<off_t>(bytes)) != 0) return MAP_FAILED;
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
}

}  // namespace

void* allocate_evictable(std::size_t bytes) {
  if (bytes < kLeastEvictable) return ::operator new(bytes);
  void* memory = map_file(bytes);
  if (memory == MAP_FAILED)
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void free_evictable(void* memory, std::size_t bytes) noexcept {
  if (bytes < kLeastEvictable) {
    ::operator delete(memory);
  } else {
    ::munmap(memory, bytes);
  }
}

}  // namespace offwait
