// SPDX-License-Identifier: GPL-2.0-or-later
// Lines, inlined functions and debug files, tested on libraries whose frames are known (fixture/lines.cpp).
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/debug_files.h"
#include "symbol/elf_symbols.h"
#include "symbol/module_frames.h"
#include "symbol/symbolizer.h"
#include "unit/symbol/snapshot.h"
#include "unit/temporary_directory.h"

using namespace offwait;
using Frames = std::vector<std::string>;

namespace {

std::uint64_t returned_to = 0;

[[gnu::noinline]] void note_caller() {
  returned_to = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}

void copy(const std::string& fixture, const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::filesystem::copy_file(std::string(OFFWAIT_FIXTURES) + "/" + fixture, path);
}

/// Loads a copy of a fixture.
class Library {
 public:
  Library(const std::string& fixture, const std::string& path) {
    copy(fixture, path);
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle_ != nullptr);
  }
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&&) = delete;
  Library& operator=(Library&&) = delete;

  /// Calls `function`; returns the address from which it called back.
  std::uint64_t call(const char* function) const {
    auto* const address = reinterpret_cast<void (*)(void (*)())>(dlsym(handle_, function));
    REQUIRE(address != nullptr);
    address(&note_caller);
    return returned_to;
  }

 private:
  void* handle_;
};

Frames frames_of(Symbolizer& symbols, std::uint64_t pc) {
  REQUIRE(test::snapshot(symbols, getpid()));
  Frames frames;
  const std::vector<Frame> found = symbols.frames({{getpid(), pc, true}}).front();
  for (Frame frame : found) {
    // The offset in the function is the compiler's choice.
    if (!frame.function.empty()) frame.offset.reset();
    frame.file.erase(0, frame.file.rfind('/') + 1);
    frames.push_back(to_string(frame));
  }
  return frames;
}

Frames inlined(const std::string& module) {
#if defined(__clang__)
  const std::string parameters = "(void (*)())";  // clang's inlined functions have mangled names as well
#else
  const std::string parameters;
#endif
  return {"fixture::innermost" + parameters + " (inlined) (" + module + ") at lines.cpp:12",
          "fixture::middle" + parameters + " (inlined) (" + module + ") at lines.cpp:17",
          "fixture_inlined (" + module + ") at lines.cpp:31"};
}

UniqueFd open_file(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(fd);
  return fd;
}

}  // namespace

TEST_CASE("inlined functions are frames of their own, with their lines") {
  const test::TemporaryDirectory directory;
  const Library library("full.so", directory / "full.so");
  Symbolizer symbols;
  CHECK(frames_of(symbols, library.call("fixture_inlined")) == inlined("full.so"));
  CHECK(frames_of(symbols, library.call("fixture_nameless")) ==
        Frames{"fixture::nameless(void (*)()) (full.so) at lines.cpp:23"});
  CHECK(symbols.warnings().empty());
}

TEST_CASE("debug sections are read however they are compressed") {
  const test::TemporaryDirectory directory;
  for (const char* const fixture : {"zlib.so", "zstd.so"}) {
    const Library library(fixture, directory / fixture);
    Symbolizer symbols;
    CHECK(frames_of(symbols, library.call("fixture_inlined")) == inlined(fixture));
  }
}

TEST_CASE("a stripped function is the same at all of its places, and has no other's name") {
  const test::TemporaryDirectory directory;
  const Library library("stripped.so", directory / "stripped.so");
  Symbolizer symbols;
  const std::uint64_t pc = library.call("fixture_nameless");
  REQUIRE(test::snapshot(symbols, getpid()));
  const Frame here = symbols.frames({{getpid(), pc, true}}).front().front();
  const Frame there = symbols.frames({{getpid(), pc - 1, true}}).front().front();
  CHECK(to_string(here).starts_with("[stripped.so+0x"));
  CHECK(here.begin.has_value());
  CHECK(function_of(here) == function_of(there));
  CHECK(here != there);
  CHECK(frames_of(symbols, library.call("fixture_inlined")) == Frames{"fixture_inlined (stripped.so)"});
}

TEST_CASE("a debug file beside the library is taken for its checksum, another one of its name is not") {
  const test::TemporaryDirectory directory;
  {
    copy("by_link.debug", directory / "a/by_link.debug");
    const Library library("by_link.so", directory / "a/lib.so");
    Symbolizer symbols;
    CHECK(frames_of(symbols, library.call("fixture_inlined")) == inlined("lib.so"));
    CHECK(frames_of(symbols, library.call("fixture_nameless")) ==
          Frames{"fixture::nameless(void (*)()) (lib.so) at lines.cpp:23"});
  }
  {
    copy("by_link.debug", directory / "b/.debug/by_link.debug");
    const Library library("by_link.so", directory / "b/lib.so");
    Symbolizer symbols;
    CHECK(frames_of(symbols, library.call("fixture_inlined")) == inlined("lib.so"));
  }
  {
    copy("by_id.debug", directory / "c/by_link.debug");
    const Library library("by_link.so", directory / "c/lib.so");
    Symbolizer symbols;
    CHECK(frames_of(symbols, library.call("fixture_inlined")) == Frames{"fixture_inlined (lib.so)"});
  }
}

