// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeps again and again in places that names_test.py knows by the marks in this file.
//
//   named_frames plain|jit|forks SECONDS
//
// With `forks`, each time in another child.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace named {

struct Store {
  long commits = 0;
  [[gnu::noinline]] void commit();
};

[[gnu::always_inline]] inline void wait_for_disk() {
  const timespec time = {0, 1'000'000};
  nanosleep(&time, nullptr);  // line: inlined
}

void Store::commit() {
  wait_for_disk();  // line: commit
  ++commits;
}

Store store;

[[gnu::noinline]] void commit_once() {
  store.commit();  // line: once
  ++store.commits;
}

#if defined(__x86_64__)
// push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret
constexpr std::array<std::uint8_t, 8> kCode = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#elif defined(__aarch64__)
// stp x29, x30, [sp, #-16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], #16; ret
constexpr std::array<std::uint32_t, 5> kCode = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif

using Compiled = void (*)(void (*)());

/// Makes code at run time and a perf map that names it, as a JIT compiler does.
Compiled compile() {
  constexpr std::size_t kPage = 65536;
  void* const page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(page, kCode.data(), sizeof(kCode));
  __builtin___clear_cache(static_cast<char*>(page), static_cast<char*>(page) + sizeof(kCode));
  if (mprotect(page, kPage, PROT_READ | PROT_EXEC) != 0) std::abort();
  std::ofstream map("/tmp/perf-" + std::to_string(getpid()) + ".map");
  map << std::hex << reinterpret_cast<std::uintptr_t>(page) << " " << sizeof(kCode)
      << " js:handler (server.js:3)\n";
  return reinterpret_cast<Compiled>(page);
}

void commit_in_child() {
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) {
    commit_once();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  ++store.commits;
}

}  // namespace named

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  const std::string_view kind = argv[1];
  const named::Compiled compiled = kind == "jit" ? named::compile() : nullptr;
  std::puts("ready");
  std::fflush(stdout);
  while (std::chrono::steady_clock::now() < end) {
    if (compiled != nullptr) {
      compiled(&named::commit_once);
    } else if (kind == "forks") {
      named::commit_in_child();
    } else {
      named::commit_once();  // line: main
    }
  }
  return named::store.commits > 0 ? 0 : 1;
}
