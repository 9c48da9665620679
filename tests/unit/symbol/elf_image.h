// SPDX-License-Identifier: GPL-2.0-or-later
// Small ELF files made by hand, valid ones and lying ones, for the tests of src/symbol.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

namespace offwait::test {

struct ImageSymbol {
  std::string_view name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  unsigned char type = STT_FUNC;
  unsigned char binding = STB_GLOBAL;
  std::uint16_t section = 1;
};

/// A 64-bit little-endian file of fixed layout: one executable segment, file [0x1000, 0x3000) at 0x401000;
/// sections 1 `.text` [0x401000, 0x402000), 2 `.fini` [0x402000, 0x402800), both without bytes in the image,
/// then the tables asked for.
class ElfImage {
 public:
  ElfImage() {
    add_section({}, ".null", SHT_NULL, 0, 0, 0);
    add_section({}, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000, 0x1000);
    add_section({}, ".fini", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x402000, 0x800);
  }

  /// Adds a table of `type` SHT_SYMTAB or SHT_DYNSYM, and its string table after it.
  ElfImage& table(std::uint32_t type, const std::vector<ImageSymbol>& symbols) {
    std::string strings(1, '\0');
    std::string entries(sizeof(Elf64_Sym), '\0');
    for (const ImageSymbol& symbol : symbols) {
      Elf64_Sym entry{};
      // A name equal to the one before is stored once.
      const bool repeated = strings.size() > symbol.name.size() + 1 && strings.ends_with('\0') &&
                            std::string_view(strings).substr(strings.size() - symbol.name.size() - 1,
                                                             symbol.name.size()) == symbol.name;
      entry.st_name = static_cast<std::uint32_t>(strings.size() - (repeated ? symbol.name.size() + 1 : 0));
      entry.st_info = static_cast<unsigned char>(ELF64_ST_INFO(symbol.binding, symbol.type));
      entry.st_shndx = symbol.section;
      entry.st_value = symbol.value;
      entry.st_size = symbol.size;
      append(entries, entry);
      if (!repeated) {
        strings.append(symbol.name).push_back('\0');
      }
    }
    add_section(entries, type == SHT_SYMTAB ? ".symtab" : ".dynsym", type, 0, 0, entries.size());
    sections_.back().sh_link = static_cast<std::uint32_t>(sections_.size());
    sections_.back().sh_entsize = sizeof(Elf64_Sym);
    add_section(strings, ".strtab", SHT_STRTAB, 0, 0, strings.size());
    return *this;
  }

  ElfImage& bytes(std::string_view name, const std::string& contents) {
    add_section(contents, name, SHT_PROGBITS, 0, 0, contents.size());
    return *this;
  }

  /// For tests that change headers so that they lie.
  std::vector<Elf64_Shdr>& sections() { return sections_; }
  Elf64_Ehdr& header() { return header_; }

  std::string build() {
    std::string section_names;
    std::string image(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), '\0');
    std::vector<Elf64_Shdr> written = sections_;
    for (std::size_t i = 0; i < written.size(); ++i) {
      written[i].sh_name = static_cast<std::uint32_t>(section_names.size());
      section_names.append(names_[i]).push_back('\0');
      if (written[i].sh_offset == 0) {
        written[i].sh_offset = image.size();
      }
      image.append(contents_[i]);
      image.resize((image.size() + 7) / 8 * 8);
    }
    Elf64_Shdr names{};
    names.sh_name = static_cast<std::uint32_t>(section_names.size());
    section_names.append(".shstrtab").push_back('\0');
    names.sh_type = SHT_STRTAB;
    names.sh_offset = image.size();
    names.sh_size = section_names.size();
    image.append(section_names);
    image.resize((image.size() + 7) / 8 * 8);
    written.push_back(names);

    if (header_.e_shoff == 0) {
      header_.e_shoff = image.size();
    }
    for (const Elf64_Shdr& section : written) {
      append(image, section);
    }
    if (!count_given_) {
      header_.e_shnum = static_cast<std::uint16_t>(written.size());
      header_.e_shstrndx = static_cast<std::uint16_t>(written.size() - 1);
    }
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_ident[EI_CLASS] = ELFCLASS64;
    header_.e_ident[EI_DATA] = ELFDATA2LSB;
    header_.e_ident[EI_VERSION] = EV_CURRENT;
    header_.e_type = ET_DYN;
    header_.e_machine = EM_X86_64;
    header_.e_version = EV_CURRENT;
    header_.e_ehsize = sizeof(Elf64_Ehdr);
    header_.e_phoff = sizeof(Elf64_Ehdr);
    header_.e_phentsize = sizeof(Elf64_Phdr);
    header_.e_phnum = 1;
    header_.e_shentsize = sizeof(Elf64_Shdr);
    std::memcpy(image.data(), &header_, sizeof header_);
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = PF_R | PF_X;
    segment.p_offset = 0x1000;
    segment.p_vaddr = 0x401000;
    segment.p_filesz = segment.p_memsz = 0x2000;
    std::memcpy(image.data() + sizeof header_, &segment, sizeof segment);
    return image;
  }

  /// Claims `count` sections by e_shnum 0, which means that the number is in sh_size of section 0.
  ElfImage& claim_sections(std::uint64_t count) {
    count_given_ = true;
    header_.e_shnum = 0;
    sections_[0].sh_size = count;
    return *this;
  }

 private:
  template <class T>
  static void append(std::string& image, const T& value) {
    const std::size_t at = image.size();
    image.resize(at + sizeof value);
    std::memcpy(image.data() + at, &value, sizeof value);
  }

  void add_section(std::string contents, std::string_view name, std::uint32_t type, std::uint64_t flags,
                   std::uint64_t address, std::uint64_t size) {
    Elf64_Shdr section{};
    section.sh_type = type;
    section.sh_flags = flags;
    section.sh_addr = address;
    section.sh_size = size;
    sections_.push_back(section);
    names_.emplace_back(name);
    contents_.push_back(std::move(contents));
  }

  Elf64_Ehdr header_{};
  bool count_given_ = false;
  std::vector<Elf64_Shdr> sections_;
  std::vector<std::string> names_;
  std::vector<std::string> contents_;
};

}  // namespace offwait::test
