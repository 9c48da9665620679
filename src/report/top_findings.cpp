// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/top_findings.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/rankings.h"
#include "analysis/screen.h"
#include "base/escape.h"
#include "report/fold.h"
#include "report/frame.h"
#include "report/names.h"
#include "report/wording.h"
#include "report/wording_advice.h"
#include "report/wording_answers.h"
#include "report/wording_cpus.h"
#include "report/wording_disks.h"
#include "report/wording_edges.h"
#include "report/wording_files.h"
#include "report/wording_gains.h"
#include "report/wording_progress.h"
#include "report/wording_views.h"

namespace offwait {
namespace {

constexpr int kTopName = 24;
constexpr int kTopFrame = 40;
constexpr std::size_t kTopFrames = 12;
constexpr std::size_t kTopEdges = 60;
constexpr std::size_t kTopStacks = 3;
constexpr std::size_t kTopObjects = 20;
constexpr std::size_t kTopFiles = 3;

/// What the parts of a report's line are joined by.
std::string dotted(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    if (!part.empty()) out += (out.empty() ? "" : " · ") + part;
  }
  return out;
}

TopStack stack_of(const Backtrace& stack, std::size_t kernel_frames = kKernelFrames) {
  const FoldedStack folded = fold(told_by_callers(stack), kTopFrames, StackNoise::folded, kernel_frames);
  const auto columns = [](std::string_view text) { return display_width(escape(text)); };
  TopStack out;
  out.kernel = folded.kernel.size();
  for (const std::vector<Frame>* frames : {&folded.kernel, &folded.user}) {
    for (const Frame& frame : *frames) out.frames.push_back(fitting_frame(frame, kTopFrame, columns));
  }
  if (folded.cut) out.frames.emplace_back(cut_frame(*folded.cut));
  return out;
}

TopStack code_of(const FoundAnswer& answer) {
  const AnswerEvidence& evidence = answer.evidence;
  if (answer.what == Resource::waited) return answer.lock ? stack_of(answer.lock->stack, 0) : TopStack{};
  if (!evidence.stack.empty()) return stack_of(evidence.stack, 0);
  const std::vector<FunctionPlace>& places = evidence.samples.places;
  return places.empty() ? TopStack{} : stack_of(places.front().stack);
}

TopAnswer answer_of(const Findings& findings, const FoundAnswer& answer, const ActorNames& names) {
  TopAnswer out;
  out.change = change_text(answer, names);
  out.gain = answer_gain_text(answer);
  out.mark = certainty_mark(answer);
  out.evidence = evidence_text(findings, answer, names);
  out.advice = advice(findings, answer, names);
  out.has_number = !out.gain.empty();
  out.most = most_of(answer);
  out.low = answer.low.value_or(answer.certainty == Certainty::up_to ? 0 : out.most);
  out.high = answer.high.value_or(out.most);
  out.sure = answer.certainty == Certainty::sure;
  out.code = code_of(answer);
  return out;
}

void add_answers(const Findings& findings, const Screen& screen, const ActorNames& names, TopFindings& out) {
  if (findings.progress.empty()) return;
  const FoundProgress& first = findings.progress.front();
  out.with_answers = true;
  out.progress = progress_of_text(first, names);
  for (const FoundActorId actor : first.actors) {
    const std::vector<std::int32_t>& tids = findings.actors[actor].tids;
    out.progress_tids.insert(out.progress_tids.end(), tids.begin(), tids.end());
  }
  if (screen.has(ScreenSection::too_short)) {
    out.said = too_short_text(findings, names);
    return;
  }
  out.said = answers_heading(findings, screen.heading, names);
  if (out.said.empty() && screen.neighbours) out.said = neighbours_text(findings, names);
  for (const ShownAnswer& shown : screen.answers)
    out.answers.push_back(answer_of(findings, findings.answers[shown.answer], names));
  if (screen.others) out.others = others_text(*screen.others);
}

std::string brief_title(const FoundKnot& knot, const ActorNames& names) {
  if (knot.actors.size() == 1) return names.brief(knot.actors[0]) + " ↺";
  if (knot.actors.size() == 2) return names.brief(knot.actors[0]) + " ⇄ " + names.brief(knot.actors[1]);
  constexpr std::size_t kMost = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(kMost, knot.actors.size()); ++i)
    out += (i == 0 ? "" : ", ") + names.brief(knot.actors[i]);
  return knot.actors.size() > kMost ? out + " and " + std::to_string(knot.actors.size() - kMost) + " more"
                                    : out;
}

