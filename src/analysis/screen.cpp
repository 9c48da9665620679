// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/screen.h"

#include <algorithm>
#include <iterator>

#include "analysis/blocked_places.h"
#include "analysis/memory_reads.h"

namespace offwait {

namespace {

/// Where the target does not respond, its client's work is a consequence of that, and is not listed.
std::vector<const FoundAnswer*> answers_below(AnswersHeading::What heading, const Findings& findings) {
  std::vector<const FoundAnswer*> out = distinct_answers(findings);
  if (heading == AnswersHeading::What::unanswered) {
    std::erase_if(out, [](const FoundAnswer* answer) { return answer->doubt == Doubt::unanswered; });
  }
  return out;
}

std::vector<ShownAnswer> shown_answers(const Findings& findings, const std::vector<const FoundAnswer*>& all,
                                       bool everything) {
  const std::size_t count = everything ? all.size() : first_answers(all).size();
  std::vector<ShownAnswer> out;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_first_of_progress = i == 0 || all[i]->progress != all.front()->progress;
    out.push_back(
        {static_cast<std::size_t>(all[i] - findings.answers.data()), everything || is_first_of_progress});
  }
  return out;
}

/// None if a number would pretend to know more than the answers do.
std::optional<OtherAnswers> others_of(const Findings& findings, AnswersHeading::What heading,
                                      const std::vector<const FoundAnswer*>& all, std::size_t shown) {
  const bool all_known = shown < all.size() || has_all_answers(findings);
  const bool is_elsewhere =
      heading == AnswersHeading::What::unanswered || heading == AnswersHeading::What::unknown;
  if (is_elsewhere || all.empty() || all.front()->certainty == Certainty::rough || !all_known)
    return std::nullopt;
  OtherAnswers out{all.size() - shown, 0};
  for (std::size_t i = shown; i < all.size(); ++i) out.gain = std::max(out.gain, most_of(*all[i]));
  return out;
}

/// The first of the answers that the knot is part of.
std::optional<std::size_t> explained_answer(const Findings& findings, std::size_t knot,
                                            const std::vector<ShownAnswer>& answers) {
  const auto found = std::find_if(answers.begin(), answers.end(), [&](const ShownAnswer& shown) {
    return findings.answers[shown.answer].knot == knot;
  });
  return found == answers.end() ? std::nullopt
                                : std::optional(static_cast<std::size_t>(found - answers.begin()));
}

/// Idle edges of devices are left out beside answers, because they explain none.
std::vector<FoundEdgeId> edges_of(const Findings& findings, const FoundKnot& knot, bool idle_ones) {
  std::vector<FoundEdgeId> out;
  std::copy_if(knot.edges.begin(), knot.edges.end(), std::back_inserter(out),
               [&](FoundEdgeId id) { return idle_ones || !findings.edges[id].idle; });
  return out;
}

/// Where there are answers, a knot is evidence for them. Without them it is the answer.
void add_knots(const Findings& findings, bool answered, bool everything, Screen& screen) {
  for (std::size_t i = 0; i < findings.knots.size(); ++i) {
    const FoundKnot& knot = findings.knots[i];
    const std::optional<std::size_t> explains =
        answered ? explained_answer(findings, i, screen.answers) : std::nullopt;
    const bool shown = answered ? explains || (everything && !knot.background)
                                : !knot.background || findings.verdict.kind() == Verdict::Kind::background;
    if (shown) {
      screen.knots.push_back({i, explains, edges_of(findings, knot, everything || !answered)});
    } else if (knot.background) {
      screen.background_knots.push_back(i);
    }
  }
}

bool is_waited_for(const Findings& findings, FoundActorId device) {
  return std::any_of(findings.edges.begin(), findings.edges.end(), [&](const FoundEdge& edge) {
    return edge.to == device && !findings.actors[edge.from].outside;
  });
}

/// A device is shown if the target uses it or waits for it, or if an answer, a knot or a sink names it.
bool concerns_target(const Findings& findings, FoundActorId device) {
  const auto is_it = [device](const auto& one) { return one.device == device; };
  const auto has_it = [device](const FoundKnot& knot) {
    return std::binary_search(knot.actors.begin(), knot.actors.end(), device);
  };
  const auto is_full = [device](const FoundSink& sink) { return sink.actor == device && sink.limits(); };
  return is_waited_for(findings, device) ||
         std::any_of(findings.answers.begin(), findings.answers.end(), is_it) ||
         std::any_of(findings.knots.begin(), findings.knots.end(), has_it) ||
         std::any_of(findings.sinks.begin(), findings.sinks.end(), is_full);
}

bool concerns_target(const Findings& findings, const FoundDisk& disk) {
  return disk.users.empty() || concerns_target(findings, disk.actor) ||
         std::any_of(disk.users.begin(), disk.users.end(), [&findings](const FoundDiskUser& user) {
           return user.actor && user.ios > 0 && !findings.actors[*user.actor].outside;
         });
}

/// Whether an answer that is shown is about the disk. Without answers any disk may be the answer.
bool is_of_an_answer(const Findings& findings, FoundActorId disk, const Screen& screen, bool answered) {
  return !answered ||
         std::any_of(screen.answers.begin(), screen.answers.end(),
                     [&](const ShownAnswer& shown) { return findings.answers[shown.answer].device == disk; });
}

void add_devices(const Findings& findings, bool answered, bool everything, Screen& screen) {
  for (std::size_t i = 0; i < findings.disks.size(); ++i) {
    const FoundDisk& disk = findings.disks[i];
    if (!everything && !concerns_target(findings, disk)) continue;
    const bool mismatch = disk.check && disk.check->mismatch &&
                          (everything || is_of_an_answer(findings, disk.actor, screen, answered));
    screen.disks.push_back({i, mismatch});
  }
  for (std::size_t i = 0; i < findings.nics.size(); ++i) {
    if (everything || concerns_target(findings, findings.nics[i].actor)) screen.nics.push_back(i);
  }
}

bool was_stopped(const Findings& findings) {
  constexpr double kMuchStopped = 0.01;  // of the window
  const double all_s = findings.totals.stopped_s + findings.totals.frozen_s;
  return all_s >= kMuchStopped * findings.window_s && findings.verdict.rule != Verdict::Rule::stopped;
}

/// The first screen has named the cause if the lack of CPUs is the answer, or if others have the CPUs.
bool is_cause_of_lack_said(const Findings& findings, bool answered, const Screen& screen) {
  return answered ? screen.neighbours : findings.verdict.rule == Verdict::Rule::lacks_cpu;
}

/// Whether a lack of CPUs may be what limits: more CPUs are an answer, the first answer is about CPU work or
/// has no number, or no answer is shown.
bool may_lack_cpus(const Findings& findings, const std::vector<ShownAnswer>& shown) {
  if (shown.empty()) return true;
  const FoundAnswer& first = findings.answers[shown.front().answer];
  return first.what == Resource::cpu || first.certainty == Certainty::rough ||
         std::any_of(shown.begin(), shown.end(), [&findings](const ShownAnswer& one) {
           return findings.answers[one.answer].what == Resource::cpus;
         });
}

bool woke_for_nothing(const Findings& findings, bool everything) {
  const std::vector<FoundFalseWakeups::Edge>& edges = findings.false_wakeups.edges;
  return findings.false_wakeups.count != 0 &&
         (everything || std::any_of(edges.begin(), edges.end(), [&findings](const auto& edge) {
            return !findings.actors[edge.from].outside;
          }));
}

/// If there is no stack at all, the recording was made without stacks.
bool are_stacks_cut(const StackEnds& ends) {
  // Complete user stacks for less than this part of the wait time are worth a word.
  constexpr double kStacksComplete = 0.99;
  const double all = all_s(ends);
  return all - ends.missing_s > 0 && ends.complete_s < kStacksComplete * all;
}

bool has_cost(const RecordingCost& cost) {
  return cost.programs_ns + cost.recorder_ns > 0 || cost.waits_without_stacks > 0;
}

/// More memory saves more than the waits: the CPU work of reading, too. So this does not depend on the
/// answers.
bool memory_matters(const Findings& findings, bool everything) {
  if (!findings.memory) return false;
  const auto waited = findings.totals.waits_for.find(BlockedBy::disk);
  return everything ||
         (findings.memory->read_again() >= kMostlyReadAgain && waited != findings.totals.waits_for.end() &&
          waited->second >= kMuchWaitedForDisks * findings.window_s);
}

std::size_t sinks_of(const Findings& findings, bool limiting) {
  return static_cast<std::size_t>(
      std::count_if(findings.sinks.begin(), findings.sinks.end(),
                    [limiting](const FoundSink& sink) { return sink.limits() == limiting; }));
}

/// Beside answers: the knots that are shown explain one.
LeftOut left_out(const Findings& findings, const Screen& screen, bool rest_is_shown) {
  LeftOut out;
  out.knots = findings.knots.size() - screen.knots.size() - screen.background_knots.size();
  if (rest_is_shown) return out;
  out.waits = findings.excluded_waits.size();
  out.background = screen.background_knots.size() + sinks_of(findings, false);
  out.blocked =
      static_cast<std::size_t>(std::count_if(findings.open_waits.begin(), findings.open_waits.end(),
                                             [](const FoundOpenWait& open) { return open.throughout; }));
  return out;
}

bool is_empty(const LeftOut& out) {
  return out.knots == 0 && out.waits == 0 && out.background == 0 && out.blocked == 0;
}

/// Whether all answers that are worth a line are about clients, and what these do by themselves.
bool are_all_of_clients(const Findings& findings) {
  const auto is_of_client = [&findings](const FoundAnswer& answer) {
    return (answer.certainty != Certainty::rough && most_of(answer) < kWorthALine) ||
           ((answer.what == Resource::cpu || answer.what == Resource::sleep) && answer.actor &&
            findings.actors[*answer.actor].outside && !answer.evidence.takes_output);
  };
  return findings.progress.front().how == Progress::How::clients && has_all_answers(findings) &&
         std::all_of(findings.answers.begin(), findings.answers.end(), is_of_client);
}

}  // namespace

