// SPDX-License-Identifier: GPL-2.0-or-later
// The tests look at this process itself.
#include "process/mapped_files.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/threads.h"
#include "unit/temporary_directory.h"

using namespace offwait;

namespace {

void write_file(const std::string& path, const std::string& text) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  REQUIRE(write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

std::string text_of(const OpenedFile& file) {
  std::string text(64, '\0');
  text.resize(static_cast<std::size_t>(pread(file.fd.get(), text.data(), text.size(), 0)));
  return text;
}

/// The file as an executable mapping of this process.
Mapping map(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto* const at = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
  REQUIRE(at != MAP_FAILED);
  const auto mappings = executable_mappings(getpid());
  REQUIRE(mappings);
  const auto found = std::find_if(mappings->begin(), mappings->end(), [at](const Mapping& mapping) {
    return mapping.begin == reinterpret_cast<std::uint64_t>(at);
  });
  REQUIRE(found != mappings->end());
  return *found;
}

}  // namespace

TEST_CASE("this process has its own code mapped, and nothing that is not executable") {
  const auto mappings = executable_mappings(getpid());
  REQUIRE(mappings);
  const auto code = reinterpret_cast<std::uint64_t>(&text_of);
  CHECK(std::count_if(mappings->begin(), mappings->end(), [code](const Mapping& mapping) {
          return mapping.begin <= code && code < mapping.end;
        }) == 1);
  CHECK(std::all_of(mappings->begin(), mappings->end(), [](const Mapping& m) { return m.executable; }));
}

TEST_CASE("a process whose first thread has exited is that of its other threads") {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] { pause(); }).detach();
    syscall(SYS_exit, 0);  // ends this thread alone, as pthread_exit() does
  }
  const auto state = [child] {
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(stat), {}};
    return text.substr(text.rfind(") ") + 2, 1);
  };
  while (state() != "Z") usleep(1000);
  const auto mappings = executable_mappings(child);
  REQUIRE(mappings);
  const auto own = std::find_if(mappings->begin(), mappings->end(), [](const Mapping& mapping) {
    return mapping.path.ends_with("unit_process");
  });
  REQUIRE(own != mappings->end());
  CHECK(open_mapped_file(child, *own).has_value());
  CHECK(thread_with_memory(child) != child);
  CHECK(thread_with_memory(getpid()) == getpid());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_CASE("no process, no mappings") { CHECK(!executable_mappings(-1)); }

TEST_CASE("the mapped file is opened, not another one of its name") {
  const test::TemporaryDirectory directory;
  write_file(directory / "lib.so", "first");
  const Mapping mapping = map(directory / "lib.so");
  const auto plain = open_mapped_file(getpid(), mapping);
  REQUIRE(plain);
  CHECK(text_of(*plain) == "first");
  CHECK(plain->uid == getuid());
  CHECK(open_regular_file(directory / "lib.so")->identity == plain->identity);

  write_file(directory / "new", "second");
  std::filesystem::rename(directory / "new", directory / "lib.so");
  CHECK(open_regular_file(directory / "lib.so")->identity != plain->identity);
  // Without the right to use map_files the first file cannot be opened; the second one is never opened.
  const auto replaced = open_mapped_file(getpid(), mapping);
  CHECK((!replaced || text_of(*replaced) == "first"));
  Mapping elsewhere = mapping;
  elsewhere.begin += 4096;  // no mapping of ours, so only its name is left
  CHECK(!open_mapped_file(getpid(), elsewhere));
  CHECK(munmap(reinterpret_cast<void*>(mapping.begin), 4096) == 0);
}

TEST_CASE("only regular files are opened") {
  const test::TemporaryDirectory directory;
  REQUIRE(mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK(!open_regular_file(directory / "pipe"));
  CHECK(!open_regular_file("/dev/zero"));
  CHECK(!open_regular_file(directory / "."));
  CHECK(!open_regular_file(directory / "none"));
}

TEST_CASE("the vdso's image is this process's") {
  const auto mappings = executable_mappings(getpid());
  REQUIRE(mappings);
  const auto vdso = std::find_if(mappings->begin(), mappings->end(),
                                 [](const Mapping& mapping) { return mapping.path == "[vdso]"; });
  REQUIRE(vdso != mappings->end());
  REQUIRE(vdso->begin == getauxval(AT_SYSINFO_EHDR));
  const auto image = vdso_image(getpid(), *vdso);
  REQUIRE(image);
  CHECK(image->size() == vdso->end - vdso->begin);
  CHECK(image->starts_with("\177ELF"));
  Mapping large = *vdso;
  large.end = large.begin + (2U << 20U);
  CHECK(!vdso_image(getpid(), large));
}
