// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/eh_frame.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <dwarf.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unwind/call_frame.h"
#include "unwind/code_rules.h"
#include "unwind/cursor.h"

namespace offwait {
namespace {

constexpr std::size_t kMostSegments = 4096;
constexpr std::uint64_t kLargestNameTable = std::uint64_t{1} << 20U;
// A file has at most one CIE for each object file; linkers merge equal ones.
constexpr std::size_t kMostCies = std::size_t{1} << 18U;

/// The bytes of the file, by offset.
class Source {
 public:
  explicit Source(int fd) : fd_(fd) {
    struct stat status {};
    size_ = fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  }
  explicit Source(std::string_view image) : image_(image) {}

  /// `size` bytes from `offset` on, fewer at the end of the file. Valid as long as `storage` and the image
  /// are.
  std::string_view read(std::uint64_t offset, std::uint64_t size, std::string& storage) const {
    if (fd_ < 0) {
      return offset < image_.size() ? image_.substr(offset, size) : std::string_view();
    }
    // A size beyond the end of the file must not cost memory.
    size = std::min(size, size_ - std::min(offset, size_));
    storage.resize(size);
    std::size_t got = 0;
    while (got < size) {
      const ssize_t part = pread(fd_, storage.data() + got, size - got, static_cast<off_t>(offset + got));
      if (part <= 0) {
        break;
      }
      got += static_cast<std::size_t>(part);
    }
    return std::string_view(storage).substr(0, got);
  }

 private:
  int fd_ = -1;
  std::uint64_t size_ = 0;
  std::string_view image_;
};

template <class Header>
std::vector<Header> read_headers(const Source& source, std::uint64_t offset, std::size_t count) {
  std::string storage;
  const std::string_view bytes = source.read(offset, count * sizeof(Header), storage);
  std::vector<Header> headers(bytes.size() / sizeof(Header));
  Cursor cursor(bytes);
  for (Header& header : headers) {
    header = cursor.fixed<Header>();
  }
  return headers;
}

/// Where .eh_frame is in the file.
struct EhFramePlace {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t address = 0;
};

std::optional<EhFramePlace> find_by_section(const Source& source, const Elf64_Ehdr& header) {
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return std::nullopt;
  }
  const auto sections = read_headers<Elf64_Shdr>(source, header.e_shoff, header.e_shnum);
  if (header.e_shstrndx >= sections.size() || sections[header.e_shstrndx].sh_size > kLargestNameTable) {
    return std::nullopt;
  }
  std::string storage;
  const std::string_view names =
      source.read(sections[header.e_shstrndx].sh_offset, sections[header.e_shstrndx].sh_size, storage);
  constexpr std::string_view kName(".eh_frame", 10);  // with its NUL
  for (const Elf64_Shdr& section : sections) {
    if ((section.sh_type == SHT_PROGBITS || section.sh_type == SHT_X86_64_UNWIND) &&
        (section.sh_flags & SHF_ALLOC) != 0 && section.sh_name < names.size() &&
        names.substr(section.sh_name).starts_with(kName)) {
      return EhFramePlace{section.sh_offset, section.sh_size, section.sh_addr};
    }
  }
  return std::nullopt;
}

/// Code that .eh_frame may leave out: the sections with code, and where functions of the symbol tables begin.
class LeftOutCode {
 public:
  LeftOutCode(const Source& source, const Elf64_Ehdr& header, std::uint64_t base)
      : source_(source), base_(base) {
    if (header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr)) return;
    for (const Elf64_Shdr& section : read_headers<Elf64_Shdr>(source, header.e_shoff, header.e_shnum)) {
      if (section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_EXECINSTR) != 0 &&
          section.sh_addr >= base)
        sections_.push_back(section);
      if ((section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB) && section.sh_size <= kMostSymbols)
        symbols_.push_back(section);
    }
    std::sort(sections_.begin(), sections_.end(),
              [](const Elf64_Shdr& a, const Elf64_Shdr& b) { return a.sh_addr < b.sh_addr; });
  }

  /// Adds rules for what lies between `begin` and `end`, which count from the base, and where they end.
  void add_rules(std::uint64_t begin, std::uint64_t end, UnwindRows& rows) {
    for (const Elf64_Shdr& section : sections_) {
      const std::uint64_t first = std::max(section.sh_addr - base_, begin);
      const std::uint64_t last =
          std::min({section.sh_addr - base_ + section.sh_size, end, std::uint64_t{UINT32_MAX}});
      if (first >= last || last - first <= kIgnoredGap || last - first > kLargestLeftOut) continue;
      std::string storage;
      const std::string_view code =
          source_.read(section.sh_offset + first - (section.sh_addr - base_), last - first, storage);
      const std::size_t before = rows.size();
      add_code_rules(code, static_cast<std::uint32_t>(first), functions(), rows);
      if (rows.size() > before) rows.add(static_cast<std::uint32_t>(first + code.size()), {});
    }
  }

 private:
  /// The most code of a C library: musl's has 0.4 MB. Larger code without rules is generated, and keeps frame
  /// pointers.
  static constexpr std::uint64_t kLargestLeftOut = std::uint64_t{2} << 20U;
  static constexpr std::uint64_t kMostSymbols = std::uint64_t{16} << 20U;  // bytes

  const std::vector<std::uint32_t>& functions() {
    for (const Elf64_Shdr& table : std::exchange(symbols_, {})) {
      const std::size_t count = table.sh_size / sizeof(Elf64_Sym);
      for (const auto& symbol : read_headers<Elf64_Sym>(source_, table.sh_offset, count)) {
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_value >= base_ && symbol.st_value - base_ < UINT32_MAX)
          functions_.push_back(static_cast<std::uint32_t>(symbol.st_value - base_));
      }
    }
    std::sort(functions_.begin(), functions_.end());
    return functions_;
  }

  const Source& source_;
  std::uint64_t base_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Shdr> symbols_;
  std::vector<std::uint32_t> functions_;
};