std::string_view to_string(ScreenSection section) {
  switch (section) {
    case ScreenSection::losses:
      return "losses";
    case ScreenSection::deadlocks:
      return "deadlocks";
    case ScreenSection::verdict:
      return "verdict";
    case ScreenSection::too_short:
      return "too-short";
    case ScreenSection::answers:
      return "answers";
    case ScreenSection::memory:
      return "memory";
    case ScreenSection::graph:
      return "graph";
    case ScreenSection::what_ifs:
      return "what-ifs";
    case ScreenSection::knots:
      return "knots";
    case ScreenSection::sinks:
      return "sinks";
    case ScreenSection::stopped:
      return "stopped";
    case ScreenSection::runnable:
      return "runnable";
    case ScreenSection::disks:
      return "disks";
    case ScreenSection::nics:
      return "nics";
    case ScreenSection::false_wakeups:
      return "false-wakeups";
    case ScreenSection::wrong_stacks:
      return "wrong-stacks";
    case ScreenSection::stack_ends:
      return "stack-ends";
    case ScreenSection::cost:
      return "cost";
    case ScreenSection::search:
      return "search";
    case ScreenSection::excluded_waits:
      return "excluded-waits";
    case ScreenSection::background:
      return "background";
    case ScreenSection::blocked:
      return "blocked";
    case ScreenSection::left_out:
      break;
  }
  return "left-out";
}

