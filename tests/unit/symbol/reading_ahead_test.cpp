// SPDX-License-Identifier: GPL-2.0-or-later
// Tables that are read while a recording goes on are as good as those that are read at its end.
#include "symbol/reading_ahead.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "process/mapped_files.h"
#include "symbol/module_frames.h"
#include "symbol/module_tables.h"
#include "symbol/running_kernel.h"
#include "symbol/symbolizer.h"
#include "unit/temporary_directory.h"

using namespace offwait;
using namespace std::chrono_literals;

namespace {

const std::string kFixtures = OFFWAIT_FIXTURES;

std::string bytes_of(const ModuleTables& tables) {
  MessageWriter message;
  tables.write(message);
  return std::move(message).take();
}

std::optional<ModuleTables> read_tables(const std::string& bytes) {
  MessageReader message(bytes);
  return ModuleTables::read(message);
}

/// As text, to compare.
std::string place(const ModuleTables& tables, std::uint64_t offset) {
  const auto found = tables.at(offset);
  if (!found) return "nothing";
  return std::to_string(found->address) + " " + std::to_string(found->begin) + " " + std::string(found->name);
}

/// The process that reads for the symbolizer: it stays this thread's child until its tables are taken. Empty:
/// none.
std::string reader() {
  std::ifstream file("/proc/self/task/" + std::to_string(gettid()) + "/children");
  std::string text;
  std::getline(file, text);
  return text;
}

constexpr Nanos kLong = 1000 * kSecond;

/// Reads so many tables. The kernel's is the first.
void read_ahead(Symbolizer& symbols, std::size_t tables) {
  std::set<std::string> readers;
  Nanos now = 0;
  for (const auto end = std::chrono::steady_clock::now() + 100s; std::chrono::steady_clock::now() < end;
       std::this_thread::sleep_for(1ms)) {
    symbols.read_ahead(now += kLong);
    const std::string one = reader();
    if (!one.empty()) readers.insert(one);
    if (one.empty() && readers.size() == tables) return;
  }
  FAIL("it has not read " << tables << " tables");
}

class MappedCopy {
 public:
  MappedCopy(const std::string& fixture, const std::string& path) : path_(path) {
    std::filesystem::copy_file(kFixtures + "/" + fixture, path);
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    size_ = std::filesystem::file_size(path);
    at_ = mmap(nullptr, size_, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
    REQUIRE(at_ != MAP_FAILED);
  }
  ~MappedCopy() { munmap(at_, size_); }
  MappedCopy(const MappedCopy&) = delete;
  MappedCopy& operator=(const MappedCopy&) = delete;
  MappedCopy(MappedCopy&&) = delete;
  MappedCopy& operator=(MappedCopy&&) = delete;

  AddressSpace space() const {
    AddressSpace space;
    space.tgid = getpid();
    const std::optional<std::vector<Mapping>> mappings = executable_mappings(getpid());
    REQUIRE(mappings);
    for (const Mapping& mapping : *mappings) {
      if (mapping.path == path_) space.mappings.push_back(mapping);
    }
    REQUIRE(space.mappings.size() == 1);
    return space;
  }
  /// Return addresses all over the file.
  std::vector<FrameAddress> addresses() const {
    std::vector<FrameAddress> all;
    for (std::uint64_t offset = 1; offset < size_; offset += 7)
      all.push_back({getpid(), reinterpret_cast<std::uint64_t>(at_) + offset, true});
    return all;
  }
  std::size_t size() const { return size_; }

 private:
  std::string path_;
  std::size_t size_ = 0;
  void* at_ = nullptr;
};

}  // namespace

TEST_CASE("tables are the same once they were written and read") {
  const std::string fixture = GENERATE("full.so", "by_id.so", "stripped.so");
  const UniqueFd file(open((kFixtures + "/" + fixture).c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd debug(open((kFixtures + "/by_id.debug").c_str(), O_RDONLY | O_CLOEXEC));
  ModuleFiles files;
  files.file = file.get();
  if (fixture == "by_id.so") files.debug = debug.get();
  ModuleTables tables = ModuleTables::read(files);
  CHECK_FALSE(tables.has_extents());
  tables.read_extents(files);
  const std::optional<ModuleTables> again = read_tables(bytes_of(tables));
  REQUIRE(again);
  CHECK(again->has_extents());
  struct stat status {};
  REQUIRE(fstat(file.get(), &status) == 0);
  std::size_t named = 0;
  std::size_t begun = 0;
  for (std::uint64_t offset = 0; offset < static_cast<std::uint64_t>(status.st_size); ++offset) {
    REQUIRE(place(*again, offset) == place(tables, offset));
    const auto found = again->at(offset);
    named += found && !found->name.empty() ? 1U : 0U;
    begun += found && found->name.empty() && found->begin != 0 ? 1U : 0U;
  }
  CHECK(named > 20);
  if (fixture == "stripped.so") CHECK(begun > 20);
}

TEST_CASE("tables from a hostile reader are refused or harmless") {
  const UniqueFd file(open((kFixtures + "/full.so").c_str(), O_RDONLY | O_CLOEXEC));
  ModuleFiles files;
  files.file = file.get();
  ModuleTables tables = ModuleTables::read(files);
  tables.read_extents(files);
  const std::string good = bytes_of(tables);
  for (std::size_t size = 0; size < good.size(); size += 13) CHECK_FALSE(read_tables(good.substr(0, size)));
  CHECK_FALSE(read_tables(good + "x"));
  std::mt19937 random{1};  // NOLINT(cert-msc*): the same damage each time
  std::size_t taken = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    for (int change = 0; change < 3; ++change) bad[random() % bad.size()] = static_cast<char>(random());
    const std::optional<ModuleTables> read = read_tables(bad);
    if (!read) continue;
    ++taken;
    for (std::uint64_t offset = 0; offset < 0x3000; offset += 97) (void)place(*read, offset);
  }
  CHECK(taken > 0);
}

TEST_CASE("a file has names even if it is damaged after its tables were read ahead") {
  const test::TemporaryDirectory directory;
  const std::string fixture = GENERATE("by_id.so", "stripped.so");
  const std::string path = directory / "copy.so";
  const MappedCopy copy(fixture, path);
  Symbolizer at_end;
  at_end.set_kernel_symbols("ffffffff81000000 T start\n");
  at_end.note_mappings(copy.space());
  const auto expected = at_end.frames(copy.addresses());

  Symbolizer ahead;
  ahead.set_kernel_symbols("ffffffff81000000 T start\n");
  ahead.note_mappings(copy.space());
  read_ahead(ahead, 2);
  Symbolizer too_late;
  too_late.note_mappings(copy.space());
  std::ofstream(path, std::ios::in | std::ios::out) << std::string(copy.size(), '\0');
  CHECK(ahead.frames(copy.addresses()) == expected);
  CHECK(ahead.warnings().empty());
  CHECK_FALSE(too_late.frames(copy.addresses()) == expected);
}

TEST_CASE("the kernel's symbols that were read ahead are those of its file") {
  std::vector<FrameAddress> functions;
  std::ifstream file("/proc/kallsyms");
  std::size_t number = 0;
  for (std::string line; std::getline(file, line); ++number) {
    const std::size_t space = line.find(' ');
    const bool function = space != std::string::npos && (line[space + 1] == 't' || line[space + 1] == 'T');
    const std::uint64_t address = std::stoull(line, nullptr, 16);
    if (function && address != 0 && functions.size() < 1000 && number % 7 == 0)
      functions.push_back({0, address, false});
  }
  if (functions.empty()) {
    WARN("the kernel hides the addresses of its symbols");
    return;
  }
  Symbolizer ahead;
  read_ahead(ahead, 1);
  Symbolizer at_end;
  const auto expected = at_end.frames(functions);
  // All are named, so the table was not read once more.
  for (const std::vector<Frame>& frames : expected) REQUIRE_FALSE(frames.front().function.empty());
  CHECK(ahead.frames(functions) == expected);
  CHECK(ahead.warnings() == at_end.warnings());
  // This one is not, so it is.
  CHECK(ahead.frames({{0, 1, false}}) == at_end.frames({{0, 1, false}}));
  CHECK(ahead.frames(functions) == expected);
}

TEST_CASE("tables are read ahead when 0.5 % of a CPU is more than they take") {
  ReadingAhead ahead;
  CHECK_FALSE(ahead.is_due(5 * kSecond));
  CHECK_FALSE(ahead.is_due(24 * kSecond));
  CHECK(ahead.is_due(25 * kSecond));
  ahead.spend(kSecond / 5);
  CHECK_FALSE(ahead.is_due(64 * kSecond));
  CHECK(ahead.is_due(65 * kSecond));
}

TEST_CASE("text that is set later counts, and not what was read ahead or still is") {
  const bool taken = GENERATE(true, false);
  Symbolizer symbols;
  symbols.set_kernel_symbols("ffffffff81000000 T before\n");
  if (taken) {
    read_ahead(symbols, 1);
  } else {
    symbols.read_ahead(0);
    symbols.read_ahead(kLong);
    REQUIRE_FALSE(reader().empty());
  }
  symbols.set_kernel_symbols("ffffffff81000000 T only\n");
  if (!taken) {
    while (!reader().empty()) {
      std::this_thread::sleep_for(1ms);
      symbols.read_ahead(kLong);
    }
  }
  CHECK(to_string(symbols.frames({{0, 0xffffffff81000004, false}}).front().front()) == "only+0x4 ([kernel])");
}

TEST_CASE("of modules only their names and addresses are compared") {
  const std::string modules = loaded_modules(
      "xfs 2093056 1 - Live 0xffffffffc0a00000\nloop 45056 0 [permanent], Live 0xffffffffc05 (E)\n");
  CHECK(modules == "xfs 0xffffffffc0a00000 loop 0xffffffffc05 ");
  CHECK(modules ==
        loaded_modules("xfs 2093056 7 - Live 0xffffffffc0a00000\nloop 45056 2 - Live 0xffffffffc05 (E)\n"));
  CHECK(modules != loaded_modules("xfs 2093056 1 - Live 0xffffffffc0a00000\n"));
  CHECK(loaded_modules("").empty());
  CHECK(loaded_modules("\n\n").empty());
}