/// How the actors of the findings are shown. Those outside that are called alike are one: the clients of a
/// server, say. The recorder's own are left out.
class ShownActors {
 public:
  ShownActors(const Findings& findings, const ActorNames& names, std::vector<TopActor>& out) {
    std::map<std::string, std::size_t> outside;
    for (std::size_t i = 0; i < findings.actors.size(); ++i) {
      const FoundActor& actor = findings.actors[i];
      const auto id = static_cast<FoundActorId>(i);
      const bool thread = actor.kind == ActorKind::thread || actor.kind == ActorKind::group;
      const bool recorder = actor.outside && thread && actor.tgid == findings.recording.recorder;
      const bool folded = actor.outside && thread && !actor.name.empty();
      const auto [known, first] =
          folded ? outside.try_emplace(actor.name, out.size()) : std::pair(outside.end(), true);
      of_.push_back(recorder ? std::nullopt : std::optional(first ? out.size() : known->second));
      if (recorder) {
        if (folded && first) outside.erase(known);
        continue;
      }
      if (first) {
        out.push_back({names.brief(id), actor.tids, thread, actor.outside, false});
        continue;
      }
      TopActor& all = out[known->second];
      all.tids.insert(all.tids.end(), actor.tids.begin(), actor.tids.end());
      all.name = names.threads(actor.name, all.tids.size());
    }
  }
  std::optional<std::size_t> of(FoundActorId actor) const { return of_[actor]; }

 private:
  std::vector<std::optional<std::size_t>> of_;
};

/// The weight of an edge between groups is divided by the threads that wait.
double members(const FoundActor& actor) { return static_cast<double>(actor.members()); }

/// Edges between the same actors as shown are one.
class ShownEdges {
 public:
  ShownEdges(const Findings& findings, const ActorNames& names) : findings_(findings), names_(names) {
    for (const ExcludedWait& one : findings.excluded_waits) {
      if (one.reason == ExcludedWait::Reason::requests) excluded_.insert(one.edge);
      if (one.reason == ExcludedWait::Reason::to_pseudo) pseudo_.insert(one.edge);
    }
  }

  void add(FoundEdgeId id, std::size_t from, std::size_t to, bool in_knot) {
    const FoundEdge& edge = findings_.edges[id];
    const double threads = members(findings_.actors[edge.from]);
    const auto [at, first] = index_.try_emplace({from, to, edge.idle}, edges_.size());
    if (first) edges_.push_back(with_words(edge, excluded_.contains(id)));
    if (pseudo_.contains(id)) for_time_.insert({from, to});
    TopEdge& all = edges_[at->second];
    all.from = from;
    all.to = to;
    all.in_knot = all.in_knot || in_knot;
    all.weight += edge.weight_s * threads / findings_.window_s;
    all.waited += edge.wait_s * threads / findings_.window_s;
    all.waits += static_cast<double>(edge.waits) / findings_.window_s;
    all.each_s = all.waits > 0 ? all.waited / all.waits : edge.each_s;
  }

  /// Knots first, because they limit; then what the target waits for, what it waits for without being held
  /// up, and what others wait for of it; each heaviest first.
  std::vector<TopEdge> take(const std::vector<TopActor>& actors) {
    for (TopEdge& edge : edges_) {
      const double threads = static_cast<double>(std::max<std::size_t>(1, actors[edge.from].tids.size()));
      edge.weight /= threads;
      edge.waited /= threads;
    }
    std::stable_sort(edges_.begin(), edges_.end(), [&](const TopEdge& a, const TopEdge& b) {
      const auto rank = [&](const TopEdge& edge) {
        const bool outside = actors[edge.from].outside;
        return std::tuple(!edge.in_knot, edge.idle, outside, !outside && edge.aside,
                          for_time_.contains({edge.from, edge.to}), -edge.weight);
      };
      return rank(a) < rank(b);
    });
    if (edges_.size() > kTopEdges) edges_.resize(kTopEdges);
    return std::move(edges_);
  }

