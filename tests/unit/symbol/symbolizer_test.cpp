// SPDX-License-Identifier: GPL-2.0-or-later
// The tests look at real processes: this one, its children, and the running kernel.
#include "symbol/symbolizer.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/symbol/snapshot.h"
#include "unit/temporary_directory.h"

namespace offwait::test {

template <class T>
struct Shape {
  [[gnu::noinline]] static int area(T side) {
    asm volatile("" ::: "memory");
    return static_cast<int>(side * side);
  }
};

}  // namespace offwait::test

using namespace offwait;

void crash1() asm("_ZN1aUlDTsZT_EE_E");
void crash2() asm("_ZN1bUlDTsZT_EE_E");
void crash3() asm("_ZN1cUlDTsZT_EE_E");
void crash4() asm("_ZN1dUlDTsZT_EE_E");
void crash1() {}
void crash2() {}
void crash3() {}
void crash4() {}

namespace {

/// The function that contains `pc`, without inlined functions and lines, because some hosts have debug files
/// of their libraries.
std::string user_frame(Symbolizer& symbols, std::int32_t tgid, std::uint64_t pc, bool return_address) {
  return to_string(without_line(symbols.frames({{tgid, pc, return_address}}).front().back()));
}

std::string kernel_frame(Symbolizer& symbols, std::uint64_t pc, bool return_address) {
  return user_frame(symbols, 0, pc, return_address);
}

template <class Function>
std::uint64_t address_of(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

const std::uint64_t area = address_of(&test::Shape<int>::area);
constexpr const char* kAreaName = "offwait::test::Shape<int>::area(int)";

std::string hex(std::uint64_t value) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "0x%lx", value);
  return text.data();
}

