// SPDX-License-Identifier: GPL-2.0-or-later
#include "html/rows.h"

#include <algorithm>
#include <tuple>

#include "html/stretches.h"

namespace offwait::html {

Rows rows_of(const Trace& trace, const Findings& findings, const DrawnGraph& graph) {
  std::vector<std::size_t> box_of(findings.actors.size(), graph.boxes.size());
  for (std::size_t box = graph.boxes.size(); box-- > 0;) {
    for (const FoundActorId actor : graph.boxes[box].actors) box_of[actor] = box;
  }
  Rows out;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread || life_in(actor, trace.window).length() <= 0) continue;
    if (!actor.outside || (!actor.recorder && box_of[findings.actor_of[id]] < graph.first_boxes))
      out.threads.push_back(id);
  }
  const auto key = [&](ActorId id) {
    const FoundActorId of = findings.actor_of[id];
    const StateSeconds& time = findings.actors[of].time;
    return std::tuple(trace.actors[id].outside, box_of[of], -(time.running_s + time.runnable_s), of, id);
  };
  std::stable_sort(out.threads.begin(), out.threads.end(),
                   [&](ActorId a, ActorId b) { return key(a) < key(b); });
  if (out.threads.size() > kMostRows) {
    out.left_out =
        static_cast<std::size_t>(std::count_if(out.threads.begin() + kMostRows, out.threads.end(),
                                               [&](ActorId id) { return !trace.actors[id].outside; }));
    out.threads.resize(kMostRows);
  }
  out.of.assign(trace.actors.size(), kNoRow);
  for (std::size_t row = 0; row < out.threads.size(); ++row)
    out.of[out.threads[row]] = static_cast<std::uint32_t>(row);
  return out;
}

}  // namespace offwait::html
