// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/perf_map.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "symbol/symbolizer.h"
#include "unit/symbol/snapshot.h"
#include "unit/temporary_directory.h"

using namespace offwait;

namespace {

/// `name@begin` for each address, or `-`.
std::string looked_up(const std::vector<std::uint64_t>& addresses, const std::vector<std::string>& lines) {
  PerfMapReader reader(addresses);
  for (const std::string& line : lines) reader.line(line);
  std::string text;
  for (const auto& function : reader.found())
    text += function ? function->name + "@" + std::to_string(function->begin) + " " : "- ";
  return text;
}

}  // namespace

TEST_CASE("functions of a perf map cover their sizes") {
  CHECK(looked_up({0xff, 0x100, 0x10f, 0x110}, {"100 10 void f(int, char)"}) ==
        "- void f(int, char)@256 void f(int, char)@256 - ");
  CHECK(looked_up({0x100}, {"0x100 0x10 f"}) == "f@256 ");
  CHECK(looked_up({UINT64_MAX}, {"fffffffffffffff0 10 f"}) == "f@18446744073709551600 ");
  CHECK(looked_up({0, UINT64_MAX}, {"fffffffffffffff0 ffffffffffffffff f"}) == "- f@18446744073709551600 ");
}

TEST_CASE("of two functions at an address the last one counts") {
  CHECK(looked_up({0x100, 0x108}, {"100 10 old", "108 8 new"}) == "old@256 new@264 ");
  CHECK(looked_up({0x100, 0x108}, {"108 8 old", "100 10 new"}) == "new@256 new@256 ");
}

TEST_CASE("lines of a perf map with another form are skipped") {
  CHECK(looked_up({0x100}, {"", " ", "100", "100 ", "100 10", "100 10 ", "x 10 f", "100 x f", "-1 10 f",
                            "100 1g f", "1ffffffffffffffff 10 f", "100  10 f", "101 10 f", "100 0 f"}) ==
        "- ");
  CHECK(looked_up({0x100}, {"100 10 " + std::string(5000, 'n')}) == std::string(1024, 'n') + "@256 ");
}

TEST_CASE("a perf map of any size is read in pieces") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "perf.map";
  {
    std::ofstream file(path);
    for (std::uint64_t i = 0; i < 200'000; ++i)
      file << std::hex << i * 16 << " 10 function" << std::dec << i << "\n";
    file << std::string(3U << 20U, ' ') << "\n10 10 last";  // without a newline
  }
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto found = look_up_in_perf_map(fd.get(), {5, 0x10, 16 * 123'456 + 3, 16 * 200'000});
  REQUIRE(found.size() == 4);
  CHECK(found[0]->name == "function0");
  CHECK(found[1]->name == "last");
  CHECK(found[2]->name == "function123456");
  CHECK(!found[3]);
}

TEST_CASE("generated code has the name that its own process wrote down, and no other user's") {
  void* const code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(code != MAP_FAILED);
  const auto begin = reinterpret_cast<std::uint64_t>(code);
  const std::string name = "perf-" + std::to_string(getpid()) + ".map";
  const std::string path = "/tmp/" + name;
  const auto frame = [&] {
    Symbolizer symbols;
    REQUIRE(test::snapshot(symbols, getpid()));
    const std::vector<Frame> frames = symbols.frames({{getpid(), begin + 0x24, true}}).front();
    REQUIRE(frames.size() == 1);
    return to_string(frames.front());
  };
  std::array<char, 64> line{};
  (void)std::snprintf(line.data(), line.size(), "%llx 100 Foo::bar(int)\n",
                      static_cast<unsigned long long>(begin));
  std::ofstream(path) << line.data();
  CHECK(frame() == "Foo::bar(int)+0x24 (" + name + ")");
  const auto nameless = [](const std::string& text) { return text.starts_with("[anon+0x"); };
  if (geteuid() == 0) {
    REQUIRE(chown(path.c_str(), 1234, 1234) == 0);
    CHECK(nameless(frame()));
  }
  std::filesystem::rename(path, path + ".away");
  std::filesystem::create_symlink(path + ".away", path);
  CHECK(nameless(frame()));
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".away");
  CHECK(nameless(frame()));
  munmap(code, 4096);
}