/// Runs a function in another process, once the parent calls go().
class Child {
 public:
  template <class Body>
  explicit Child(Body body) {
    std::array<int, 2> pipe_fds{};
    REQUIRE(pipe(pipe_fds.data()) == 0);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      close(pipe_fds[1]);
      char go = 0;
      if (read(pipe_fds[0], &go, 1) == 1) {
        body();
      }
      _exit(0);
    }
    close(pipe_fds[0]);
    go_ = pipe_fds[1];
  }
  ~Child() {
    if (pid_ > 0) {
      stop();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;

  pid_t pid() const { return pid_; }
  void go() const { REQUIRE(write(go_, "g", 1) == 1); }
  void wait() {
    close(go_);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void stop() {
    kill(pid_, SIGKILL);
    wait();
  }
  /// Returns when the child has executed another program; the result is that program's module name.
  std::string wait_for_exec() const {
    const std::string before = std::filesystem::read_symlink("/proc/self/exe");
    const std::string link = "/proc/" + std::to_string(pid_) + "/exe";
    while (std::filesystem::read_symlink(link) == before) {
      usleep(1000);
    }
    // The dynamic linker still has to run: wait until the program sleeps in a system call (nanosleep).
    const std::string call = "/proc/" + std::to_string(pid_) + "/syscall";
    for (std::string text; !text.starts_with(std::to_string(SYS_clock_nanosleep) + " ");) {
      usleep(1000);
      std::ifstream file(call);
      REQUIRE(file.good());
      std::getline(file, text);
    }
    std::string name = std::filesystem::path(std::filesystem::read_symlink(link)).filename();
    for (std::size_t at = name.find('\n'); at != std::string::npos; at = name.find('\n')) {
      name.replace(at, 1, "\\012");
    }
    return name;
  }

 private:
  pid_t pid_ = 0;
  int go_ = -1;
};

/// The first executable mapping whose path ends in `name`.
Mapping mapping_of(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (Mapping& mapping : parse_maps(text).mappings) {
    if (mapping.executable && module_name(mapping.path) == name) {
      return std::move(mapping);
    }
  }
  FAIL("nothing mapped from " << name);
  return {};
}

}  // namespace

TEST_CASE("a function of this process") {
  Symbolizer symbolizer;
  REQUIRE(test::snapshot(symbolizer, getpid()));
  const std::string name(kAreaName);
  CHECK(user_frame(symbolizer, getpid(), area, false) == name + "+0x0 (unit_symbol)");
  CHECK(user_frame(symbolizer, getpid(), area + 3, false) == name + "+0x3 (unit_symbol)");
  CHECK(user_frame(symbolizer, getpid(), area + 3, true) == name + "+0x3 (unit_symbol)");
  // As a return address, the first instruction of a function belongs to the call before it.
  CHECK(user_frame(symbolizer, getpid(), area, true) != name + "+0x0 (unit_symbol)");
  CHECK(symbolizer.warnings().empty());
}

TEST_CASE("a warning about names that crash the demangler comes once") {
  Symbolizer symbolizer;
  REQUIRE(test::snapshot(symbolizer, getpid()));
  std::vector<FrameAddress> addresses;
  for (auto* const function : {crash1, crash2, crash3, crash4})
    addresses.push_back({getpid(), address_of(function)});
  for (int times = 0; times < 2; ++times) {
    const auto frames = symbolizer.frames(addresses);
    for (const std::string name : {"a", "b", "c", "d"}) {
      const Frame& frame = frames[static_cast<std::size_t>(name[0] - 'a')].back();
      CHECK(to_string(without_line(frame)) == "_ZN1" + name + "UlDTsZT_EE_E+0x0 (unit_symbol)");
    }
  }
  CHECK(symbolizer.warnings() ==
        std::vector<std::string>{
            "some C++ names are shown mangled: four of them crashed the demangler or took it "
            "more than a second"});
}

TEST_CASE("a call that does not return belongs to the function that it ends") {
  Symbolizer symbolizer;
  REQUIRE(test::snapshot(symbolizer, getpid()));
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  REQUIRE(libc != nullptr);
  void* read_function = dlsym(libc, "read");
  Dl_info info{};
  void* extra = nullptr;
  REQUIRE(dladdr1(read_function, &info, &extra, RTLD_DL_SYMENT) != 0);
  const std::uint64_t size = static_cast<const ElfW(Sym)*>(extra)->st_size;
  const auto begin = reinterpret_cast<std::uint64_t>(read_function);
  REQUIRE(size > 16);
  CHECK(user_frame(symbolizer, getpid(), begin, false) == "read+0x0 (libc.so.6)");
  CHECK(user_frame(symbolizer, getpid(), begin + size - 1, false) ==
        "read+" + hex(size - 1) + " (libc.so.6)");
  CHECK(user_frame(symbolizer, getpid(), begin + size, true) == "read+" + hex(size) + " (libc.so.6)");
  dlclose(libc);
}

TEST_CASE("functions of the vdso have names") {
  Symbolizer symbolizer;
  REQUIRE(test::snapshot(symbolizer, getpid()));
  void* vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
  REQUIRE(vdso != nullptr);
  void* function = dlsym(vdso, "__vdso_clock_gettime");
  REQUIRE(function != nullptr);
  CHECK(user_frame(symbolizer, getpid(), reinterpret_cast<std::uint64_t>(function) + 2, false) ==
        "__vdso_clock_gettime+0x2 ([vdso])");
  const Mapping mapping = mapping_of(getpid(), "[vdso]");
  CHECK(user_frame(symbolizer, getpid(), mapping.begin, false) == "[vdso+0x0]");
}

TEST_CASE("addresses without a mapping, and mappings without a file, have no names") {
  Symbolizer symbolizer;
  CHECK(user_frame(symbolizer, getpid(), area, false) == "[unknown+" + hex(area) + "]");
  // One page of code lies between two pages that are not code.
  auto* const pages =
      static_cast<char*>(mmap(nullptr, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  char* const code = pages + 4096;
  REQUIRE(mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0);
  REQUIRE(test::snapshot(symbolizer, getpid()));
  const auto address = reinterpret_cast<std::uint64_t>(code) + 0x123;
  CHECK(user_frame(symbolizer, getpid(), address, false) == "[anon+" + hex(address) + "]");
  CHECK(user_frame(symbolizer, getpid(), 0x10, false) == "[unknown+0x10]");
  CHECK(user_frame(symbolizer, getpid(), 0, true) == "[unknown+0x0]");
  CHECK(user_frame(symbolizer, getpid(), UINT64_MAX, true) == "[unknown+0xffffffffffffffff]");
  const auto begin = reinterpret_cast<std::uint64_t>(code);
  CHECK_FALSE(symbolizer.is_code(getpid(), reinterpret_cast<std::uint64_t>(&symbolizer)));  // the stack
  CHECK_FALSE(symbolizer.is_code(getpid(), 0));
  CHECK_FALSE(symbolizer.is_code(getpid(), UINT64_MAX));
  CHECK_FALSE(symbolizer.is_code(getpid(), begin));  // the call would be before the page
  CHECK(symbolizer.is_code(getpid(), begin + 1));
  CHECK(symbolizer.is_code(getpid(), begin + 4096));  // the call is at the end of the page
  CHECK_FALSE(symbolizer.is_code(getpid(), begin + 4097));
  munmap(pages, 3 * 4096);
}

TEST_CASE("a process that does not exist has no mappings, and a process without memory has none") {
  Symbolizer symbolizer;
  CHECK_FALSE(test::snapshot(symbolizer, 0x7ffffff0));
  CHECK_FALSE(test::snapshot(symbolizer, -1));
  CHECK(user_frame(symbolizer, 0x7ffffff0, 0x1000, false) == "[unknown+0x1000]");
  CHECK(symbolizer.is_code(0x7ffffff0, 0x1000));  // nothing is known of this process
  CHECK(test::snapshot(symbolizer, 2));           // kthreadd
}

TEST_CASE("names outlive the process") {
  Symbolizer symbolizer;
  Child child([] {});
  const pid_t pid = child.pid();
  REQUIRE(test::snapshot(symbolizer, pid));
  child.go();
  child.wait();
  CHECK_FALSE(test::snapshot(symbolizer, pid));
  CHECK(user_frame(symbolizer, pid, area + 1, false) == std::string(kAreaName) + "+0x1 (unit_symbol)");
}

TEST_CASE("a copy has the names of its original, until its own mappings are known") {
  constexpr std::int32_t kFork = 0x7ffffff0;  // no process has such a number
  const std::string name = std::string(kAreaName) + "+0x1 (unit_symbol)";
  Symbolizer symbolizer;
  symbolizer.note_mappings({kFork, {}, {}, getpid()});  // of an original that is not known
  CHECK(user_frame(symbolizer, kFork, area + 1, false) == "[unknown+" + hex(area + 1) + "]");
  REQUIRE(test::snapshot(symbolizer, getpid()));
  CHECK(user_frame(symbolizer, kFork, area + 1, false) == name);
  CHECK(symbolizer.is_code(kFork, area + 1));
  CHECK_FALSE(symbolizer.is_code(kFork, 1));
  symbolizer.note_mappings({kFork + 1, {}, {}, getpid()});
  symbolizer.note_mappings({kFork, {}});  // it runs another program
  CHECK(user_frame(symbolizer, kFork, area + 1, false) == "[unknown+" + hex(area + 1) + "]");
  CHECK(user_frame(symbolizer, kFork + 1, area + 1, false) == name);
  CHECK(user_frame(symbolizer, getpid(), area + 1, false) == name);
}

TEST_CASE("after exec both programs have names, also when stripped, deleted, replaced or exited") {
  for (const std::string name : {"a (b", "new\nline", "x (deleted)", "back\\012slash"}) {
    INFO(name);
    const test::TemporaryDirectory directory;
    const std::string program = directory / name;
    std::filesystem::copy_file("/bin/sleep", program);
    Elf64_Ehdr header;
    {
      std::ifstream file(program, std::ios::binary);
      REQUIRE(file.read(reinterpret_cast<char*>(&header), sizeof header));
    }
    Child child([&] { execl(program.c_str(), "sleep", "1000", nullptr); });
    const pid_t pid = child.pid();
    Symbolizer symbolizer;
    REQUIRE(test::snapshot(symbolizer, pid));
    child.go();
    const std::string shown = child.wait_for_exec();
    // Another file takes the name, and must not lend its symbols.
    std::filesystem::remove(program);
    std::filesystem::copy_file("/proc/self/exe", program);
    REQUIRE(test::snapshot(symbolizer, pid));
    const Mapping mapping = mapping_of(pid, shown);
    CHECK(mapping.path.ends_with(" (deleted)"));
    child.stop();
    const std::uint64_t entry = mapping.begin - mapping.offset + header.e_entry;
    CHECK(user_frame(symbolizer, pid, entry, false) == "[" + shown + "+" + hex(header.e_entry) + "]+0x0");
    CHECK(user_frame(symbolizer, pid, entry + 5, true) == "[" + shown + "+" + hex(header.e_entry) + "]+0x5");
    CHECK(user_frame(symbolizer, pid, area, false) == std::string(kAreaName) + "+0x0 (unit_symbol)");
  }
}

TEST_CASE(
    "a library loaded between snapshots, then deleted and replaced, has names from the next snapshot on") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "lib copy.so";
  void* original = dlopen("libm.so.6", RTLD_LAZY);
  REQUIRE(original != nullptr);
  Dl_info info{};
  REQUIRE(dladdr(dlsym(original, "cbrt"), &info) != 0);
  std::filesystem::copy_file(info.dli_fname, path);
  dlclose(original);

  Symbolizer symbolizer;
  REQUIRE(test::snapshot(symbolizer, getpid()));
  void* copy = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(copy != nullptr);
  const auto function = reinterpret_cast<std::uint64_t>(dlsym(copy, "cbrt"));
  REQUIRE(std::filesystem::remove(path));
  std::ofstream(path) << "not a library";
  CHECK(user_frame(symbolizer, getpid(), function, false) == "[unknown+" + hex(function) + "]");
  REQUIRE(test::snapshot(symbolizer, getpid()));
  CHECK(user_frame(symbolizer, getpid(), function + 1, false) == "cbrt+0x1 (lib copy.so)");
  // The library is unmapped now, but an earlier snapshot had it.
  dlclose(copy);
  REQUIRE(test::snapshot(symbolizer, getpid()));
  CHECK(user_frame(symbolizer, getpid(), function + 1, false) == "cbrt+0x1 (lib copy.so)");
}

TEST_CASE("the newest snapshot that maps an address decides; around it the older ones do") {
  constexpr std::size_t kPage = 4096;
  const test::TemporaryDirectory directory;
  const auto make = [&](const std::string& name) {
    const int fd = open((directory / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    REQUIRE(ftruncate(fd, 8 * kPage) == 0);
    return fd;
  };
  const int old_file = make("old");
  const int new_file = make("new");
  void* at = mmap(nullptr, 5 * kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, old_file, kPage);
  REQUIRE(at != MAP_FAILED);
  const auto begin = reinterpret_cast<std::uint64_t>(at);
  Symbolizer symbolizer;
  REQUIRE(test::snapshot(symbolizer, getpid()));
  REQUIRE(mmap(static_cast<char*>(at) + 2 * kPage, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
               new_file, 0) != MAP_FAILED);
  munmap(at, kPage);
  REQUIRE(test::snapshot(symbolizer, getpid()));
  const auto frame = [&](std::uint64_t page) {
    return user_frame(symbolizer, getpid(), begin + page * kPage + 1, false);
  };
  CHECK(frame(0) == "[old+0x1001]");
  CHECK(frame(1) == "[old+0x2001]");
  CHECK(frame(2) == "[new+0x1]");
  CHECK(frame(3) == "[old+0x4001]");
  CHECK(frame(4) == "[old+0x5001]");
  REQUIRE(mmap(at, 5 * kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, new_file, 0) != MAP_FAILED);
  REQUIRE(test::snapshot(symbolizer, getpid()));
  CHECK(frame(0) == "[new+0x1]");
  CHECK(frame(4) == "[new+0x4001]");
  // Another snapshot without a change.
  REQUIRE(test::snapshot(symbolizer, getpid()));
  CHECK(frame(4) == "[new+0x4001]");
  munmap(at, 5 * kPage);
  close(old_file);
  close(new_file);
}

TEST_CASE("descriptors are few however many files are mapped") {
  constexpr std::size_t kPage = 4096;
  constexpr int kFiles = 600;
  const test::TemporaryDirectory directory;
  std::vector<void*> mapped;
  for (int i = 0; i < kFiles; ++i) {
    const int fd =
        open((directory / ("file" + std::to_string(i))).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    REQUIRE(ftruncate(fd, kPage) == 0);
    mapped.push_back(mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0));
    REQUIRE(mapped.back() != MAP_FAILED);
    close(fd);
  }
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = open_descriptors();
  {
    Symbolizer symbolizer;
    constexpr int kOfOwnRoot = 2;
    REQUIRE(open_descriptors() - before == kOfOwnRoot);
    REQUIRE(test::snapshot(symbolizer, getpid()));
    CHECK(open_descriptors() - before == kOfOwnRoot + 384);
    REQUIRE(test::snapshot(symbolizer, getpid()));
    CHECK(open_descriptors() - before == kOfOwnRoot + 384);
    CHECK(user_frame(symbolizer, getpid(), reinterpret_cast<std::uint64_t>(mapped[0]), false) ==
          "[file0+0x0]");
    CHECK(user_frame(symbolizer, getpid(), reinterpret_cast<std::uint64_t>(mapped[599]) + 7, false) ==
          "[file599+0x7]");
    CHECK(open_descriptors() - before == kOfOwnRoot + 384);
  }
  CHECK(open_descriptors() == before);
  for (void* at : mapped) {
    munmap(at, kPage);
  }
}

TEST_CASE("functions of the running kernel") {
  std::ifstream file("/proc/kallsyms");
  std::uint64_t schedule = 0;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t highest = 0;
  for (std::string line; std::getline(file, line);) {
    const std::uint64_t address = std::stoull(line, nullptr, 16);
    first = address >= 0x1000'0000'0000'0000 ? std::min(first, address) : first;
    highest = std::max(highest, address);
    if (line.ends_with(" T schedule")) {
      schedule = address;
    }
  }
  Symbolizer symbolizer;
  if (highest == 0) {  // kptr_restrict
    CHECK(kernel_frame(symbolizer, 0xffffffff81000000, false) == "[kernel+0xffffffff81000000]");
    REQUIRE(symbolizer.warnings().size() == 1);
    CHECK(symbolizer.warnings()[0].find("kptr_restrict") != std::string::npos);
    return;
  }
  REQUIRE(schedule != 0);
  CHECK(kernel_frame(symbolizer, schedule, false) == "schedule+0x0 ([kernel])");
  CHECK(kernel_frame(symbolizer, schedule + 0x1b, false) == "schedule+0x1b ([kernel])");
  CHECK(kernel_frame(symbolizer, schedule + 0x1b, true) == "schedule+0x1b ([kernel])");
  CHECK(kernel_frame(symbolizer, schedule, true) != "schedule+0x0 ([kernel])");
  CHECK(kernel_frame(symbolizer, first - 1, false) == "[kernel+" + hex(first - 1) + "]");
  CHECK(kernel_frame(symbolizer, highest + 8192, false) == "[kernel+" + hex(highest + 8192) + "]");
  CHECK(kernel_frame(symbolizer, 0, true) == "[kernel+0x0]");
  CHECK(symbolizer.warnings().empty());
}
