// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/elf_symbols.h"

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <sstream>

#include <fcntl.h>
#include <lzma.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf_image.h"
#include "symbol/mini_debug_info.h"

using namespace offwait;
using offwait::test::ElfImage;

namespace {

/// A file that is read through a descriptor, as in production.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("elf", MFD_CLOEXEC)) { REQUIRE(fd_ >= 0); }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  MemoryFile(MemoryFile&&) = delete;
  MemoryFile& operator=(MemoryFile&&) = delete;

  int holding(const std::string& bytes) const {
    REQUIRE(ftruncate(fd_, 0) == 0);
    REQUIRE(pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return fd_;
  }
  int with_size(off_t size) const {
    REQUIRE(ftruncate(fd_, size) == 0);
    return fd_;
  }

 private:
  int fd_;
};

ElfSymbols must_read(const std::string& image) {
  MemoryFile file;
  auto symbols = ElfSymbols::read(file.holding(image));
  REQUIRE(symbols.ok());
  return std::move(symbols).value();
}

std::string error_of(const std::string& image) {
  MemoryFile file;
  const auto from_file = ElfSymbols::read(file.holding(image));
  const auto from_memory = ElfSymbols::read(image);
  REQUIRE_FALSE(from_file.ok());
  REQUIRE_FALSE(from_memory.ok());
  CHECK(from_file.error().message == from_memory.error().message);
  return from_file.error().message;
}

std::string name_at(const ElfSymbols& symbols, std::uint64_t address) {
  const auto function = symbols.find(address);
  return function ? std::string(function->name) : "none";
}

std::string xz(const std::string& plain) {
  std::string packed(plain.size() * 2 + 4096, '\0');
  std::size_t size = 0;
  REQUIRE(lzma_easy_buffer_encode(
              0, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size(),
              reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()) == LZMA_OK);
  packed.resize(size);
  return packed;
}

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  REQUIRE_FALSE(bytes.str().empty());
  return bytes.str();
}

std::string libstdcxx() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (const auto at = line.find('/');
        at != std::string::npos && line.find("libstdc++") != std::string::npos) {
      return line.substr(at);
    }
  }
  return "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
}

}  // namespace

TEST_CASE("functions, labels and IFUNCs in code count; data, undefined and absolute symbols do not") {
  const ElfSymbols symbols =
      must_read(ElfImage()
                    .table(SHT_SYMTAB, {{"function", 0x401000, 0x10},
                                        {"ifunc", 0x401010, 0x10, STT_GNU_IFUNC},
                                        {"label", 0x401020, 0, STT_NOTYPE},
                                        {"object", 0x401030, 0x10, STT_OBJECT},
                                        {"undefined", 0x401040, 0x10, STT_FUNC, STB_GLOBAL, SHN_UNDEF},
                                        {"outside", 0x500000, 0x10},
                                        {"", 0x401050, 0x10},
                                        {"$x", 0x401028, 0, STT_NOTYPE},
                                        {"$d.1", 0x40102a, 0, STT_NOTYPE},
                                        {"$dollar", 0x401060, 0x10},
                                        {"to_the_end", 0x401ff0, 0},
                                        {"_fini", 0x402000, 0}})
                    .build());
  CHECK(name_at(symbols, 0x401000) == "function");
  CHECK(name_at(symbols, 0x40101f) == "ifunc");
  CHECK(name_at(symbols, 0x40102c) == "label");
  CHECK(name_at(symbols, 0x40103c) == "label");
  CHECK(name_at(symbols, 0x401065) == "$dollar");
  CHECK(name_at(symbols, 0x401070) == "none");
  CHECK(name_at(symbols, 0x500000) == "none");
  CHECK(name_at(symbols, 0x401fff) == "to_the_end");
  CHECK(name_at(symbols, 0x402000) == "_fini");
  CHECK(name_at(symbols, 0x4027ff) == "_fini");
  CHECK(name_at(symbols, 0x402800) == "none");
}

TEST_CASE(
    "names of one address: function before label, global before local before weak, plain before __, short "
    "before long") {
  const ElfSymbols symbols = must_read(ElfImage()
                                           .table(SHT_SYMTAB, {{"l1", 0x401000, 8, STT_FUNC, STB_LOCAL},
                                                               {"w1", 0x401000, 8, STT_FUNC, STB_WEAK},
                                                               {"__g1", 0x401000, 8},
                                                               {"_g1", 0x401000, 8},
                                                               {"w2", 0x401100, 8, STT_FUNC, STB_WEAK},
                                                               {"l2", 0x401100, 8, STT_FUNC, STB_LOCAL},
                                                               {"n3", 0x401200, 8, STT_NOTYPE},
                                                               {"w3", 0x401200, 8, STT_FUNC, STB_WEAK},
                                                               {"b44", 0x401300, 8},
                                                               {"c4", 0x401300, 8},
                                                               {"a4", 0x401300, 8}})
                                           .build());
  CHECK(name_at(symbols, 0x401000) == "_g1");
  CHECK(name_at(symbols, 0x401100) == "l2");
  CHECK(name_at(symbols, 0x401200) == "w3");
  CHECK(name_at(symbols, 0x401300) == "c4");
}

