// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/process_root.h"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "process/command.h"
#include "unit/temporary_directory.h"

using namespace offwait;
using namespace std::chrono_literals;

TEST_CASE("nothing leads out of a root") {
  const test::TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "root/dir");
  std::ofstream(directory / "root/file") << "in";
  std::ofstream(directory / "secret") << "out";
  std::filesystem::create_symlink("../../secret", directory / "root/dir/up");
  std::filesystem::create_symlink(directory / "secret", directory / "root/dir/away");
  std::filesystem::create_symlink("/file", directory / "root/dir/link");
  const UniqueFd root(open((directory / "root").c_str(), O_PATH | O_CLOEXEC));
  const auto opens = [&root](const char* path, Symlinks symlinks) {
    return open_regular_below(root.get(), path, symlinks).has_value();
  };
  CHECK(opens("/file", Symlinks::refuse));
  CHECK(opens("/dir/../../../file", Symlinks::refuse));
  CHECK_FALSE(opens("/../secret", Symlinks::follow));
  CHECK_FALSE(opens("/dir/up", Symlinks::follow));
  CHECK_FALSE(opens("/dir/away", Symlinks::follow));
  CHECK(opens("/dir/link", Symlinks::follow));
  CHECK_FALSE(opens("/dir/link", Symlinks::refuse));
  CHECK_FALSE(opens("/dir", Symlinks::follow));
}

TEST_CASE("the root of this process is ours") {
  const auto root = open_root(getpid());
  const auto again = open_root(getpid());
  REQUIRE(root);
  REQUIRE(again);
  CHECK(root->identity == again->identity);
  CHECK(open_regular_below(root->directory.get(), "/proc/self/status", Symlinks::follow).has_value() ==
        open_regular_file("/proc/self/status").has_value());
  CHECK_FALSE(open_root(-1));
}

TEST_CASE("status of a process in a PID namespace") {
  const ProcessStatus status = parse_status(
      "Name:\tUid: "
      "5\nUid:\t1000\t1001\t1002\t1003\nGid:\t7\t8\t9\t10\nNSpid:\t4711\t12\t3\nSigCgt:\t0000000000000004\n");
  CHECK(status.uid == 1001);
  CHECK(status.gid == 8);
  CHECK(status.own_tgid == 3);
  CHECK(status.caught_signals == 4);
  CHECK(parse_status("").own_tgid == 0);
  CHECK(process_status(getpid())->uid == geteuid());
  CHECK_FALSE(process_status(-1));
}

TEST_CASE("a program's output, or why there is none") {
  const auto run = [](std::vector<std::string> words, std::chrono::milliseconds time = 10s) {
    auto output = run_command({std::move(words), std::nullopt, time, 1000});
    return output ? *output : "error: " + output.error().message;
  };
  CHECK(run({"echo", "a b"}) == "a b\n");
  CHECK(run({"cat"}).empty());  // no input
  CHECK(run({"false"}) == "error: false failed");
  CHECK(run({"/none/such"}) == "error: /none/such cannot be run");
  CHECK(run({"yes"}) == "error: yes took too long, or wrote too much");
  CHECK(run({"sh", "-c", "sleep 100 & wait"}, 100ms) == "error: sh took too long, or wrote too much");
  CHECK(run({"sh", "-c", "exec >&-; sleep 100"}, 100ms) == "error: sh took too long, or wrote too much");
  if (geteuid() == 0) {
    const auto output = run_command({{"id", "-u"}, CommandUser{1234, 1234}, 10s, 1000});
    CHECK(*output == "1234\n");
  }
}