 private:
  TopEdge with_words(const FoundEdge& edge, bool aside) const {
    TopEdge out;
    out.idle = edge.idle;
    out.aside = aside;
    out.classes = classes_text(edge);
    out.meanwhile = edge.idle ? spare_text(findings_, edge, names_) : waker_text(edge, names_);
    for (const FoundStack& stack : edge.stacks) {
      if (out.stacks.size() == kTopStacks) break;
      out.stacks.push_back({edge.weight_s > 0 ? stack.weight_s / edge.weight_s : 0,
                            stack_of(stack.wait_stack), stack_of(stack.waker_stack)});
    }
    return out;
  }

  const Findings& findings_;
  const ActorNames& names_;
  std::set<FoundEdgeId> excluded_;
  std::set<FoundEdgeId> pseudo_;
  std::set<std::pair<std::size_t, std::size_t>> for_time_;  ///< as shown
  std::map<std::tuple<std::size_t, std::size_t, bool>, std::size_t> index_;
  std::vector<TopEdge> edges_;
};

void add_graph(const Findings& findings, const ActorNames& names, TopFindings& out) {
  const ShownActors shown(findings, names, out.actors);
  std::set<FoundEdgeId> in_knots;
  for (const FoundKnot& knot : findings.knots) {
    if (knot.background) continue;
    out.knots.push_back({brief_title(knot, names), std::string(pattern_title(knot))});
    in_knots.insert(knot.edges.begin(), knot.edges.end());
    for (const FoundActorId actor : knot.actors) {
      if (shown.of(actor)) out.actors[*shown.of(actor)].in_knot = true;
    }
  }
  ShownEdges edges(findings, names);
  for (std::size_t i = 0; i < findings.edges.size(); ++i) {
    const auto id = static_cast<FoundEdgeId>(i);
    const FoundEdge& edge = findings.edges[i];
    const std::optional<std::size_t> from = shown.of(edge.from);
    const std::optional<std::size_t> to = shown.of(edge.to);
    const bool in_knot = in_knots.contains(id);
    if (!from || !to || (edge.idle && !in_knot)) continue;
    // What others wait for elsewhere is no business of the target.
    const FoundActor& waited_for = findings.actors[edge.to];
    const bool elsewhere =
        findings.actors[edge.from].outside && (waited_for.outside || waited_for.tids.empty());
    if (!elsewhere || in_knot) edges.add(id, *from, *to, in_knot);
  }
  out.edges = edges.take(out.actors);
}

void add_objects(const Findings& findings, const ActorNames& names, TopFindings& out) {
  const double per_s = 1 / findings.window_s;
  for (const FoundLockRow& lock : findings.views.locks.rows) {
    if (out.locks.size() == kTopObjects || !is_lock(lock.kind)) break;
    out.locks.push_back({lock.name, lock.wait_s * per_s, static_cast<double>(lock.waits) * per_s,
                         lock.longest_s, holder_text(lock, names),
                         lock.places.empty() ? TopStack{} : stack_of(lock.places.front().stack, 0)});
  }
  for (const FoundFile& file : findings.views.files.rows) {
    if (out.files.size() == kTopObjects || file.wait_s <= 0) break;
    out.files.push_back({file_brief(file.name, names), file.wait_s * per_s,
                         static_cast<double>(file.waits) * per_s, file.longest_s,
                         waiters_text(file, names, kTopFiles), stack_of(file.stack, 0)});
  }
}

}  // namespace

TopFindings top_findings(const Findings& findings) {
  const ActorNames names(findings,
                         [](std::string_view name) { return cut_to_width(escape(name), kTopName); });
  TopFindings out;
  out.window_s = findings.window_s;
  if (findings.window_s <= 0) return out;
  const Screen screen = screen_of(findings);
  add_answers(findings, screen, names, out);
  out.verdict = verdict_sentence(findings, names);
  out.cpus = cpu_supply_text(findings, names);
  add_graph(findings, names, out);
  add_objects(findings, names, out);
  for (const ShownDisk& shown : screen.disks) {
    const FoundDisk& disk = findings.disks[shown.disk];
    out.disks.push_back({names.brief(disk.actor),
                         dotted({busy_text(findings, disk), rate_text(disk), requests_text(disk)}),
                         disk_files_text(disk, names, kTopFiles)});
  }
  return out;
}

}  // namespace offwait
