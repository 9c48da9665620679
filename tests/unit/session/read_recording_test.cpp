// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/read_recording.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "event/syscalls.h"
#include "recording_file/recording_writer.h"
#include "unit/event/recordings.h"
#include "unit/temporary_directory.h"

namespace offwait {
namespace {

using test::RecordingByHand;

constexpr Nanos kRecordingBegin = 1000 * kSecond;
constexpr std::uint64_t kMega = 1'000'000;

std::uint64_t number(Nanos time) { return static_cast<std::uint64_t>(time); }

/// 20 s of a thread that is preempted 10,000 times a second.
std::string write_recording(const test::TemporaryDirectory& directory) {
  const std::string path = directory / "f";
  RecordingWriter writer(UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)), path);
  AboutRecording about;
  about.architecture = native_architecture();
  REQUIRE(writer.begin(about).ok());
  constexpr Nanos kEach = kSecond / 10'000;
  for (Nanos end = kRecordingBegin + kSecond; end <= kRecordingBegin + 20 * kSecond; end += kSecond) {
    RecordingByHand part(kRecordingBegin, end);
    if (end == kRecordingBegin + kSecond) part.seen(11, 500, number(kRecordingBegin), "busy");
    for (Nanos at = end - kSecond; at < end; at += kEach)
      part.append(test::preemption_of(11, number(at + kEach / 4), number(at + kEach / 2)));
    part.left(11, 500, OFFWAIT_STATE_RUNNING, number(end - kEach / 2));
    REQUIRE(writer.write({std::move(part.recording), true, {}}).ok());
  }
  REQUIRE(writer.finish({}, {}, {}).ok());
  return path;
}

Result<ReadTrace> read(const std::string& path, const TracePart& part, std::uint64_t memory) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return read_recording(file.get(), "f", part, memory);
}

TEST_CASE("of a recording that does not fit into memory the latest part is read, and a note says so") {
  const test::TemporaryDirectory directory;
  const std::string path = write_recording(directory);
  const Result<ReadTrace> all = read(path, {}, 1000 * kMega);
  REQUIRE(all.ok());
  CHECK(all->notes.empty());
  CHECK(all->trace.window.length() == 20 * kSecond);
  CHECK(all->trace.preemptions.size() == 200'000);

  const Result<ReadTrace> some = read(path, {}, 56 * kMega);
  REQUIRE(some.ok());
  const Window& window = some->trace.window;
  CHECK(window.end == kRecordingBegin + 20 * kSecond);
  CHECK(window.length() > kSecond);
  CHECK(window.length() < 10 * kSecond);
  CHECK(static_cast<Nanos>(some->trace.preemptions.size()) == window.length() / (kSecond / 10'000));
  REQUIRE(some->notes.size() == 1);
  CHECK(some->notes[0].find(" s up to the end: more does not fit into 56 MB of memory (--max-memory)") !=
        std::string::npos);

  // A part is cut to its own end.
  const Result<ReadTrace> part = read(path, {.from = kSecond, .to = 15 * kSecond}, 56 * kMega);
  REQUIRE(part.ok());
  CHECK(part->trace.window.end == kRecordingBegin + 15 * kSecond);
  CHECK(part->trace.window.length() < 10 * kSecond);
  CHECK(part->notes.at(0).find(" s up to 15.0 s: more does not fit") != std::string::npos);
  // One that fits is whole.
  const Result<ReadTrace> last = read(path, {.last = kSecond}, 56 * kMega);
  REQUIRE(last.ok());
  CHECK(last->notes.empty());
  CHECK(last->trace.window.length() == kSecond);
}

TEST_CASE("what actors take counts as well") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  RecordingWriter writer(UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)), path);
  AboutRecording about;
  about.architecture = native_architecture();
  REQUIRE(writer.begin(about).ok());
  std::uint32_t tid = 100;
  for (Nanos end = kRecordingBegin + kSecond; end <= kRecordingBegin + 20 * kSecond; end += kSecond) {
    RecordingByHand part(kRecordingBegin, end);
    for (Nanos at = end - kSecond; at < end; at += kSecond / 1000, ++tid) {
      part.born(tid, number(at), "conn");
      part.exited(tid, number(at + 1000));
    }
    REQUIRE(writer.write({std::move(part.recording), true, {}}).ok());
  }
  REQUIRE(writer.finish({}, {}, {}).ok());
  // 20,000 threads are 40 MB.
  const Result<ReadTrace> all = read(path, {}, 100 * kMega);
  REQUIRE(all.ok());
  CHECK(all->notes.empty());
  const Result<ReadTrace> some = read(path, {}, 70 * kMega);
  REQUIRE(some.ok());
  CHECK(some->notes.size() == 1);
  CHECK(some->trace.actors.size() > 1000);
  CHECK(some->trace.actors.size() < 15'000);
}

TEST_CASE("where nothing fits, one line says what to do") {
  const test::TemporaryDirectory directory;
  const Result<ReadTrace> none = read(write_recording(directory), {}, 49 * kMega);
  REQUIRE_FALSE(none.ok());
  CHECK(
      none.error().message ==
      "f: a report of it takes more than 49 MB of memory: allow more with --max-memory, or ask for less with "
      "--last");
}

}  // namespace
}  // namespace offwait
