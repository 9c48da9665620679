// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/utc_time.h"
#include "capture/privileges.h"
#include "cli/input.h"
#include "cli/recording_files.h"
#include "cli/top_show.h"
#include "cli/version.h"
#include "model/cut.h"
#include "session/forked_analysis.h"
#include "session/interruption.h"
#include "session/running_recording.h"

namespace offwait::cli {
namespace {

constexpr Nanos kAnalysed = 10 * kSecond;
constexpr Nanos kShortest = kSecond / 10;
/// The recorder's part of the budget: stacks are left out for it. Analyses have what is left.
constexpr double kForRecording = 0.6;

/// Shows a recording that goes on.
class LiveViewer final : public TopViewer {
 public:
  LiveViewer(const TopOptions& options, TopShow& show) : options_(options), show_(show) {}

  std::vector<int> fds() const override { return show_.fds(); }
  Status begin(const AboutRecording& about, Nanos begin) override {
    show_.model().target = about.target;
    show_.model().cpus = about.cpus;
    show_.model().begin = begin;
    return success();
  }
  void add(Second second) override { show_.add(std::move(second)); }
  Result<TopWishes> look() override { return show_.look(true); }
  void begins(AnalysisBudget::Kind kind) override { show_.begins(kind); }
  std::string analyse(Trace trace, AnalysisBudget::Kind kind) const override {
    return analyse_for_top(std::move(trace), kind, options_);
  }
  void analysed(std::string_view bytes, AnalysisBudget::Kind kind, Window window) override {
    show_.analysed(bytes, kind, window);
  }
  void say(const std::string& sentence) override { show_.say(sentence); }
  bool stays() const override { return show_.stays(); }
  bool ends_at_signals() const override { return show_.ends_at_signals(); }
  void ended() override { show_.ended(); }

 private:
  const TopOptions& options_;
  TopShow& show_;
};

Status top_live(const TopOptions& options, bool color, std::vector<std::string>& notes) {
  RecordingOptions recording = options.recording;
  recording.quiet = true;
  recording.recorder_version = kVersion;
  recording.progress_threads = options.analysis.progress.threads;
  recording.max_overhead *= kForRecording;
  if (options.once && !recording.duration) recording.duration = kAnalysed;
  TopModel model;
  model.most_overhead = options.recording.max_overhead;
  // What is wrong is said before the screen is there.
  OFFWAIT_TRY(const std::unique_ptr<RunningRecording> running, RunningRecording::begin(recording));
  OFFWAIT_TRY(TopShow show, TopShow::open(options, color, std::move(model)));
  LiveViewer viewer(options, show);
  offwait::TopOptions top;
  top.most_overhead = options.recording.max_overhead;
  top.file_name = [&options] { return file_name_for(options.recording.target, wall_clock_now()); };
  top.command_line = options.command_line;
  TopSink sink(running->source(), running->symbols(), running->priority(), running->subject(), recording,
               std::move(top), viewer);
  OFFWAIT_TRY(RecordingEnd end, running->record_into(sink));
  notes.insert(notes.end(), end.notes.begin(), end.notes.end());
  return success();
}

/// A recording that is fed as if it went on.
class Replay {
 public:
  Replay(const Trace& trace, const TopOptions& options, TopShow& show)
      : trace_(trace), options_(options), show_(show), next_(trace.window.begin) {}

  bool at_end() const { return next_ >= trace_.window.end; }
  /// How long the second takes that step() adds.
  Nanos length() const { return part().length(); }

  void step() {
    const Window window = part();
    show_.add(second_of(trace_, window));
    next_ = window.end;
    ++seconds_;
  }
  /// What is analysed now, as if by a budget: the graph every other second, and answers each 10 s.
  std::optional<AnalysisBudget::Kind> due() const {
    if (seconds_ == 0) return std::nullopt;
    if (seconds_ % 10 == 0 || at_end()) return AnalysisBudget::Kind::answers;
    return seconds_ % 2 == 0 ? std::optional(AnalysisBudget::Kind::graph) : std::nullopt;
  }
  /// The last full seconds.
  Window analysed() const { return {std::max(trace_.window.begin, next_ - kAnalysed), next_}; }
  std::string analyse(AnalysisBudget::Kind kind) const {
    return analyse_for_top(cut_to(trace_, analysed()), kind, options_);
  }

