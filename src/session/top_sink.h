// SPDX-License-Identifier: GPL-2.0-or-later
// A recording that is looked at while it goes on: the flight recorder with a viewer.
//
// Each second the sums of its records go to the viewer (event/seconds.h). Now and then the last full seconds
// are analysed in a forked process, as seldom as the budget demands (session/analysis_budget.h); the viewer
// gets what that sends back.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "capture/recording_source.h"
#include "event/seconds.h"
#include "model/second.h"
#include "model/trace.h"
#include "process/priority.h"
#include "session/analysis_budget.h"
#include "session/flight.h"
#include "session/forked_analysis.h"
#include "session/known_frames.h"
#include "session/recording_options.h"
#include "session/recording_steps.h"
#include "session/sink.h"
#include "symbol/symbolizer.h"

namespace offwait {

/// What the user wants of the recording.
struct TopWishes {
  bool quit = false;
  bool answers = false;  ///< an analysis with answers now
  bool save = false;     ///< the last part of the recording as a file

  void add(const TopWishes& more) {
    quit |= more.quit;
    answers |= more.answers;
    save |= more.save;
  }
};

/// Shows the recording. All is called by the thread that drains the source, except for analyse().
class TopViewer {
 public:
  virtual ~TopViewer() = default;

  /// Readable when look() should be called at once.
  virtual std::vector<int> fds() const = 0;
  virtual Status begin(const AboutRecording& about, Nanos begin) = 0;
  virtual void add(Second second) = 0;
  /// Shows what is new, and takes what the user wants. Is called often.
  virtual Result<TopWishes> look() = 0;
  /// An analysis begins.
  virtual void begins(AnalysisBudget::Kind kind) = 0;
  /// Works in a forked process: an analysis as bytes; empty if there is nothing to show.
  virtual std::string analyse(Trace trace, AnalysisBudget::Kind kind) const = 0;
  /// What analyse() sent, of this part of the recording; empty if it failed.
  virtual void analysed(std::string_view bytes, AnalysisBudget::Kind kind, Window window) = 0;
  /// A sentence for the user; hostile bytes.
  virtual void say(const std::string& sentence) = 0;
  /// The target has ended, or --duration is over. False if the viewer shows nothing any more.
  virtual bool stays() const = 0;
  /// Whether a signal that ends the recording ends the viewer, too.
  virtual bool ends_at_signals() const = 0;
  virtual void ended() = 0;
};

struct TopOptions {
  Nanos length = 60 * kSecond;             ///< how much of the recording is kept, for a file
  double most_overhead = 0.05;             ///< as in AnalysisBudget
  std::function<std::string()> file_name;  ///< of a new recording
  std::vector<std::string> command_line;   ///< offwait's own
};

class TopSink final : public Sink {
 public:
  /// The references outlive it. `priority` is that of this thread; forked processes give it up.
  TopSink(RecordingSource& source, Symbolizer& symbols, Priority& priority, const Subject& subject,
          const RecordingOptions& options, TopOptions top, TopViewer& viewer);

  bool names_functions() const override { return true; }
  bool shows_progress() const override { return false; }
  Status begin(const AboutRecording& about) override;
  std::vector<int> urgent_fds() const override;
  void note(const std::vector<AddressSpace>& changed) override;
  Result<bool> take() override;
  void interrupted() override;
  /// Shows the last seconds until the user quits.
  Status finish(KernelRecording rest, std::vector<std::string>& notes) override;

 private:
  Status take_if_due();
  Status take(Taken what);
  void forget();
  void close_second(Second second);
  /// The kind of analysis that is to begin where this second ends.
  std::optional<AnalysisBudget::Kind> due() const;
  // The forked process takes the tables; here they stay.
  Status start_analysis(AnalysisBudget::Kind kind, KernelRecording& tables);
  Status start_to_save(KernelRecording& tables);
  void look_at_processes();
  /// Takes what a forked process sent: an analysis, and the names that it looked up.
  void take_analysis(const ForkedAnalysis::Done& done);
  /// Waits for the file that is being written, and notes how that ended.
  void end_saving(std::vector<std::string>& notes);
  /// In a forked process: gives up what it needs no more, and completes the tables.
  Status prepare_fork(KernelRecording& tables);
  Result<Trace> trace_of_last(Nanos length, KernelRecording tables);
  std::string save(KernelRecording tables);

  RecordingSource& source_;
  Symbolizer& symbols_;
  Priority& priority_;
  const Subject& subject_;
  const RecordingOptions& options_;
  TopOptions top_;
  TopViewer& viewer_;
  AboutRecording about_;
  const Nanos begin_;
  Flight flight_;
  Seconds seconds_;
  AnalysisBudget budget_;
  KnownFrames known_;
  ForkedAnalysis analysis_;
  ForkedAnalysis saving_;                                    ///< sends back a sentence
  AnalysisBudget::Kind kind_ = AnalysisBudget::Kind::graph;  ///< of the analysis that runs
  Window analysed_{};
  Nanos forks_cost_ = 0;  ///< of processes that ended in this second
  TopWishes wishes_{};
  Nanos next_ = 0;
  Nanos next_counters_ = 0;
  bool stopped_ = false;
};

}  // namespace offwait
