// SPDX-License-Identifier: GPL-2.0-or-later
// .eh_frame sections made by hand, valid ones and lying ones, inside the ELF files of tests/unit/symbol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <dwarf.h>
#include <elf.h>

#include "unit/symbol/elf_image.h"

namespace offwait::test {

using Bytes = std::vector<std::uint8_t>;

/// Virtual address of the section; that of the code, and of the tables' base, is 0x401000.
inline constexpr std::uint64_t kEhFrameAddress = 0x500000;
inline constexpr std::uint64_t kCode = 0x401000;

struct CieParts {
  std::string_view augmentation = "zR";
  Bytes augmentation_data = {DW_EH_PE_pcrel | DW_EH_PE_sdata4};
  std::uint8_t return_register = 16;
  std::uint8_t code_alignment = 1;
  std::uint8_t data_alignment = 0x78;  // -8
  /// What compilers begin with on x86_64: CFA = rsp + 8, return address at CFA - 8.
  Bytes program = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};
};

class EhFrame {
 public:
  /// Adds a CIE and returns its place.
  std::size_t cie(const CieParts& parts = {}) {
    std::string body("\1", 1);
    body.append(parts.augmentation).push_back('\0');
    body.push_back(static_cast<char>(parts.code_alignment));
    body.push_back(static_cast<char>(parts.data_alignment));
    body.push_back(static_cast<char>(parts.return_register));
    if (!parts.augmentation_data.empty()) {
      body.push_back(static_cast<char>(parts.augmentation_data.size()));
      body.append(parts.augmentation_data.begin(), parts.augmentation_data.end());
    }
    body.append(parts.program.begin(), parts.program.end());
    return entry(0, body);
  }

  /// Adds an FDE whose pointers are pcrel | sdata4, as CieParts say unless changed.
  std::size_t fde(std::size_t cie, std::uint64_t begin, std::uint32_t size, const Bytes& program) {
    std::string body;
    number(body, static_cast<std::uint32_t>(begin - (kEhFrameAddress + bytes_.size() + 8)));
    number(body, size);
    body.push_back('\0');
    body.append(program.begin(), program.end());
    return entry(static_cast<std::uint32_t>(bytes_.size() + 4 - cie), body);
  }

  std::size_t entry(std::uint32_t id, std::string body) {
    const std::size_t place = bytes_.size();
    number(bytes_, static_cast<std::uint32_t>(body.size() + 4));
    number(bytes_, id);
    bytes_.append(body);
    return place;
  }

  /// For tests that change bytes so that they lie.
  std::string& bytes() { return bytes_; }

  std::string file(std::uint16_t machine = EM_X86_64) const {
    ElfImage image;
    image.bytes(".eh_frame", bytes_);
    image.sections().back().sh_flags = SHF_ALLOC;
    image.sections().back().sh_addr = kEhFrameAddress;
    return with_machine(image.build(), machine);
  }

  static std::string with_machine(std::string file, std::uint16_t machine) {
    std::memcpy(file.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
    return file;
  }

  template <class Number>
  static void number(std::string& bytes, Number number) {
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof number);
    std::memcpy(bytes.data() + at, &number, sizeof number);
  }

 private:
  std::string bytes_;
};

}  // namespace offwait::test
