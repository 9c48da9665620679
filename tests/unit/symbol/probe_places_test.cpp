// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/probe_places.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit/symbol/elf_image.h"

namespace offwait {
namespace {

using test::ElfImage;

constexpr off_t kGigabyte = off_t{1} << 30;

/// The image, followed by a hole of `hole` bytes.
ProbedFile file_of(const std::string& name, const std::string& image, off_t hole = 0) {
  UniqueFd fd(memfd_create("probe_places_test", MFD_CLOEXEC));
  REQUIRE(pwrite(fd.get(), image.data(), image.size(), 0) == static_cast<ssize_t>(image.size()));
  REQUIRE(ftruncate(fd.get(), static_cast<off_t>(image.size()) + hole) == 0);
  return {name, std::move(fd)};
}

std::vector<ProbedFile> files_of(const std::string& image, off_t hole = 0) {
  std::vector<ProbedFile> files;
  files.push_back(file_of("file", image, hole));
  return files;
}

struct Note {
  std::uint64_t address = 0x401100;
  std::string_view name = "spin_begin";
  std::string_view arguments = "";
  std::string_view provider = "offwait";
  std::uint64_t base = 0;
};

std::string text_of(const Note& note) {
  std::string description;
  for (const std::uint64_t number : {note.address, note.base, std::uint64_t{0}}) {
    description.append(sizeof(number), '\0');
    std::memcpy(description.data() + description.size() - sizeof(number), &number, sizeof(number));
  }
  for (const std::string_view text : {note.provider, note.name, note.arguments})
    description.append(text).push_back('\0');
  Elf64_Nhdr header{8, static_cast<Elf64_Word>(description.size()), 3};
  std::string out(sizeof(header), '\0');
  std::memcpy(out.data(), &header, sizeof(header));
  out.append("stapsdt").push_back('\0');
  out += description;
  out.resize((out.size() + 3) / 4 * 4);
  return out;
}

ElfImage& add_notes(ElfImage& image, const std::string& notes) {
  image.bytes(".note.stapsdt", notes);
  image.sections().back().sh_type = SHT_NOTE;
  return image;
}

/// "NAME OFFSET" for each declared place.
std::vector<std::string> declared(const std::vector<ProbedFile>& files) {
  std::vector<std::string> all;
  for (const DeclaredPlace& one : declared_places(files)) {
    CHECK(one.place.path == "file");
    all.push_back(one.name + " " + std::to_string(one.place.offset));
  }
  return all;
}

std::vector<std::uint64_t> offsets(const std::vector<ProbePlace>& places) {
  std::vector<std::uint64_t> all;
  for (const ProbePlace& place : places) all.push_back(place.offset);
  return all;
}

#if defined(__x86_64__)
constexpr std::string_view kFirst = "8@%rdi";
constexpr std::string_view kOfSecond = "8@%rsi";
#else
constexpr std::string_view kFirst = "8@x0";
constexpr std::string_view kOfSecond = "8@x1";
#endif

TEST_CASE("a marked place counts if its provider is offwait, it is in code, and its argument can be read") {
  ElfImage image;
  add_notes(image, text_of({0x401100, "a", kFirst}) + text_of({0x401200, "b"}) +
                       text_of({0x401300, "second", kOfSecond}) + text_of({0x401300, "c", "", "other"}) +
                       text_of({0x403000, "behind"}) + text_of({0x400fff, "before"}) +
                       text_of({0x402fff, "last"}));
  CHECK(declared(files_of(image.build())) == std::vector<std::string>{"a " + std::to_string(0x1100),
                                                                      "b " + std::to_string(0x1200),
                                                                      "last " + std::to_string(0x2fff)});
}

TEST_CASE("marked places of a prelinked file are where its code was moved to") {
  ElfImage image;
  image.bytes(".stapsdt.base", "x");
  image.sections().back().sh_addr = 0x405000;
  add_notes(image, text_of({0x101100, "a", "", "offwait", 0x105000}));
  CHECK(declared(files_of(image.build())) == std::vector<std::string>{"a " + std::to_string(0x1100)});
}

TEST_CASE("notes that lie about their sizes end the reading, not offwait") {
  const std::string good = text_of({});
  const auto with_sizes = [&](std::uint32_t name, std::uint32_t description) {
    std::string note = good;
    std::memcpy(note.data(), &name, sizeof(name));
    std::memcpy(note.data() + sizeof(name), &description, sizeof(description));
    return note;
  };
  for (const std::string& bad :
       {with_sizes(8, UINT32_MAX), with_sizes(UINT32_MAX, 8), with_sizes(UINT32_MAX - 7, 0),
        with_sizes(8, static_cast<std::uint32_t>(good.size())), good.substr(0, 19), good.substr(0, 30)}) {
    ElfImage image;
    add_notes(image, good + bad);
    CHECK(declared(files_of(image.build())).size() == 1);
  }
  ElfImage unended;
  std::string cut = with_sizes(8, 24 + 7);  // `offwait` without its end
  add_notes(unended, cut);
  CHECK(declared(files_of(unended.build())).empty());
}

TEST_CASE("the number of places is limited") {
  std::string notes;
  std::vector<test::ImageSymbol> symbols;
  for (std::uint64_t i = 0; i < 2 * kMostProbePlaces; ++i) {
    notes += text_of({0x401000 + i});
    symbols.push_back({"f", 0x401000 + i});
  }
  ElfImage image;
  add_notes(image, notes).table(SHT_SYMTAB, symbols);
  const std::vector<ProbedFile> files = files_of(image.build());
  CHECK(declared_places(files).size() == kMostProbePlaces);
  CHECK(places_of_function(files, "f").size() == kMostProbePlaces);
}

TEST_CASE("functions are found by symbol and by demangled name, aliases once") {
  ElfImage image;
  image
      .table(SHT_SYMTAB, {{"lock", 0x401010},
                          {"_ZN3tas8SpinLock4lockEv", 0x401020},
                          {"_ZN3tas8SpinLock4lockEi", 0x401030},
                          {"_ZN3tas8SpinLock6unlockEv", 0x401040},
                          {"lock_data", 0x401050, 8, STT_OBJECT},
                          {"lock", 0x901050}})
      .table(SHT_DYNSYM, {{"lock", 0x401010}, {"lock@@V1", 0x401060}});
  const std::vector<ProbedFile> files = files_of(image.build());
  CHECK(offsets(places_of_function(files, "lock")) == std::vector<std::uint64_t>{0x1010, 0x1060});
  CHECK(offsets(places_of_function(files, "tas::SpinLock::lock")) ==
        std::vector<std::uint64_t>{0x1020, 0x1030});
  CHECK(places_of_function(files, "tas::SpinLock").empty());
}

TEST_CASE("functions that the user may have meant have the name in theirs, the shortest first") {
  ElfImage image;
  image.table(SHT_SYMTAB, {{"answer_all", 0x401010},
                           {"doAnswer", 0x401020},
                           {"_ZN3srv6Server6AnswerEi", 0x401030},
                           {"answer_data", 0x401050, 8, STT_OBJECT},
                           {"ask", 0x401060}});
  const std::vector<ProbedFile> files = files_of(image.build());
  CHECK(functions_like(files, "srv::answer", 9) ==
        std::vector<std::string>{"doAnswer", "answer_all", "srv::Server::Answer(int)"});
  CHECK(functions_like(files, "answer", 1) == std::vector<std::string>{"doAnswer"});
  CHECK(functions_like(files, "reply", 9).empty());
}

TEST_CASE("a file that claims gigabytes, or the same bytes many times, costs no memory") {
  const auto peak_kb = [] {
    rusage usage{};
    REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_maxrss;
  };
  ElfImage image;
  add_notes(image, text_of({})).table(SHT_SYMTAB, {{"f", 0x401010}});
  std::string honest = image.build();
  Elf64_Ehdr header;
  std::memcpy(&header, honest.data(), sizeof(header));
  const auto section_at = [&](std::size_t i) { return header.e_shoff + i * sizeof(Elf64_Shdr); };

  // The names of the sections claim 1 GB.
  std::string long_names = honest;
  const auto huge = static_cast<std::uint64_t>(kGigabyte);
  std::memcpy(long_names.data() + section_at(header.e_shstrndx) + offsetof(Elf64_Shdr, sh_size), &huge,
              sizeof(huge));

  // 300 tables of 16 MB claim the same place, and so do 300 sections of notes.
  ElfImage repeated;
  add_notes(repeated, text_of({}));
  repeated.sections().back().sh_size = (1U << 20U) - 64;
  const Elf64_Shdr notes = repeated.sections().back();
  repeated.table(SHT_SYMTAB, {{"f", 0x401010}});
  for (int i = 0; i < 300; ++i) {
    repeated.table(SHT_SYMTAB, {});
    repeated.sections()[repeated.sections().size() - 2].sh_size = 16U << 20U;
    repeated.bytes(".note.stapsdt", "");
    repeated.sections().back().sh_type = SHT_NOTE;
    repeated.sections().back().sh_size = notes.sh_size;
  }

  const long before = peak_kb();
  const std::vector<ProbedFile> names = files_of(long_names, 2 * kGigabyte);
  CHECK(declared_places(names).empty());
  CHECK(offsets(places_of_function(names, "f")) == std::vector<std::uint64_t>{0x1010});
  const std::vector<ProbedFile> many = files_of(repeated.build(), kGigabyte);
  CHECK(declared(many) == std::vector<std::string>{"spin_begin " + std::to_string(0x1100)});
  CHECK(offsets(places_of_function(many, "f")) == std::vector<std::uint64_t>{0x1010});
  CHECK(peak_kb() - before < 64 << 10);
}

}  // namespace
}  // namespace offwait
