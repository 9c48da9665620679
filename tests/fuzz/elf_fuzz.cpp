// SPDX-License-Identifier: GPL-2.0-or-later
// The ELF symbol reader on any bytes: no crash, no hang, no memory beyond what the bytes are worth.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "symbol/elf_symbols.h"

namespace {

void look_up(const offwait::ElfSymbols& symbols) {
  constexpr std::uint64_t kStep = 0x123;
  for (std::uint64_t i = 0; i < 64; ++i) {
    for (const std::uint64_t address : {i * kStep, 0x401000 + i * kStep, UINT64_MAX - i * kStep}) {
      const auto function = symbols.find(address);
      if (function && (function->begin > address || function->name.empty() ||
                       function->name.find('\0') != std::string_view::npos)) {
        std::abort();
      }
      (void)symbols.address_of(address);
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("elf_fuzz", MFD_CLOEXEC);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  const auto from_file = offwait::ElfSymbols::read(file);
  const auto from_memory = offwait::ElfSymbols::read(std::string(data, data + size));
  if (from_file.ok() != from_memory.ok()) {
    std::abort();
  }
  if (from_file.ok()) {
    look_up(*from_file);
    look_up(*from_memory);
  }
  return 0;
}