/// Finds .eh_frame in a file without section headers: it reaches to its terminator, or to the end of its
/// segment.
std::optional<EhFramePlace> find_by_segment(const Source& source, const std::vector<Elf64_Phdr>& segments) {
  const auto header = std::find_if(segments.begin(), segments.end(),
                                   [](const Elf64_Phdr& s) { return s.p_type == PT_GNU_EH_FRAME; });
  if (header == segments.end()) {
    return std::nullopt;
  }
  std::string storage;
  const std::string_view bytes = source.read(header->p_offset, 16, storage);
  const EhFrameSection section{bytes, header->p_vaddr};
  Cursor cursor(bytes);
  const auto version = cursor.fixed<std::uint8_t>();
  auto encoding = cursor.fixed<std::uint8_t>();
  (void)cursor.fixed<std::uint16_t>();  // encodings of the search table
  const bool from_header = (encoding & 0xf0U) == DW_EH_PE_datarel;
  if (from_header) {
    encoding &= 0x0fU;
  }
  auto address = read_pointer(cursor, encoding, section);
  if (version != 1 || !address) {
    return std::nullopt;
  }
  if (from_header) {
    *address += header->p_vaddr;
  }
  for (const Elf64_Phdr& segment : segments) {
    const std::uint64_t within = *address - segment.p_vaddr;
    if (segment.p_type == PT_LOAD && *address >= segment.p_vaddr && within < segment.p_filesz) {
      return EhFramePlace{segment.p_offset + within, segment.p_filesz - within, *address};
    }
  }
  return std::nullopt;
}

/// A frame description entry.
struct Fde {
  std::uint32_t begin;
  std::uint32_t size;
  std::uint32_t cie;
  std::uint32_t program;  // offset of its instructions in the section
  std::uint32_t program_size;
};

struct Entries {
  std::vector<CommonInformation> cies;
  std::vector<Fde> fdes;
};

Result<Entries> read_entries(const EhFrameSection& section, Architecture architecture, std::uint64_t base) {
  Entries entries;
  // An FDE names its CIE by place: only the beginning of an earlier entry is accepted.
  std::vector<std::size_t> cie_places;
  Cursor cursor(section.bytes);
  const auto place = [&](const Cursor& at) {
    return static_cast<std::size_t>(at.position() - section.bytes.data());
  };
  while (!cursor.at_end()) {
    const std::size_t entry_place = place(cursor);
    std::uint64_t length = cursor.fixed<std::uint32_t>();
    if (length == 0) {
      break;
    }
    if (length == UINT32_MAX) {
      length = cursor.fixed<std::uint64_t>();
    }
    Cursor entry(cursor.bytes(length));
    const std::size_t id_place = place(entry);
    const auto id = entry.fixed<std::uint32_t>();
    if (cursor.failed() || entry.failed()) {
      break;
    }
    if (id == 0) {
      if (entries.cies.size() == kMostCies) {
        return Error{"the ELF file has more than 262,144 kinds of stack frames"};
      }
      cie_places.push_back(entry_place);
      entries.cies.push_back(read_common_information(entry, architecture, section));
      continue;
    }
    if (cie_places.empty()) {
      continue;
    }
    const std::size_t cie_place = id_place - id;
    std::size_t cie = cie_places.size() - 1;
    if (cie_places[cie] != cie_place) {
      const auto found = std::lower_bound(cie_places.begin(), cie_places.end(), cie_place);
      if (found == cie_places.end() || *found != cie_place) {
        continue;
      }
      cie = static_cast<std::size_t>(found - cie_places.begin());
    }
    const CommonInformation& common = entries.cies[cie];
    if (!common.usable) {
      continue;
    }
    const auto begin = read_pointer(entry, common.pointer_encoding, section);
    const auto size = read_pointer(entry, common.pointer_encoding & 0x0fU, section);
    if (common.augmented) {
      (void)entry.bytes(entry.uleb());
    }
    if (!begin || !size || *begin < base || *begin - base >= UINT32_MAX || *size == 0 ||
        *size > UINT32_MAX - (*begin - base) || entry.failed()) {
      continue;
    }
    entries.fdes.push_back({static_cast<std::uint32_t>(*begin - base), static_cast<std::uint32_t>(*size),
                            static_cast<std::uint32_t>(cie), static_cast<std::uint32_t>(place(entry)),
                            static_cast<std::uint32_t>(entry.left())});
  }
  const auto in_order = [](const Fde& a, const Fde& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.program < b.program;
  };
  std::sort(entries.fdes.begin(), entries.fdes.end(), in_order);
  return entries;
}