TEST_CASE("debug files are found by build id below any root, and nothing leads out of the root") {
  const test::TemporaryDirectory directory;
  const std::string by_id = "/usr/lib/debug/.build-id/01/23456789abcdef.debug";
  copy("by_id.debug", directory / ("right" + by_id));
  copy("by_link.debug", directory / ("wrong" + by_id));
  std::filesystem::create_directories(directory / "out/usr/lib/debug/.build-id/01");
  std::filesystem::create_symlink("../../../../../../../right" + by_id, directory / ("out" + by_id));
  std::filesystem::create_directories(directory / "pipe/usr/lib/debug/.build-id/01");
  REQUIRE(mkfifo((directory / ("pipe" + by_id)).c_str(), 0600) == 0);
  const UniqueFd file = open_file(std::string(OFFWAIT_FIXTURES) + "/by_id.so");
  const auto found_below = [&](const std::vector<std::string>& names) {
    std::vector<UniqueFd> roots;
    StrippedFile stripped{file.get(), "/lib/by_id.so", {}};
    for (const std::string& name : names) {
      roots.emplace_back(open((directory / name).c_str(), O_PATH | O_CLOEXEC));
      REQUIRE(roots.back());
      stripped.roots.push_back(roots.back().get());
    }
    const auto found = find_debug_files({stripped}, {});
    return found.front().debug ? found.front().debug->path : std::string();
  };
  CHECK(found_below({"right"}) == by_id);
  CHECK(found_below({"wrong"}).empty());
  CHECK(found_below({"out"}).empty());
  CHECK(found_below({"pipe"}).empty());
  CHECK(found_below({"wrong", "right"}) == by_id);
  CHECK(found_below({}).empty());
}

TEST_CASE("a module without a file, as the vdso is, leaves others theirs") {
  const UniqueFd full = open_file(std::string(OFFWAIT_FIXTURES) + "/full.so");
  const auto found = find_debug_files({{-1, "[vdso]", {}}, {full.get(), "/lib/full.so", {}}}, {});
  CHECK_FALSE(found[0].in_file);
  CHECK_FALSE(found[0].lost);
  CHECK(found[1].in_file);
}

TEST_CASE("the server is asked for a debug file that is not on this host, and its file is checked, too") {
  const UniqueFd file = open_file(std::string(OFFWAIT_FIXTURES) + "/by_id.so");
  const UniqueFd full = open_file(std::string(OFFWAIT_FIXTURES) + "/full.so");
  std::vector<std::string> asked;
  std::string answer = std::string(OFFWAIT_FIXTURES) + "/by_id.debug";
  const DebugServer server = [&](const std::string& build_id) {
    asked.push_back(build_id);
    return answer;
  };
  auto found =
      find_debug_files({{file.get(), "/lib/by_id.so", {}}, {full.get(), "/lib/full.so", {}}}, server);
  CHECK(asked == std::vector<std::string>{"0123456789abcdef"});
  CHECK(found[0].debug);
  CHECK(found[1].in_file);
  answer = std::string(OFFWAIT_FIXTURES) + "/by_link.debug";
  CHECK_FALSE(find_debug_files({{file.get(), "/lib/by_id.so", {}}}, server).front().debug);
  answer = "";
  CHECK_FALSE(find_debug_files({{file.get(), "/lib/by_id.so", {}}}, server).front().debug);
}

TEST_CASE("names stay complete beside each of 30 damaged debug files") {
  const test::TemporaryDirectory directory;
  const UniqueFd file = open_file(std::string(OFFWAIT_FIXTURES) + "/full.so");
  auto symbols = ElfSymbols::read(file.get());
  REQUIRE(symbols.ok());
  std::ifstream whole(std::string(OFFWAIT_FIXTURES) + "/full.so", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(whole), {}};
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t offset = 0; offset < bytes.size(); offset += 7) {
    const auto address = symbols->address_of(offset);
    if (address && symbols->find(*address)) offsets.push_back(offset);
  }
  REQUIRE(offsets.size() > 20);
  std::uint32_t random = 1;
  std::size_t with_lines = 0;
  for (int i = 0; i < 30; ++i) {
    std::string damaged = bytes;
    for (int byte = 0; byte < 40; ++byte) {
      random = random * 1664525 + 1013904223;
      damaged[(random >> 4U) % damaged.size()] = static_cast<char>(random >> 24U);
    }
    const std::string path = directory / "damaged";
    std::ofstream(path, std::ios::binary) << damaged;
    const UniqueFd debug = open_file(path);
    ModuleFiles files;
    files.file = file.get();
    files.debug = debug.get();
    const ModuleFrames found = module_frames(files, offsets);
    for (const CodePlace& place : found.places) {
      REQUIRE(place.address);
      REQUIRE(!place.frames.empty());
      REQUIRE(!place.frames.back().function.empty());
      with_lines += static_cast<std::size_t>(place.frames.back().line != 0);
    }
  }
  CHECK(with_lines > 0);
}
