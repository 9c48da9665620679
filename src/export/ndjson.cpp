// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/ndjson.h"

#include <algorithm>
#include <string>
#include <vector>

#include "export/actor_names.h"
#include "report/json_values.h"
#include "report/names.h"

namespace offwait {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;  ///< bytes that are handed to the sink at once

/// Hands lines to the sink in large pieces.
class Lines {
 public:
  explicit Lines(const ByteSink& sink) : sink_(sink) {}

  Status add(const Json& line) {
    piece_ += line.dump();
    piece_ += '\n';
    return piece_.size() < kPiece ? success() : flush();
  }
  Status flush() {
    Status taken = sink_(piece_);
    piece_.clear();
    return taken;
  }

 private:
  const ByteSink& sink_;
  std::string piece_;
};

Json recording_line(const Trace& trace) {
  const Recording& recording = trace.recording;
  return {{"type", "recording"},
          {"schema", "offwait-export/1"},
          {"target", text(recording.target)},
          {"start_time", text(recording.start_time)},
          {"kernel", text(recording.kernel)},
          {"cpus", recording.cpus},
          {"window_ns", trace.window.length()},
          {"offwait", text(recording.offwait)}};
}

Json actor_line(const Findings& findings, const ActorNames& names, FoundActorId id) {
  const FoundActor& actor = findings.actors[id];
  return {{"type", "actor"},
          {"id", id},
          {"kind", to_string(actor.kind)},
          {"name", names.brief(id)},
          {"tids", actor.tids},
          {"outside", actor.outside},
          {"running_s", seconds(actor.time.running_s)},
          {"runnable_s", seconds(actor.time.runnable_s)},
          {"blocked_s", seconds(actor.time.blocked_s)},
          {"unknown_s", seconds(actor.time.unknown_s)}};
}

Json edge_line(const FoundEdge& edge, const ActorNames& names) {
  Json classes = Json::object();
  for (const auto& [wait_class, wait_s] : edge.classes)
    classes[std::string(to_string(wait_class))] = seconds(wait_s);
  return {{"type", "edge"},
          {"from", edge.from},
          {"from_name", names.brief(edge.from)},
          {"to", edge.to},
          {"to_name", names.brief(edge.to)},
          {"idle", edge.idle},
          {"waits", edge.waits},
          {"wait_s", seconds(edge.wait_s)},
          {"weight_s", seconds(edge.weight_s)},
          {"classes", std::move(classes)}};
}

/// The stacks that sites have, in order of id.
std::vector<StackId> used_stacks(const Trace& trace) {
  std::vector<StackId> out;
  for (const WaitSite& site : trace.sites) {
    for (const StackId stack : {site.wait_stack, site.waker_stack}) {
      if (stack != kNoStack) out.push_back(stack);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Json stack_or_null(StackId stack) { return stack == kNoStack ? Json(nullptr) : Json(stack); }

/// What the waits of one site have in common. Keys stand in the order of their first use.
Json site_fields(const Trace& trace, const WaitSite& site) {
  const Actor& thread = trace.actors[site.thread];
  Json out = {{"type", "wait"},
              {"thread", text(actor_name(thread))},
              {"tid", thread.tid},
              {"tgid", thread.tgid},
              {"outside", thread.outside},
              {"class", to_string(site.wait_class)},
              {"waker_kind", nullptr},
              {"waker", nullptr},
              {"waker_tid", nullptr},
              {"peer", nullptr},
              {"in_flight", site.in_flight},
              {"stack", stack_or_null(site.wait_stack)},
              {"waker_stack", stack_or_null(site.waker_stack)}};
  if (site.waker != kNoActor) {
    const Actor& waker = trace.actors[site.waker];
    out["waker_kind"] = to_string(waker.kind);
    out["waker"] = text(actor_name(waker));
    if (waker.kind == ActorKind::thread) out["waker_tid"] = waker.tid;
  }
  if (site.peer != kNoPeer) out["peer"] = text(to_string(trace.peers[site.peer]));
  return out;
}

Json since(Nanos time, const Window& window) {
  return time == kNever ? Json(nullptr) : Json(time - window.begin);
}

Status write_waits(const Trace& trace, Lines& lines) {
  std::vector<Json> sites;
  for (const WaitSite& site : trace.sites) sites.push_back(site_fields(trace, site));
  const ObjectNames names(trace);
  std::vector<Json> objects;
  for (ObjectId id = 0; id < trace.objects.size(); ++id) objects.push_back(text(names(id)));
  for (const Wait& wait : trace.waits) {
    Json line = sites[wait.site];
    line["block_ns"] = since(wait.block, trace.window);
    line["wake_ns"] = since(wait.wake, trace.window);
    line["run_ns"] = since(wait.run, trace.window);
    line["wait_ns"] = clipped(wait.block, wait.wake, trace.window);
    line["object"] = wait.object == kNoObject ? Json(nullptr) : objects[wait.object];
    line["holder"] = wait.holder == kNoActor ? Json(nullptr) : text(actor_name(trace.actors[wait.holder]));
    line["holder_tid"] = wait.holder == kNoActor ? Json(nullptr) : Json(trace.actors[wait.holder].tid);
    OFFWAIT_TRY_STATUS(lines.add(line));
  }
  return success();
}

}  // namespace

Status write_ndjson(const Trace& trace, const Findings& findings, const ByteSink& sink) {
  const ActorNames names(findings, [](std::string_view name) { return escape(name); });
  Lines lines(sink);
  OFFWAIT_TRY_STATUS(lines.add(recording_line(trace)));
  for (FoundActorId id = 0; id < findings.actors.size(); ++id)
    OFFWAIT_TRY_STATUS(lines.add(actor_line(findings, names, id)));
  for (const FoundEdge& edge : findings.edges) OFFWAIT_TRY_STATUS(lines.add(edge_line(edge, names)));
  for (const StackId stack : used_stacks(trace)) {
    const Json line = {{"type", "stack"}, {"id", stack}, {"frames", frames(backtrace_of(trace, stack))}};
    OFFWAIT_TRY_STATUS(lines.add(line));
  }
  OFFWAIT_TRY_STATUS(write_waits(trace, lines));
  return lines.flush();
}

}  // namespace offwait
