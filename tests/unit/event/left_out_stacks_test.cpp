// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/left_out_stacks.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "assembled.h"

namespace offwait {
namespace {

using test::by_thread;
using test::kTimer;
using test::threads_of;
using test::wait_of;
using test::Waker;

constexpr int kDrawBits = 10;
constexpr std::uint64_t kSureLength = 1 << kDrawBits;

/// Waits one after the other in a place, each with its draw.
class DrawnWaits {
 public:
  offwait_wait& add(std::uint32_t tid, Waker waker, std::uint32_t place, std::uint64_t length,
                    std::uint32_t draw) {
    now_ += 10'000;
    waits.push_back(wait_of(tid, now_, now_ + length, now_ + length, waker));
    waits.back().draw = draw | kDrawBits << OFFWAIT_DRAW_BITS_SHIFT | place << OFFWAIT_DRAW_PLACE_SHIFT;
    return waits.back();
  }
  offwait_wait& left_out(std::uint32_t tid, Waker waker, std::uint32_t place, std::uint64_t length) {
    return add(tid, waker, place, length, OFFWAIT_DRAW_CHANCE);
  }
  /// Its four stacks are `stack` and the three numbers after it.
  offwait_wait& taken(std::uint32_t tid, Waker waker, std::uint32_t place, std::uint64_t length,
                      std::uint32_t stack, std::uint32_t draw = OFFWAIT_DRAW_CHANCE) {
    offwait_wait& wait = add(tid, waker, place, length, OFFWAIT_DRAW_TAKEN | draw);
    wait.wait_user = stack;
    wait.wait_kernel = stack + 1;
    if (waker.kind == OFFWAIT_WAKER_THREAD) {
      wait.waker_user = stack + 2;
      wait.waker_kernel = stack + 3;
    }
    return wait;
  }

  std::vector<offwait_wait> filled() const {
    LeftOutStacks left_out;
    for (const offwait_wait& wait : waits) left_out.note(wait, threads_of(wait));
    std::vector<offwait_wait> records = waits;
    for (offwait_wait& record : records) left_out.fill(record, threads_of(record));
    return records;
  }

  std::vector<offwait_wait> waits;

