// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/kallsyms.h"

#include <catch2/catch.hpp>
#include <string>

using namespace offwait;

namespace {

constexpr std::string_view kText =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T first\n"
    "ffffffff81000000 T alias\n"
    "ffffffff81000100 t local\n"
    "ffffffff81000200 D data\n"
    "ffffffff81000300 W weak\n"
    "ffffffff81000400 R last_data\n"
    "ffffffff81000410 T last\n"
    "ffffffffc0201f00 t in_module\t[ext4]\n"
    "ffffffffc0200000 t before_it\t[jbd2]\n";

std::string at(const KernelSymbols& symbols, std::uint64_t address) {
  const auto function = symbols.find(address);
  return function ? std::string(function->name) + "+" + std::to_string(address - function->begin) + " " +
                        std::string(function->module)
                  : "none";
}

}  // namespace

TEST_CASE("kernel functions end where the next symbol begins") {
  const KernelSymbols symbols = KernelSymbols::parse(kText);
  CHECK_FALSE(symbols.restricted());
  CHECK_FALSE(symbols.empty());
  CHECK(at(symbols, 0) == "none");
  CHECK(at(symbols, 0xffffffff80ffffff) == "none");
  CHECK(at(symbols, 0xffffffff81000000) == "first+0 [kernel]");
  CHECK(at(symbols, 0xffffffff810000ff) == "first+255 [kernel]");
  CHECK(at(symbols, 0xffffffff81000100) == "local+0 [kernel]");
  CHECK(at(symbols, 0xffffffff810001ff) == "local+255 [kernel]");
  CHECK(at(symbols, 0xffffffff81000200) == "none");
  CHECK(at(symbols, 0xffffffff81000302) == "weak+2 [kernel]");
  CHECK(at(symbols, 0xffffffff81000405) == "none");
}

TEST_CASE("the last function of the kernel or a module covers its page") {
  const KernelSymbols symbols = KernelSymbols::parse(kText);
  CHECK(at(symbols, 0xffffffff81000fff) == "last+3055 [kernel]");
  CHECK(at(symbols, 0xffffffff81001000) == "none");
  CHECK(at(symbols, 0xffffffffc0200fff) == "before_it+4095 [jbd2]");
  CHECK(at(symbols, 0xffffffffc0201000) == "none");
  CHECK(at(symbols, 0xffffffffc0201f00) == "in_module+0 [ext4]");
  CHECK(at(symbols, 0xffffffffc0201fff) == "in_module+255 [ext4]");
  CHECK(at(symbols, 0xffffffffc0202000) == "none");
  CHECK(at(symbols, UINT64_MAX) == "none");
  CHECK(at(KernelSymbols::parse("ffffffffffffff00 T top\n"), UINT64_MAX - 1) == "top+254 [kernel]");
}

TEST_CASE("hidden addresses are no addresses") {
  const KernelSymbols symbols = KernelSymbols::parse(
      "0000000000000000 T first\n0000000000000000 T schedule\n0000000000000000 t f\t[ext4]\n");
  CHECK(symbols.restricted());
  CHECK(symbols.empty());
  CHECK(at(symbols, 0) == "none");
  CHECK_FALSE(KernelSymbols::parse("").restricted());
  CHECK_FALSE(KernelSymbols().restricted());
}

TEST_CASE("lines of another form are skipped") {
  const KernelSymbols symbols = KernelSymbols::parse(
      "\n \nzz T x\n1000\n1000 T\n1000 T \n1000 Tx y\n10000000000000000 T wide\n2000 t f\t\n3000 T good");
  CHECK(at(symbols, 0x1000) == "none");
  CHECK(at(symbols, 0x2000) == "none");
  CHECK(at(symbols, 0x3001) == "good+1 [kernel]");
}

TEST_CASE("variables end where the next symbol begins, and within 64 KiB") {
  const KernelSymbols symbols = KernelSymbols::parse(kText);
  const auto data_at = [&symbols](std::uint64_t address) {
    const auto variable = symbols.find_data(address);
    return variable ? std::string(variable->name) + "+" + std::to_string(address - variable->begin) : "none";
  };
  CHECK(data_at(0xffffffff81000200) == "data+0");
  CHECK(data_at(0xffffffff810002ff) == "data+255");
  CHECK(data_at(0xffffffff81000300) == "none");
  CHECK(data_at(0xffffffff8100040f) == "last_data+15");
  CHECK(data_at(0xffffffff81000000) == "none");
  const KernelSymbols far = KernelSymbols::parse("ffffffff81000000 b lock\nffffffff91000000 T far\n");
  REQUIRE(far.find_data(0xffffffff8100ffff));
  CHECK(far.find_data(0xffffffff8100ffff)->name == "lock");
  CHECK_FALSE(far.find_data(0xffffffff81010000));
}
