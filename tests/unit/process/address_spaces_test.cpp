// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/address_spaces.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace offwait {
namespace {

using Tgids = std::set<std::int32_t>;

/// A page of executable memory that is unmapped on destruction.
class Page {
 public:
  Page() : at_(::mmap(nullptr, size(), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(at_ != MAP_FAILED);
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() { ::munmap(at_, size()); }

  bool is_in(const AddressSpace& space) const {
    const auto address = reinterpret_cast<std::uint64_t>(at_);
    return std::any_of(space.mappings.begin(), space.mappings.end(), [address](const Mapping& mapping) {
      return mapping.begin <= address && address < mapping.end;
    });
  }

 private:
  static std::size_t size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
  void* at_;
};

/// A process that does nothing and is ended on destruction.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0) {
      ::pause();
      ::_exit(0);
    }
    REQUIRE(pid_ > 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  std::int32_t pid() const { return pid_; }
  void end() {
    if (pid_ > 0 && !ended_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      ended_ = true;
    }
  }

 private:
  pid_t pid_;
  bool ended_ = false;
};

TEST_CASE("processes are due when they are asked for, and all of them once a second") {
  const Child child;
  AddressSpaces spaces;
  CHECK(spaces.take_due(0).empty());
  spaces.look_soon(::getpid());
  spaces.look_soon(child.pid());
  spaces.look_soon(child.pid());
  CHECK(spaces.take_due(1) == Tgids{::getpid(), child.pid()});
  CHECK(spaces.take_due(1).empty());
  REQUIRE(spaces.look_at(::getpid()) != nullptr);
  CHECK(spaces.take_due(kSecond - 1).empty());
  // The child was never looked at.
  CHECK(spaces.take_due(kSecond) == Tgids{::getpid()});
  CHECK(spaces.take_due(kSecond).empty());
  REQUIRE(spaces.look_at(child.pid()) != nullptr);
  spaces.look_soon(child.pid());
  CHECK(spaces.take_due(kSecond + 1) == Tgids{child.pid()});
  CHECK(spaces.take_due(2 * kSecond) == Tgids{::getpid(), child.pid()});
}

TEST_CASE(
    "looks at all that is followed take 2 % of the time at most, and what is asked for is due at once") {
  constexpr Nanos kLook = 30'000'000;
  Nanos clock = 0;
  AddressSpaces spaces([&clock] { return clock += kLook; });
  spaces.look_soon(::getpid());
  CHECK(spaces.take_due(0) == Tgids{::getpid()});
  spaces.look_at(::getpid());  // the first look does not count
  CHECK(spaces.take_due(kSecond) == Tgids{::getpid()});
  spaces.look_at(::getpid());
  spaces.look_at(::getpid());  // neither does one that was not due
  CHECK(spaces.take_due(kSecond + 50 * kLook - 1).empty());
  spaces.look_soon(::getpid());
  CHECK(spaces.take_due(kSecond + 50 * kLook - 1) == Tgids{::getpid()});
  CHECK(spaces.take_due(kSecond + 50 * kLook) == Tgids{::getpid()});
}

TEST_CASE("only a look that differs from the one before is a change") {
  AddressSpaces spaces;
  REQUIRE(spaces.look_at(::getpid()) != nullptr);
  std::vector<AddressSpace> changed = spaces.take_changed();
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].tgid == ::getpid());
  CHECK_FALSE(changed[0].mappings.empty());
  spaces.look_at(::getpid());
  CHECK(spaces.take_changed().empty());

  const Page page;
  CHECK_FALSE(page.is_in(changed[0]));
  const AddressSpace* const now = spaces.look_at(::getpid());
  REQUIRE(now != nullptr);
  CHECK(page.is_in(*now));
  spaces.look_at(::getpid());
  changed = spaces.take_changed();
  REQUIRE(changed.size() == 1);
  CHECK(page.is_in(changed[0]));
}

TEST_CASE("after an exec the next look is a change, whatever it finds") {
  AddressSpaces spaces;
  spaces.look_at(::getpid());
  CHECK(spaces.take_changed().size() == 1);
  spaces.begin_anew(::getpid());
  CHECK(spaces.take_due(0) == Tgids{::getpid()});
  spaces.look_at(::getpid());
  CHECK(spaces.take_changed().size() == 1);
  spaces.look_at(::getpid());
  CHECK(spaces.take_changed().empty());
}

TEST_CASE("a process that is gone is no longer followed, but its last mappings are kept") {
  Child child;
  AddressSpaces spaces;
  REQUIRE(spaces.look_at(child.pid()) != nullptr);
  child.end();
  CHECK(spaces.look_at(child.pid()) == nullptr);
  CHECK(spaces.take_due(0).empty());
  const std::vector<AddressSpace> changed = spaces.take_changed();
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].tgid == child.pid());
  CHECK_FALSE(changed[0].mappings.empty());
}

