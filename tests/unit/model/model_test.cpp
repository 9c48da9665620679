// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "model/by_thread.h"
#include "model/trace.h"

namespace offwait {
namespace {

TEST_CASE("names are those of the report and of the text form") {
  std::string kinds, classes, sources;
  for (int i = 0; i <= 7; ++i) kinds += std::string(to_string(static_cast<ActorKind>(i))) + " ";
  for (int i = 0; i <= 13; ++i) classes += std::string(to_string(static_cast<WaitClass>(i))) + " ";
  for (int i = 0; i <= 4; ++i) sources += std::string(to_string(static_cast<CapacitySource>(i))) + " ";
  CHECK(kinds == "thread group disk nic timer irq softirq ? ");
  CHECK(classes == "disk net futex lock pipe poll sleep child fault other spin stopped frozen ? ");
  CHECK(sources == "given measured assumed reported ? ");
}

TEST_CASE("entries grouped by thread keep their order") {
  const std::vector<ActorId> entries = {2, 0, 2, 3, 2, 0};
  const ByThread by_thread(5, entries, [](ActorId entry) { return entry; });
  const auto of = [&by_thread](ActorId thread) {
    const auto indices = by_thread.of(thread);
    return std::vector<std::uint32_t>(indices.begin(), indices.end());
  };
  CHECK(of(0) == std::vector<std::uint32_t>{1, 5});
  CHECK(of(1).empty());
  CHECK(of(2) == std::vector<std::uint32_t>{0, 2, 4});
  CHECK(of(3) == std::vector<std::uint32_t>{3});
  CHECK(of(4).empty());
}

TEST_CASE("a thread lives from its birth, or from when it was seen, to its exit") {
  Actor thread;
  thread.start = 50;
  thread.exit = 400;
  CHECK(known_life(thread, {100, 300}) == 200);
  CHECK(known_life(thread, {0, 1000}) == 350);
  thread.seen = 250;
  CHECK(known_life(thread, {100, 300}) == 50);
  CHECK(known_life(thread, {500, 600}) == 0);
}

}  // namespace
}  // namespace offwait
