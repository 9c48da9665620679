// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/drawn_waits.h"

#include <catch2/catch.hpp>
#include <type_traits>

#include "unit/event/recordings.h"

namespace offwait {
namespace {

constexpr std::uint32_t kLeftToChance = OFFWAIT_DRAW_CHANCE | 20U << OFFWAIT_DRAW_BITS_SHIFT;
constexpr std::uint32_t kDrawnByChance = kLeftToChance | OFFWAIT_DRAW_TAKEN;

using test::bytes_of;

/// A wait of 100 ns that ended at `run_ns`. The thread that ended it had the stacks 7 and 8.
offwait_wait wait_until(std::uint32_t tid, std::uint64_t run_ns, std::uint32_t draw) {
  offwait_wait wait{};
  wait.type = OFFWAIT_RECORD_WAIT;
  wait.waker_kind = OFFWAIT_WAKER_THREAD;
  wait.tid = tid;
  wait.block_ns = run_ns - 100;
  wait.wake_ns = run_ns;
  wait.run_ns = run_ns;
  wait.waker_id = 99;
  wait.waker_user = 7;
  wait.waker_kernel = 8;
  wait.draw = draw;
  return wait;
}

offwait_wait_stacks stacks_at(std::uint32_t tid, std::uint64_t run_ns) {
  return {OFFWAIT_RECORD_WAIT_STACKS, {}, tid, run_ns, 5, 6};
}

std::vector<offwait_wait> waits_in(const RecordBuffer& records) {
  std::vector<offwait_wait> waits;
  records.for_each([&waits](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, offwait_wait>) waits.push_back(record);
  });
  return waits;
}

TEST_CASE("a wait gets the stacks that come after it, and waits of other threads do not wait for them") {
  DrawnWaits drawn;
  RecordBuffer records;
  REQUIRE(drawn.append(bytes_of(wait_until(1, 1000, kDrawnByChance)), records));
  REQUIRE(drawn.append(bytes_of(wait_until(2, 1100, kLeftToChance)), records));
  REQUIRE(drawn.append(bytes_of(wait_until(3, 1200, kDrawnByChance)), records));
  REQUIRE(drawn.append(bytes_of(stacks_at(3, 1200)), records));
  REQUIRE(drawn.append(bytes_of(stacks_at(1, 1000)), records));
  const std::vector<offwait_wait> waits = waits_in(records);
  REQUIRE(waits.size() == 3);
  CHECK((waits[0].tid == 2 && waits[0].wait_user == 0 && waits[0].draw == kLeftToChance));
  CHECK((waits[1].tid == 3 && waits[1].wait_user == 5 && waits[1].wait_kernel == 6));
  CHECK((waits[2].tid == 1 && waits[2].wait_user == 5 && waits[2].wait_kernel == 6));
  CHECK((waits[2].waker_user == 7 && waits[2].waker_kernel == 8 && waits[2].draw == kDrawnByChance));
}

TEST_CASE(
    "a wait whose stacks do not come counts as one that was not drawn, before the thread's next record") {
  DrawnWaits drawn;
  RecordBuffer records;
  REQUIRE(drawn.append(bytes_of(wait_until(1, 1000, kDrawnByChance)), records));
  REQUIRE(drawn.append(bytes_of(stacks_at(1, 900)), records));  // of a wait that was lost
  CHECK(waits_in(records).empty());
  REQUIRE(drawn.append(bytes_of(wait_until(1, 2000, kDrawnByChance)), records));
  drawn.flush(records);
  drawn.flush(records);
  const std::vector<offwait_wait> waits = waits_in(records);
  REQUIRE(waits.size() == 2);
  for (const offwait_wait& wait : waits) {
    CHECK(wait.draw == kLeftToChance);
    CHECK((wait.wait_user == 0 && wait.waker_user == 0 && wait.waker_kernel == 0));
  }
  CHECK((waits[0].run_ns == 1000 && waits[1].run_ns == 2000));
}

TEST_CASE("the interface that delivered a packet is no stack, and stays") {
  DrawnWaits drawn;
  RecordBuffer records;
  offwait_wait sent = wait_until(1, 1000, kDrawnByChance);
  sent.flags = OFFWAIT_WAIT_SENT;
  REQUIRE(drawn.append(bytes_of(sent), records));
  drawn.flush(records);
  const std::vector<offwait_wait> waits = waits_in(records);
  REQUIRE(waits.size() == 1);
  CHECK((waits[0].waker_nic == 8 && waits[0].waker_user == 0));
}

TEST_CASE("stacks of another size are no record") {
  DrawnWaits drawn;
  RecordBuffer records;
  const offwait_wait_stacks stacks = stacks_at(1, 1000);
  CHECK_FALSE(drawn.append(bytes_of(stacks).first(sizeof(stacks) - 1), records));
  CHECK_FALSE(drawn.append({}, records));
}

}  // namespace
}  // namespace offwait
