// SPDX-License-Identifier: GPL-2.0-or-later
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "sandbox/confined.h"

using namespace offwait;
using namespace std::chrono_literals;

namespace {

/// The children of this thread, as the kernel lists them.
std::string children() {
  std::ifstream file("/proc/self/task/" + std::to_string(gettid()) + "/children");
  std::string text;
  std::getline(file, text);
  return text;
}

ConfinedBeside start(const std::function<void(const ConfinedOutput&)>& work,
                     const Confinement& confinement = {}) {
  auto beside = ConfinedBeside::start(work, confinement);
  if (!beside.ok()) FAIL(beside.error().message);
  return std::move(beside).value();
}

Confined end_of(ConfinedBeside& beside) {
  for (;;) {
    if (std::optional<Confined> confined = beside.take()) return *std::move(confined);
    std::this_thread::sleep_for(1ms);
  }
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
    out = UniqueFd(ends[0]);
    in = UniqueFd(ends[1]);
  }
  UniqueFd out;
  UniqueFd in;
};

}  // namespace

TEST_CASE("work goes on beside, and its output comes at its end") {
  const Pipe go;
  Confinement confinement;
  confinement.descriptors = {go.out.get()};
  ConfinedBeside beside = start(
      [&go](const ConfinedOutput& out) {
        out.write(std::string(200'000, 'x'));
        char byte = 0;
        (void)read(go.out.get(), &byte, 1);
        out.write(std::string(1, byte));
      },
      confinement);
  CHECK_FALSE(beside.take());
  CHECK_FALSE(children().empty());
  REQUIRE(write(go.in.get(), "g", 1) == 1);
  const Confined confined = end_of(beside);
  CHECK(confined.end == ConfinedEnd::done);
  CHECK(confined.output == std::string(200'000, 'x') + "g");
  CHECK(children().empty());
}

TEST_CASE("work beside that does not return has no output") {
  ConfinedBeside crashes = start([](const ConfinedOutput& out) {
    out.write("some");
    (void)raise(SIGSEGV);
  });
  const Confined crashed = end_of(crashes);
  CHECK(crashed.end == ConfinedEnd::crashed);
  CHECK(crashed.output.empty());
  ConfinedBeside opens = start([](const ConfinedOutput& out) {
    out.write("some");
    (void)getppid();
  });
  CHECK(end_of(opens).end == ConfinedEnd::forbidden);
  Confinement little;
  little.output = 1000;
  ConfinedBeside writes = start([](const ConfinedOutput& out) { out.write(std::string(2000, 'x')); }, little);
  const Confined too_much = end_of(writes);
  CHECK(too_much.end == ConfinedEnd::too_much_output);
  CHECK(too_much.output.empty());
}

TEST_CASE("work beside ends when nobody waits for it any more, or when its time is over") {
  const Pipe never;
  Confinement confinement;
  confinement.descriptors = {never.out.get()};
  const auto wait = [&never](const ConfinedOutput&) {
    char byte = 0;
    (void)read(never.out.get(), &byte, 1);
  };
  {
    const ConfinedBeside beside = start(wait, confinement);
    CHECK_FALSE(children().empty());
  }
  CHECK(children().empty());
  confinement.wall_time = 50ms;
  ConfinedBeside late = start(wait, confinement);
  CHECK(end_of(late).end == ConfinedEnd::out_of_time);
  CHECK(children().empty());
}

TEST_CASE("work beside does not run before ordinary threads") {
  if (setpriority(PRIO_PROCESS, 0, -5) != 0) {
    WARN("this user may not raise a priority");
    return;
  }
  {
    ConfinedBeside beside = start([](const ConfinedOutput&) {
      for (;;) sched_yield();
    });
    const std::string child = children();
    int nice = -5;
    // The process sets it right after its start.
    for (int i = 0; i < 20'000 && nice != 0 && !child.empty(); ++i) {
      std::this_thread::sleep_for(1ms);
      nice = getpriority(PRIO_PROCESS, static_cast<id_t>(std::strtoul(child.c_str(), nullptr, 10)));
    }
    CHECK(nice == 0);
  }
  CHECK(setpriority(PRIO_PROCESS, 0, 0) == 0);
}
