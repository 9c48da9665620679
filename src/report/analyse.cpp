// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/analyse.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/stack_ends.h"
#include "device/disk.h"
#include "device/nic.h"
#include "graph/cpu_samples.h"
#include "graph/false_wakeups.h"
#include "graph/graph.h"
#include "graph/merge.h"
#include "graph/peer_kinds.h"
#include "graph/phases.h"
#include "graph/short_lived.h"
#include "graph/sweep.h"
#include "knot/knots.h"
#include "knot/pattern.h"
#include "model/validate.h"
#include "report/elsewhere.h"
#include "report/escape.h"
#include "report/frame.h"
#include "report/quantity.h"
#include "report/verdict.h"

namespace offwait {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
/// A barrier lets as many go each time: the mean over the largest number is more than this.
constexpr double kConstant = 0.9;
/// That who is waited for sleeps is worth saying from this part of the wait time on.
constexpr double kOftenAsleep = 0.2;
/// When its waits took place is worth knowing of an edge with this part of the window or more.
constexpr double kPhased = 0.05;

bool is_thread(ActorKind kind) { return kind == ActorKind::thread || kind == ActorKind::group; }
bool is_device(ActorKind kind) { return kind == ActorKind::disk || kind == ActorKind::nic; }

Nanos part_of(double fraction, Nanos window) {
  const double ns = std::round(fraction * static_cast<double>(window));
  return ns >= static_cast<double>(kNever) ? kNever : static_cast<Nanos>(std::max(ns, 0.0));
}

Nanos clipped(Nanos from, Nanos to, const Window& window) {
  return std::max<Nanos>(0, std::min(to, window.end) - std::max(from, window.begin));
}

ReportTime report_time(const ActorTime& time) {
  return {to_seconds(time.running_ns), to_seconds(time.runnable_ns), to_seconds(time.blocked_ns),
          to_seconds(time.unknown_ns), to_seconds(time.lifetime_ns)};
}

/// The members' name, with `*` for each run of digits in which they differ. Names of one group differ in
/// digits only; should they not, the first one's is taken.
std::string common_name(const Trace& trace, const std::vector<ActorId>& members) {
  const auto split = [](std::string_view name) {  // alternating: text, digits, text, ...
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
  };
  std::vector<std::string> common = split(trace.actors[members.front()].name);
  for (const ActorId member : members) {
    const std::vector<std::string> parts = split(trace.actors[member].name);
    if (parts.size() != common.size()) {
      return trace.actors[members.front()].name;
    }
    for (std::size_t i = 1; i < parts.size(); i += 2) {
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

struct FalseWakeupSums {
  std::map<std::pair<ActorId, ActorId>, std::uint64_t> counts;  ///< by (woken, waker)
  Nanos ran_ns = 0;
};

FalseWakeupSums sums_of(const Trace& trace, const std::vector<FalseWakeup>& false_wakeups) {
  FalseWakeupSums sums;
  for (const FalseWakeup& one : false_wakeups) {
    const WaitSite& site = trace.sites[trace.waits[one.first].site];
    ++sums.counts[{site.thread, site.waker}];
    sums.ran_ns += one.ran;
  }
  return sums;
}

class Analysis {
 public:
  /// `trace` is free of `false_wakeups` unless the options keep them.
  Analysis(const Trace& trace, const ShortLivedThreads& short_lived, const Sweep& sweep,
           FalseWakeupSums false_wakeups, const AnalysisOptions& options)
      : trace_(trace), short_lived_(short_lived), sweep_(sweep), false_wakeups_(std::move(false_wakeups)) {
    const Nanos window = trace.window.length();
    knot_options_.window_ns = window;
    knot_options_.noise_ns = part_of(options.noise, window);
    knot_options_.min_weight_ns = options.min_weight_ns.value_or(part_of(options.min_weight, window));
    report_.options = {to_seconds(knot_options_.min_weight_ns), to_seconds(knot_options_.noise_ns),
                       options.merge, options.keep_false_wakeups, options.filter};

    peer_kinds_ = kinds_of_peers(trace);
    disk_use_ = disk_use(trace);
    nic_use_ = nic_use(trace);
    Graph graph = build_graph(trace, sweep);
    add_edges(graph, idle_edges(trace, disk_use_));
    merged_ =
        options.merge ? merge_similar(trace, sweep, graph, short_lived) : keep_apart(trace, sweep, graph);
    samples_ = sum_cpu_samples(trace, merged_.vertex_of, merged_.vertices.size());
    function_of_frame_ = functions_of_frames(trace);
  }

  Report run() {
    report_.recording = trace_.recording;
    report_.window_s = to_seconds(trace_.window.length());
    report_.loss = trace_.loss;
    totals();
    report_.stack_ends = stack_ends(trace_, sweep_, short_lived_.actors);
    actors();
    edges();
    disks();
    nics();
    false_wakeups();
    open_waits();
    find();
    report_.verdict = verdict(report_, outside_waits());
    report_.elsewhere = long_waits_elsewhere(report_);
    return std::move(report_);
  }

 private:
  const Actor& representative(std::uint32_t vertex) const {
    return trace_.actors[merged_.vertices[vertex].representative];
  }

  std::vector<std::string> frames(StackId stack) const {
    std::vector<std::string> out;
    if (stack != kNoStack) {
      for (const FrameId frame : trace_.stacks[stack].frames) {
        out.push_back(trace_.frames[frame]);
      }
    }
    return out;
  }

  static std::vector<std::uint32_t> functions_of_frames(const Trace& trace) {
    std::map<std::string, std::uint32_t> functions;
    std::vector<std::uint32_t> out;
    for (const std::string& frame : trace.frames) {
      out.push_back(functions.try_emplace(function_of(frame), static_cast<std::uint32_t>(functions.size()))
                        .first->second);
    }
    return out;
  }

  ReportSamples samples(const std::vector<StackSamples>& all) const {
    struct Sum {
      StackSamples most;  ///< the first stack, which has most
      std::uint64_t samples = 0;
      std::uint64_t waiting = 0;
    };
    std::map<std::vector<std::uint32_t>, std::size_t> index;
    std::vector<Sum> sums;
    ReportSamples out;
    std::uint64_t waiting = 0;
    for (const StackSamples& one : all) {
      std::vector<std::uint32_t> functions;
      if (one.stack != kNoStack) {
        for (const FrameId frame : trace_.stacks[one.stack].frames) {
          functions.push_back(function_of_frame_[frame]);
        }
      }
      const auto [at, added] = index.try_emplace(std::move(functions), sums.size());
      if (added) {
        sums.push_back({one});
      }
      sums[at->second].samples += one.samples;
      sums[at->second].waiting += one.waiting;
      out.samples += one.samples;
      waiting += one.waiting;
    }
    const auto weight = [](const Sum& sum) { return sum.waiting > 0 ? sum.waiting : sum.samples; };
    std::stable_sort(sums.begin(), sums.end(),
                     [&](const Sum& a, const Sum& b) { return weight(a) > weight(b); });
    out.stacks_known = sums.size();
    for (std::size_t i = 0; i < std::min(sums.size(), kMostReportSampledStacks); ++i) {
      const double share =
          static_cast<double>(weight(sums[i])) / static_cast<double>(waiting > 0 ? waiting : out.samples);
      out.stacks.push_back({share, sums[i].samples, frames(sums[i].most.stack)});
    }
    return out;
  }

  void totals() {
    ReportTotals& totals = report_.totals;
    totals.waits = static_cast<std::uint64_t>(std::count_if(
        trace_.waits.begin(), trace_.waits.begin() + static_cast<std::ptrdiff_t>(short_lived_.waits),
        [this](const Wait& wait) { return !trace_.sites[wait.site].in_flight; }));
    totals.preemptions = trace_.preemptions.size();
    ActorTime sum;
    Nanos open = 0;
    for (ActorId id = 0; id < short_lived_.actors; ++id) {
      const Actor& actor = trace_.actors[id];
      if (actor.kind != ActorKind::thread) {
        continue;
      }
      if (actor.outside) {
        ++totals.outside_threads;
        continue;
      }
      ++totals.threads;
      const ActorTime& time = sweep_.actors[id];
      sum.running_ns += time.running_ns;
      sum.runnable_ns += time.runnable_ns;
      sum.blocked_ns += time.blocked_ns;
      sum.unknown_ns += time.unknown_ns;
      sum.lifetime_ns += time.lifetime_ns;
      open += time.open_wait_ns;
    }
    totals.target = report_time(sum);
    Nanos unknown = sum.blocked_ns - open;
    for (const auto& [kind, ns] : blocked_by_waker()) {
      totals.waits_for[kind] = to_seconds(ns);
      unknown -= ns;
    }
    if (open > 0) {
      totals.waits_for["nobody"] = to_seconds(open);
    }
    if (unknown > 0) {
      totals.waits_for["unknown"] = to_seconds(unknown);
    }
  }

  /// Blocked time of the target that somebody ended.
  std::map<std::string, Nanos> blocked_by_waker() const {
    std::map<std::string, Nanos> out;
    for (SiteId id = 0; id < trace_.sites.size(); ++id) {
      const WaitSite& site = trace_.sites[id];
      if (site.waker != kNoActor && sweep_.sites[id].wait_ns > 0 && site.thread < short_lived_.actors &&
          !trace_.actors[site.thread].outside) {
        const bool request = site.peer != kNoPeer && peer_kinds_[site.peer] == PeerKind::request;
        out[request ? "requests" : std::string(to_string(trace_.actors[site.waker].kind))] +=
            sweep_.sites[id].wait_ns;
      }
    }
    return out;
  }

  void actors() {
    std::vector<Nanos> lost(merged_.vertices.size(), 0);
    for (const Gap& gap : trace_.gaps) {
      lost[merged_.vertex_of[gap.thread]] += clipped(gap.from, gap.to, trace_.window);
    }
    for (std::uint32_t id = 0; id < merged_.vertices.size(); ++id) {
      const Vertex& vertex = merged_.vertices[id];
      const Actor& first = representative(id);
      ReportActor actor;
      actor.kind = vertex.members.size() > 1 ? ActorKind::group : first.kind;
      actor.name = vertex.members.size() > 1 ? common_name(trace_, vertex.members) : first.name;
      actor.outside = first.outside;
      actor.short_lived = vertex.short_lived;
      if (is_thread(actor.kind)) {
        actor.tid = first.tid;
        actor.tgid = first.tgid;
        bool renumbered = false;
        for (const ActorId member : vertex.members) {
          const Actor& thread = trace_.actors[member];
          actor.tids.push_back(thread.tid);
          actor.ns_tids.push_back(thread.ns_tid != 0 ? thread.ns_tid : thread.tid);
          renumbered = renumbered || thread.ns_tid != 0;
        }
        if (!renumbered) actor.ns_tids.clear();
      }
      actor.time = report_time(vertex.time);
      actor.open_wait_s = to_seconds(vertex.time.open_wait_ns);
      actor.lost_s = to_seconds(lost[id]);
      actor.on = first.on;
      report_.actors.push_back(std::move(actor));
    }
  }

  void edges() {
    for (const Edge& edge : merged_.graph.edges) {
      ReportEdge out;
      out.from = edge.from;
      out.to = edge.to;
      out.idle = is_device(report_.actors[edge.from].kind);
      out.waits = edge.waits;
      out.wait_s = to_seconds(edge.wait_ns);
      out.weight_s = to_seconds(edge.weight_ns);
      out.each_s = edge.waits > 0 ? to_seconds(edge.plain_ns) / static_cast<double>(edge.waits) : 0;
      for (std::size_t i = 0; i < kWaitClasses; ++i) {
        if (edge.class_wait_ns.at(i) > 0) {
          out.classes[static_cast<WaitClass>(i)] = to_seconds(edge.class_wait_ns.at(i));
        }
      }
      out.waker_running_s = to_seconds(edge.waker_running_ns);
      out.waker_runnable_s = to_seconds(edge.waker_runnable_ns);
      out.waker_blocked_s = to_seconds(edge.waker_blocked_ns);
      out.waker_unknown_s = to_seconds(edge.waker_unknown_ns);
      if (const auto found = samples_.by_edge.find({edge.from, edge.to}); found != samples_.by_edge.end()) {
        out.waker_samples = samples(found->second);
      }
      for (const EdgeStack& stack : edge.stacks) {
        out.stacks.push_back({stack.wait_class, to_seconds(stack.weight_ns), to_seconds(stack.wait_ns),
                              stack.waits, frames(stack.wait_stack), frames(stack.waker_stack)});
      }
      out.peers_known = edge.peers.size();
      for (std::size_t i = 0; i < std::min(edge.peers.size(), kMostReportPeers); ++i) {
        const EdgePeer& peer = edge.peers[i];
        const Peer& named = trace_.peers[peer.peer];
        out.peers.push_back({named.role, named.name, peer.waits, to_seconds(peer.wait_ns)});
      }
      report_.edges.push_back(std::move(out));
    }
    phases();
  }

  void phases() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, ReportEdgeId> long_edges;
    for (ReportEdgeId id = 0; id < report_.edges.size(); ++id) {
      const ReportEdge& edge = report_.edges[id];
      if (!edge.idle && edge.wait_s >= kPhased * report_.window_s) {
        long_edges[{edge.from, edge.to}] = id;
      }
    }
    std::vector<std::uint32_t> edge_of_site(trace_.sites.size(), kNone);
    for (SiteId id = 0; id < trace_.sites.size(); ++id) {
      const WaitSite& site = trace_.sites[id];
      if (site.waker == kNoActor) {
        continue;
      }
      const auto edge = long_edges.find({merged_.vertex_of[site.thread], merged_.vertex_of[site.waker]});
      if (edge != long_edges.end()) {
        edge_of_site[id] = edge->second;
      }
    }
    std::map<ReportEdgeId, WaitsOverTime> over_time;
    for (const Wait& wait : trace_.waits) {
      if (const std::uint32_t edge = edge_of_site[wait.site]; edge != kNone) {
        over_time.try_emplace(edge, trace_.window)
            .first->second.add(wait.block,
                               std::min(wait.wake, trace_.actors[trace_.sites[wait.site].thread].exit));
      }
    }
    for (const auto& [edge, waits] : over_time) {
      const std::optional<Phases> found = waits.phases();
      if (!found) {
        continue;
      }
      ReportPhases& out = report_.edges[edge].phases.emplace();
      out.share = static_cast<double>(found->wait_ns) / static_cast<double>(found->all_ns);
      out.length_s = to_seconds(found->length_ns);
      for (const Window& range : found->ranges) {
        out.ranges.push_back(
            {to_seconds(range.begin - trace_.window.begin), to_seconds(range.end - trace_.window.begin)});
      }
    }
  }

  void disks() {
    for (const DiskUse& use : disk_use_) {
      report_.disks.push_back({merged_.vertex_of[use.disk], use.bytes, use.ios, to_seconds(use.busy_ns),
                               to_seconds(use.idle_ns), use.capacity.bytes_per_s, use.capacity.ios_per_s,
                               use.capacity.source, use.capacity_raised});
      ReportDisk& disk = report_.disks.back();
      disk.capacity_measured_on = use.capacity.measured_on;
      if (report_.window_s > 0) {
        disk.bytes_per_s = static_cast<double>(use.bytes) / report_.window_s;
        disk.ios_per_s = static_cast<double>(use.ios) / report_.window_s;
      }
      disk.service_s = to_seconds(use.mean_service_ns);
      disk.in_flight = use.mean_in_flight;
      disk.users = disk_users(use);
      if (use.check) {
        disk.check = {use.check->counted_ios, use.check->counted_bytes, use.check->seen_ios,
                      use.check->seen_bytes, use.check->mismatch};
      }
    }
  }

  void nics() {
    const auto direction = [this](const NicDirection& use) {
      ReportNicDirection out{use.bytes, 0, use.capacity_per_s, to_seconds(use.busy_ns),
                             to_seconds(use.idle_ns)};
      out.bytes_per_s = report_.window_s > 0 ? static_cast<double>(use.bytes) / report_.window_s : 0;
      return out;
    };
    for (const NicUse& use : nic_use_) {
      report_.nics.push_back({merged_.vertex_of[use.nic], use.source, use.capacity_raised,
                              direction(use.received), direction(use.sent)});
    }
  }

  /// The busier direction of an interface, the used part of a disk.
  Nanos device_busy(ActorId device) const {
    for (const DiskUse& use : disk_use_) {
      if (use.disk == device) return use.busy_ns;
    }
    for (const NicUse& use : nic_use_) {
      if (use.nic == device) return std::max(use.received.busy_ns, use.sent.busy_ns);
    }
    return 0;
  }

  /// Members of a group together.
  std::vector<ReportDiskUser> disk_users(const DiskUse& use) const {
    std::map<std::optional<ReportActorId>, ReportDiskUser> by_actor;
    for (const DiskUser& user : use.users) {
      std::optional<ReportActorId> actor;
      if (user.thread != kNoActor) {
        actor = merged_.vertex_of[user.thread];
      }
      ReportDiskUser& sum = by_actor[actor];
      sum.actor = actor;
      sum.bytes += user.bytes;
      sum.ios += user.ios;
      sum.service_s += to_seconds(user.service_ns);
    }
    std::vector<ReportDiskUser> users;
    for (auto& [actor, user] : by_actor) {
      user.in_flight = report_.window_s > 0 ? user.service_s / report_.window_s : 0;
      user.service_s /= static_cast<double>(user.ios);
      users.push_back(user);
    }
    std::stable_sort(users.begin(), users.end(),
                     [](const ReportDiskUser& a, const ReportDiskUser& b) { return a.bytes > b.bytes; });
    return users;
  }

  void false_wakeups() {
    ReportFalseWakeups& out = report_.false_wakeups;
    out.removed = !report_.options.keep_false_wakeups;
    out.ran_s = to_seconds(false_wakeups_.ran_ns);
    std::map<std::pair<ReportActorId, ReportActorId>, std::uint64_t> counts;
    for (const auto& [ends, count] : false_wakeups_.counts) {
      counts[{merged_.vertex_of[ends.first], merged_.vertex_of[ends.second]}] += count;
      out.count += count;
    }
    for (const auto& [ends, count] : counts) {
      out.edges.push_back({ends.first, ends.second, count});
    }
    std::stable_sort(out.edges.begin(), out.edges.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
  }

  void open_waits() {
    for (std::size_t i = 0; i < short_lived_.waits; ++i) {
      const Wait& wait = trace_.waits[i];
      if (wait.wake < trace_.window.end || wait.block >= trace_.window.end) {
        continue;
      }
      const WaitSite& site = trace_.sites[wait.site];
      const Actor& thread = trace_.actors[site.thread];
      // A thread that died in its wait is not blocked any more.
      const Nanos ns = clipped(wait.block, thread.exit, trace_.window);
      if (thread.exit < trace_.window.end || ns == 0) {
        continue;
      }
      const Nanos born = std::max(thread.start, trace_.window.begin);
      report_.open_waits.push_back({merged_.vertex_of[site.thread],
                                    thread.tid,
                                    to_seconds(ns),
                                    wait.block <= born,
                                    site.wait_class,
                                    frames(site.wait_stack),
                                    {},
                                    false});
      if (site.holder != kNoActor) {
        const Actor& holder = trace_.actors[site.holder];
        report_.open_waits.back().holder = {merged_.vertex_of[site.holder], holder.tid, holder.name,
                                            holder.ns_tid};
      }
    }
    mark_deadlocks();
    std::stable_sort(report_.open_waits.begin(), report_.open_waits.end(),
                     [](const ReportOpenWait& a, const ReportOpenWait& b) { return a.wait_s > b.wait_s; });
  }

  void mark_deadlocks() {
    struct Held {
      ReportOpenWait* open;
      const ReportOpenWait* seen_from;
    };
    std::map<std::int32_t, Held> held;
    for (ReportOpenWait& open : report_.open_waits) {
      if (open.holder) {
        held.emplace(open.tid, Held{&open, nullptr});
      }
    }
    const auto next = [&held](const ReportOpenWait& open) { return held.find(open.holder->tid); };
    for (auto start = held.begin(); start != held.end(); ++start) {
      const ReportOpenWait* const from = start->second.open;
      auto at = start;
      while (at != held.end() && at->second.seen_from == nullptr) {
        at->second.seen_from = from;
        at = next(*at->second.open);
      }
      // Back where this way has been: a circle, to which a tail may lead.
      if (at != held.end() && at->second.seen_from == from) {
        for (; !at->second.open->deadlock; at = next(*at->second.open)) {
          at->second.open->deadlock = true;
        }
      }
    }
  }

  // ---- knots and sinks

  /// By actor: the time that it slept until a time, or waited for a disk or a service outside of the host.
  struct Waited {
    std::vector<Nanos> asleep_ns;
    std::vector<Nanos> disk_ns;
  };
  Waited waited() const {
    Waited out{std::vector<Nanos>(trace_.actors.size(), 0), std::vector<Nanos>(trace_.actors.size(), 0)};
    for (SiteId id = 0; id < trace_.sites.size(); ++id) {
      const WaitSite& site = trace_.sites[id];
      if (site.waker == kNoActor) {
        continue;
      }
      const ActorKind waker = trace_.actors[site.waker].kind;
      if (waker == ActorKind::timer && site.wait_class == WaitClass::sleep) {
        out.asleep_ns[site.thread] += sweep_.sites[id].wait_ns;
      } else if (waker == ActorKind::disk || remote(site)) {
        out.disk_ns[site.thread] += sweep_.sites[id].wait_ns;
      }
    }
    return out;
  }

  bool remote(const WaitSite& site) const {
    return site.peer != kNoPeer && peer_kinds_[site.peer] == PeerKind::remote_service &&
           trace_.actors[site.waker].kind == ActorKind::nic;
  }

  /// Those of the target: what others wait for is not its business.
  PeerSum waits_for(const Edge& edge, PeerKind kind) const {
    return report_.actors[edge.from].outside ? PeerSum{} : sum_of_kind(edge, peer_kinds_, kind);
  }

  /// By vertex, an interface: what the target's waits for services outside of the host weigh.
  std::vector<PeerSum> remote_services() const {
    std::vector<PeerSum> sums(merged_.vertices.size());
    for (const Edge& edge : merged_.graph.edges) {
      if (report_.actors[edge.to].kind == ActorKind::nic) {
        const PeerSum sum = waits_for(edge, PeerKind::remote_service);
        sums[edge.to].wait_ns += sum.wait_ns;
        sums[edge.to].weight_ns += sum.weight_ns;
      }
    }
    return sums;
  }

  std::vector<KnotVertex> knot_vertices(const std::vector<PeerSum>& remote_services) const {
    std::vector<KnotVertex> out;
    const Waited waits = waited();
    for (const Vertex& vertex : merged_.vertices) {
      KnotVertex knot_vertex;
      const ActorKind kind = trace_.actors[vertex.representative].kind;
      if (is_thread(kind)) {
        for (const ActorId member : vertex.members) {
          const Nanos busy_ns = sweep_.actors[member].running_ns + sweep_.actors[member].runnable_ns;
          knot_vertex.busy_ns = std::max(knot_vertex.busy_ns, busy_ns);
          knot_vertex.cpu_ns += busy_ns;
          knot_vertex.paced_ns = std::max(knot_vertex.paced_ns, busy_ns + waits.asleep_ns[member]);
          knot_vertex.active_ns += busy_ns + waits.asleep_ns[member] + waits.disk_ns[member];
        }
        knot_vertex.busy_ns = vertex.short_lived ? vertex.busy_ns : knot_vertex.busy_ns;
        knot_vertex.paced_ns = std::max(knot_vertex.paced_ns, knot_vertex.busy_ns);
      } else {
        knot_vertex.kind = is_device(kind) ? KnotVertex::Kind::device : KnotVertex::Kind::pseudo;
        knot_vertex.busy_ns = device_busy(vertex.representative);
        // It stands for services that never sleep, as far as anybody here can tell.
        if (remote_services[out.size()].weight_ns >= std::max<Nanos>(knot_options_.min_weight_ns, 1)) {
          knot_vertex.paced_ns = knot_options_.window_ns;
        }
      }
      knot_vertex.saturated = saturated(vertex, knot_vertex);
      knot_vertex.target = !trace_.actors[vertex.representative].outside;
      out.push_back(knot_vertex);
    }
    return out;
  }

  /// A device at its capacity, or a thread that runs nearly all the time: whatever it waits for besides
  /// cannot be worth more than the rest. Time without a CPU is not its own.
  bool saturated(const Vertex& vertex, const KnotVertex& knot_vertex) const {
    const double enough = knot_options_.saturated * static_cast<double>(knot_options_.window_ns);
    switch (knot_vertex.kind) {
      case KnotVertex::Kind::device:
        return static_cast<double>(knot_vertex.busy_ns) >= enough;
      case KnotVertex::Kind::thread:
        return vertex.members.size() == 1 && static_cast<double>(vertex.time.running_ns) >= enough;
      case KnotVertex::Kind::pseudo:
        break;
    }
    return false;
  }

  /// Who did not wait for the disk would not queue for a CPU after it, either.
  Nanos gain(const Edge& edge) const {
    if (report_.actors[edge.to].kind != ActorKind::disk || edge.wait_ns <= 0) {
      return 0;
    }
    const double until_run = static_cast<double>(edge.wait_ns) + static_cast<double>(edge.resume_ns);
    const double gain_ns =
        static_cast<double>(edge.weight_ns) * (until_run / static_cast<double>(edge.wait_ns));
    return gain_ns >= static_cast<double>(kNever) ? kNever : static_cast<Nanos>(gain_ns);
  }

  void find() {
    std::vector<KnotEdge> knot_edges;
    for (const Edge& edge : merged_.graph.edges) {
      const Nanos requests_ns = waits_for(edge, PeerKind::request).weight_ns;
      knot_edges.push_back({edge.from, edge.to, edge.weight_ns - requests_ns, gain(edge), requests_ns});
    }
    const std::vector<PeerSum> remote_services = this->remote_services();
    const std::vector<KnotVertex> vertices = knot_vertices(remote_services);
    found_ = find_knots(vertices, knot_edges, knot_options_);
    for (const Knot& knot : found_.knots) {
      ReportKnot out;
      out.actors = knot.vertices;
      out.edges = knot.edges;
      out.background = knot.background;
      out.weight_s = to_seconds(knot.weight_ns);
      for (const VertexId vertex : knot.vertices) {
        out.cpu_s += to_seconds(vertices[vertex].cpu_ns);
      }
      add_pattern(knot, out);
      report_.knots.push_back(std::move(out));
    }
    for (const KnotSink& sink : found_.sinks) {
      report_.sinks.push_back(report_sink(sink, vertices[sink.vertex]));
      if (sink.paced && vertices[sink.vertex].kind == KnotVertex::Kind::device) {
        report_.sinks.back().limit = "remote-service";
        report_.sinks.back().remote_s = to_seconds(remote_services[sink.vertex].wait_ns);
      }
    }
    for (const KnotStep& step : found_.steps) {
      report_.refinement.push_back(
          {step_reason(step.reason), step.edge, step.vertex, to_seconds(step.weight_ns)});
    }
  }

  void add_pattern(const Knot& knot, ReportKnot& out) const {
    const PatternKnot values = pattern_values(knot);
    const Pattern pattern = classify(values);
    out.pattern = to_string(pattern);
    std::size_t threads = 0;
    for (const VertexId vertex : knot.vertices) {
      threads += is_thread(report_.actors[vertex].kind) ? merged_.vertices[vertex].members.size() : 0;
    }
    out.pattern_title = pattern_title(pattern, threads <= 2);
    out.evidence = evidence(pattern, values, out);
    out.advice = advice(pattern);
  }

  PatternKnot pattern_values(const Knot& knot) const {
    PatternKnot values;
    std::vector<bool> inside(merged_.vertices.size(), false);
    for (const VertexId vertex : knot.vertices) {
      inside[vertex] = true;
      values.has_device = values.has_device || is_device(report_.actors[vertex].kind);
      values.runnable_ns += merged_.vertices[vertex].time.runnable_ns;
      values.blocked_ns += merged_.vertices[vertex].time.blocked_ns;
    }
    for (const Edge& edge : merged_.graph.edges) {
      if (inside[edge.from] && report_.actors[edge.to].kind == ActorKind::timer) {
        values.timer_ns += edge.plain_ns;
      }
    }
    for (const std::uint32_t id : knot.edges) {
      const Edge& edge = merged_.graph.edges[id];
      const auto of = [&](WaitClass wait_class) {
        return edge.class_wait_ns.at(static_cast<std::size_t>(wait_class));
      };
      values.waker_running_ns += edge.waker_running_ns;
      values.waker_runnable_ns += edge.waker_runnable_ns;
      values.waker_disk_ns += edge.waker_disk_ns;
      PatternEdge out;
      out.from = edge.from;
      out.to = edge.to;
      out.futex_ns = of(WaitClass::futex);
      out.lock_ns = of(WaitClass::lock) + of(WaitClass::spin);
      out.together_ns = edge.together_ns;
      out.together_disk_ns = edge.together_disk_ns;
      out.to_device = is_device(report_.actors[edge.to].kind);
      out.pipe_ns = of(WaitClass::pipe);
      out.net_ns = out.to_device ? 0 : of(WaitClass::net) + of(WaitClass::poll);
      out.other_ns = std::accumulate(edge.class_wait_ns.begin(), edge.class_wait_ns.end(), Nanos{0}) -
                     out.futex_ns - out.lock_ns - out.pipe_ns - out.net_ns;
      for (const EdgeStack& stack : edge.stacks) {
        if (stack.wait_class == WaitClass::futex && stack.wait_stack != kNoStack) {
          out.futex_stacks.push_back({stack.wait_stack, stack.wait_ns});
        }
      }
      values.edges.push_back(std::move(out));
    }
    return values;
  }

  /// Of two threads at a barrier only one is let go at a time, as by a lock.
  static std::string pattern_title(Pattern pattern, bool of_two) {
    switch (pattern) {
      case Pattern::group_commit:
        return "group commit";
      case Pattern::blocking_io:
        return "blocking I/O";
      case Pattern::cpu_starvation:
        return "CPU starvation";
      case Pattern::timer_driven:
        return "timer-driven";
      case Pattern::lock_contention:
        return of_two ? "lock contention (or a barrier)" : "lock contention";
      case Pattern::load_imbalance:
        return "load imbalance";
      case Pattern::producer_consumer:
        return "producer and consumer";
      case Pattern::request_answer:
        return "request and answer";
      case Pattern::mixed:
        break;
    }
    return "no one pattern";
  }

  /// What the pattern was concluded from, in numbers.
  std::string evidence(Pattern pattern, const PatternKnot& values, const ReportKnot& knot) const {
    if (pattern == Pattern::cpu_starvation) {
      return "its threads were runnable for " + format_seconds(to_seconds(values.runnable_ns)) +
             ", blocked for " + format_seconds(to_seconds(values.blocked_ns)) + "; who they waited for ran " +
             format_percent(to_seconds(values.waker_running_ns),
                            to_seconds(values.waker_running_ns) + to_seconds(values.waker_runnable_ns)) +
             " of the time it could have" + machine_clause(report_) + ".";
    }
    return evidence_of_waits(pattern, values, knot) + asleep(knot) +
           (lacks_cpu(values) ? lack_of_cpu(knot) : "");
  }

  /// " CPUs are short, too: its threads ran for 6.42 s and were runnable for 24.1 s." Nothing where CPUs were
  /// free: each of very many waits then takes a moment more to resume, which more CPUs would not change.
  std::string lack_of_cpu(const ReportKnot& knot) const {
    ReportTime time;
    for (const ReportActorId actor : knot.actors) {
      time.running_s += report_.actors[actor].time.running_s;
      time.runnable_s += report_.actors[actor].time.runnable_s;
      time.blocked_s += report_.actors[actor].time.blocked_s;
    }
    const bool most = time.runnable_s > time.running_s + time.blocked_s;
    if (!most && machine_busy(report_).value_or(1) < kMachineBusy) {
      return "";
    }
    return std::string(" CPUs are short") + (most ? " above all" : ", too") + ": its threads ran for " +
           format_seconds(time.running_s) + " and were runnable for " + format_seconds(time.runnable_s) +
           machine_clause(report_) + ".";
  }

  std::string evidence_of_waits(Pattern pattern, const PatternKnot& values, const ReportKnot& knot) const {
    switch (pattern) {
      case Pattern::group_commit:
        return committed(knot) + (values.has_device ? " " + idle_disks(knot) : "");
      case Pattern::blocking_io: {
        std::string out = idle_disks(knot);
        return out.empty() ? "it contains a device." : out;
      }
      case Pattern::timer_driven:
        return format_percent(to_seconds(values.timer_ns), to_seconds(values.blocked_ns)) +
               " of its threads' blocked time ended by a timer.";
      case Pattern::lock_contention:
      case Pattern::load_imbalance:
        return class_shares(knot) + released(knot);
      case Pattern::cpu_starvation:
      case Pattern::producer_consumer:
      case Pattern::request_answer:
      case Pattern::mixed:
        break;
    }
    return class_shares(knot);
  }

  /// "disk vda idle 93% of the window."
  std::string idle_disks(const ReportKnot& knot) const {
    std::string out;
    for (const ReportActorId actor : knot.actors) {
      const auto disk = std::find_if(report_.disks.begin(), report_.disks.end(),
                                     [&](const ReportDisk& candidate) { return candidate.actor == actor; });
      if (disk != report_.disks.end()) {
        out += (out.empty() ? "disk " : ", disk ") + escape(report_.actors[actor].name) + " idle " +
               format_percent(disk->idle_s, report_.window_s) + " of the window";
      }
    }
    return out.empty() ? out : out + ".";
  }

  /// How the threads of the knot were let go by each other.
  SiteSum releases(const ReportKnot& knot) const {
    SiteSum sum;
    for (const ReportEdgeId edge : knot.edges) {
      if (!report_.edges[edge].idle && is_thread(report_.actors[report_.edges[edge].to].kind)) {
        add(sum, merged_.graph.edges[edge]);
      }
    }
    return sum;
  }

  /// " Who they wait for sleeps for 86% of that time: …", if that is much: of a lock held over a sleep, or a
  /// writer that is slowed down while the others queue behind it, the pattern alone says too little.
  std::string asleep(const ReportKnot& knot) const {
    const SiteSum sum = releases(knot);
    if (sum.wait_ns <= 0 ||
        static_cast<double>(sum.waker_asleep_ns) < kOftenAsleep * static_cast<double>(sum.wait_ns)) {
      return "";
    }
    return " Who is waited for sleeps until a time for " +
           format_percent(to_seconds(sum.waker_asleep_ns), to_seconds(sum.wait_ns)) +
           " of it: a brake on the rate, a write stall, or something remote.";
  }

  /// "9.3 threads let go at a time (at most 31), after 84% of the time they wait for each other; who let them
  /// go waited for a disk for 41% of it."
  std::string committed(const ReportKnot& knot) const {
    const SiteSum sum = releases(knot);
    const double mean = static_cast<double>(sum.together_waits) / static_cast<double>(sum.releases);
    const auto most = static_cast<double>(sum.largest_release);
    return format_ratio(mean) + " threads let go at a time (at most " + format_count(sum.largest_release) +
           "), after " + format_percent(to_seconds(sum.together_ns), to_seconds(sum.wait_ns)) +
           " of the time they wait for each other; who let them go waited for a disk for " +
           format_percent(to_seconds(sum.together_disk_ns), to_seconds(sum.together_ns)) + " of it." +
           (mean > kConstant * most
                ? " As many each time: a barrier whose last thread waits for a disk would "
                  "look the same."
                : "");
  }

  /// How the waits ended: " 97% of the wait time ended in releases of several threads at once (3.0 on
  /// average)."
  std::string released(const ReportKnot& knot) const {
    const SiteSum sum = releases(knot);
    const std::string share = format_percent(to_seconds(sum.together_ns), to_seconds(sum.wait_ns));
    if (sum.releases == 0) {
      return " One thread is let go at a time.";
    }
    return " " + share + " of the wait time ended in releases of several threads at once (" +
           format_ratio(static_cast<double>(sum.together_waits) / static_cast<double>(sum.releases)) +
           " on average).";
  }

  /// "waits on futex 92%, pipe 8%."
  std::string class_shares(const ReportKnot& knot) const {
    std::map<WaitClass, double> by_class;
    double all_s = 0;
    for (const ReportEdgeId edge : knot.edges) {
      for (const auto& [wait_class, wait_s] : report_.edges[edge].classes) {
        by_class[wait_class] += wait_s;
        all_s += wait_s;
      }
    }
    std::vector<std::pair<WaitClass, double>> shares(by_class.begin(), by_class.end());
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string out;
    for (const auto& [wait_class, wait_s] : shares) {
      out += (out.empty() ? "its waits are " : ", ") + std::string(to_string(wait_class)) + " " +
             format_percent(wait_s, all_s);
    }
    return out.empty() ? out : out + ".";
  }

  ReportSink report_sink(const KnotSink& sink, const KnotVertex& vertex) const {
    ReportSink out;
    out.actor = sink.vertex;
    out.saturated = sink.saturated;
    out.paced = sink.paced;
    out.asleep_s = to_seconds(std::max<Nanos>(0, vertex.paced_ns - vertex.busy_ns));
    out.busy_s = to_seconds(vertex.busy_ns);
    out.limit = "capacity";
    out.samples = samples(samples_.by_vertex[sink.vertex]);
    if (vertex.kind == KnotVertex::Kind::thread) {
      split_busy(sink.vertex, vertex.busy_ns, out);
      out.limit = out.runnable_s > out.running_s ? "cpu" : "execution";
    }
    if (sink.paced && vertex.kind == KnotVertex::Kind::thread) {
      out.pattern = to_string(Pattern::timer_driven);
      out.evidence = sleeps(sink.vertex);
      out.advice =
          "Usually the sleep is replaced by a wait for the event itself, or shortened; one that stands for "
          "something remote is shortened there, or several are under way at a time.";
    }
    return out;
  }

  /// "1,404 sleeps, 1.00 ms each on average."
  std::string sleeps(VertexId id) const {
    std::uint64_t count = 0;
    Nanos sum_ns = 0;
    for (SiteId site_id = 0; site_id < trace_.sites.size(); ++site_id) {
      const WaitSite& site = trace_.sites[site_id];
      if (merged_.vertex_of[site.thread] == id && site.wait_class == WaitClass::sleep &&
          site.waker != kNoActor && trace_.actors[site.waker].kind == ActorKind::timer) {
        count += sweep_.sites[site_id].waits;
        sum_ns += sweep_.sites[site_id].wait_ns;
      }
    }
    if (count == 0) {
      return "";
    }
    return format_plural(count, "sleep") + ", " +
           format_seconds(to_seconds(sum_ns) / static_cast<double>(count)) + " each on average.";
  }

  /// running_s and runnable_s of a thread or group.
  void split_busy(VertexId id, Nanos busy_ns, ReportSink& out) const {
    if (const Vertex& merged = merged_.vertices[id]; merged.short_lived) {
      const double cpu_s = to_seconds(merged.time.running_ns + merged.time.runnable_ns);
      out.running_s = cpu_s > 0 ? out.busy_s * to_seconds(merged.time.running_ns) / cpu_s : 0;
      out.runnable_s = out.busy_s - out.running_s;
      return;
    }
    for (const ActorId member : merged_.vertices[id].members) {
      const ActorTime& time = sweep_.actors[member];
      if (time.running_ns + time.runnable_ns == busy_ns) {
        out.running_s = to_seconds(time.running_ns);
        out.runnable_s = to_seconds(time.runnable_ns);
        return;
      }
    }
  }

  static ReportStep::Reason step_reason(KnotStep::Reason reason) {
    switch (reason) {
      case KnotStep::Reason::noise:
        return ReportStep::Reason::noise;
      case KnotStep::Reason::to_pseudo:
        return ReportStep::Reason::to_pseudo;
      case KnotStep::Reason::requests:
        return ReportStep::Reason::requests;
      case KnotStep::Reason::saturated:
        return ReportStep::Reason::saturated;
      case KnotStep::Reason::apart:
        return ReportStep::Reason::apart;
      case KnotStep::Reason::light:
        return ReportStep::Reason::light;
      case KnotStep::Reason::background_sink:
        return ReportStep::Reason::background_sink;
      case KnotStep::Reason::background_knot:
        return ReportStep::Reason::background_knot;
      case KnotStep::Reason::kept:
        return ReportStep::Reason::kept;
    }
    return ReportStep::Reason::noise;
  }

  // ---- what the verdict has to know besides

  OutsideWaits outside_waits() const {
    OutsideWaits out;
    for (const ReportSink& sink : report_.sinks) {
      if (sink.limit != "remote-service") {
        continue;
      }
      for (const Edge& edge : merged_.graph.edges) {
        for (const EdgePeer& peer : edge.peers) {
          if (edge.to == sink.actor && peer_kinds_[peer.peer] == PeerKind::remote_service) {
            out.services[trace_.peers[peer.peer].name] += to_seconds(peer.wait_ns);
          }
        }
      }
    }
    if (waits_for_requests()) {
      out.requests = longest_for_requests();
    }
    return out;
  }

  ReportEdgeId longest_for_requests() const {
    ReportEdgeId longest = 0;
    Nanos longest_ns = -1;
    for (ReportEdgeId id = 0; id < merged_.graph.edges.size(); ++id) {
      const Nanos wait_ns = waits_for(merged_.graph.edges[id], PeerKind::request).wait_ns;
      if (wait_ns > longest_ns) {
        longest = id;
        longest_ns = wait_ns;
      }
    }
    return longest;
  }

  /// For --min-weight or more; where background knots are the alternative, for more than any of them weighs,
  /// too, and half of the window.
  bool waits_for_requests() const {
    std::vector<PeerSum> sums(merged_.vertices.size());
    for (const Edge& edge : merged_.graph.edges) {
      const PeerSum sum = waits_for(edge, PeerKind::request);
      sums[edge.from].wait_ns += sum.wait_ns;
      sums[edge.from].weight_ns += sum.weight_ns;
    }
    PeerSum most;
    for (const PeerSum& sum : sums) {
      most.wait_ns = std::max(most.wait_ns, sum.wait_ns);
      most.weight_ns = std::max(most.weight_ns, sum.weight_ns);
    }
    const bool background = std::all_of(found_.knots.begin(), found_.knots.end(), [&](const Knot& knot) {
      return most.weight_ns > knot.weight_ns && most.wait_ns >= knot_options_.window_ns / 2;
    });
    return background && most.weight_ns >= std::max<Nanos>(knot_options_.min_weight_ns, 1);
  }

  const Trace& trace_;
  const ShortLivedThreads& short_lived_;
  const Sweep& sweep_;
  const FalseWakeupSums false_wakeups_;
  KnotOptions knot_options_;
  std::vector<PeerKind> peer_kinds_;
  std::vector<DiskUse> disk_use_;
  std::vector<NicUse> nic_use_;
  Merged merged_;
  CpuSampleSums samples_;
  std::vector<std::uint32_t> function_of_frame_;  ///< by FrameId: equal for all places of one function
  KnotResult found_;
  Report report_;
};

}  // namespace

Result<Report> analyse(Trace trace, const AnalysisOptions& options) {
  if (const Status valid = validate(trace); !valid.ok()) {
    return valid.error();
  }
  if (trace.window.length() <= 0) {
    return Error{"the recording's window is empty"};
  }
  const std::vector<FalseWakeup> false_wakeups = find_false_wakeups(trace);
  FalseWakeupSums false_wakeup_sums = sums_of(trace, false_wakeups);
  if (!options.keep_false_wakeups && !false_wakeups.empty()) {
    trace = without_false_wakeups(trace, false_wakeups);
  }
  ShortLivedThreads short_lived{{}, trace.actors.size(), trace.waits.size()};
  if (options.merge) {
    short_lived = stand_in_for_short_lived(trace);
  }
  const Result<Sweep> swept = sweep(trace);
  if (!swept.ok()) {
    return swept.error();
  }
  return Analysis(trace, short_lived, *swept, std::move(false_wakeup_sums), options).run();
}

}  // namespace offwait
