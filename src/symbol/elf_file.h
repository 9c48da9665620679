// SPDX-License-Identifier: GPL-2.0-or-later
// Opens and reads ELF files through libelf, within bounds that hold for files that lie.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <gelf.h>
#include <libelf.h>

#include "base/result.h"

namespace offwait {

/// No real file has more; one that claims more is not read.
inline constexpr std::size_t kMostSegments = 4096;

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

/// Opens an ELF file. Returns an Error if it is not ELF or has too many sections. Reads with pread and never
/// maps: if the file is truncated meanwhile, reading a mapping would raise SIGBUS. The descriptor must be
/// seekable and stays the caller's.
Result<ElfHandle> open_elf(int fd);
/// Like open_elf(), but maps the file: for confined processes and large files.
Result<ElfHandle> map_elf(int fd);
/// Opens an image in memory, which must outlive the handle.
Result<ElfHandle> open_elf_image(std::string& image);

/// The size of a file in bytes; 0 for a negative descriptor and where it is not known.
std::uint64_t file_size(int fd);

/// The bytes of a section; null if it is empty, larger than `largest` or not completely in the file. libelf
/// may read only sections whose size was checked like this (elf_strptr() does not check it), because a sparse
/// file can claim any size at no cost.
Elf_Data* section_data(Elf_Scn* section, std::uint64_t largest);

/// The text at this place of a section, up to its NUL or `longest`; empty beyond the end.
std::string_view section_text(const Elf_Data& data, std::size_t at, std::size_t longest = 4096);

/// Calls visit(section, header, name).
template <class Visit>
void for_each_section(Elf* elf, Visit visit) {
  constexpr std::uint64_t kLargestSectionNames = std::uint64_t{1} << 20U;
  std::size_t names_section = 0;
  const Elf_Data* const names = elf_getshdrstrndx(elf, &names_section) == 0
                                    ? section_data(elf_getscn(elf, names_section), kLargestSectionNames)
                                    : nullptr;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    visit(section, header, names != nullptr ? section_text(*names, header.sh_name) : std::string_view());
  }
}

}  // namespace offwait