TEST_CASE("offsets in the file become addresses through executable segments only") {
  const ElfSymbols symbols = must_read(ElfImage().table(SHT_SYMTAB, {{"f", 0x401000, 8}}).build());
  CHECK(symbols.address_of(0xfff) == std::nullopt);
  CHECK(symbols.address_of(0x1000) == 0x401000);
  CHECK(symbols.address_of(0x2fff) == 0x402fff);
  CHECK(symbols.address_of(0x3000) == std::nullopt);
  CHECK(ElfSymbols().address_of(0x1000) == std::nullopt);
  CHECK(ElfSymbols().find(0x401000) == std::nullopt);
}

TEST_CASE(".symtab is used where there is one, else .dynsym") {
  const std::vector<test::ImageSymbol> dynamic{{"exported", 0x401000, 8}};
  CHECK(name_at(must_read(ElfImage().table(SHT_DYNSYM, dynamic).build()), 0x401000) == "exported");
  CHECK(name_at(must_read(
                    ElfImage().table(SHT_DYNSYM, dynamic).table(SHT_SYMTAB, {{"all", 0x401000, 8}}).build()),
                0x401000) == "all");
  CHECK(name_at(must_read(ElfImage().table(SHT_DYNSYM, dynamic).table(SHT_SYMTAB, {}).build()), 0x401000) ==
        "exported");
}

TEST_CASE(
    "a symbol without a size names what follows it where all symbols are known, else its address alone") {
  const std::vector<test::ImageSymbol> table = {{"memset", 0x401000, 0}, {"sized", 0x401100, 0x10}};
  const ElfSymbols whole = must_read(ElfImage().table(SHT_SYMTAB, table).build());
  CHECK(name_at(whole, 0x401047) == "memset");
  const ElfSymbols exported = must_read(ElfImage().table(SHT_DYNSYM, table).build());
  CHECK(name_at(exported, 0x401000) == "memset");
  CHECK(name_at(exported, 0x401001) == "none");
  CHECK(name_at(exported, 0x40110f) == "sized");
}

TEST_CASE("mini debug info adds to .dynsym") {
  const std::string mini =
      ElfImage().table(SHT_SYMTAB, {{"hidden", 0x401100, 8, STT_FUNC, STB_LOCAL}}).build();
  const auto with = [](const std::string& section) {
    return must_read(
        ElfImage().table(SHT_DYNSYM, {{"exported", 0x401000, 8}}).bytes(".gnu_debugdata", section).build());
  };
  const ElfSymbols symbols = with(xz(mini));
  CHECK(name_at(symbols, 0x401000) == "exported");
  CHECK(name_at(symbols, 0x401100) == "hidden");
  // If it is damaged, not ELF, or has mini debug info itself, .dynsym remains.
  const std::string packed = xz(mini);
  for (const std::string& bad :
       {packed.substr(0, packed.size() / 2), std::string("x"), xz("no ELF"), xz(""), xz(mini.substr(0, 70)),
        xz(ElfImage().bytes(".gnu_debugdata", xz(mini)).build())}) {
    const ElfSymbols rest = with(bad);
    CHECK(name_at(rest, 0x401000) == "exported");
    CHECK(name_at(rest, 0x401100) == "none");
  }
}

