// SPDX-License-Identifier: GPL-2.0-or-later
#include "sandbox/confined.h"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"

using namespace offwait;
using namespace std::chrono_literals;

namespace {

Confined run(const std::function<void(const ConfinedOutput&)>& work, const Confinement& confinement = {}) {
  auto confined = run_confined(work, confinement);
  if (!confined) FAIL(confined.error().message);
  return std::move(confined).value();
}

/// The status of this thread's only child, once the child has its filter.
std::map<std::string, std::string> status_of_child(pid_t tid, std::vector<int>& descriptors) {
  for (;;) {
    std::ifstream children("/proc/self/task/" + std::to_string(tid) + "/children");
    std::string child;
    std::map<std::string, std::string> status;
    if (children >> child) {
      std::ifstream file("/proc/" + child + "/status");
      for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(":\t");
        if (colon != std::string::npos) status[line.substr(0, colon)] = line.substr(colon + 2);
      }
      if (status["Seccomp"] == "2") {
        status["policy"] = std::to_string(sched_getscheduler(std::stoi(child)));
        std::error_code hidden;  // set for users other than root
        for (const auto& fd : std::filesystem::directory_iterator("/proc/" + child + "/fd", hidden))
          descriptors.push_back(std::stoi(fd.path().filename()));
        return status;
      }
    }
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace

TEST_CASE("work's output, and nothing else, comes back") {
  int changed = 0;
  const Confined confined = run([&changed](const ConfinedOutput& out) {
    changed = 1;
    out.write("one ");
    out.write(std::string(200'000, 'x'));
    out.write("");
  });
  CHECK(confined.end == ConfinedEnd::done);
  CHECK(confined.output == "one " + std::string(200'000, 'x'));
  CHECK(changed == 0);
}

TEST_CASE("given files can be read and mapped") {
  const UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const UniqueFd other(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  Confinement confinement;
  confinement.descriptors = {file.get(), -1};
  const auto work = [&](const ConfinedOutput& out) {
    std::array<char, 4> magic{};
    out.write(pread(file.get(), magic.data(), magic.size(), 0) == 4 ? "read " : "");
    struct stat status {};
    out.write(fstat(file.get(), &status) == 0 && fcntl(file.get(), F_GETFD) == FD_CLOEXEC ? "stat " : "");
    void* const at = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file.get(), 0);
    out.write(at != MAP_FAILED ? std::string_view(static_cast<const char*>(at), 4) : "");
    out.write(pread(other.get(), magic.data(), magic.size(), 0) < 0 && errno == EBADF ? " closed" : "");
    out.write(std::string(std::size_t{16} << 20U, 'm').substr(0, 2));
  };
  const Confined confined = run(work, confinement);
  CHECK(confined.end == ConfinedEnd::done);
  CHECK(confined.output == "read stat \177ELF closedmm");
}

TEST_CASE("looking for other files finds nothing") {
  const Confined confined = run([](const ConfinedOutput& out) {
    for (const char* path : {"/etc/passwd", "/proc/self/mem", "/dev/null", "/tmp/new"}) {
      if (open(path, O_RDWR | O_CREAT, 0600) < 0 && errno == EACCES) out.write("x");
    }
    out.write(access("/etc/passwd", R_OK) != 0 ? "x" : "readable");
  });
  CHECK(confined.end == ConfinedEnd::done);
  CHECK(confined.output == "xxxxx");
}

TEST_CASE("what is forbidden ends the work; what was written before is kept") {
  const pid_t parent = getpid();
  const std::vector<std::function<void()>> forbidden = {
      [] { (void)socket(AF_INET, SOCK_STREAM, 0); },
      [] { (void)fork(); },
      [] { (void)ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); },
      [parent] { kill(parent, SIGTERM); },
      [] { (void)execl("/bin/true", "true", nullptr); },
      [] { (void)unlink("/tmp/none"); },
      [] { (void)dup(0); },
      [] { (void)write(2, "x", 1); },
  };
  for (const auto& call : forbidden) {
    const Confined confined = run([&call](const ConfinedOutput& out) {
      out.write("before");
      call();
      out.write("after");
    });
    CHECK(confined.end == ConfinedEnd::forbidden);
    CHECK(confined.output == "before");
  }
}

TEST_CASE("a crash is distinguished from a regular end") {
  const std::vector<std::function<void()>> crashes = {
      [] {
        void* const at = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *static_cast<volatile char*>(at) = 1;
      },
      [] { std::abort(); },
      [] { throw std::runtime_error("out"); },
      [] { _exit(7); },
  };
  for (const auto& crash : crashes) {
    const Confined confined = run([&crash](const ConfinedOutput& out) {
      out.write("before");
      crash();
    });
    CHECK(confined.end == ConfinedEnd::crashed);
    CHECK(confined.output == "before");
  }
}

TEST_CASE("CPU time and wall time are limited") {
  Confinement confinement;
  confinement.cpu_time = 1s;
  const auto loop = [](const ConfinedOutput& out) {
    out.write("before");
    for (;;) asm volatile("");
  };
  const Confined by_cpu = run(loop, confinement);
  CHECK(by_cpu.end == ConfinedEnd::out_of_time);
  CHECK(by_cpu.output == "before");

  confinement.wall_time = 50ms;
  const Confined by_clock = run(loop, confinement);
  CHECK(by_clock.end == ConfinedEnd::out_of_time);
  CHECK(by_clock.output == "before");

  // Work that closes its output is ended at once.
  confinement.wall_time = 60s;
  const auto begin = std::chrono::steady_clock::now();
  const Confined closed = run(
      [&loop](const ConfinedOutput& out) {
        for (int fd = 0; fd < 1024; ++fd) close(fd);
        loop(out);
      },
      confinement);
  CHECK(closed.end == ConfinedEnd::crashed);
  CHECK(std::chrono::steady_clock::now() - begin < 30s);
}

TEST_CASE("memory is limited") {
  Confinement confinement;
  confinement.memory = std::uint64_t{64} << 20U;
  const Confined confined = run(
      [](const ConfinedOutput& out) {
        std::vector<std::unique_ptr<char[]>> kept;
        for (int i = 0; i < 400; ++i) {
          constexpr std::size_t kQuarter = std::size_t{256} << 20U;
          void* const at =
              mmap(nullptr, kQuarter, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
          if (at == MAP_FAILED) out.write("no");
          if (at == MAP_FAILED) throw std::bad_alloc();
        }
      },
      confinement);
  CHECK(confined.end == ConfinedEnd::out_of_memory);
  CHECK(confined.output == "no");
}

TEST_CASE("output is limited") {
  Confinement confinement;
  confinement.output = 1'000'000;
  const Confined confined = run(
      [](const ConfinedOutput& out) {
        const std::string piece(99'999, 'y');
        for (int i = 0; i < 100'000; ++i) out.write(piece);
      },
      confinement);
  CHECK(confined.end == ConfinedEnd::too_much_output);
  CHECK(confined.output == std::string(1'000'000, 'y'));
}

TEST_CASE("the process has no powers and no descriptors, and is not real-time") {
  Confinement confinement;
  confinement.wall_time = 60s;
  const UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  std::array<int, 2> go{};
  REQUIRE(pipe2(go.data(), O_CLOEXEC) == 0);
  confinement.descriptors = {go[0]};
  std::map<std::string, std::string> status;
  std::vector<int> descriptors;
  std::thread looker([&, tid = gettid()] {
    status = status_of_child(tid, descriptors);
    (void)write(go[1], "g", 1);
  });
  // Without privileges this fails, and then the child has nothing to give up.
  const sched_param lowest{sched_get_priority_min(SCHED_FIFO)};
  (void)sched_setscheduler(0, SCHED_FIFO, &lowest);
  const Confined confined = run(
      [&go](const ConfinedOutput&) {
        char byte = 0;
        (void)read(go[0], &byte, 1);
      },
      confinement);
  const sched_param ordinary{};
  REQUIRE(sched_setscheduler(0, SCHED_OTHER, &ordinary) == 0);
  looker.join();
  close(go[0]);
  close(go[1]);
  CHECK(confined.end == ConfinedEnd::done);
  CHECK(status["policy"] == std::to_string(SCHED_OTHER));
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) CHECK(status[set] == "0000000000000000");
  CHECK(status["NoNewPrivs"] == "1");
  if (geteuid() == 0) {
    CHECK(status["CapBnd"] == "0000000000000000");
    CHECK(status["Uid"] == "65534\t65534\t65534\t65534");
    CHECK(status["Gid"] == "65534\t65534\t65534\t65534");
    // One is the pipe for which the work waits, the other its output.
    CHECK(descriptors.size() == 2);
  }
}
