// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/elf_file.h"

#include <array>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace offwait {
namespace {

/// libelf allocates about 200 bytes for each section that a file claims. e_shnum claims 65,279 at most. With
/// e_shnum 0 the number is in the first section, and a sparse file can back a claim of billions; but only
/// object files before linking need that form, so it is refused.
Status check_header(std::string_view head) {
  if (head.size() < sizeof(Elf32_Ehdr) || head.substr(0, SELFMAG) != ELFMAG) {
    return Error{"not an ELF file"};
  }
  const bool wide = head[EI_CLASS] == ELFCLASS64;
  if (wide && head.size() < sizeof(Elf64_Ehdr)) {
    return Error{"the ELF header is cut short"};
  }
  // Zero has the same bytes in either byte order.
  const auto is_zero = [&](std::size_t at, std::size_t size) {
    const std::string_view field = head.substr(at, size);
    return std::all_of(field.begin(), field.end(), [](char c) { return c == 0; });
  };
  const bool has_sections = wide ? !is_zero(offsetof(Elf64_Ehdr, e_shoff), sizeof(Elf64_Off))
                                 : !is_zero(offsetof(Elf32_Ehdr, e_shoff), sizeof(Elf32_Off));
  const bool unnumbered = wide ? is_zero(offsetof(Elf64_Ehdr, e_shnum), sizeof(Elf64_Half))
                               : is_zero(offsetof(Elf32_Ehdr, e_shnum), sizeof(Elf32_Half));
  if (has_sections && unnumbered) {
    return Error{"the ELF file claims 65,280 sections or more"};
  }
  return success();
}

Result<ElfHandle> checked(Elf* elf) {
  ElfHandle handle(elf);
  if (handle == nullptr || elf_kind(handle.get()) != ELF_K_ELF) {
    return Error{"not an ELF file"};
  }
  return handle;
}

Result<ElfHandle> open_with(int fd, Elf_Cmd command) {
  std::array<char, sizeof(Elf64_Ehdr)> head{};
  const ssize_t got = pread(fd, head.data(), head.size(), 0);
  if (got < 0) {
    return Error{"cannot read the file"};
  }
  OFFWAIT_TRY_STATUS(check_header({head.data(), static_cast<std::size_t>(got)}));
  elf_version(EV_CURRENT);
  return checked(elf_begin(fd, command, nullptr));
}

}  // namespace

Result<ElfHandle> open_elf(int fd) { return open_with(fd, ELF_C_READ); }

Result<ElfHandle> map_elf(int fd) { return open_with(fd, ELF_C_READ_MMAP_PRIVATE); }

Result<ElfHandle> open_elf_image(std::string& image) {
  OFFWAIT_TRY_STATUS(check_header(image));
  elf_version(EV_CURRENT);
  return checked(elf_memory(image.data(), image.size()));
}

std::uint64_t file_size(int fd) {
  struct stat status {};
  return fd >= 0 && ::fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

Elf_Data* section_data(Elf_Scn* section, std::uint64_t largest) {
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr || header.sh_size > largest) {
    return nullptr;
  }
  Elf_Data* const data = elf_getdata(section, nullptr);
  return data != nullptr && data->d_buf != nullptr && data->d_size != 0 ? data : nullptr;
}

std::string_view section_text(const Elf_Data& data, std::size_t at, std::size_t longest) {
  const std::string_view bytes(static_cast<const char*>(data.d_buf), data.d_size);
  const std::string_view rest = bytes.substr(std::min(at, bytes.size()), longest);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace offwait