 private:
  std::uint64_t now_ = 0;
};

using Ids = std::vector<std::uint32_t>;
Ids ids_of(const offwait_wait& wait) {
  return {wait.wait_user, wait.wait_kernel, wait.waker_user, wait.waker_kernel};
}
bool same(const offwait_wait& a, const offwait_wait& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

TEST_CASE("a left-out wait gets all stacks of a wait of the same thread, place and waker") {
  DrawnWaits drawn;
  // Each kind speaks for as much as is left out of it.
  for (int round = 0; round < 20; ++round) {
    std::uint32_t stack = 10;
    for (const std::uint32_t tid : {11U, 12U}) {
      for (const std::uint32_t waker : {21U, 22U}) {
        for (const std::uint32_t place : {1U, 2U}) {
          drawn.taken(tid, by_thread(waker), place, kSureLength / 2, stack);
          drawn.left_out(tid, by_thread(waker), place, kSureLength / 2);
          stack += 10;
        }
      }
    }
  }
  const std::vector<offwait_wait> filled = drawn.filled();
  for (std::size_t i = 0; i < filled.size(); i += 2) {
    CHECK(same(filled[i], drawn.waits[i]));
    offwait_wait expected = drawn.waits[i + 1];
    expected.wait_user = filled[i].wait_user;
    expected.wait_kernel = filled[i].wait_kernel;
    expected.waker_user = filled[i].waker_user;
    expected.waker_kernel = filled[i].waker_kernel;
    CHECK(same(filled[i + 1], expected));
  }
}

/// The time of left-out waits that were given this stack.
std::uint64_t given(const std::vector<offwait_wait>& filled, std::uint32_t stack) {
  std::uint64_t sum = 0;
  for (const offwait_wait& wait : filled) {
    if ((wait.draw & OFFWAIT_DRAW_TAKEN) == 0 && wait.wait_user == stack) sum += wait.wake_ns - wait.block_ns;
  }
  return sum;
}

TEST_CASE("left-out time is shared among stacks in proportion to what the drawn waits speak for") {
  DrawnWaits drawn;
  constexpr std::uint64_t kLength = kSureLength / 16;
  for (int i = 0; i < 1600; ++i) {
    if (i % 16 == 7)
      drawn.taken(11, kTimer, 1, kLength, i / 16 % 4 == 0 ? 10 : 20);
    else
      drawn.left_out(11, kTimer, 1, kLength);
  }
  const std::uint64_t with_10 = given(drawn.filled(), 10);
  CHECK(with_10 + given(drawn.filled(), 20) == 1500 * kLength);
  CHECK(with_10 > (375 - 50) * kLength);
  CHECK(with_10 < (375 + 50) * kLength);
}

TEST_CASE("short and long waits have stacks of their own if enough of both were drawn") {
  DrawnWaits drawn;
  for (int i = 0; i < 400; ++i) {
    const bool is_short = i % 2 == 0;
    const std::uint64_t length = is_short ? kSureLength / 8 : kSureLength * 3 / 4;
    if (i % 20 < 2)
      drawn.taken(11, kTimer, 1, length, is_short ? 10 : 20);
    else
      drawn.left_out(11, kTimer, 1, length);
  }
  CHECK(given(drawn.filled(), 10) == 180 * (kSureLength / 8));
  CHECK(given(drawn.filled(), 20) == 180 * (kSureLength * 3 / 4));
}

TEST_CASE("a wait that nothing is like stays without stacks") {
  DrawnWaits drawn;
  drawn.taken(11, by_thread(21), 1, 100, 10);
  drawn.left_out(11, by_thread(21), 2, 100);
  drawn.left_out(11, kTimer, 3, 100);
  const std::vector<offwait_wait> filled = drawn.filled();
  CHECK(ids_of(filled[1]) == Ids{0, 0, 12, 13});  // the waker has been seen, at another place
  CHECK(same(filled[2], drawn.waits[2]));
  CHECK(DrawnWaits().filled().empty());
}

TEST_CASE("the waiter's stacks may be another thread's at the place, the waker's are its own or none") {
  DrawnWaits drawn;
  drawn.taken(11, by_thread(21), 1, 100, 10);
  drawn.left_out(12, by_thread(22), 1, 100);
  drawn.left_out(12, kTimer, 1, 100);
  drawn.left_out(12, {OFFWAIT_WAKER_IRQ, 21}, 1, 100);
  drawn.left_out(12, by_thread(21), 1, 100);
  const std::vector<offwait_wait> filled = drawn.filled();
  for (const std::size_t i : {1U, 2U, 3U}) CHECK(ids_of(filled[i]) == Ids{10, 11, 0, 0});
  CHECK(ids_of(filled[4]) == Ids{10, 11, 12, 13});
}

TEST_CASE("stacks that were certain are given where none were left to chance") {
  DrawnWaits drawn;
  drawn.taken(11, kTimer, 1, 5 * kSureLength, 10, 0);
  drawn.left_out(11, kTimer, 1, 100);
  CHECK(drawn.filled()[1].wait_user == 10);
  drawn.taken(11, kTimer, 1, 100, 20);
  CHECK(drawn.filled()[1].wait_user == 20);
}

TEST_CASE("a wait that a packet ended keeps its interface, and gets stacks of senders only") {
  DrawnWaits drawn;
  drawn.taken(11, by_thread(21), 1, 100, 10);
  drawn.left_out(11, by_thread(21), 1, 100);
  offwait_wait& sent = drawn.taken(11, by_thread(21), 1, 100, 20);
  sent.flags |= OFFWAIT_WAIT_SENT;
  sent.waker_nic = 77;
  offwait_wait& left_out = drawn.left_out(11, by_thread(21), 1, 100);
  left_out.flags |= OFFWAIT_WAIT_SENT;
  left_out.waker_nic = 88;
  const std::vector<offwait_wait> filled = drawn.filled();
  CHECK(filled[1].waker_user == 12);
  CHECK(filled[1].waker_kernel == 13);
  CHECK(filled[3].waker_user == 22);
  CHECK(filled[3].waker_nic == 88);
}

TEST_CASE("waits that could not be left out are not touched, nor given to others") {
  DrawnWaits drawn;
  drawn.taken(11, kTimer, 1, 100, 10).draw = 0;
  drawn.left_out(11, kTimer, 1, 100);
  drawn.left_out(11, kTimer, 1, 100).draw = 0;
  const std::vector<offwait_wait> filled = drawn.filled();
  for (std::size_t i = 0; i < filled.size(); ++i) CHECK(same(filled[i], drawn.waits[i]));
  LeftOutStacks left_out;
  for (const offwait_wait& wait : drawn.waits) left_out.note(wait, threads_of(wait));
  CHECK(left_out.waits_with_stacks() == 0);
  CHECK(left_out.waits_without_stacks() == 1);
}

TEST_CASE("whatever the records say, only stack ids change, and only to those of waits that have them") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    DrawnWaits drawn;
    const auto number = [&random] { return random() >> random() % 64; };
    for (int i = 0; i < 100; ++i) {
      offwait_wait wait = wait_of(static_cast<std::uint32_t>(random() % 3), number(), number(), 0, {});
      wait.waker_kind = static_cast<std::uint8_t>(random() % 3);
      wait.waker_id = static_cast<std::uint32_t>(random() % 3);
      wait.flags = static_cast<std::uint8_t>(random());
      wait.draw = static_cast<std::uint32_t>(random() % 1024);
      if ((wait.draw & OFFWAIT_DRAW_TAKEN) != 0)
        wait.wait_user = static_cast<std::uint32_t>(1 + random() % 100'000);
      drawn.waits.push_back(wait);
    }
    std::set<std::uint32_t> known{0};
    for (const offwait_wait& wait : drawn.waits) known.insert(wait.wait_user);
    const std::vector<offwait_wait> filled = drawn.filled();
    for (std::size_t i = 0; i < filled.size(); ++i) {
      offwait_wait wait = filled[i];
      if (known.count(std::exchange(wait.wait_user, drawn.waits[i].wait_user)) == 0) FAIL("unknown stack");
      if (!same(wait, drawn.waits[i])) FAIL("changed");
    }
  }
}

TEST_CASE("a wait that was not noted stays as it is") {
  DrawnWaits drawn;
  drawn.taken(11, kTimer, 1, 100, 10);
  offwait_wait wait = drawn.left_out(11, kTimer, 1, 100);
  const offwait_wait before = wait;
  LeftOutStacks left_out;
  left_out.note(drawn.waits[0], threads_of(drawn.waits[0]));
  left_out.fill(wait, threads_of(wait));
  CHECK(same(wait, before));
}

TEST_CASE("the trace's waits have the stacks that were left out, and the recording says how many") {
  test::RecordingByHand t = test::two_threads();
  t.stack(5, 0, {1});
  t.stack(6, 10, {2});
  t.stack(7, 10, {3});
  const std::uint32_t chance = OFFWAIT_DRAW_CHANCE | kDrawBits << OFFWAIT_DRAW_BITS_SHIFT;
  offwait_wait wait = wait_of(11, 1100, 1200, 1200, by_thread(12));
  wait.draw = chance;
  t.append(wait);
  wait = wait_of(11, 1300, 1400, 1400, by_thread(12));
  wait.wait_kernel = 5;
  wait.wait_user = 6;
  wait.waker_user = 7;
  wait.draw = chance | OFFWAIT_DRAW_TAKEN;
  t.append(wait);
  t.wait(11, 1500, 1600, 1600, by_thread(12));
  CHECK(test::only("wait", test::trace_of(t)) ==
        test::Lines{"wait 11@500 [1100,1200,1200) futex <- thread 12@600 stack k1;--;u10:2 waker_stack u10:3",
                    "wait 11@500 [1300,1400,1400) futex <- thread 12@600 stack k1;--;u10:2 waker_stack u10:3",
                    "wait 11@500 [1500,1600,1600) futex <- thread 12@600"});
  const Trace trace = t.trace();
  CHECK(trace.sites.size() == 2);
  CHECK(trace.recording.cost.waits_with_stacks == 1);
  CHECK(trace.recording.cost.waits_without_stacks == 1);
  const NamedStacks named = test::named_stacks(t.recording);
  CHECK(test::lines(assemble(std::move(t.recording), named)) == test::lines(trace));
}

TEST_CASE("where no stacks were left out the recording says nothing of it") {
  test::RecordingByHand t = test::two_threads();
  offwait_wait wait = wait_of(11, 1100, 1200, 1200, by_thread(12));
  wait.draw = OFFWAIT_DRAW_TAKEN;
  t.append(wait);
  CHECK(t.recording.records.has_draws());
  CHECK(t.trace().recording.cost == RecordingCost{});
  test::RecordingByHand without = test::two_threads();
  without.wait(11, 1100, 1200, 1200, by_thread(12));
  CHECK(!without.recording.records.has_draws());
}

}  // namespace
}  // namespace offwait
