// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/first_run.h"

#include <catch2/catch.hpp>
#include <span>

namespace offwait {
namespace {

void add_wait(KernelRecording& recording, std::uint32_t tid, std::uint64_t block, std::uint64_t run) {
  offwait_wait wait{};
  wait.type = OFFWAIT_RECORD_WAIT;
  wait.tid = tid;
  wait.block_ns = block;
  wait.wake_ns = run - 1;
  wait.run_ns = run;
  REQUIRE(recording.records.append(std::as_bytes(std::span(&wait, 1))));
}

TEST_CASE("the first run of a thread that was blocked") {
  KernelRecording recording;
  recording.window = {100, 1000};
  CHECK(first_run(recording, 7) == 100);
  add_wait(recording, 8, 0, 150);
  add_wait(recording, 7, 0, 200);
  add_wait(recording, 7, 300, 400);
  CHECK(first_run(recording, 7) == 200);
  CHECK(first_run(recording, 8) == 150);
  CHECK(first_run(recording, 9) == 100);
}

TEST_CASE("a wait that was over before the window moves nothing") {
  KernelRecording recording;
  recording.window = {100, 1000};
  add_wait(recording, 7, 0, 50);
  CHECK(first_run(recording, 7) == 100);
}

}  // namespace
}  // namespace offwait
