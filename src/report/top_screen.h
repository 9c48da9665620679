// SPDX-License-Identifier: GPL-2.0-or-later
// The screen of `offwait top`: a function from plain values to a plain value. Whatever feeds it (a recording
// that goes on, or a file that is replayed) and whatever puts it out (ncurses, plain text) is elsewhere.
//
// The numbers are of three ages, and each says its own. Waits, states of threads, CPUs, progress and cost are
// those of the seconds that have just ended. The graph (edges, locks, files, disks) is of the last analysis,
// some seconds old. The answers are of the last analysis with a replay, which is made more seldom.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/escape.h"
#include "base/nanos.h"
#include "model/second.h"
#include "report/cells.h"
#include "report/top_findings.h"

namespace offwait {

/// An analysis of a part of the recording.
struct TopAnalysis {
  TopFindings findings;
  Window window;
};

/// All that there is to show. Times are those of the recording.
struct TopModel {
  enum class State : std::uint8_t { live, replayed, ended };

  std::string target;  ///< hostile bytes
  State state = State::live;
  std::uint32_t cpus = 0;
  double most_overhead = 0;              ///< part of the time of all CPUs; 0: no limit, or not known
  Nanos begin = 0;                       ///< when the recording began
  std::deque<Second> seconds{};          ///< the last ones, oldest first; kTopSeconds at most
  std::optional<TopAnalysis> graph{};    ///< the latest analysis
  std::optional<TopAnalysis> answers{};  ///< the latest one with answers
  std::vector<std::string> before{};     ///< the first answers of those before, the latest last; two at most
  bool analyses = false;                 ///< an analysis with answers is under way

  Nanos now() const { return seconds.empty() ? begin : seconds.back().window.end; }
};
inline constexpr std::size_t kTopSeconds = 60;

enum class TopPanel : std::uint8_t { threads, waits, locks, files };
inline constexpr std::size_t kTopPanels = 4;

/// By what the rows of a panel are ordered.
enum class TopSort : std::uint8_t { time, count, name };

/// What the user looks at.
struct TopView {
  int width = 80;
  int height = 24;
  Charset charset = Charset::utf8;
  std::size_t last_s = 10;  ///< how many of the last seconds are summed up, 1 to kTopSeconds
  TopPanel panel = TopPanel::threads;
  std::array<std::string, kTopPanels> chosen{};  ///< the row of each panel, by TopRow::key; empty: the first
  TopSort sort = TopSort::time;
  std::string filter{};  ///< rows whose text has this in it, whatever its case
  bool typing = false;   ///< the filter is being written
  bool paused = false;
  bool stacks = false;  ///< stacks take the room of other panels
  bool help = false;
  std::string message{};  ///< in place of the keys; hostile bytes
};

inline constexpr int kTopLeastWidth = 60;
inline constexpr int kTopLeastHeight = 12;

/// A smaller terminal shows the upper left part of a screen of the least size.
CellScreen top_screen(const TopModel& model, const TopView& view);

/// The rows of a panel as they are shown, by their keys.
std::vector<std::string> top_keys(const TopModel& model, const TopView& view, TopPanel panel);
/// The key of the chosen row; empty without rows.
std::string top_chosen(const TopModel& model, const TopView& view, TopPanel panel);
/// The heaviest edge in which the chosen thread, or the waker of the chosen wait, waits itself: a key of
/// TopPanel::waits. Empty if there is none, or if the panel has neither.
std::string top_waker(const TopModel& model, const TopView& view);

// What keys say:

/// That nothing is waited for by the one that is waited for.
std::string top_no_waker();
/// By what rows are ordered now.
std::string top_sort_text(TopSort sort);
/// That a replayed recording is a file already.
std::string top_nothing_to_save();

/// A line about the last second, for a log. It may be hostile.
std::string top_line(const TopModel& model);

}  // namespace offwait
