// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/moved_stacks.h"

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

namespace offwait {
namespace {

using Threads = std::vector<std::pair<std::uint32_t, offwait_thread>>;

std::uint32_t id_of(std::uint32_t generation, std::uint32_t hash) {
  return generation << OFFWAIT_STACK_HASH_BITS | hash;
}

offwait_stack stack_at(std::uint64_t pc) {
  offwait_stack stack{};
  stack.frames = 1;
  stack.pc[0] = pc;
  return stack;
}

MovedStacks with(const std::vector<std::uint32_t>& ids) {
  MovedStacks stacks;
  for (const std::uint32_t id : ids) stacks.add(id, stack_at(id));
  return stacks;
}

offwait_thread waits_in(std::uint32_t user, std::uint32_t kernel) {
  offwait_thread thread{};
  thread.wait_user = user;
  thread.wait_kernel = kernel;
  return thread;
}

offwait_thread woken_by(std::uint32_t user, std::uint32_t kernel) {
  offwait_thread thread{};
  thread.waker_user = user;
  thread.waker_kernel = kernel;
  return thread;
}

}  // namespace

TEST_CASE("a moved stack is found by its id") {
  const MovedStacks stacks = with({7, 8});
  REQUIRE(stacks.find(7) != nullptr);
  CHECK(stacks.find(7)->pc[0] == 7);
  CHECK(stacks.find(9) == nullptr);
  KernelRecording recording;
  stacks.add_to(recording);
  CHECK(recording.stacks.size() == 2);
  CHECK(recording.stacks.at(8).pc[0] == 8);
}

TEST_CASE("a moved stack goes when the window has passed its last use by a thread") {
  MovedStacks stacks = with({1, 2, 3, 4, 5});
  // Nobody knows yet which of them threads have.
  stacks.forget_before(1000);
  CHECK(stacks.size() == 5);

  stacks.note_threads(Threads{{10, waits_in(1, 2)}, {11, woken_by(3, 4)}}, 100);
  // A record of the last moment before 100 may refer to 5.
  stacks.forget_before(99);
  CHECK(stacks.find(5) != nullptr);
  stacks.forget_before(100);
  CHECK(stacks.find(5) == nullptr);
  CHECK(stacks.size() == 4);

  // Thread 10 still waits, and thread 11 has ended.
  stacks.note_threads(Threads{{10, waits_in(1, 2)}}, 200);
  stacks.forget_before(199);
  CHECK(stacks.size() == 4);
  stacks.forget_before(200);
  CHECK(stacks.size() == 2);
  stacks.note_threads(Threads{{10, waits_in(1, 2)}}, 100'000);
  stacks.forget_before(100'000);
  CHECK(stacks.size() == 2);

  // It ran, so a record up to 100,100 may have them, even though they were there at 100,000 for the last
  // time.
  stacks.note_threads(Threads{{10, waits_in(77, 78)}}, 100'100);
  stacks.forget_before(100'050);
  CHECK(stacks.size() == 2);
  // What was noted once stays so.
  stacks.note_threads(Threads{{10, waits_in(77, 78)}}, 100'200);
  stacks.forget_before(100'100);
  CHECK(stacks.size() == 0);
}

TEST_CASE("the interface in place of the waker's kernel stack is no stack") {
  MovedStacks stacks = with({1});
  offwait_thread thread{};
  thread.in_flight_ns = 5;
  thread.waker_nic = 1;
  stacks.note_threads(Threads{{10, thread}}, 100);
  stacks.forget_before(100);
  CHECK(stacks.size() == 0);
}

TEST_CASE("no generation begins whose ids name other stacks") {
  MovedStacks stacks = with({id_of(1, 5), id_of(1, 6), id_of(255, 5)});
  CHECK(stacks.generation_after(254) == 0);
  CHECK(stacks.generation_after(0) == 2);
  stacks.note_threads(Threads{{10, waits_in(id_of(1, 5), 0)}}, 100);
  stacks.forget_before(100);
  CHECK(stacks.generation_after(254) == 255);
  CHECK(stacks.generation_after(0) == 2);
  stacks.note_threads({}, 200);
  stacks.forget_before(200);
  CHECK(stacks.generation_after(0) == 1);

  for (std::uint32_t generation = 0; generation < OFFWAIT_STACK_GENERATIONS; ++generation)
    stacks.add(id_of(generation, 1), stack_at(1));
  CHECK(stacks.generation_after(3) == std::nullopt);
}

}  // namespace offwait