TEST_CASE("unpacking mini debug info is bounded") {
  CHECK(*unpack_mini_debug_info(xz("text")) == "text");
  const std::string bomb = xz(std::string(kLargestMiniDebugInfo + 1, '\0'));
  CHECK(bomb.size() < 100'000);
  CHECK(unpack_mini_debug_info(bomb).error().message == "mini debug info is larger than 128 MiB unpacked");
  CHECK(unpack_mini_debug_info("").error().message == "mini debug info is damaged");
  CHECK(unpack_mini_debug_info("garbage").error().message == "mini debug info is damaged");
}

TEST_CASE("a file that is not ELF is an error") {
  CHECK(error_of("") == "not an ELF file");
  CHECK(error_of("\x7f"
                 "ELF") == "not an ELF file");
  CHECK(error_of(std::string(4096, 'x')) == "not an ELF file");
  CHECK(error_of("!<arch>\n" + std::string(200, ' ')) == "not an ELF file");
  CHECK(error_of(ElfImage().build().substr(0, 60)) == "the ELF header is cut short");
  CHECK(ElfSymbols::read(-1).error().message == "cannot read the file");
}

TEST_CASE("claims of billions of sections or symbols cost nothing") {
  CHECK(error_of(ElfImage().claim_sections(UINT64_C(1) << 40U).build()) ==
        "the ELF file claims 65,280 sections or more");

  const auto table_claim = [](std::size_t section, std::uint64_t size) {
    ElfImage image;
    image.table(SHT_SYMTAB, {{"f", 0x401000, 8}});
    image.sections()[section].sh_size = size;
    return image.build();
  };
  constexpr std::string_view kTooLarge = "the ELF file claims a symbol table of more than 1 GiB";
  CHECK(error_of(table_claim(3, UINT64_C(4) << 30U)) == kTooLarge);
  CHECK(error_of(table_claim(4, UINT64_MAX)) == kTooLarge);
  // A size within the bounds, but larger than the file, makes no table.
  CHECK(must_read(table_claim(3, UINT64_C(1) << 30U)).empty());
  CHECK(must_read(table_claim(4, 1U << 20U)).empty());
  // The same when a sparse file backs the claim.
  MemoryFile file;
  (void)file.holding(table_claim(3, UINT64_C(1) << 40U));
  CHECK(ElfSymbols::read(file.with_size(off_t{1} << 42U)).error().message == kTooLarge);
}

TEST_CASE("a file of more than 4 million functions is refused, whatever they are") {
  ElfImage image;
  image.table(SHT_SYMTAB, {{"f", 0x401000, 8}});
  const std::uint64_t table_at = image.build().size();
  image.sections()[3].sh_offset = table_at;
  const auto with = [&](std::size_t count) {
    image.sections()[3].sh_size = count * sizeof(Elf64_Sym);
    std::string bytes = image.build();
    Elf64_Sym symbol{};
    symbol.st_name = 1;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = 0x401000;
    bytes.resize(table_at + count * sizeof symbol);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(bytes.data() + table_at + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return bytes;
  };
  CHECK(name_at(must_read(with(1000)), 0x401000) == "f");
  CHECK(error_of(with(ElfSymbols::kMostFunctions + 1)) == "the ELF file has more than 4 million functions");
}

TEST_CASE("tables that point at themselves, at nothing or at another type are no tables") {
  for (const std::uint32_t link : {0U, 1U, 3U, 99U, UINT32_MAX}) {
    ElfImage image;
    image.table(SHT_SYMTAB, {{"f", 0x401000, 8}});
    image.sections()[3].sh_link = link;
    CHECK(must_read(image.build()).empty());
  }
}

TEST_CASE("a name without a NUL ends with its table") {
  ElfImage image;
  image.table(SHT_SYMTAB, {{"function", 0x401000, 8}});
  --image.sections()[4].sh_size;  // the last NUL
  CHECK(name_at(must_read(image.build()), 0x401000) == "function");
  image.sections()[4].sh_size = 2;
  CHECK(name_at(must_read(image.build()), 0x401000) == "f");
  image.sections()[4].sh_size = 1;
  CHECK(name_at(must_read(image.build()), 0x401000) == "none");
}

TEST_CASE("100,000 symbols that share one long name take no more than the table") {
  const std::string name(60'000, 'n');
  std::vector<test::ImageSymbol> symbols;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    symbols.push_back({name, 0x401000 + i % 0x1000, 1});
  }
  const std::string image = ElfImage().table(SHT_SYMTAB, symbols).build();
  REQUIRE(image.size() < 3'000'000);
  CHECK(name_at(must_read(image), 0x401fff) == name);
}

TEST_CASE("2,000 damaged files neither crash nor mislead") {
  std::mt19937 random(20260101);  // NOLINT(cert-msc32-c,cert-msc51-cpp): to be repeatable
  MemoryFile file;
  for (const auto& [path, rounds] : {std::pair<std::string, int>{"/bin/true", 1600}, {libstdcxx(), 400}}) {
    const std::string whole = read_whole(path);
    INFO(path);
    for (int round = 0; round < rounds; ++round) {
      std::string bytes = whole;
      const std::uint64_t flips = random() % 24;
      Elf64_Ehdr header;
      std::memcpy(&header, whole.data(), sizeof header);
      for (std::uint64_t i = 0; i < flips; ++i) {
        // Half of the damage goes where it matters: into the header and the section table.
        const std::uint64_t where = random() % 4;
        const std::size_t at = where == 0   ? random() % 1024
                               : where == 1 ? header.e_shoff + random() % (whole.size() - header.e_shoff)
                                            : random() % whole.size();
        bytes[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random() % 256);
      }
      if (flips == 0 || random() % 4 == 0) {
        bytes.resize(random() % bytes.size());
      }
      const auto symbols = ElfSymbols::read(file.holding(bytes));
      const auto from_memory = ElfSymbols::read(bytes);
      REQUIRE(symbols.ok() == from_memory.ok());
      if (!symbols.ok()) {
        CHECK_FALSE(symbols.error().message.empty());
        continue;
      }
      for (int i = 0; i < 64; ++i) {
        const std::uint64_t address = random() % (whole.size() * 2);
        if (const auto function = symbols->find(address)) {
          REQUIRE(function->begin <= address);
          REQUIRE_FALSE(function->name.empty());
          REQUIRE(function->name.find('\0') == std::string_view::npos);
        }
        (void)symbols->address_of(address);
      }
    }
  }
}
