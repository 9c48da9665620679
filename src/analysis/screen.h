// SPDX-License-Identifier: GPL-2.0-or-later
// What a report shows of the findings, and in which order. It is decided here once; renderers only say it in
// their form. How many rows a list inside a section has room for is up to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/findings.h"
#include "analysis/losses.h"
#include "analysis/rankings.h"

namespace offwait {

/// The parts of a report below its head.
enum class ScreenSection : std::uint8_t {
  losses,     ///< what the recording lost: first if it may change the answer, else last
  deadlocks,  ///< Findings::deadlocks
  verdict,    ///< nothing makes progress: deadlocks, and what the wait graph says
  too_short,  ///< the progress, and why it cannot be judged
  answers,    ///< the progress, and what would gain it most
  memory,     ///< what was read from disks again, for lack of memory
  graph,      ///< what the wait graph says, where the answers cannot be judged
  what_ifs,   ///< what the user asked about
  knots,
  sinks,     ///< those that limit
  stopped,   ///< how long threads were stopped or frozen
  runnable,  ///< threads that lacked a CPU
  disks,
  nics,
  false_wakeups,
  wrong_stacks,    ///< how many known stacks turned out to be others
  stack_ends,      ///< how many stacks are cut
  cost,            ///< what recording took
  search,          ///< the steps of the search for knots
  excluded_waits,  ///< long waits that limit nothing
  background,      ///< knots and sinks that limit nothing
  blocked,         ///< threads that never woke
  left_out,        ///< how much of what limits nothing is not shown
};
std::string_view to_string(ScreenSection section);

/// The sentence above the answers.
struct AnswersHeading {
  enum class What : std::uint8_t {
    none,        ///< they speak for themselves
    held_back,   ///< Findings::held_back
    split,       ///< they depend on whose progress counts
    unanswered,  ///< the target did not respond to most connections of a client
    clients,     ///< only what clients of the target do gains anything
    graph,       ///< the target is idle, or waits for a service: what the wait graph says
    unknown,     ///< it is not known whose progress counts, and nothing makes all of it faster
    balanced,    ///< no single change gains much
  };
  What what = What::none;
  double most = 0;  ///< unknown, balanced: no single change gains more
};
std::string_view to_string(AnswersHeading::What what);
/// What the answers themselves say. For findings whose answers can be judged (answers_can_be_judged()).
AnswersHeading heading_of(const Findings& findings);

struct ShownAnswer {
  std::size_t answer = 0;  ///< index into Findings::answers
  bool evidence = false;   ///< with what it rests on
};

/// The answers that are not shown.
struct OtherAnswers {
  std::size_t count = 0;
  double gain = 0;  ///< of the best
};

struct ShownKnot {
  std::size_t knot = 0;                   ///< index into Findings::knots
  std::optional<std::size_t> explains{};  ///< index into Screen::answers
  std::vector<FoundEdgeId> edges{};       ///< heaviest first
};

struct ShownDisk {
  std::size_t disk = 0;   ///< index into Findings::disks
  bool mismatch = false;  ///< its counters and the requests seen differ by so much that it is said
};

/// How many things that limit nothing are not shown, and of how many knots no answer tells.
struct LeftOut {
  std::size_t knots = 0;       ///< that are no background and of no answer shown
  std::size_t waits = 0;       ///< Findings::excluded_waits
  std::size_t background = 0;  ///< knots of no answer shown, and sinks
  std::size_t blocked = 0;     ///< threads that waited throughout
};

/// All that a report shows below its head.
struct Screen {
  std::vector<ScreenSection> sections;  ///< from top to bottom; each has something to say
  LossImpact losses{};
  // What some of them have:
  AnswersHeading heading{};
  /// Other programs have the CPUs that the target lacks, and that may limit: said above the answers.
  bool neighbours = false;
  std::vector<ShownAnswer> answers{};
  std::optional<OtherAnswers> others{};  ///< none: it is not known what else would gain
  std::vector<ShownKnot> knots{};
  bool why_runnable = false;  ///< ScreenSection::runnable says why CPUs are lacking: nothing above it does
  std::vector<ShownDisk> disks{};
  std::vector<std::size_t> nics{};              ///< indices into Findings::nics
  std::vector<std::size_t> background_knots{};  ///< ScreenSection::background: indices into Findings::knots
  LeftOut left_out{};

  bool has(ScreenSection section) const;
};

struct ScreenOptions {
  bool everything = false;  ///< what limits nothing is shown, too
  bool search = false;      ///< ScreenSection::search is shown
};

/// A function of the findings alone, as is every decision in it.
Screen screen_of(const Findings& findings, const ScreenOptions& options = {});

}  // namespace offwait
