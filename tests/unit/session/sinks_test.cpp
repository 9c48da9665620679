// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "event/syscalls.h"
#include "process/priority.h"
#include "session/file_sink.h"
#include "session/flight_sink.h"
#include "session/memory_sink.h"
#include "session/read_recording.h"
#include "unit/event/recordings.h"
#include "unit/session/fake_source.h"
#include "unit/temporary_directory.h"

namespace offwait {
namespace {

using test::by_thread;
using test::kTimer;
using test::RecordingByHand;

constexpr Nanos kFirst = 1000;
constexpr Nanos kHalfway = 2000;
constexpr Nanos kLast = 3000;

void first_half(RecordingByHand& recording) {
  recording.seen(11, 500, kFirst, "client");
  recording.seen(12, 600, kFirst, "server");
  recording.wait(11, 1100, 1200, 1300, by_thread(12));
}

void second_half(RecordingByHand& recording) {
  recording.wait(12, 1400, 2400, 2500, kTimer);
  recording.wait(11, 2100, 2600, 2700, by_thread(12));
  recording.left(11, 500, OFFWAIT_STATE_RUNNING, 2700);
  recording.left(12, 600, OFFWAIT_STATE_BLOCKED, 2800);
}

AboutRecording about() {
  AboutRecording out;
  out.target = "pid 10 (server)";
  out.architecture = native_architecture();
  return out;
}

Trace through_memory() {
  test::FakeSource source;
  Symbolizer symbols;
  const Target target;
  const RecordingOptions options;
  MemorySink sink(source, symbols, target, options);
  RecordingByHand all(kFirst, kLast);
  first_half(all);
  REQUIRE(sink.begin(about()).ok());
  REQUIRE(sink.take().value());
  second_half(all);
  std::vector<std::string> notes;
  REQUIRE(sink.finish(std::move(all.recording), notes).ok());
  CHECK(notes.empty());
  return sink.take_trace();
}

FileSink file_sink(const std::string& path, test::FakeSource& source, Symbolizer& symbols,
                   const Target& target, const RecordingOptions& options) {
  StoringOptions storing;
  storing.file = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  storing.name = path;
  return {source, symbols, target, options, std::move(storing)};
}

/// The first half is taken while the recording goes on.
Trace through_file() {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "f";
  test::FakeSource source;
  Symbolizer symbols;
  const Target target;
  const RecordingOptions options;
  FileSink sink = file_sink(path, source, symbols, target, options);
  REQUIRE(sink.begin(about()).ok());
  sink.start();
  RecordingByHand first(kFirst, kHalfway);
  first_half(first);
  source.taken = std::move(first.recording);
  REQUIRE(sink.take().value());
  RecordingByHand second(kFirst, kLast);
  second_half(second);
  REQUIRE(sink.stop().ok());
  std::vector<std::string> notes;
  REQUIRE(sink.finish(std::move(second.recording), notes).ok());
  CHECK(notes.empty());
  CHECK(sink.waits() == 3);
  CHECK(sink.window_ns() == kLast - kFirst);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Result<ReadTrace> read = read_recording(file.get(), path);
  REQUIRE(read.ok());
  CHECK(read->notes.empty());
  return std::move(read->trace);
}

}  // namespace

TEST_CASE("a recording says the same whether it is kept in memory or in a file") {
  const std::vector<std::string> lines = test::lines(through_memory());
  CHECK(lines.size() == 7);
  CHECK(lines == test::lines(through_file()));
}

TEST_CASE("a recording in memory ends when that is full") {
  test::FakeSource source;
  Symbolizer symbols;
  const Target target;
  const RecordingOptions options;
  MemorySink sink(source, symbols, target, options);
  source.full = true;
  CHECK_FALSE(sink.take().value());
}

TEST_CASE("a recording of a cgroup without processes cannot be analysed") {
  test::FakeSource source;
  Symbolizer symbols;
  Target target;
  target.cgroup = Cgroup{};
  target.cgroup->name = "/empty";
  const RecordingOptions options;
  MemorySink sink(source, symbols, target, options);
  REQUIRE(sink.begin(about()).ok());
  std::vector<std::string> notes;
  const Status finished = sink.finish(std::move(RecordingByHand(kFirst, kLast).recording), notes);
  REQUIRE_FALSE(finished.ok());
  const std::string nobody =
      "no process was in the cgroup /empty while it was recorded: there is nothing to analyse";
  CHECK(finished.error().message == nobody);

  // A file stays what it is.
  const test::TemporaryDirectory directory;
  FileSink file = file_sink(directory / "f", source, symbols, target, options);
  REQUIRE(file.begin(about()).ok());
  REQUIRE(file.finish(std::move(RecordingByHand(kFirst, kLast).recording), notes).ok());
  CHECK(notes == std::vector{nobody});
}

TEST_CASE("a file that cannot be written ends its recording") {
  test::FakeSource source;
  Symbolizer symbols;
  const Target target;
  const RecordingOptions options;
  FileSink sink = file_sink("/dev/full", source, symbols, target, options);
  const Status begun = sink.begin(about());
  REQUIRE_FALSE(begun.ok());
  CHECK(begun.error().message.find("/dev/full") != std::string::npos);
}

TEST_CASE("a flight recorder writes its last part at the end") {
  const test::TemporaryDirectory directory;
  test::FakeSource source;
  Symbolizer symbols;
  Priority priority;
  const Subject subject;
  RecordingOptions options;
  options.quiet = true;
  FlightOptions flight;
  flight.labels = {{"node", "a"}};
  const std::string flights = directory / "flights";
  Result<FlightFiles> files = FlightFiles::open(flights, 1);
  REQUIRE(files.ok());
  // A flight has the times of this machine.
  const Nanos begin = monotonic_now();
  const auto at = [begin](Nanos seconds) { return static_cast<std::uint64_t>(begin + seconds * kSecond); };
  FlightSink sink(source, symbols, priority, subject, options, flight, std::move(files).value());
  priority.end();
  REQUIRE(sink.begin(about()).ok());
  RecordingByHand first(begin, begin + 10 * kSecond);
  first.seen(11, 500, at(0), "client");
  first.wait(11, at(1), at(2), at(3), kTimer);
  source.taken = std::move(first.recording);
  REQUIRE(sink.take().value());
  RecordingByHand second(begin, begin + 20 * kSecond);
  second.wait(11, at(11), at(12), at(13), kTimer);
  second.left(11, 500, OFFWAIT_STATE_RUNNING, at(13));
  std::vector<std::string> notes;
  REQUIRE(sink.finish(std::move(second.recording), notes).ok());
  std::vector<std::string> written;
  for (const auto& entry : std::filesystem::directory_iterator(flights)) written.push_back(entry.path());
  REQUIRE(written.size() == 1);
  CHECK(written[0].ends_with("-end.offwait"));
  const UniqueFd file(::open(written[0].c_str(), O_RDONLY | O_CLOEXEC));
  const Result<ReadTrace> read = read_recording(file.get(), written[0]);
  INFO((read.ok() ? "" : read.error().message));
  REQUIRE(read.ok());
  REQUIRE(read->trace.actors.size() == 2);
  CHECK(read->trace.actors[0].name == "client");
  REQUIRE(read->trace.waits.size() == 2);
  CHECK(read->trace.waits[0].block == begin + 1 * kSecond);
  CHECK(read->trace.waits[1].run == begin + 13 * kSecond);
  const std::vector<Label>& labels = read->trace.recording.labels;
  REQUIRE(labels.size() == 2);
  CHECK(labels[0].name == "node");
  CHECK(labels[1].name == "trigger");
  CHECK(labels[1].value == "end");
}

}  // namespace offwait
