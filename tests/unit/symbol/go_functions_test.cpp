// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/go_functions.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "elf_image.h"
#include "symbol/elf_symbols.h"

using namespace offwait;

namespace {

template <class Number>
void put(std::string& bytes, std::size_t at, Number number) {
  if (bytes.size() < at + sizeof(number)) bytes.resize(at + sizeof(number));
  std::memcpy(bytes.data() + at, &number, sizeof(number));
}

/// A table as Go 1.20 writes it, with two functions of 0x20 and 0x10 bytes that begin at `text` + 0x100.
std::string table(std::uint64_t text) {
  const std::string names = std::string("\0main.work\0main.(*T).Wait\0", 26);
  std::string bytes;
  put<std::uint32_t>(bytes, 0, 0xfffffff1);
  put<std::uint32_t>(bytes, 4, 0x08010000);
  const std::uint64_t functions_at = 72 + names.size();
  const std::vector<std::uint64_t> header = {
      2, 1, text, 72, functions_at, functions_at, functions_at, functions_at};
  for (std::size_t i = 0; i < header.size(); ++i) put(bytes, 8 + 8 * i, header[i]);
  bytes += names;
  const std::vector<std::uint32_t> functions = {0x100, 20, 0x120, 28, 0x130, 0x100, 1, 0x120, 11};
  for (const std::uint32_t number : functions) put(bytes, bytes.size(), number);
  return bytes;
}

std::vector<std::string> names_in(const std::string& bytes) {
  const GoFunctions go = read_go_functions(bytes);
  std::vector<std::string> names;
  for (const GoFunction& function : go.functions) {
    const std::string_view rest = go.names.substr(function.name);
    names.push_back(std::string(rest.substr(0, rest.find('\0'))) + " " + std::to_string(function.begin) +
                    "+" + std::to_string(function.size));
  }
  return names;
}

}  // namespace

TEST_CASE("Go's own table has its functions' names and extents") {
  CHECK(names_in(table(0x401000)) ==
        std::vector<std::string>{"main.work 4198656+32", "main.(*T).Wait 4198688+16"});
  std::string older = table(0x401000);
  older[0] = '\xf0';  // Go 1.18
  CHECK(names_in(older).size() == 2);
}

TEST_CASE("tables of other Go versions, or without the place of the code, say nothing") {
  std::string other = table(0x401000);
  other[0] = '\xfa';  // Go 1.16
  CHECK(names_in(other).empty());
  CHECK(names_in(table(0)).empty());
  CHECK(names_in("").empty());
}

TEST_CASE("a stripped Go program's functions have names") {
  test::ElfImage image;
  image.bytes(".gopclntab", table(0x401000)).table(SHT_DYNSYM, {});
  const auto symbols = ElfSymbols::read(image.build());
  REQUIRE(symbols.ok());
  CHECK(symbols->find(0x40111f)->name == "main.work");
  CHECK(symbols->find(0x401120)->name == "main.(*T).Wait");
  CHECK(!symbols->find(0x401130));
  test::ElfImage whole;
  whole.bytes(".gopclntab", table(0x401000)).table(SHT_SYMTAB, {{"other", 0x401100}});
  CHECK(ElfSymbols::read(whole.build())->find(0x401100)->name == "other");
}

TEST_CASE("a Go table cut or damaged anywhere ends the reading, not offwait") {
  const std::string good = table(0x401000);
  for (std::size_t size = 0; size < good.size(); ++size) CHECK(names_in(good.substr(0, size)).size() <= 2);
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char byte : {'\x00', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = byte;
      CHECK(names_in(bad).size() <= 127);
    }
  }
}
