// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/process_memory.h"

#include <algorithm>
#include <cstring>

#include <sys/uio.h>

#include "process/threads.h"

namespace offwait {
namespace {

// No kernel has smaller pages, so the bytes of one such page can be read either all or not at all.
constexpr std::uint64_t kPage = 4096;

}  // namespace

ProcessMemory::ProcessMemory(std::int32_t tgid) : thread_(thread_with_memory(tgid)) {}

const std::string& ProcessMemory::page(std::uint64_t number) {
  const auto [found, added] = pages_.try_emplace(number);
  if (added) {
    std::string bytes(kPage, '\0');
    iovec local{bytes.data(), bytes.size()};
    iovec remote{reinterpret_cast<void*>(number * kPage), bytes.size()};
    if (process_vm_readv(thread_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(kPage)) {
      found->second = std::move(bytes);
    }
  }
  return found->second;
}

std::optional<std::uint64_t> ProcessMemory::word(std::uint64_t address) {
  std::uint64_t word = 0;
  const std::size_t at = address % kPage;
  const std::size_t first = std::min<std::size_t>(sizeof word, kPage - at);
  const std::string& page_of_it = page(address / kPage);
  if (page_of_it.empty()) return std::nullopt;
  std::memcpy(&word, page_of_it.data() + at, first);
  if (first < sizeof word) {
    const std::string& next = page(address / kPage + 1);
    if (next.empty()) return std::nullopt;
    std::memcpy(reinterpret_cast<char*>(&word) + first, next.data(), sizeof word - first);
  }
  return word;
}

}  // namespace offwait
