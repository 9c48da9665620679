// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "model/second.h"
#include "report/top_screen.h"
#include "session/analysis_budget.h"
#include "session/top_sink.h"

namespace offwait::cli {

/// Collects what there is to show, and shows it in one of three forms. What feeds it is a recording that goes
/// on or one that is replayed.
class TopShow {
 public:
  /// Opens the terminal, unless text is asked for. `model` is what is known before the first second.
  static Result<TopShow> open(const TopOptions& options, bool color, TopModel model);

  /// Readable when look() should be called.
  std::vector<int> fds() const;
  void add(Second second);
  void begins(AnalysisBudget::Kind kind);
  /// `bytes` as of to_bytes(); what is no findings leaves what was shown before.
  void analysed(std::string_view bytes, AnalysisBudget::Kind kind, Window window);
  void say(const std::string& sentence);
  void ended();
  bool stays() const { return form_ != Form::lines; }
  /// One screen is still written when a signal ends the recording earlier.
  bool ends_at_signals() const { return form_ != Form::once; }
  /// Takes keys, and shows what is new. `saves`: there is a recording to write.
  Result<TopWishes> look(bool saves);

  TopModel& model() { return model_; }

 private:
  enum class Form : std::uint8_t { screen, once, lines };

  TopShow(const TopOptions& options, TopModel model);
  Status write(const std::string& text);

  TopModel model_;
  TopView view_;
  Form form_ = Form::screen;
  std::optional<Terminal> terminal_;
  std::optional<TopModel> paused_;  ///< what is shown meanwhile
  bool changed_ = true;
  bool has_line_ = false;  ///< a second that was not written yet
  bool ended_ = false;
  bool is_last_ = false;  ///< the analysis after the end is there
};

/// What is shown of a part of a recording: TopFindings as bytes; empty if it cannot be analysed.
std::string analyse_for_top(Trace trace, AnalysisBudget::Kind kind, const TopOptions& options);

}  // namespace offwait::cli