 private:
  /// What is left at the end is no second of its own.
  Window part() const {
    const Nanos end = std::min(next_ + kSecond, trace_.window.end);
    return {next_, trace_.window.end - end < kShortest ? trace_.window.end : end};
  }

  const Trace& trace_;
  const TopOptions& options_;
  TopShow& show_;
  Nanos next_;
  std::size_t seconds_ = 0;
};

/// The screen, or the lines, at one time of the recording.
Status replay_as_text(Replay& replay, const TopOptions& options, TopShow& show, Nanos until) {
  Nanos gone = 0;
  while (!replay.at_end() && (gone < until || gone == 0)) {
    gone += replay.length();
    replay.step();
    OFFWAIT_TRY_STATUS(show.look(false));
  }
  if (options.batch) return success();
  constexpr AnalysisBudget::Kind kAnswers = AnalysisBudget::Kind::answers;
  show.ended();
  show.analysed(replay.analyse(kAnswers), kAnswers, replay.analysed());
  OFFWAIT_TRY_STATUS(show.look(false));
  return success();
}

/// At the pace of the recording, until the user quits.
Status replay_on_terminal(Replay& replay, TopShow& show, Nanos until) {
  const Interruption interruption;
  ForkedAnalysis analysis;
  AnalysisBudget::Kind kind = AnalysisBudget::Kind::graph;
  Window window;
  for (Nanos gone = 0; !replay.at_end() && gone + kSecond <= until;) {
    gone += replay.length();
    replay.step();
  }
  Nanos next = monotonic_now();
  bool asked = false;
  bool ended = false;
  for (;;) {
    if (const std::optional<ForkedAnalysis::Done> done = analysis.look())
      show.analysed(done->bytes, kind, window);
    std::optional<AnalysisBudget::Kind> due;
    if (!replay.at_end() && monotonic_now() >= next) {
      next = monotonic_now() + replay.length();
      replay.step();
      due = replay.due();
    }
    if (replay.at_end() && !std::exchange(ended, true)) {
      show.ended();
      asked = true;
    }
    if (asked) due = AnalysisBudget::Kind::answers;
    if (due && !analysis.runs()) {
      asked = false;
      kind = *due;
      window = replay.analysed();
      show.begins(kind);
      OFFWAIT_TRY_STATUS(analysis.start([&] { return replay.analyse(kind); }));
    }
    OFFWAIT_TRY(const TopWishes wishes, show.look(false));
    asked |= wishes.answers;
    if (wishes.quit) return success();
    std::vector<pollfd> waits = {{interruption.fd(), POLLIN, 0}, {analysis.fd(), POLLIN, 0}};
    for (const int fd : show.fds()) waits.push_back({fd, POLLIN, 0});
    constexpr int kLookMs = 100;
    if (::poll(waits.data(), waits.size(), kLookMs) < 0 && errno != EINTR)
      return Error{std::string("cannot wait for keys: ") + std::strerror(errno)};
    if (waits[0].revents != 0) return success();
  }
}

Status top_replayed(const TopOptions& options, bool color, std::vector<std::string>& notes) {
  OFFWAIT_TRY_STATUS(give_up_lent_privileges());
  OFFWAIT_TRY(const Input input, Input::open(options.replay));
  OFFWAIT_TRY(ReadTrace read, input.read({}));
  notes = std::move(read.notes);
  const Trace& trace = read.trace;
  TopModel model;
  model.target = trace.recording.target;
  model.state = TopModel::State::replayed;
  model.cpus = trace.recording.cpus;
  model.begin = trace.window.begin;
  OFFWAIT_TRY(TopShow show, TopShow::open(options, color, std::move(model)));
  Replay replay(trace, options, show);
  const bool text = options.once || options.batch;
  const Nanos until = options.at.value_or(text ? kNever : 0);
  return text ? replay_as_text(replay, options, show, until) : replay_on_terminal(replay, show, until);
}

}  // namespace

Status top(const TopOptions& options, bool color, std::vector<std::string>& notes) {
  return options.replay.empty() ? top_live(options, color, notes) : top_replayed(options, color, notes);
}

}  // namespace offwait::cli
