// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/running_program.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace offwait {
namespace {

TEST_CASE("a title is one text that begins with a name and a colon") {
  using namespace std::string_literals;
  CHECK(title_in("postgres: walwriter \0\0\0"s) == "postgres: walwriter");
  CHECK(title_in("nginx: worker process\0"s) == "nginx: worker process");
  CHECK(title_in("postgres: app app 10.0.0.7(4711) idle"s) == "postgres: app app 10.0.0.7(4711) idle");
  CHECK(title_in("/usr/sbin/mariadbd\0"s).empty());
  CHECK(title_in("redis-server *:6379\0"s).empty());
  CHECK(title_in("echo: \0x\0"s).empty());        // an argument follows
  CHECK(title_in("sh -c echo a: b\0"s).empty());  // the first word ends in no colon
  CHECK(title_in("").empty());
  CHECK(title_in("a: " + std::string(500, 'x')).size() == 127);
}

TEST_CASE("a process runs its executable; without a process there is none") {
  const auto own = read_program(::getpid());
  REQUIRE(own);
  CHECK(own->path == std::filesystem::read_symlink("/proc/self/exe").string());
  CHECK(own->title.empty());
  CHECK_FALSE(read_program(2147483647));
  CHECK_FALSE(read_program(2));  // a kernel thread, or in a container no process
}

}  // namespace
}  // namespace offwait
