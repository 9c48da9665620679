// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/top_sink.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/monotonic.h"
#include "event/syscalls.h"
#include "unit/event/recordings.h"
#include "unit/session/fake_source.h"
#include "unit/temporary_directory.h"

namespace offwait {
namespace {

using test::by_thread;
using test::RecordingByHand;

/// Notes what it is shown, and wants what a test says.
class FakeViewer final : public TopViewer {
 public:
  std::vector<int> fds() const override { return {}; }
  Status begin(const AboutRecording& about, Nanos begin) override {
    target = about.target;
    begun = begin;
    return success();
  }
  void add(Second second) override { seconds.push_back(std::move(second)); }
  Result<TopWishes> look() override {
    const bool all_done = is_over && done && said.size() >= expected;
    if (all_done) return TopWishes{.quit = true};
    return std::exchange(wishes, {});
  }
  void begins(AnalysisBudget::Kind /*kind*/) override {}
  std::string analyse(Trace trace, AnalysisBudget::Kind /*kind*/) const override {
    std::string text = trace.recording.target + ":";
    for (const Actor& actor : trace.actors) text += " " + actor.name;
    return text;
  }
  void analysed(std::string_view bytes, AnalysisBudget::Kind /*kind*/, Window window) override {
    analyses.emplace_back(bytes);
    windows.push_back(window);
    done = true;
  }
  void say(const std::string& sentence) override { said.push_back(sentence); }
  bool stays() const override { return stay; }
  bool ends_at_signals() const override { return true; }
  void ended() override { is_over = true; }

  std::string target;
  Nanos begun = 0;
  std::vector<Second> seconds;
  std::vector<std::string> analyses;
  std::vector<Window> windows;
  std::vector<std::string> said;
  TopWishes wishes{};
  bool stay = true;
  std::size_t expected = 0;  ///< sentences that it waits for
  bool is_over = false;
  bool done = false;
};

/// A recording that began two seconds ago, of one thread that waited in the first of them.
class Recorded {
 public:
  explicit Recorded(FakeViewer& shown, std::string file = "")
      : viewer(shown),
        sink(source_that_began(), symbols, priority, subject, options, top_options(std::move(file)), viewer) {
    AboutRecording about;
    about.target = "pid 10 (server)";
    about.architecture = native_architecture();
    CHECK(sink.begin(about).ok());
    RecordingByHand part(viewer.begun, viewer.begun + kSecond);
    part.seen(11, 5, static_cast<std::uint64_t>(viewer.begun), "server");
    const auto at = static_cast<std::uint64_t>(viewer.begun) + 1'000'000;
    part.wait(11, at, at + 5'000'000, at + 6'000'000, by_thread(12));
    source.taken = std::move(part.recording);
  }

  FakeViewer& viewer;
  test::FakeSource source;
  Symbolizer symbols;
  Priority priority;
  Subject subject;
  RecordingOptions options;
  TopSink sink;

 private:
  test::FakeSource& source_that_began() {
    source.now = 2 * kSecond;
    return source;
  }
  static TopOptions top_options(std::string file) {
    TopOptions top;
    top.file_name = [file = std::move(file)] { return file; };
    return top;
  }
};

TEST_CASE("a second that was recorded goes to the viewer, with its sums") {
  FakeViewer viewer;
  Recorded recorded(viewer);
  CHECK(recorded.sink.take().value());
  CHECK(viewer.target == "pid 10 (server)");
  REQUIRE(viewer.seconds.size() == 1);
  CHECK(viewer.seconds[0].waits == 1);
  REQUIRE(viewer.seconds[0].threads.size() == 1);
  CHECK(viewer.seconds[0].threads[0].name == "server");
  CHECK(viewer.seconds[0].threads[0].times.all_blocked() == 5'000'000);
}

TEST_CASE("a recording ends when the user quits, and nothing is analysed afterwards") {
  FakeViewer viewer;
  Recorded recorded(viewer);
  viewer.wishes.quit = true;
  CHECK_FALSE(recorded.sink.take().value());
  std::vector<std::string> notes;
  CHECK(recorded.sink.finish({}, notes).ok());
  CHECK(viewer.analyses.empty());
  CHECK_FALSE(viewer.is_over);
}

TEST_CASE("when the target has ended its last seconds are analysed, and shown until the user quits") {
  FakeViewer viewer;
  Recorded recorded(viewer);
  CHECK(recorded.sink.take().value());
  RecordingByHand rest(viewer.begun, viewer.begun + 2 * kSecond);
  std::vector<std::string> notes;
  CHECK(recorded.sink.finish(std::move(rest.recording), notes).ok());
  CHECK(viewer.is_over);
  CHECK(viewer.seconds.size() == 2);
  REQUIRE(viewer.analyses.size() == 1);
  CHECK(viewer.analyses[0] == "pid 10 (server): server");
  CHECK(viewer.windows[0].end == viewer.begun + 2 * kSecond);
}

TEST_CASE("a viewer that shows nothing any more is not waited for") {
  FakeViewer viewer;
  viewer.stay = false;
  Recorded recorded(viewer);
  CHECK(recorded.sink.take().value());
  std::vector<std::string> notes;
  CHECK(recorded.sink.finish({}, notes).ok());
  CHECK(viewer.analyses.empty());
}

TEST_CASE("the last part of a recording is written when the user wants it, or is said why not") {
  const test::TemporaryDirectory directory;
  const std::string file = directory / "saved.offwait";
  for (const std::string& path : {file, directory / "nowhere/file"}) {
    FakeViewer viewer;
    viewer.expected = 2;
    viewer.wishes.save = true;
    Recorded recorded(viewer, path);
    CHECK(recorded.sink.take().value());
    RecordingByHand rest(viewer.begun, viewer.begun + 2 * kSecond);
    std::vector<std::string> notes;
    CHECK(recorded.sink.finish(std::move(rest.recording), notes).ok());
    REQUIRE(viewer.said.size() == 2);
    CHECK(viewer.said[0] == "the last part of the recording is being written");
    CHECK(viewer.said[1].find(path) != std::string::npos);
    CHECK((viewer.said[1].find("has the last 2 s with 1 waits") != std::string::npos) == (path == file));
  }
  CHECK(std::filesystem::file_size(file) > 0);
}

}  // namespace
}  // namespace offwait
