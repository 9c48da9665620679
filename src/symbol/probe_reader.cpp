// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/probe_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "symbol/elf_file.h"
#include "symbol/elf_symbols.h"

namespace offwait {
namespace {

constexpr std::uint64_t kLargestNotes = std::uint64_t{1} << 20U;
constexpr GElf_Word kUsdtNote = 3;

#if defined(__x86_64__)
constexpr std::string_view kFirstArgument = "8@%rdi";
#elif defined(__aarch64__)
constexpr std::string_view kFirstArgument = "8@x0";
#endif

/// Returns null if the file is not ELF.
ElfHandle opened(int fd) {
  auto elf = open_elf(fd);
  return elf.ok() ? std::move(elf).value() : ElfHandle();
}

/// The offset in the file of the code at this virtual address.
std::optional<std::uint64_t> offset_of(Elf* elf, std::uint64_t address) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0 || count > kMostSegments) return std::nullopt;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, i, &header) != nullptr && header.p_type == PT_LOAD &&
        (header.p_flags & PF_X) != 0 && address >= header.p_vaddr &&
        address - header.p_vaddr < header.p_filesz)
      return address - header.p_vaddr + header.p_offset;
  }
  return std::nullopt;
}

struct NamedAddress {
  std::uint64_t address = 0;
  std::string symbol;
};

/// The name without its namespaces and classes.
std::string last_part(const std::string& name) {
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

/// Finds the functions whose symbols are wanted, without their versions (`name@@GLIBC_2.2`).
class FunctionFinder {
 public:
  using Wanted = std::function<bool(std::string_view symbol)>;
  explicit FunctionFinder(Wanted wanted) : wanted_(std::move(wanted)) {}

  /// Looks in the first table of each kind only: a file needs no more, and could claim the same bytes 65,000
  /// times.
  std::vector<NamedAddress> find(Elf* elf) {
    std::vector<NamedAddress> found;
    std::set<GElf_Word> seen;
    for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view) {
      if ((header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
          seen.insert(header.sh_type).second)
        look_in(elf, section, header, found);
    });
    return found;
  }

 private:
  void look_in(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, std::vector<NamedAddress>& found) {
    Elf_Data* const symbols = section_data(section, ElfSymbols::kLargestTable);
    const Elf_Data* const strings = section_data(elf_getscn(elf, header.sh_link), ElfSymbols::kLargestTable);
    if (symbols == nullptr || strings == nullptr) return;
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
      if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
          symbol.st_name >= strings->d_size || candidates_ == kMostCandidates)
        continue;
      const std::string_view text = section_text(*strings, symbol.st_name);
      const std::string_view plain = text.substr(0, text.find('@'));
      if (wanted_(plain)) {
        found.push_back({symbol.st_value, std::string(plain)});
        ++candidates_;
      }
    }
  }

  Wanted wanted_;
  std::size_t candidates_ = 0;
};

/// Reads the notes of one section, as <sys/sdt.h> and our own header write them: address, base and semaphore,
/// then provider, name and arguments, each ending in NUL.
class NoteReader {
 public:
  NoteReader(Elf* elf, std::vector<MarkedPlace>& out) : elf_(elf), out_(out) {
    for_each_section(elf, [this](Elf_Scn*, const GElf_Shdr& header, std::string_view name) {
      if (name == ".stapsdt.base") base_ = header.sh_addr;
    });
  }

  void read(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* const data = section_data(section, left_);
    if (data == nullptr) return;
    left_ -= header.sh_size;
    GElf_Nhdr note;
    std::size_t name = 0;
    std::size_t description = 0;
    for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
      if (note.n_type == kUsdtNote && section_text(*data, name) == "stapsdt")
        add({static_cast<const char*>(data->d_buf) + description, note.n_descsz});
    }
  }

 private:
  void add(std::string_view description) {
    std::array<std::uint64_t, 3> addresses{};
    if (description.size() < sizeof(addresses) || out_.size() >= kMostProbePlaces) return;
    std::memcpy(addresses.data(), description.data(), sizeof(addresses));
    description.remove_prefix(sizeof(addresses));
    std::array<std::string_view, 3> texts;
    for (std::string_view& text : texts) {
      const std::size_t end = description.find('\0');
      if (end == std::string_view::npos) return;
      text = description.substr(0, end);
      description.remove_prefix(end + 1);
    }
    const auto& [provider, name, arguments] = texts;
    if (provider != "offwait" || !(arguments.empty() || arguments == kFirstArgument)) return;
    // Prelinking moves the code without changing these notes, but moves the base as well.
    const std::uint64_t moved = base_ != 0 ? base_ - addresses[1] : 0;
    if (const auto offset = offset_of(elf_, addresses[0] + moved))
      out_.push_back({std::string(name), *offset});
  }

  Elf* elf_;
  std::vector<MarkedPlace>& out_;
  std::uint64_t base_ = 0;
  std::uint64_t left_ = kLargestNotes;  ///< bytes that may still be read, of all sections together
};

std::vector<MarkedPlace> functions_in(int fd, FunctionFinder::Wanted wanted) {
  std::vector<MarkedPlace> functions;
  const ElfHandle elf = opened(fd);
  if (elf == nullptr) return functions;
  FunctionFinder finder(std::move(wanted));
  for (NamedAddress& found : finder.find(elf.get())) {
    if (const auto offset = offset_of(elf.get(), found.address))
      functions.push_back({std::move(found.symbol), *offset});
  }
  return functions;
}

}  // namespace

std::vector<MarkedPlace> candidates_in(int fd, const std::string& name) {
  return functions_in(fd, [&name, last = last_part(name)](std::string_view symbol) {
    return symbol == name || (symbol.starts_with("_Z") && symbol.find(last) != std::string_view::npos);
  });
}

std::vector<MarkedPlace> similar_in(int fd, const std::string& name) {
  const auto equal = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return functions_in(fd, [&equal, last = last_part(name)](std::string_view symbol) {
    return std::search(symbol.begin(), symbol.end(), last.begin(), last.end(), equal) != symbol.end();
  });
}

std::vector<MarkedPlace> marks_in(int fd) {
  std::vector<MarkedPlace> places;
  const ElfHandle elf = opened(fd);
  if (elf == nullptr || gelf_getclass(elf.get()) != ELFCLASS64) return places;
  NoteReader reader(elf.get(), places);
  for_each_section(elf.get(), [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    if (header.sh_type == SHT_NOTE && name == ".note.stapsdt") reader.read(section, header);
  });
  return places;
}

}  // namespace offwait
