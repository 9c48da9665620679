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

TEST_CASE("An interpreter is called by its script as well") {
  using namespace std::string_literals;
  CHECK(interpreter_title("/usr/bin/python3\0-u\0/srv/consumer.py\0queue\0"s, "python3") ==
        "python3 consumer.py");
  CHECK(interpreter_title("python3.11\0-W\0ignore\0-B\0app.py\0"s, "python3.11") == "python3.11 app.py");
  CHECK(interpreter_title("python3\0-m\0http.server\0"s + "8000\0"s, "python3") == "python3 -m http.server");
  CHECK(interpreter_title("node\0--require\0./trace.js\0server.js\0"s, "node") == "node server.js");
  CHECK(interpreter_title("/bin/bash\0/etc/run.sh"s, "bash") == "bash run.sh");
  CHECK(interpreter_title("sh\0-c\0echo a\0"s, "sh").empty());
  CHECK(interpreter_title("python3\0-\0x\0"s, "python3").empty());
  CHECK(interpreter_title("python3\0"s, "python3").empty());
  CHECK(interpreter_title("python3\0-m\0"s, "python3").empty());
  CHECK(interpreter_title("python3\0dir/\0"s, "python3").empty());
  // It was run by its own path, or it has named itself.
  CHECK(interpreter_title("/usr/bin/python3\0/usr/bin/gunicorn\0app\0"s, "gunicorn").empty());
  CHECK(interpreter_title("cat\0file\0"s, "cat").empty());
  CHECK(interpreter_title("", "").empty());
  CHECK(interpreter_title("perl\0" + std::string(500, 'x'), "perl").size() <= 127);
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
