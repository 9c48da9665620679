// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/elf_symbols.h"

#include <algorithm>
#include <utility>

#include "symbol/elf_file.h"
#include "symbol/go_functions.h"
#include "symbol/mini_debug_info.h"

namespace offwait {
namespace {

constexpr std::size_t kLongestElfName = std::size_t{64} << 10U;

std::uint64_t end_of(std::uint64_t begin, std::uint64_t size) {
  return size > UINT64_MAX - begin ? UINT64_MAX : begin + size;
}

/// Whether it is a mark of ARM or RISC-V (`$x`, `$d` …) for where code and data alternate, and not a name.
bool is_mapping_symbol(std::string_view name) {
  return name.size() >= 2 && name[0] == '$' && (name.size() == 2 || name[2] == '.');
}

/// The symbol with the least rank names an address. `name` may be followed by other names.
std::uint16_t rank(bool function, unsigned binding, std::string_view name) {
  const std::size_t length = std::min<std::size_t>(name.substr(0, 255).find('\0'), 255);
  const std::size_t underscores = std::min<std::size_t>(name.substr(0, 3).find_first_not_of('_'), 3);
  const unsigned bound = binding == STB_WEAK ? 2U : binding == STB_LOCAL ? 1U : 0U;
  return static_cast<std::uint16_t>((function ? 0U : 0x1000U) + (bound << 10U) + (underscores << 8U) +
                                    length);
}

}  // namespace

/// Fills one ElfSymbols from an ELF file, and then from the mini debug info in it.
class ElfReader {
 public:
  static Result<ElfSymbols> read(Elf* elf) {
    ElfReader reader;
    reader.read_segments(elf);
    OFFWAIT_TRY_STATUS(reader.read_functions(elf, true));
    reader.symbols_.ranges_ = FunctionRanges(std::move(reader.functions_));
    return std::move(reader.symbols_);
  }

 private:
  struct CodeSection {
    std::uint64_t begin;
    std::uint64_t end;
  };
  struct Tables {
    Elf_Scn* symtab = nullptr;
    Elf_Scn* dynsym = nullptr;
    Elf_Scn* mini = nullptr;
    Elf_Scn* go = nullptr;
    std::vector<CodeSection> code;
  };

