// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/demangle.h"

#include <catch2/catch.hpp>
#include <string>

using namespace offwait;

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

TEST_CASE("long names are cut at a character") {
  const std::string exact(1024, 'x');
  CHECK(demangle(exact) == exact);
  CHECK(demangle(exact + "y") == exact + "…");
  CHECK(demangle(std::string(1023, 'x') + "é…") == std::string(1023, 'x') + "…");
  // f(A<int, int>, A<A<int, int>, A<int, int>>, …): 2,176 bytes and more.
  const std::string doubling =
      demangle("_Z1f1AIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_E");
  CHECK(doubling.size() == 1024 + std::string_view("…").size());
  CHECK(doubling.starts_with("f(A<int, int>, A<A<int, int>, A<int, int> >, A<A<A<int, int>"));
  CHECK(doubling.ends_with("…"));
  // Bytes that are no UTF-8 at all cost at most three more.
  CHECK(demangle(std::string(2000, '\x80')) == std::string(1021, '\x80') + "…");
}

TEST_CASE("a mangled name over 4096 bytes stays mangled") {
  const std::string longer = "_Z4090" + std::string(4090, 'z') + "v";
  CHECK(demangle(longer) == longer.substr(0, 1024) + "…");
}

TEST_CASE("deep nesting ends") {
  const std::string pointers = "_Z1f" + std::string(4000, 'P') + "v";
  CHECK(demangle(pointers) == pointers.substr(0, 1024) + "…");
  const std::string names = "_ZN" + std::string(900, 'N');
  CHECK(demangle(names) == names);
}
