// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/syncs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "analysis/analyse.h"
#include "unit/replay/program.h"

using namespace offwait;

namespace {

constexpr std::string_view kSync = "__x64_sys_fdatasync;do_syscall_64;--;fdatasync;save;main";

/// Each round of 4 ms: the thread handles a request for `handle_us`, syncs on a CPU until 2 ms, and waits for
/// the disk in the same call until 4 ms.
Findings server(long handle_us, std::string_view sync = kSync) {
  test::Program program(400'000);
  program.thread(1, "server");
  for (long at = 0; at < 400'000; at += 4000) {
    for (long sampled = 50; sampled < 2000; sampled += 100) {
      const std::string where = sampled < handle_us ? "--;handle;main" : fmt::format("submit_bio;{}", sync);
      program.line(fmt::format("on_cpu 1 at={}000 stack={}", at + sampled, where));
    }
    program.wait(1, at + 2000, at + 4000, "disk:vda", fmt::format("class=disk stack=io_schedule;{}", sync));
  }
  AnalysisOptions options;
  options.what_ifs = {*parse_what_if("function save /2")};
  const Result<Findings> found = analyse(program.trace(), options);
  if (!found) FAIL(found.error().message);
  return *found;
}

}  // namespace

TEST_CASE("CPU time and waits of the same syncs are one answer with two parts") {
  const Findings found = server(500);
  REQUIRE(found.answers.size() == 1);
  const FoundAnswer& answer = found.answers.front();
  CHECK(answer.what == Resource::sync);
  CHECK(answer.certainty == Certainty::sure);
  CHECK(answer.gain == Approx(4 / 2.25 - 1).margin(0.02));
  CHECK(answer.gain == Approx(found.what_ifs.front().gain).margin(0.001));
  REQUIRE(answer.syncs);
  CHECK(answer.syncs->calls == std::vector<std::string>{"fdatasync"});
  CHECK(answer.syncs->ran_s == Approx(0.15).margin(0.001));
  CHECK(answer.syncs->cpu.gain == Approx(4 / 3.25 - 1).margin(0.02));
  CHECK(answer.syncs->disk.gain == Approx(4 / 3.0 - 1).margin(0.02));
  CHECK(found.actors[*answer.device].name == "vda");
  CHECK(answer.evidence.time_s == Approx(0.2));
  CHECK(answer.evidence.waits == 99);  // the last one ends with the window
}

TEST_CASE(
    "A write that the kernel syncs at once is a sync, and one that waits for the disk without it is not") {
  const std::string write =
      "ext4_buffered_write_iter;vfs_write;__x64_sys_pwrite64;do_syscall_64;--;save;main";
  const Findings found = server(500, "ext4_sync_file;" + write);
  REQUIRE(found.answers.size() == 1);
  CHECK(found.answers[0].what == Resource::sync);
  CHECK(found.answers[0].gain == Approx(4 / 2.25 - 1).margin(0.02));
  CHECK(found.answers[0].evidence.actions.longest() == FileAction::sync);
  REQUIRE(found.answers[0].syncs);
  CHECK(found.answers[0].syncs->calls == std::vector<std::string>{"pwrite"});
  const Findings unsynced = server(500, write);
  const auto disk = std::find_if(unsynced.answers.begin(), unsynced.answers.end(),
                                 [](const FoundAnswer& one) { return one.what == Resource::disk; });
  REQUIRE(disk != unsynced.answers.end());
  CHECK(disk->evidence.actions.longest() == FileAction::write);
  CHECK(std::none_of(unsynced.answers.begin(), unsynced.answers.end(),
                     [](const FoundAnswer& one) { return one.syncs.has_value(); }));
}

TEST_CASE("Syncs that hardly take a CPU are no answer: the disk is") {
  const Findings found = server(1900);
  REQUIRE(found.answers.size() == 3);
  CHECK(found.answers[0].what == Resource::cpu);
  CHECK(found.answers[1].what == Resource::disk);
  CHECK(found.answers[2].what == Resource::io);
  for (const FoundAnswer& answer : found.answers) {
    CHECK_FALSE(answer.syncs);
    CHECK(answer.gain == Approx(4 / 3.0 - 1).margin(0.02));
  }
}

TEST_CASE("Syncs of which a CPU takes a part are an answer beside other work of the thread") {
  const Findings found = server(1500);
  REQUIRE(found.answers.size() == 2);
  CHECK(found.answers[0].what == Resource::sync);
  CHECK(found.answers[0].gain == Approx(4 / 2.75 - 1).margin(0.02));
  REQUIRE(found.answers[0].syncs);
  CHECK(found.answers[0].syncs->cpu.gain == Approx(4 / 3.75 - 1).margin(0.02));
  CHECK(found.answers[0].syncs->disk.gain == Approx(4 / 3.0 - 1).margin(0.02));
  CHECK(found.answers[1].what == Resource::cpu);
  CHECK(found.answers[1].gain == Approx(4 / 3.0 - 1).margin(0.02));
}
