// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/demangle.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/resource.h>

#include "base/unique_fd.h"

using namespace offwait;

namespace {

/// The names of functions and objects in the libstdc++.so with which this test runs.
std::set<std::string> names_of_libstdcxx() {
  std::set<std::string> names;
  Dl_info library{};
  REQUIRE(dladdr(reinterpret_cast<void*>(&std::set_terminate), &library) != 0);
  const UniqueFd fd(open(library.dli_fname, O_RDONLY | O_CLOEXEC));
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, decltype(&elf_end)> elf(elf_begin(fd.get(), ELF_C_READ, nullptr), &elf_end);
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf.get(), section)) != nullptr) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM) {
      continue;
    }
    Elf_Data* data = elf_getdata(section, nullptr);
    for (std::size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Sym symbol{};
      REQUIRE(gelf_getsym(data, static_cast<int>(i), &symbol) != nullptr);
      names.emplace(elf_strptr(elf.get(), header.sh_link, symbol.st_name));
    }
  }
  return names;
}

std::string demangle(const std::string& symbol) { return offwait::demangle({symbol}).names.front(); }

std::string demangled_by_libstdcxx(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : mangled;
}

/// `S_`, `S0_`, `S1_`, …: the substitution for the name in the given place.
std::string substitution(std::size_t place) {
  std::string digits;
  if (place > 0) {
    std::size_t number = place - 1;
    do {
      digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36]);
      number /= 36;
    } while (number > 0);
  }
  return "S" + digits + "_";
}

/// f(A<int, int>, A<A<int, int>, A<int, int>>, …), each parameter twice as long as the one before it, up to
/// `size` bytes of mangled name.
std::string doubling(std::size_t size) {
  std::string name = "_Z1f1AIiiE";
  for (std::size_t i = 0;; ++i) {
    const std::string next = "S_I" + substitution(i + 1) + substitution(i + 1) + "E";
    if (name.size() + next.size() > size) {
      return name;
    }
    name += next;
  }
}

}  // namespace

TEST_CASE("C++ names are demangled, others are not") {
  CHECK(demangle("_ZN3foo3barIiEEvT_") == "void foo::bar<int>(int)");
  CHECK(demangle("_Z1fv.part.0") == "f() [clone .part.0]");
  CHECK(demangle("read") == "read");
  CHECK(demangle("i") == "i");  // a type's mangled name, which __cxa_demangle would call `int`
  CHECK(demangle("_Z") == "_Z");
  CHECK(demangle("_ZNgarbage") == "_ZNgarbage");
  CHECK(demangle("").empty());
}

TEST_CASE("a version is no part of the name") {
  CHECK(demangle("pthread_create@@GLIBC_2.34") == "pthread_create");
  CHECK(demangle("_Z1fv@V1") == "f()");
  CHECK(demangle("@odd") == "@odd");
}

TEST_CASE("all names in libstdc++ are demangled as it does itself") {
  std::vector<std::string> mangled;
  std::vector<std::string> expected;
  for (const std::string& name : names_of_libstdcxx()) {
    const std::string demangled = demangled_by_libstdcxx(name);
    if (name.starts_with("_Z") && demangled != name && demangled.size() <= 1024) {
      mangled.push_back(name);
      expected.push_back(demangled);
    }
  }
  const Demangled names = offwait::demangle(mangled);
  std::vector<std::string> different;
  for (std::size_t i = 0; i < mangled.size(); ++i) {
    if (names.names[i] != expected[i]) different.push_back(mangled[i]);
  }
  CAPTURE(different);
  CHECK(different.empty());
  CHECK(mangled.size() > 5000);
  CHECK(!names.given_up);
}

TEST_CASE("long names are cut at a character") {
  const std::string exact(1024, 'x');
  CHECK(demangle(exact) == exact);
  CHECK(demangle(exact + "y") == exact + "…");
  CHECK(demangle(std::string(1023, 'x') + "é…") == std::string(1023, 'x') + "…");
  // In text that is not UTF-8 at most three more bytes are cut.
  CHECK(demangle(std::string(2000, '\x80')) == std::string(1021, '\x80') + "…");
  // A demangled name of 1024 bytes, and one of 1025.
  const std::string n(500, 'n');
  CHECK(demangle("_ZN500" + n + "1aIS_10abcdefghijEEvv") == "void " + n + "::a<" + n + ", abcdefghij>()");
  CHECK(demangle("_ZN500" + n + "1aIS_11abcdefghijkEEvv") == "void " + n + "::a<" + n + ", abcdefghijk>(…");
}

TEST_CASE("a mangled name over 1024 bytes stays mangled") {
  const std::string longest = "_Z1017" + std::string(1017, 'z') + "v";
  REQUIRE(longest.size() == 1024);
  CHECK(demangle(longest) == std::string(1017, 'z') + "()");
  const std::string longer = "_Z1018" + std::string(1018, 'z') + "v";
  CHECK(demangle(longer) == longer.substr(0, 1024) + "…");
}

TEST_CASE("deep nesting does not crash or hang") {
  CHECK(demangle("_Z1f" + std::string(100, 'P') + "v") == "f(void" + std::string(100, '*') + ")");
  const std::string names = "_ZN" + std::string(900, 'N');
  CHECK(demangle(names) == names);
}

TEST_CASE("a name that doubles with every 9 bytes costs no more than what is shown of it") {
  for (const std::size_t size : {240U, 1000U}) {
    // 2^24 bytes of text and more; 2^90.
    const std::string mangled = doubling(size);
    REQUIRE(mangled.size() >= size - 10);
    const std::string name = demangle(mangled);
    CHECK(name.size() == 1024 + std::string_view("…").size());
    CHECK(name.starts_with("f(A<int, int>, A<A<int, int>, A<int, int> >, A<A<A<int, int>"));
    CHECK(name.ends_with("…"));
  }
}

TEST_CASE("Rust names, without their hash") {
  CHECK(demangle("_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$"
                 "u7d$$GT$17h0123456789abcdefE") ==
        "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>");
  CHECK(demangle("_RNvCskwGfYPst2Cb_3foo16example_function") == "foo::example_function");
  CHECK(demangle("_RINvNtC3std3mem8align_ofdE") == "std::mem::align_of::<f64>");
  CHECK(demangle("_Rgarbage") == "_Rgarbage");
}

TEST_CASE("a name that takes too long to read, or crashes the demangler, stays mangled") {
  std::string endless = "_ZN1AcvT_";
  for (int i = 0; i < 60; ++i) {
    endless += "IT_";
  }
  endless += "Ii" + std::string(61, 'E') + "Ev";
  const std::string crash = "_ZN1fUlDTsZT_EE_E";
  const Demangled some = offwait::demangle({"_Z1av", endless, "_Z1bv", crash, crash, "_Z1cv"});
  CHECK(some.names == std::vector<std::string>{"a()", endless, "b()", crash, crash, "c()"});
  CHECK(!some.given_up);
  const Demangled most = offwait::demangle({crash, crash, "_Z1av", crash, crash, "_Z1bv"});
  CHECK(most.names == std::vector<std::string>{crash, crash, "a()", crash, crash, "_Z1bv"});
  CHECK(most.given_up);
  // Neither the names above nor those of other tests may cost their child processes memory. Each such process
  // is a copy of this one.
  rusage own{};
  rusage children{};
  getrusage(RUSAGE_SELF, &own);
  getrusage(RUSAGE_CHILDREN, &children);
  CHECK(children.ru_maxrss > 0);
  CHECK(children.ru_maxrss <= own.ru_maxrss + 16'384);
}
