// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/recording_loop.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "unit/session/fake_source.h"

namespace offwait {
namespace {

using Told = std::vector<std::string>;

/// Notes what it is told.
class FakeSink : public Sink {
 public:
  bool names_functions() const override { return false; }
  Status begin(const AboutRecording& /*about*/) override { return success(); }
  void note(const std::vector<AddressSpace>& changed) override {
    std::string all = "note";
    for (const AddressSpace& space : changed) all += " " + std::to_string(space.tgid);
    calls.push_back(all);
  }
  Result<bool> take() override {
    calls.emplace_back("take");
    if (failure) return *failure;
    return --room > 0;
  }
  Status finish(KernelRecording /*rest*/, std::vector<std::string>& /*notes*/) override { return success(); }

  Told calls;
  int room = 1000;
  std::optional<Error> failure;
};

/// These tests end by other means.
Target endless() {
  Target target;
  target.all = true;
  return target;
}

AddressSpace space_of(std::int32_t tgid) {
  AddressSpace space;
  space.tgid = tgid;
  return space;
}

struct Loop {
  Status run(std::optional<Nanos> duration, int interruption = -1) {
    return drain_until_end(source, sink, symbols, target, duration, interruption, [this] { ++drained; });
  }
  test::FakeSource source;
  FakeSink sink;
  Symbolizer symbols;
  Target target = endless();
  int drained = 0;
};

}  // namespace

TEST_CASE("a recording goes on until its duration is over, and each drain reaches the sink") {
  Loop recording;
  recording.source.mappings = {space_of(11)};
  REQUIRE(recording.run(3 * recording.source.step).ok());
  CHECK(recording.source.drains == 3);
  CHECK(recording.drained == 3);
  CHECK(recording.sink.calls == Told{"note 11", "take", "note", "take", "note", "take"});
  CHECK(recording.source.copies == AddressSpaces::Copies::named);
}

TEST_CASE("a recording ends when its sink has no more room, or cannot take more") {
  Loop full;
  full.sink.room = 2;
  REQUIRE(full.run(std::nullopt).ok());
  CHECK(full.source.drains == 2);

  Loop broken;
  broken.sink.failure = Error{"no space left"};
  const Status failed = broken.run(std::nullopt);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().message == "no space left");
  CHECK(broken.source.drains == 1);

  Loop unread;
  unread.source.failure = Error{"cannot read"};
  const Status unreadable = unread.run(std::nullopt);
  REQUIRE_FALSE(unreadable.ok());
  CHECK(unreadable.error().message == "cannot read");
  CHECK(unread.sink.calls.empty());
}

TEST_CASE("what was recorded before a signal is drained") {
  Loop recording;
  const UniqueFd readable(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  REQUIRE(recording.run(std::nullopt, readable.get()).ok());
  CHECK(recording.source.drains == 1);
  CHECK(recording.sink.calls == Told{"note", "take"});
}

TEST_CASE("a recording ends when its target is gone") {
  Loop recording;
  recording.target.all = false;
  REQUIRE(recording.run(std::nullopt).ok());
  CHECK(recording.source.drains == 0);
}

TEST_CASE("the mappings of a process that is left out are not noted") {
  test::FakeSource source;
  FakeSink sink;
  Symbolizer symbols;
  source.mappings = {space_of(11), space_of(12)};
  note_mappings(source, symbols, sink, 11);
  CHECK(sink.calls == Told{"note 12"});
}

}  // namespace offwait
