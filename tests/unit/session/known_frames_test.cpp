// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/known_frames.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

using namespace offwait;

namespace {

/// Text in the form of /proc/kallsyms, with one function.
std::string kernel_with(const std::string& function) {
  return "ffffffff81000000 T _stext\nffffffff81000100 T " + function + "\nffffffff81001000 T _etext\n";
}

constexpr std::uint64_t kPlace = 0xffffffff81000110;
const FrameAddress kKernelAddress{0, kPlace, true};

}  // namespace

TEST_CASE("What was looked up is not asked for again, in this process or the one that it is sent to") {
  KnownFrames looked_up;
  Symbolizer symbols;
  symbols.set_kernel_symbols(kernel_with("first_name"));
  REQUIRE(looked_up.frames({kKernelAddress}, symbols)[0].size() == 1);
  CHECK(looked_up.frames({kKernelAddress}, symbols)[0][0].function == "first_name");

  KnownFrames sent_to;
  REQUIRE(sent_to.add(looked_up.found()).ok());
  CHECK(sent_to.size() == 1);
  Symbolizer others;
  others.set_kernel_symbols(kernel_with("second_name"));
  const std::vector<std::vector<Frame>> frames = sent_to.frames({kKernelAddress}, others);
  CHECK(frames[0][0].function == "first_name");
  CHECK(frames[0][0].offset == 0x10);
  CHECK(frames[0][0].kind == Frame::Kind::kernel);
  CHECK(KnownFrames().frames({kKernelAddress}, others)[0][0].function == "second_name");
}

TEST_CASE("Addresses of a process are forgotten with its mappings; those without a name are never kept") {
  KnownFrames known;
  Symbolizer symbols;
  symbols.set_kernel_symbols(kernel_with("name"));
  CHECK(known.frames({kKernelAddress, {12, 0x1000, true}}, symbols).size() == 2);
  CHECK(known.size() == 1);
  known.forget(12);
  CHECK(known.size() == 1);
  known.forget(0);
  CHECK(known.size() == 0);
}

TEST_CASE("Bytes that are no names are refused") {
  KnownFrames looked_up;
  Symbolizer symbols;
  symbols.set_kernel_symbols(kernel_with("name"));
  looked_up.frames({kKernelAddress}, symbols);
  const std::string bytes = looked_up.found();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    KnownFrames known;
    CHECK_FALSE(known.add(bytes.substr(0, size)).ok());
  }
  CHECK_FALSE(KnownFrames().add(bytes + "x").ok());
}
