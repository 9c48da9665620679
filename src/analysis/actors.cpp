// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/actors.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/nanos.h"
#include "model/called.h"

namespace offwait {

namespace {

/// "io-12" → "io-", "12": text and digits alternately, text first.
std::vector<std::string> text_and_digits(std::string_view name) {
  std::vector<std::string> parts(1);
  bool digits = false;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (digit != digits) {
      parts.emplace_back();
      digits = digit;
    }
    parts.back() += c;
  }
  return parts;
}

void add_tids(const Trace& trace, const std::vector<ActorId>& members, FoundActor& actor) {
  actor.tid = trace.actors[members.front()].tid;
  actor.tgid = trace.actors[members.front()].tgid;
  actor.program = trace.actors[members.front()].program;
  actor.lives = 0;
  bool renumbered = false;
  std::set<std::int32_t> processes;
  for (const ActorId member : members) {
    const Actor& thread = trace.actors[member];
    actor.tids.push_back(thread.tid);
    actor.lives += thread.lives;
    if (processes.insert(thread.tgid).second) actor.tgids.push_back(thread.tgid);
    actor.ns_tids.push_back(thread.ns_tid != 0 ? thread.ns_tid : thread.tid);
    renumbered = renumbered || thread.ns_tid != 0;
  }
  if (!renumbered) actor.ns_tids.clear();
}

BlockedBy blocked_by(ActorKind waker) {
  switch (waker) {
    case ActorKind::thread:
    case ActorKind::group:
      return BlockedBy::thread;
    case ActorKind::disk:
      return BlockedBy::disk;
    case ActorKind::nic:
      return BlockedBy::nic;
    case ActorKind::timer:
      return BlockedBy::timer;
    case ActorKind::irq:
      return BlockedBy::irq;
    case ActorKind::softirq:
      return BlockedBy::softirq;
  }
  return BlockedBy::unknown;
}

/// Blocked time of the target in waits that ended, by what ended them.
std::map<BlockedBy, Nanos> blocked_by_waker(const Prepared& prepared, const WaitGraph& graph) {
  const Trace& trace = prepared.trace.all();
  std::map<BlockedBy, Nanos> out;
  for (SiteId id = 0; id < prepared.trace.sites().size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const Nanos wait_ns = prepared.sweep.sites[id].wait_ns;
    if (site.waker != kNoActor && wait_ns > 0 && !trace.actors[site.thread].outside) {
      const bool request = site.peer != kNoPeer && graph.peer_kinds[site.peer] == PeerKind::request;
      out[request ? BlockedBy::requests : blocked_by(trace.actors[site.waker].kind)] += wait_ns;
    }
  }
  return out;
}

}  // namespace

std::string common_name(const Trace& trace, const std::vector<ActorId>& members) {
  std::vector<std::string> common = text_and_digits(called(trace.actors[members.front()]));
  for (const ActorId member : members) {
    const std::vector<std::string> parts = text_and_digits(called(trace.actors[member]));
    if (alike(trace.actors[member]) != alike(trace.actors[members.front()])) {
      return called(trace.actors[members.front()]) + std::string(kAndOthers);
    }
    for (std::size_t i = 1; i < std::min(parts.size(), common.size()); i += 2) {
      if (parts[i] != common[i]) {
        common[i] = "*";
      }
    }
  }
  std::string out;
  for (const std::string& part : common) {
    out += part;
  }
  return out;
}

StateSeconds state_seconds(const ActorTime& time) {
  return {to_seconds(time.running_ns), to_seconds(time.runnable_ns), to_seconds(time.blocked_ns),
          to_seconds(time.unknown_ns), to_seconds(time.lifetime_ns)};
}

std::vector<FoundActor> find_actors(const Prepared& prepared, const WaitGraph& graph) {
  const Trace& trace = prepared.trace.all();
  std::vector<Nanos> lost(graph.vertices.size(), 0);
  for (const Gap& gap : trace.gaps) {
    lost[graph.vertex_of[gap.thread]] += clipped(gap.from, gap.to, trace.window);
  }
  std::vector<FoundActor> out;
  for (std::uint32_t id = 0; id < graph.vertices.size(); ++id) {
    const Vertex& vertex = graph.vertices[id];
    const Actor& first = trace.actors[vertex.representative];
    FoundActor actor;
    actor.kind = graph.kinds[id];
    actor.name = vertex.members.size() > 1 ? common_name(trace, vertex.members) : called(first);
    actor.outside = first.outside;
    actor.recorder = first.recorder;
    actor.kernel = first.kernel;
    actor.short_lived = vertex.short_lived;
    if (is_thread(actor.kind)) {
      add_tids(trace, vertex.members, actor);
    }
    actor.time = state_seconds(vertex.time);
    actor.open_wait_s = to_seconds(vertex.time.open_wait_ns);
    actor.lost_s = to_seconds(lost[id]);
    actor.on = first.on;
    out.push_back(std::move(actor));
  }
  return out;
}

Totals sum_totals(const Prepared& prepared, const WaitGraph& graph) {
  const Trace& trace = prepared.trace.all();
  Totals totals;
  const auto waits = prepared.trace.waits();
  totals.waits = static_cast<std::uint64_t>(std::count_if(
      waits.begin(), waits.end(), [&trace](const Wait& wait) { return !trace.sites[wait.site].in_flight; }));
  totals.preemptions = trace.preemptions.size();
  ActorTime sum;
  for (ActorId id = 0; id < prepared.trace.actors().size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread) {
      continue;
    }
    if (actor.outside) {
      totals.outside_threads += actor.lives;
      continue;
    }
    totals.threads += actor.lives;
    add(sum, prepared.sweep.actors[id]);
  }
  totals.target = state_seconds(sum);
  for (SiteId id = 0; id < prepared.trace.sites().size(); ++id) {
    const WaitSite& site = trace.sites[id];
    const double wait_s = to_seconds(prepared.sweep.sites[id].wait_ns);
    if (trace.actors[site.thread].outside) continue;
    if (site.wait_class == WaitClass::stopped) totals.stopped_s += wait_s;
    if (site.wait_class == WaitClass::frozen) totals.frozen_s += wait_s;
  }
  Nanos unknown = sum.blocked_ns - sum.open_wait_ns;
  for (const auto& [kind, ns] : blocked_by_waker(prepared, graph)) {
    totals.waits_for[kind] = to_seconds(ns);
    unknown -= ns;
  }
  if (sum.open_wait_ns > 0) {
    totals.waits_for[BlockedBy::nobody] = to_seconds(sum.open_wait_ns);
  }
  if (unknown > 0) {
    totals.waits_for[BlockedBy::unknown] = to_seconds(unknown);
  }
  return totals;
}

}  // namespace offwait