std::string_view to_string(AnswersHeading::What what) {
  switch (what) {
    case AnswersHeading::What::none:
      return "none";
    case AnswersHeading::What::held_back:
      return "held-back";
    case AnswersHeading::What::split:
      return "split";
    case AnswersHeading::What::unanswered:
      return "unanswered";
    case AnswersHeading::What::clients:
      return "clients";
    case AnswersHeading::What::graph:
      return "graph";
    case AnswersHeading::What::unknown:
      return "unknown";
    case AnswersHeading::What::balanced:
      break;
  }
  return "balanced";
}

AnswersHeading heading_of(const Findings& findings) {
  using What = AnswersHeading::What;
  if (!findings.answers.empty()) {
    const FoundAnswer& first = findings.answers.front();
    if (first.certainty == Certainty::split) return {What::split};
    if (first.doubt == Doubt::unanswered) return {What::unanswered};
    if (first.certainty == Certainty::rough) return {What::none};
    if (first.gain >= kWorthAFix) return {are_all_of_clients(findings) ? What::clients : What::none};
  }
  if (findings.verdict.kind() == Verdict::Kind::idle || findings.verdict.rule == Verdict::Rule::asks) {
    return {What::graph};
  }
  double most = 0.01;
  for (const FoundAnswer& answer : findings.answers) most = std::max(most, most_of(answer));
  // What a lock may gain is told below the answer.
  if (most >= kWorthAFix) return {What::none};
  const bool unknown = !findings.progress.empty() &&
                       findings.progress.front().how == Progress::How::inferred &&
                       findings.progress.front().threads.size() > 1;
  return {unknown ? What::unknown : What::balanced, most};
}