  void read_segments(Elf* elf) {
    std::size_t count = 0;
    // gelf_getphdr() loads all segments at once.
    if (elf_getphdrnum(elf, &count) != 0 || count > kMostSegments) {
      return;
    }
    for (int i = 0; i < static_cast<int>(count); ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf, i, &header) != nullptr && header.p_type == PT_LOAD &&
          (header.p_flags & PF_X) != 0) {
        symbols_.segments_.push_back({header.p_offset, header.p_filesz, header.p_vaddr});
      }
    }
  }

  static Tables find_tables(Elf* elf) {
    Tables tables;
    for_each_section(elf, [&tables](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
      if (header.sh_type == SHT_SYMTAB && tables.symtab == nullptr) {
        tables.symtab = section;
      } else if (header.sh_type == SHT_DYNSYM && tables.dynsym == nullptr) {
        tables.dynsym = section;
      } else if ((header.sh_flags & SHF_ALLOC) != 0 && (header.sh_flags & SHF_EXECINSTR) != 0) {
        tables.code.push_back({header.sh_addr, end_of(header.sh_addr, header.sh_size)});
      } else if (header.sh_type == SHT_PROGBITS && tables.mini == nullptr && name == ".gnu_debugdata") {
        tables.mini = section;
      } else if (tables.go == nullptr && (name == ".gopclntab" || name == ".data.rel.ro.gopclntab")) {
        tables.go = section;
      }
    });
    std::sort(tables.code.begin(), tables.code.end(),
              [](const CodeSection& a, const CodeSection& b) { return a.begin < b.begin; });
    return tables;
  }

  /// The bytes of a section; null if it is of another type, empty, larger than kLargestTable or larger than
  /// the file.
  static Elf_Data* contents(Elf_Scn* section, GElf_Word type) {
    GElf_Shdr header;
    const bool right =
        section != nullptr && gelf_getshdr(section, &header) != nullptr && header.sh_type == type;
    return right ? section_data(section, ElfSymbols::kLargestTable) : nullptr;
  }

  Status read_functions(Elf* elf, bool look_for_mini) {
    const Tables tables = find_tables(elf);
    if (Status status = read_table(elf, tables.symtab, SHT_SYMTAB, tables.code); !status.ok()) {
      return status;
    }
    if (!functions_.empty() || !look_for_mini) {
      return success();
    }
    if (Status status = read_table(elf, tables.dynsym, SHT_DYNSYM, tables.code); !status.ok()) {
      return status;
    }
    if (const Elf_Data* go = contents(tables.go, SHT_PROGBITS); go != nullptr) {
      read_go_table({static_cast<const char*>(go->d_buf), go->d_size}, tables.code);
    }
    // Damaged mini debug info must not take away what .dynsym has.
    if (const Elf_Data* packed = contents(tables.mini, SHT_PROGBITS); packed != nullptr) {
      auto unpacked = unpack_mini_debug_info({static_cast<const char*>(packed->d_buf), packed->d_size});
      if (unpacked.ok()) {
        if (const auto mini = open_elf_image(*unpacked); mini.ok()) {
          return read_functions(mini->get(), false);
        }
      }
    }
    return success();
  }

  Status read_table(Elf* elf, Elf_Scn* section, GElf_Word type, const std::vector<CodeSection>& code) {
    GElf_Shdr header;
    if (section == nullptr || gelf_getshdr(section, &header) == nullptr) {
      return success();
    }
    GElf_Shdr strings_header;
    Elf_Scn* strings_section = elf_getscn(elf, header.sh_link);
    if (header.sh_size > ElfSymbols::kLargestTable ||
        (gelf_getshdr(strings_section, &strings_header) != nullptr &&
         strings_header.sh_size > ElfSymbols::kLargestTable)) {
      return Error{"the ELF file claims a symbol table of more than 1 GiB"};
    }
    Elf_Data* data = contents(section, type);
    const Elf_Data* strings = contents(strings_section, SHT_STRTAB);
    if (data == nullptr || strings == nullptr) {
      return success();
    }
    const std::size_t base = symbols_.names_.size();
    const std::string_view table(static_cast<const char*>(strings->d_buf), strings->d_size);
    symbols_.names_.append(table).push_back('\0');

    GElf_Sym symbol;
    // gelf_getsym() fails at the end of the data, and at once if the data are not symbols.
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const unsigned kind = GELF_ST_TYPE(symbol.st_info);
      const bool function = kind == STT_FUNC || kind == STT_GNU_IFUNC;
      if ((!function && kind != STT_NOTYPE) || symbol.st_shndx == SHN_UNDEF ||
          symbol.st_name >= table.size()) {
        continue;
      }
      const std::string_view name = table.substr(symbol.st_name, kLongestElfName);
      if (name.front() == '\0' || is_mapping_symbol(name.substr(0, name.find('\0')))) {
        continue;
      }
      const CodeSection* const section_of = code_at(code, symbol.st_value);
      if (section_of == nullptr) {
        continue;
      }
      if (functions_.size() == ElfSymbols::kMostFunctions) {
        return Error{"the ELF file has more than 4 million functions"};
      }
      functions_.push_back({symbol.st_value, size_of(symbol, type), section_of->end,
                            static_cast<std::uint32_t>(base + symbol.st_name),
                            rank(function, GELF_ST_BIND(symbol.st_info), name)});
    }
    return success();
  }

  /// A symbol without a size names what follows up to the next symbol, if the table has all symbols.
  /// `.dynsym` has the exported ones only: there it names its own address (musl's `memset` would name every
  /// system call).
  static std::uint64_t size_of(const GElf_Sym& symbol, GElf_Word table) {
    return symbol.st_size == 0 && table == SHT_DYNSYM ? 1 : symbol.st_size;
  }

  void read_go_table(std::string_view section, const std::vector<CodeSection>& code) {
    const GoFunctions go = read_go_functions(section);
    const std::size_t base = symbols_.names_.size();
    symbols_.names_.append(go.names).push_back('\0');
    for (const GoFunction& function : go.functions) {
      const CodeSection* const section_of = code_at(code, function.begin);
      if (section_of != nullptr && functions_.size() < ElfSymbols::kMostFunctions) {
        functions_.push_back({function.begin, function.size, section_of->end,
                              static_cast<std::uint32_t>(base + function.name), 0});
      }
    }
  }

  static const CodeSection* code_at(const std::vector<CodeSection>& code, std::uint64_t address) {
    auto after = std::upper_bound(code.begin(), code.end(), address,
                                  [](std::uint64_t value, const CodeSection& s) { return value < s.begin; });
    return after != code.begin() && address < (--after)->end ? &*after : nullptr;
  }

  ElfSymbols symbols_;
  std::vector<FunctionSymbol> functions_;
};

Result<ElfSymbols> ElfSymbols::read(int fd) {
  auto elf = open_elf(fd);
  return elf.ok() ? ElfReader::read(elf->get()) : Result<ElfSymbols>(elf.error());
}

Result<ElfSymbols> ElfSymbols::read(std::string image) {
  auto elf = open_elf_image(image);
  return elf.ok() ? ElfReader::read(elf->get()) : Result<ElfSymbols>(elf.error());
}

void ElfSymbols::write(MessageWriter& message) const {
  message.values(segments_);
  message.text(names_);
  ranges_.write(message);
}

std::optional<ElfSymbols> ElfSymbols::read(MessageReader& message) {
  ElfSymbols symbols;
  symbols.segments_ = message.values<Segment>();
  symbols.names_ = message.text();
  std::optional<FunctionRanges> ranges = FunctionRanges::read(message, symbols.names_.size());
  if (!ranges || symbols.segments_.size() > kMostSegments) return std::nullopt;
  symbols.ranges_ = *std::move(ranges);
  return symbols;
}

std::optional<std::uint64_t> ElfSymbols::address_of(std::uint64_t offset) const {
  for (const Segment& segment : segments_) {
    if (offset >= segment.offset && offset - segment.offset < segment.size) {
      return offset - segment.offset + segment.address;
    }
  }
  return std::nullopt;
}

std::optional<ElfFunction> ElfSymbols::find(std::uint64_t address) const {
  const auto hit = ranges_.find(address);
  if (!hit) {
    return std::nullopt;
  }
  const std::string_view rest = std::string_view(names_).substr(hit->name, kLongestElfName);
  return ElfFunction{hit->begin, rest.substr(0, rest.find('\0'))};
}

}  // namespace offwait
