// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/module_variables.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "sandbox/confined_batch.h"
#include "sandbox/message.h"
#include "symbol/elf_file.h"

namespace offwait {
namespace {

constexpr std::chrono::seconds kTime{5};
constexpr std::uint64_t kLargestTable = std::uint64_t{1} << 30U;
/// No page is larger, so no mapping begins further before its segment.
constexpr std::uint64_t kLargestPage = std::uint64_t{64} << 10U;

std::vector<GElf_Phdr> loaded_segments(Elf* elf) {
  std::vector<GElf_Phdr> segments;
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0 || count > kMostSegments) return segments;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, i, &header) != nullptr && header.p_type == PT_LOAD) segments.push_back(header);
  }
  return segments;
}

/// Whether a mapping from this offset of the file on shows the segment.
bool shows(const GElf_Phdr& segment, std::uint64_t offset) {
  return offset < segment.p_offset ? segment.p_offset - offset < kLargestPage
                                   : offset - segment.p_offset < segment.p_filesz;
}

/// The virtual address in the file of a place, if it is in a writable segment.
std::optional<std::uint64_t> address_of(const std::vector<GElf_Phdr>& segments, const DataPlace& place) {
  for (const GElf_Phdr& code : segments) {
    if ((code.p_flags & PF_X) == 0 || !shows(code, place.code_offset)) continue;
    const std::uint64_t address = code.p_vaddr - code.p_offset + place.code_offset + place.distance;
    const bool in_data = std::any_of(segments.begin(), segments.end(), [address](const GElf_Phdr& data) {
      return (data.p_flags & PF_W) != 0 && address >= data.p_vaddr && address - data.p_vaddr < data.p_memsz;
    });
    if (in_data) return address;
  }
  return std::nullopt;
}

/// The variables that cover the places.
class Finder {
 public:
  Finder(const ModuleFiles& files, const std::vector<DataPlace>& places) {
    const Result<ElfHandle> own = open_elf(files.file);
    if (!own.ok()) return;
    const std::vector<GElf_Phdr> segments = loaded_segments(own->get());
    for (const DataPlace& place : places) found_.push_back({address_of(segments, place), {}, 0, UINT64_MAX});
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (found_[i].address) by_address_.emplace_back(*found_[i].address, i);
    }
    std::sort(by_address_.begin(), by_address_.end());
    read_tables(own->get(), SHT_SYMTAB);
    if (files.debug >= 0 && files.debug != files.file) {
      const Result<ElfHandle> debug = open_elf(files.debug);
      if (debug.ok()) read_tables(debug->get(), SHT_SYMTAB);
    }
    read_tables(own->get(), SHT_DYNSYM);
  }

  std::string answer(std::size_t index) const {
    MessageWriter message;
    const bool in_data = index < found_.size() && found_[index].address;
    message.number(in_data ? 1 : 0);
    if (in_data) {
      message.number(*found_[index].address);
      message.number(found_[index].begin);
      message.text(found_[index].name);
    }
    return std::move(message).take();
  }

 private:
  struct Found {
    std::optional<std::uint64_t> address;
    std::string name;
    std::uint64_t begin = 0;
    std::uint64_t size = UINT64_MAX;
  };

  void read_tables(Elf* elf, GElf_Word type) {
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
         section = elf_nextscn(elf, section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != type) continue;
      Elf_Data* const data = section_data(section, kLargestTable);
      Elf_Scn* const names_section = elf_getscn(elf, header.sh_link);
      const Elf_Data* const names =
          names_section == nullptr ? nullptr : section_data(names_section, kLargestTable);
      if (data != nullptr && names != nullptr) read_table(*data, *names);
    }
  }

  void read_table(Elf_Data& data, const Elf_Data& names) {
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(&data, i, &symbol) != nullptr; ++i) {
      if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF) continue;
      auto at = std::lower_bound(by_address_.begin(), by_address_.end(),
                                 std::pair(std::uint64_t{symbol.st_value}, std::size_t{0}));
      for (; at != by_address_.end() && at->first - symbol.st_value < symbol.st_size; ++at) {
        Found& found = found_[at->second];
        if (symbol.st_size >= found.size) continue;
        const std::string_view name = section_text(names, symbol.st_name);
        if (name.empty()) break;
        found.name = name;
        found.begin = symbol.st_value;
        found.size = symbol.st_size;
      }
    }
  }

  std::vector<Found> found_;                                       ///< by index of the place
  std::vector<std::pair<std::uint64_t, std::size_t>> by_address_;  ///< indices of those in data
};

}  // namespace

ModuleVariables module_variables(const ModuleFiles& files, const std::vector<DataPlace>& places) {
  ModuleVariables result;
  result.places.resize(places.size());
  if (files.file < 0) return result;
  std::unique_ptr<Finder> finder;
  ConfinedBatch batch;
  batch.items = places.size();
  for (const int fd : {files.file, files.debug}) {
    if (fd >= 0) batch.confinement.descriptors.push_back(fd);
    batch.confinement.memory += file_size(fd);
  }
  batch.confinement.cpu_time = kTime;
  batch.confinement.wall_time = 4 * kTime;
  batch.prepare = [&] { finder = std::make_unique<Finder>(files, places); };
  batch.answer = [&](std::size_t index) { return finder->answer(index); };
  const ConfinedAnswers answers = answer_confined(batch);
  result.names_lost = answers.given_up || answers.lost > 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!answers.answers[i]) continue;
    MessageReader reader(*answers.answers[i]);
    if (reader.number() == 0) continue;
    Variable variable;
    variable.address = reader.number();
    variable.begin = reader.number();
    variable.name = reader.text();
    if (!reader.failed()) result.places[i] = std::move(variable);
  }
  return result;
}

}  // namespace offwait
