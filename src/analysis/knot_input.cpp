// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/knot_input.h"

#include <algorithm>
#include <cstdint>

namespace offwait {

namespace {

/// By actor: for how long it slept until a time, and waited for a disk or a service outside of the host.
struct ActorWaits {
  std::vector<Nanos> asleep_ns;
  std::vector<Nanos> disk_ns;
};

ActorWaits waited(const Prepared& prepared, const WaitGraph& graph) {
  const Trace& trace = prepared.trace.all();
  ActorWaits out{std::vector<Nanos>(trace.actors.size(), 0), std::vector<Nanos>(trace.actors.size(), 0)};
  for (SiteId id = 0; id < prepared.trace.sites().size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (site.waker == kNoActor) {
      continue;
    }
    const ActorKind waker = trace.actors[site.waker].kind;
    const bool remote = waker == ActorKind::nic && site.peer != kNoPeer &&
                        graph.peer_kinds[site.peer] == PeerKind::remote_service;
    if (waker == ActorKind::timer && site.wait_class == WaitClass::sleep) {
      out.asleep_ns[site.thread] += prepared.sweep.sites[id].wait_ns;
    } else if (waker == ActorKind::disk || remote) {
      out.disk_ns[site.thread] += prepared.sweep.sites[id].wait_ns;
    }
  }
  return out;
}

/// How much of a disk's capacity was used, or of that of an interface in its busier direction.
Nanos device_busy(const WaitGraph& graph, ActorId device) {
  for (const DiskUse& use : graph.disks) {
    if (use.disk == device) return use.busy_ns;
  }
  for (const NicUse& use : graph.nics) {
    if (use.nic == device) return std::max(use.received.busy_ns, use.sent.busy_ns);
  }
  return 0;
}

bool reaches(Nanos ns, double part, Nanos window) {
  return static_cast<double>(ns) >= part * static_cast<double>(window);
}

KnotVertex thread_vertex(const Prepared& prepared, const Vertex& vertex, const ActorWaits& waits) {
  const Nanos window = prepared.trace.all().window.length();
  KnotVertex out;
  for (const ActorId member : vertex.members) {
    const Nanos busy_ns =
        prepared.sweep.actors[member].running_ns + prepared.sweep.actors[member].runnable_ns;
    out.busy_ns = std::max(out.busy_ns, busy_ns);
    out.cpu_ns += busy_ns;
    out.paced_ns = std::max(out.paced_ns, busy_ns + waits.asleep_ns[member]);
    out.active_ns += busy_ns + waits.asleep_ns[member] + waits.disk_ns[member];
  }
  if (vertex.short_lived) {
    out.busy_ns = vertex.busy_ns;
  }
  out.paced_ns = std::max(out.paced_ns, out.busy_ns);
  out.always_running = vertex.members.size() == 1 && reaches(vertex.time.running_ns, kAlwaysRunning, window);
  return out;
}

/// A device or an interrupt. `remote`: what the target's waits for services behind it weigh.
KnotVertex other_vertex(const WaitGraph& graph, std::uint32_t id, Nanos remote, const KnotOptions& options) {
  KnotVertex out;
  out.kind = is_device(graph.kinds[id]) ? KnotVertex::Kind::device : KnotVertex::Kind::pseudo;
  out.busy_ns = device_busy(graph, graph.vertices[id].representative);
  // It stands for services on other hosts, which never sleep as far as this host can tell.
  if (remote >= std::max<Nanos>(options.min_weight_ns, 1)) {
    out.paced_ns = options.window_ns;
  }
  out.always_running =
      out.kind == KnotVertex::Kind::device && reaches(out.busy_ns, kAlwaysRunning, options.window_ns);
  return out;
}

/// A thread that no longer waits for the disk also skips the CPU queue that follows: 0 unless `to` is a disk.
Nanos gain(const WaitGraph& graph, const Edge& edge) {
  if (graph.kinds[edge.to] != ActorKind::disk || edge.wait_ns <= 0) {
    return 0;
  }
  const double until_run = static_cast<double>(edge.wait_ns) + static_cast<double>(edge.resume_ns);
  const double gain_ns =
      static_cast<double>(edge.weight_ns) * (until_run / static_cast<double>(edge.wait_ns));
  return gain_ns >= static_cast<double>(kNever) ? kNever : static_cast<Nanos>(gain_ns);
}

}  // namespace

KnotInput knot_input(const Prepared& prepared, const WaitGraph& graph,
                     const std::vector<RemoteServices>& remote, const AnalysisOptions& options) {
  const Nanos window = prepared.trace.all().window.length();
  KnotInput out;
  out.options.window_ns = window;
  out.options.noise_ns = part_of(options.noise, window);
  out.options.min_weight_ns = min_weight_of(options, window);
  const ActorWaits waits = waited(prepared, graph);
  for (std::uint32_t id = 0; id < graph.vertices.size(); ++id) {
    out.vertices.push_back(is_thread(graph.kinds[id])
                               ? thread_vertex(prepared, graph.vertices[id], waits)
                               : other_vertex(graph, id, remote[id].sum.weight_ns, out.options));
    out.vertices.back().target = !graph.outside[id];
  }
  for (const Edge& edge : graph.edges) {
    const Nanos requests_ns = target_waits(graph, edge, PeerKind::request).weight_ns;
    out.edges.push_back({edge.from, edge.to, edge.weight_ns - requests_ns, gain(graph, edge), requests_ns});
  }
  return out;
}

}  // namespace offwait