/// Whether the function begins without a frame and never makes one, or says that it has no caller.
bool has_no_frame(std::string_view program, std::uint64_t ra) {
  const bool no_caller =
      program.size() > 1 && program[0] == DW_CFA_undefined && static_cast<unsigned char>(program[1]) == ra;
  return no_caller || std::all_of(program.begin(), program.end(), [](char c) { return c == DW_CFA_nop; });
}

Status fill_rows(const EhFrameSection& section, const Entries& entries, LeftOutCode& left_out,
                 UnwindTable& table) {
  UnwindRows rows;
  std::uint32_t covered = 0;  // the end of the last function that has rows
  table.functions.reserve(entries.fdes.size());
  for (std::size_t i = 0; i < entries.fdes.size(); ++i) {
    const Fde& fde = entries.fdes[i];
    table.functions.push_back({fde.begin, fde.size, entries.cies[fde.cie].signal ? 1U : 0U});
    std::uint32_t end = fde.begin + fde.size;
    if (i + 1 < entries.fdes.size()) {
      end = std::min(end, entries.fdes[i + 1].begin);
    }
    if (end == fde.begin) {
      continue;
    }
    if (fde.begin > covered && fde.begin - covered > kIgnoredGap) {
      if (covered != 0) rows.add(covered, {});
      left_out.add_rules(covered, fde.begin, rows);
    }
    const std::string_view program = section.bytes.substr(fde.program, fde.program_size);
    // A return address is looked up one byte before it. No call ends in a gap: a frame that returns to
    // the start of the function behind it was put there by hand, as a fiber that returns to makecontext's
    // trampoline. Code that has got rules is no gap.
    const bool after_gap = fde.begin > covered && fde.begin - 1 > rows.last();
    if (after_gap && has_no_frame(program, return_address_register(table.architecture)))
      rows.add(fde.begin - 1, {OFFWAIT_UNWIND_STOP, 0, 0});
    run_program(Cursor(program), entries.cies[fde.cie], table.architecture, section, table.base, fde.begin,
                end, rows);
    covered = end;
    if (rows.size() > kMostUnwindRows) {
      return Error{"the ELF file has more than 16 million rules to unwind stacks"};
    }
  }
  if (covered != 0) {
    rows.add(covered, {});
  }
  left_out.add_rules(covered, UINT32_MAX, rows);
  table.rows = std::move(rows).take();
  return success();
}

Result<UnwindTable> read_table(const Source& source) {
  const auto headers = read_headers<Elf64_Ehdr>(source, 0, 1);
  if (headers.empty() || std::string_view(reinterpret_cast<const char*>(headers[0].e_ident), SELFMAG) !=
                             std::string_view(ELFMAG, SELFMAG)) {
    return Error{"not an ELF file"};
  }
  const Elf64_Ehdr& header = headers[0];
  UnwindTable table;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)) {
    return Error{"an ELF file for another architecture than x86_64 and arm64"};
  }
  table.architecture = header.e_machine == EM_AARCH64 ? Architecture::arm64 : Architecture::x86_64;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMostSegments) {
    return Error{"an ELF file with unusable program headers"};
  }
  const auto segments = read_headers<Elf64_Phdr>(source, header.e_phoff, header.e_phnum);
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      table.base = table.segments.empty() ? segment.p_vaddr : std::min(table.base, segment.p_vaddr);
      table.segments.push_back({segment.p_offset, segment.p_vaddr, segment.p_filesz});
    }
  }
  if (table.segments.empty()) {
    return Error{"an ELF file without an executable segment"};
  }
  auto place = find_by_section(source, header);
  if (!place) {
    place = find_by_segment(source, segments);
  }
  LeftOutCode left_out(source, header, table.base);
  if (!place) {
    OFFWAIT_TRY_STATUS(fill_rows({}, {}, left_out, table));
    return table;
  }
  if (place->size > kLargestEhFrame) {
    return Error{"the ELF file claims an .eh_frame of more than 256 MiB"};
  }
  std::string storage;
  const EhFrameSection section{source.read(place->offset, place->size, storage), place->address};
  OFFWAIT_TRY(const auto entries, read_entries(section, table.architecture, table.base));
  OFFWAIT_TRY_STATUS(fill_rows(section, entries, left_out, table));
  return table;
}

}  // namespace

Result<UnwindTable> read_unwind_table(int fd) { return read_table(Source(fd)); }
Result<UnwindTable> read_unwind_table(std::string_view image) { return read_table(Source(image)); }

}  // namespace offwait
