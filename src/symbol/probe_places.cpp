// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/probe_places.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <gelf.h>
#include <libelf.h>

#include "process/mapped_files.h"
#include "symbol/demangle.h"
#include "symbol/elf_symbols.h"

namespace offwait {
namespace {

constexpr std::size_t kLongestName = 4096;
constexpr std::size_t kMostDemangled = 1024;
constexpr std::uint64_t kLargestNotes = std::uint64_t{1} << 20U;
constexpr std::uint64_t kLargestSectionNames = std::uint64_t{1} << 20U;
constexpr GElf_Word kUsdtNote = 3;

#if defined(__x86_64__)
constexpr std::string_view kFirstArgument = "8@%rdi";
#elif defined(__aarch64__)
constexpr std::string_view kFirstArgument = "8@x0";
#endif

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

/// An ELF file whose headers are sound: ElfSymbols::read() has looked at them.
ElfHandle open_elf(int fd) {
  elf_version(EV_CURRENT);
  return ElfHandle(elf_begin(fd, ELF_C_READ, nullptr));
}

/// Where the code at this virtual address is in the file.
std::optional<std::uint64_t> offset_of(Elf* elf, std::uint64_t address) {
  std::size_t count = 0;
  constexpr std::size_t kMostSegments = 4096;
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

std::string_view string_at(const Elf_Data& data, std::size_t at) {
  const std::string_view rest =
      std::string_view(static_cast<const char*>(data.d_buf), data.d_size).substr(at);
  return rest.substr(0, std::min(rest.find('\0'), kLongestName));
}

/// Bytes of a section; null if it is empty, larger than `largest` or not all in the file. Only what was asked
/// for its size before may be given to libelf (elf_strptr() does not ask): the contents of a sparse file cost
/// nothing until they are read.
Elf_Data* contents(Elf_Scn* section, std::uint64_t largest) {
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr || header.sh_size > largest)
    return nullptr;
  Elf_Data* const data = elf_getdata(section, nullptr);
  return data != nullptr && data->d_buf != nullptr && data->d_size != 0 ? data : nullptr;
}

/// Calls visit(section, header, name).
template <class Visit>
void for_each_section(Elf* elf, Visit visit) {
  std::size_t names_section = 0;
  if (elf_getshdrstrndx(elf, &names_section) != 0) return;
  const Elf_Data* const names = contents(elf_getscn(elf, names_section), kLargestSectionNames);
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const bool named = names != nullptr && header.sh_name < names->d_size;
    visit(section, header, named ? string_at(*names, header.sh_name) : std::string_view());
  }
}

class FunctionFinder {
 public:
  explicit FunctionFinder(const std::string& name) : name_(name) {
    const std::size_t colon = name.rfind("::");
    last_part_ = colon == std::string::npos ? name : name.substr(colon + 2);
  }

  /// In the first table of each kind, as all files have them: they may claim the same bytes 65,000 times.
  std::set<std::uint64_t> find(Elf* elf) {
    std::set<std::uint64_t> addresses;
    std::set<GElf_Word> seen;
    for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view) {
      if ((header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
          seen.insert(header.sh_type).second)
        look_in(elf, section, header, addresses);
    });
    return addresses;
  }

 private:
  void look_in(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, std::set<std::uint64_t>& addresses) {
    Elf_Data* const symbols = contents(section, ElfSymbols::kLargestTable);
    const Elf_Data* const strings = contents(elf_getscn(elf, header.sh_link), ElfSymbols::kLargestTable);
    if (symbols == nullptr || strings == nullptr) return;
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
      if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
          symbol.st_name >= strings->d_size || addresses.size() >= kMostProbePlaces)
        continue;
      if (is_named(string_at(*strings, symbol.st_name))) addresses.insert(symbol.st_value);
    }
  }

  bool is_named(std::string_view symbol) {
    const std::string_view plain = symbol.substr(0, symbol.find('@'));
    if (plain == name_) return true;
    if (plain.substr(0, 2) != "_Z" || plain.find(last_part_) == std::string_view::npos ||
        demangled_ == kMostDemangled)
      return false;
    ++demangled_;
    const std::string text = demangle_(plain);
    return text == name_ || (text.starts_with(name_) && text[name_.size()] == '(');
  }

  const std::string& name_;
  std::string last_part_;
  Demangler demangle_;
  std::size_t demangled_ = 0;
};

/// The notes of one section, as <sys/sdt.h> and our own header write them: address, base and semaphore, then
/// provider, name and arguments, each ending in NUL.
class NoteReader {
 public:
  NoteReader(Elf* elf, const ProbedFile& file, std::vector<DeclaredPlace>& out)
      : elf_(elf), file_(file), out_(out) {
    for_each_section(elf, [this](Elf_Scn*, const GElf_Shdr& header, std::string_view name) {
      if (name == ".stapsdt.base") base_ = header.sh_addr;
    });
  }

  void read(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* const data = contents(section, left_);
    if (data == nullptr) return;
    left_ -= header.sh_size;
    GElf_Nhdr note;
    std::size_t name = 0;
    std::size_t description = 0;
    for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
      if (note.n_type == kUsdtNote && string_at(*data, name) == "stapsdt")
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
    // Prelinking moves code without knowing these notes, but moves the base as well.
    const std::uint64_t moved = base_ != 0 ? base_ - addresses[1] : 0;
    if (const auto offset = offset_of(elf_, addresses[0] + moved))
      out_.push_back({std::string(name), {file_.path, *offset}});
  }

  Elf* elf_;
  const ProbedFile& file_;
  std::vector<DeclaredPlace>& out_;
  std::uint64_t base_ = 0;
  std::uint64_t left_ = kLargestNotes;  ///< of all sections together
};

}  // namespace

std::vector<ProbedFile> files_to_probe(std::int32_t tgid) {
  std::vector<ProbedFile> files;
  std::set<FileIdentity> seen;
  for (const Mapping& mapping : executable_mappings(tgid).value_or(std::vector<Mapping>())) {
    if (!is_file(mapping)) continue;
    std::optional<OpenedFile> file = open_mapped_file(tgid, mapping);
    if (file && seen.insert(file->identity).second && ElfSymbols::read(file->fd.get()).ok())
      files.push_back({std::move(file->path), std::move(file->fd)});
  }
  return files;
}

std::vector<ProbePlace> places_of_function(const std::vector<ProbedFile>& files, const std::string& name) {
  std::vector<ProbePlace> places;
  FunctionFinder finder(name);
  for (const ProbedFile& file : files) {
    const ElfHandle elf = open_elf(file.fd.get());
    if (elf == nullptr) continue;
    for (const std::uint64_t address : finder.find(elf.get())) {
      const auto offset = offset_of(elf.get(), address);
      if (offset && places.size() < kMostProbePlaces) places.push_back({file.path, *offset});
    }
  }
  return places;
}

std::vector<DeclaredPlace> declared_places(const std::vector<ProbedFile>& files) {
  std::vector<DeclaredPlace> places;
  for (const ProbedFile& file : files) {
    const ElfHandle elf = open_elf(file.fd.get());
    if (elf == nullptr || gelf_getclass(elf.get()) != ELFCLASS64) continue;
    NoteReader reader(elf.get(), file, places);
    for_each_section(elf.get(), [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
      if (header.sh_type == SHT_NOTE && name == ".note.stapsdt") reader.read(section, header);
    });
  }
  return places;
}

}  // namespace offwait
