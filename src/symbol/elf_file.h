// SPDX-License-Identifier: GPL-2.0-or-later
// libelf on files that lie.
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

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

/// Opens an ELF file; an Error if it is none, or has too many sections. Reads with pread and never maps: a
/// file that is truncated meanwhile would make a mapped read SIGBUS. The descriptor must be seekable and
/// stays the caller's.
Result<ElfHandle> open_elf(int fd);
/// As above, but maps: for confined processes and large files.
Result<ElfHandle> map_elf(int fd);
/// An image in memory, which must outlive the handle.
Result<ElfHandle> open_elf_image(std::string& image);

/// Bytes of a section; null if it is empty, larger than `largest` or not all in the file. Only what was asked
/// for its size before may be given to libelf (elf_strptr() does not ask): the contents of a sparse file cost
/// nothing until they are read.
Elf_Data* section_data(Elf_Scn* section, std::uint64_t largest);

/// The text at this place of a section, up to its NUL or `longest`. Nothing beyond the end.
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