TEST_CASE("a process that is gone is told once, unless its number is in use again") {
  Child child;
  AddressSpaces spaces;
  REQUIRE(spaces.look_at(child.pid()) != nullptr);
  CHECK(spaces.take_gone().empty());
  child.end();
  spaces.look_at(child.pid());
  CHECK(spaces.take_gone() == std::vector<std::int32_t>{child.pid()});
  spaces.look_at(child.pid());
  CHECK(spaces.take_gone().empty());
}

constexpr std::int32_t kFork = 0x7ffffff0;  // no process has such a number

TEST_CASE("a forked process is a copy of its parent, and is looked at in the next round of all") {
  for (const auto copies : {AddressSpaces::Copies::named, AddressSpaces::Copies::with_mappings}) {
    AddressSpaces spaces;
    spaces.look_at(::getpid());
    const Child child;
    spaces.begin_as_copy(child.pid(), ::getpid());
    spaces.begin_as_copy(kFork, child.pid());
    const std::vector<AddressSpace> changed = spaces.take_changed(copies);
    REQUIRE(changed.size() == 3);
    const auto of = [&changed](std::int32_t tgid) {
      const auto found = std::ranges::find(changed, tgid, &AddressSpace::tgid);
      REQUIRE(found != changed.end());
      return *found;
    };
    const AddressSpace original = of(::getpid());
    CHECK(original.copied_from == 0);
    for (const AddressSpace& copy : {of(child.pid()), of(kFork)}) {
      CHECK(copy.copied_from == ::getpid());
      const bool has = copies == AddressSpaces::Copies::with_mappings;
      CHECK(copy.mappings == (has ? original.mappings : std::vector<Mapping>()));
    }
    CHECK(spaces.take_due(0) == Tgids{::getpid(), child.pid(), kFork});
    CHECK(spaces.look_at(kFork) == nullptr);
    REQUIRE(spaces.look_at(child.pid()) != nullptr);
    const std::vector<AddressSpace> looked_at = spaces.take_changed();
    REQUIRE(looked_at.size() == 1);
    CHECK(looked_at[0].copied_from == 0);
    CHECK(looked_at[0].mappings == original.mappings);
    CHECK(spaces.take_due(kSecond) == Tgids{::getpid(), child.pid()});
  }
}

TEST_CASE("a forked process is due at once if its parent was not looked at since it runs its program") {
  AddressSpaces spaces;
  spaces.take_due(0);
  spaces.begin_as_copy(kFork, ::getpid());
  CHECK(spaces.take_changed().empty());
  CHECK(spaces.take_due(1) == Tgids{kFork});
  spaces.look_at(::getpid());
  spaces.begin_anew(::getpid());
  spaces.take_changed();
  spaces.begin_as_copy(kFork, ::getpid());
  CHECK(spaces.take_changed().empty());
  CHECK(spaces.take_due(1) == Tgids{::getpid(), kFork});
}

TEST_CASE("a forked process that runs another program has no mappings until it is looked at") {
  AddressSpaces spaces;
  spaces.look_at(::getpid());
  spaces.take_due(0);
  for (const bool is_known : {false, true}) {
    INFO(is_known);
    spaces.begin_as_copy(kFork, ::getpid());
    if (is_known) spaces.take_changed();
    spaces.begin_anew(kFork);
    CHECK(spaces.take_due(1) == Tgids{kFork});
    const std::vector<AddressSpace> changed = spaces.take_changed();
    REQUIRE_FALSE(changed.empty());
    CHECK(changed.back().tgid == kFork);
    CHECK(changed.back().mappings.empty());
    CHECK(changed.back().copied_from == 0);
  }
}

TEST_CASE("a forked process that ends before it was looked at is gone, and its mappings are kept") {
  AddressSpaces spaces;
  spaces.look_at(::getpid());
  spaces.begin_as_copy(kFork, ::getpid());
  CHECK(spaces.end_copy(kFork));
  CHECK_FALSE(spaces.end_copy(kFork));
  CHECK_FALSE(spaces.end_copy(::getpid()));
  CHECK(spaces.take_gone() == std::vector<std::int32_t>{kFork});
  CHECK(spaces.take_changed().size() == 2);
  CHECK(spaces.take_due(0) == Tgids{::getpid()});
}

TEST_CASE("a look at all processes includes those that were asked for") {
  const Child child;
  AddressSpaces spaces;
  spaces.look_at(::getpid());
  spaces.look_soon(child.pid());
  spaces.take_changed();
  const Page page;
  spaces.look_at_all();
  const std::vector<AddressSpace> changed = spaces.take_changed();
  CHECK(changed.size() == 2);
  CHECK(spaces.take_due(0) == Tgids{::getpid(), child.pid()});
}

}  // namespace
}  // namespace offwait
