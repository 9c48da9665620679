// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/sinks.h"

#include <algorithm>
#include <cstdint>

#include "analysis/rankings.h"
#include "analysis/samples.h"

namespace offwait {

namespace {

/// How often the threads of a vertex slept until a time, and for how long in all.
SinkSleeps sleeps_of(const Prepared& prepared, const WaitGraph& graph, VertexId id) {
  const Trace& trace = prepared.trace.all();
  SinkSleeps out;
  Nanos sum_ns = 0;
  for (SiteId site_id = 0; site_id < prepared.trace.sites().size(); ++site_id) {
    const WaitSite& site = trace.sites[site_id];
    if (graph.vertex_of[site.thread] == id && site.wait_class == WaitClass::sleep && site.waker != kNoActor &&
        trace.actors[site.waker].kind == ActorKind::timer) {
      out.count += prepared.sweep.sites[site_id].waits;
      sum_ns += prepared.sweep.sites[site_id].wait_ns;
    }
  }
  out.sum_s = to_seconds(sum_ns);
  return out;
}

/// running_s and runnable_s of a thread or group: those of its busiest member. For short-lived threads
/// busy_ns is the time in which any of them is busy, and it is split in the same proportion as their sums.
void split_busy(const Prepared& prepared, const Vertex& vertex, Nanos busy_ns, FoundSink& out) {
  if (vertex.short_lived) {
    const double cpu_s = to_seconds(vertex.time.running_ns + vertex.time.runnable_ns);
    out.running_s = cpu_s > 0 ? out.busy_s * to_seconds(vertex.time.running_ns) / cpu_s : 0;
    out.runnable_s = out.busy_s - out.running_s;
    return;
  }
  for (const ActorId member : vertex.members) {
    const ActorTime& time = prepared.sweep.actors[member];
    if (time.running_ns + time.runnable_ns == busy_ns) {
      out.running_s = to_seconds(time.running_ns);
      out.runnable_s = to_seconds(time.runnable_ns);
      return;
    }
  }
}

/// Whether any progress would gain if these threads ran less. If no progress is known, it is assumed that one
/// would.
bool progress_waits_for(const Prepared& prepared, const Vertex& vertex) {
  const std::vector<double>& gains = prepared.answers.cpu_gains;
  return gains.empty() || std::any_of(vertex.members.begin(), vertex.members.end(), [&](ActorId member) {
           const GroupId group = prepared.groups.group_of[member];
           return group != kNoGroup && gains[group] >= kWorthALine;
         });
}

}  // namespace

std::vector<FoundSink> find_sinks(const Prepared& prepared, const WaitGraph& graph, const KnotInput& input,
                                  const std::vector<RemoteServices>& remote,
                                  const std::vector<KnotSink>& found) {
  std::vector<FoundSink> sinks;
  for (const KnotSink& sink : found) {
    const KnotVertex& vertex = input.vertices[sink.vertex];
    FoundSink& out = sinks.emplace_back();
    out.actor = sink.vertex;
    out.saturated = sink.saturated;
    out.paced = sink.paced;
    out.asleep_s = to_seconds(std::max<Nanos>(0, vertex.paced_ns - vertex.busy_ns));
    out.busy_s = to_seconds(vertex.busy_ns);
    out.samples = sum_places(prepared.trace.all(), graph.code, graph.samples.by_vertex[sink.vertex]);
    if (vertex.kind == KnotVertex::Kind::thread) {
      split_busy(prepared, graph.vertices[sink.vertex], vertex.busy_ns, out);
      out.limit = out.runnable_s > out.running_s ? SinkLimit::cpu : SinkLimit::execution;
      out.saturated = out.saturated && progress_waits_for(prepared, graph.vertices[sink.vertex]);
      if (sink.paced) {
        out.pattern = Pattern::timer_driven;
        out.sleeps = sleeps_of(prepared, graph, sink.vertex);
      }
    } else if (sink.paced && vertex.kind == KnotVertex::Kind::device) {
      out.limit = SinkLimit::remote_service;
      out.remote_s = to_seconds(remote[sink.vertex].sum.wait_ns);
      out.services = remote[sink.vertex].services;
    } else {
      out.limit = SinkLimit::capacity;
    }
  }
  return sinks;
}

}  // namespace offwait
