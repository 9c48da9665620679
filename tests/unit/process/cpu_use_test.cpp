// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/cpu_use.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include <unistd.h>

namespace offwait {
namespace {

std::string stat_line(const std::string& name) {
  return "71 (" + name + ") S 5 71 71 0 -1 4194304 101 0 0 0 10 20 300 400 20 0 1 0 1452314 3133440 416\n";
}

TEST_CASE("the CPU time of a process is read from /proc/PID/stat, whatever its name") {
  for (const std::string name : {"rustc", "", "a b", ") R 9 9 9 (", "\x1b[2J"}) {
    INFO(name);
    const auto process = parse_process_ticks(stat_line(name));
    REQUIRE(process);
    CHECK(process->name == name);
    CHECK(process->parent == 5);
    CHECK(process->own == 30);
    CHECK(process->children == 700);
    CHECK(process->start == 1452314);
  }
  CHECK(parse_process_ticks(stat_line(std::string(9999, 'x')))->name == std::string(64, 'x'));
}

TEST_CASE("what has another form than /proc/PID/stat is left out") {
  for (const std::string text :
       {"", "71", "71 (x", "71 x) S 5", "71 (x)", "71 (x) S 5 71\n", ")(",
        "71 (x) S 5 71 71 0 -1 4194304 101 0 0 0 y 20 300 400 20 0 1 0 1452314 3\n",
        "71 (x) S -5 71 71 0 -1 4194304 101 0 0 0 1 20 300 400 20 0 1 0 1452314 3\n"}) {
    INFO(text);
    CHECK_FALSE(parse_process_ticks(text));
  }
}

using Uses = std::vector<std::string>;

/// `NAME OWN CHILDREN` of each process.
Uses used(const ProcessTable& before, const ProcessTable& after, std::size_t most = 9) {
  Uses out;
  for (const ProcessUse& use : used_between(before, after, {100, 101}, most))
    out.push_back(use.name + " " + std::to_string(use.own) + " " + std::to_string(use.children));
  return out;
}

TEST_CASE("processes are listed by what they used, without those of the target") {
  const ProcessTable before = {
      {1, {"init", 0, 1, 500, 0}}, {7, {"a", 1, 20, 10, 0}}, {100, {"target", 1, 20, 0, 0}}};
  const ProcessTable after = {{1, {"init", 0, 1, 500, 0}},
                              {7, {"a", 1, 20, 30, 0}},
                              {8, {"new", 1, 90, 25, 0}},
                              {100, {"target", 1, 20, 900, 0}}};
  CHECK(used(before, after) == Uses{"new 25 0", "a 20 0"});
  CHECK(used(before, after, 1) == Uses{"new 25 0"});
}

TEST_CASE("a PID that was used again is another process") {
  CHECK(used({{7, {"a", 1, 20, 10, 0}}}, {{7, {"b", 1, 50, 4, 0}}}) == Uses{"b 4 0"});
}

TEST_CASE("children that ended count for their parent, without what they had used before") {
  // make (7) waited for cc (8), which had used 40, and for another that came and went.
  const ProcessTable before = {{7, {"make", 1, 20, 10, 1000}}, {8, {"cc", 7, 30, 35, 5}}};
  CHECK(used(before, {{7, {"make", 1, 20, 11, 1150}}}) == Uses{"make 1 110"});
  // sh (9) between them ended, too.
  const ProcessTable deeper = {
      {7, {"make", 1, 20, 10, 0}}, {9, {"sh", 7, 25, 1, 2}}, {8, {"cc", 9, 30, 35, 0}}};
  CHECK(used(deeper, {{7, {"make", 1, 20, 10, 100}}}) == Uses{"make 0 62"});
  // Nobody has waited for it.
  CHECK(used(before, {{7, {"make", 1, 20, 11, 1000}}}) == Uses{"make 1 0"});
}

TEST_CASE("what the target used is not counted for the shell that started it") {
  const ProcessTable before = {{7, {"sh", 1, 20, 10, 0}}, {100, {"target", 7, 30, 0, 0}}};
  CHECK(used(before, {{7, {"sh", 1, 20, 12, 5000}}}) == Uses{"sh 2 0"});
}

TEST_CASE("parents in a circle end the search") {
  const ProcessTable before = {{7, {"a", 8, 20, 10, 0}}, {8, {"b", 7, 20, 10, 0}}};
  CHECK(used(before, {{9, {"c", 1, 20, 3, 0}}}) == Uses{"c 3 0"});
}

TEST_CASE("this process is in the table") {
  const ProcessTable table = read_process_table();
  REQUIRE(table.contains(::getpid()));
  CHECK(table.at(::getpid()).parent == ::getppid());
}

}  // namespace
}  // namespace offwait