bool Screen::has(ScreenSection section) const {
  return std::find(sections.begin(), sections.end(), section) != sections.end();
}

Screen screen_of(const Findings& findings, const ScreenOptions& options) {
  Screen out;
  const bool answered = answers_can_be_judged(findings);
  const bool lost = total_lost(findings) > 0 || !actors_with_losses(findings).empty();
  out.losses = loss_impact(findings);
  const bool minor = out.losses.minor;
  const auto add = [&out](bool condition, ScreenSection section) {
    if (condition) out.sections.push_back(section);
  };
  if (answered) {
    // A target that waits for what TCP holds back is neither idle nor balanced.
    out.heading = findings.held_back ? AnswersHeading{AnswersHeading::What::held_back} : heading_of(findings);
    const std::vector<const FoundAnswer*> all = answers_below(out.heading.what, findings);
    out.answers = shown_answers(findings, all, options.everything);
    out.neighbours = others_have_the_cpus(findings) && may_lack_cpus(findings, out.answers);
    out.others = others_of(findings, out.heading.what, all, out.answers.size());
  }
  add_knots(findings, answered, options.everything, out);
  add_devices(findings, answered, options.everything, out);
  const bool progress = !findings.progress.empty();
  add(lost && !minor, ScreenSection::losses);
  add(progress && !findings.deadlocks.empty(), ScreenSection::deadlocks);
  add(!progress, ScreenSection::verdict);
  add(progress && !answered, ScreenSection::too_short);
  add(answered, ScreenSection::answers);
  add(memory_matters(findings, options.everything), ScreenSection::memory);
  add(progress && !answered, ScreenSection::graph);
  add(!findings.what_ifs.empty() && short_evidence(findings) == ShortEvidence::none, ScreenSection::what_ifs);
  add(!out.knots.empty(), ScreenSection::knots);
  add(sinks_of(findings, true) > 0, ScreenSection::sinks);
  add(was_stopped(findings), ScreenSection::stopped);
  add(somebody_lacks_cpus(findings), ScreenSection::runnable);
  out.why_runnable = out.has(ScreenSection::runnable) && !is_cause_of_lack_said(findings, answered, out);
  add(!out.disks.empty(), ScreenSection::disks);
  add(!out.nics.empty(), ScreenSection::nics);
  add(woke_for_nothing(findings, options.everything), ScreenSection::false_wakeups);
  // A known stack is not walked again. If some of those that were checked were wrong, others may be, too.
  add(findings.recording.stack_reuse.wrong != 0, ScreenSection::wrong_stacks);
  add(are_stacks_cut(findings.stack_ends), ScreenSection::stack_ends);
  add(has_cost(findings.recording.cost), ScreenSection::cost);
  add(options.search, ScreenSection::search);
  // What limits nothing is of use where there is no answer, or where threads are stuck.
  const bool rest = options.everything || !answered || somebody_is_stuck(findings);
  add(rest && !findings.excluded_waits.empty(), ScreenSection::excluded_waits);
  add(rest && (!out.background_knots.empty() || sinks_of(findings, false) > 0), ScreenSection::background);
  add(rest && !blocked_threads(findings).throughout.empty(), ScreenSection::blocked);
  if (answered && !options.everything) out.left_out = left_out(findings, out, rest);
  add(!is_empty(out.left_out), ScreenSection::left_out);
  add(lost && minor, ScreenSection::losses);
  return out;
}

}  // namespace offwait
