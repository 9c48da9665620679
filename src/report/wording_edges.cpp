// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_edges.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "analysis/peer_hosts.h"
#include "analysis/rankings.h"
#include "report/frame.h"
#include "report/quantity.h"
#include "report/wording_disks.h"

namespace offwait {

namespace {

// Fewer samples than these say little: their share is off by 10 % of the whole and more.
constexpr std::uint64_t kFewSamples = 30;
/// A standard error is told where it is a larger part of the edge than this.
constexpr double kToldError = 0.05;

std::string doing(double running_s, double waited_s, double runnable_s, double unknown_s) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view verb, double s) {
    if (s > 0) parts.push_back(fmt::format("{} {}", verb, format_seconds(s)));
  };
  add("ran", running_s);
  add("waited", waited_s);
  add("was runnable", runnable_s);
  add("unknown for", unknown_s);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string edge_text(const FoundEdge& edge, const ActorNames& names) {
  return fmt::format("{} → {}", names.brief(edge.from), names.brief(edge.to));
}

std::string classes_text(const FoundEdge& edge) {
  constexpr double kWorthNaming = 0.05;
  constexpr double kAll = 0.95;
  if (edge.idle) return "spare";
  std::string out;
  for (const auto& [wait_class, wait_s] : classes_by_time(edge.classes)) {
    if (out.empty() || wait_s >= kWorthNaming * edge.wait_s) {
      out += fmt::format("{}{}", out.empty() ? "" : ", ", to_string(wait_class));
      if (wait_s < kAll * edge.wait_s) out += " " + format_percent(wait_s, edge.wait_s);
    }
  }
  return out;
}

std::string each_wait(const FoundEdge& edge) {
  return fmt::format("{} of {}", format_plural(edge.waits, "wait"), format_seconds(edge.each_s));
}

std::string_view weight_explained() {
  return "weight: waited, and what others waited behind it meanwhile, so it may exceed the window; of ×N "
         "threads: for each of them that lives, on average";
}

std::string phases_text(const FoundPhases& phases, double window_s) {
  std::vector<std::string> ranges;
  for (const FoundPhases::Range& range : phases.ranges) {
    ranges.push_back(fmt::format("{} to {}", format_seconds(range.from_s), format_seconds(range.to_s)));
  }
  return fmt::format("{} of it within {} of {}: {} after the beginning", format_percent(phases.share, 1),
                     format_seconds(phases.length_s), format_seconds(window_s), fmt::join(ranges, ", "));
}

std::string waker_text(const FoundEdge& edge, const ActorNames& names) {
  const std::string did =
      doing(edge.waker_running_s, edge.waker_blocked_s, edge.waker_runnable_s, edge.waker_unknown_s);
  return did.empty() ? "" : fmt::format("{} {}", names.brief(edge.to), did);
}

std::string spare_text(const Findings& findings, const FoundEdge& edge, const ActorNames& names) {
  const FoundActor& actor = findings.actors[edge.to];
  const StateSeconds& time = actor.time;
  const bool group = actor.tids.size() > 1;
  const double members = group ? static_cast<double>(actor.tids.size()) : 1;
  const std::string did = doing(time.running_s / members, time.blocked_s / members, time.runnable_s / members,
                                time.unknown_s / members);
  const auto disk =
      std::find_if(findings.disks.begin(), findings.disks.end(),
                   [&edge](const FoundDisk& candidate) { return candidate.actor == edge.from; });
  const std::string spare = disk == findings.disks.end()
                                ? names.brief(edge.from) + " could have served more"
                                : spare_text(findings, *disk, names.brief(edge.from));
  return did.empty() ? spare
                     : fmt::format("{}; over the window {}{} {}{}", spare, group ? "each of " : "",
                                   names.brief(edge.to), did, group ? " on average" : "");
}

std::string peers_text(const FoundEdge& edge, std::size_t most) {
  const std::vector<PeerHost> hosts = peer_hosts(edge.peers);
  std::vector<std::string> shown;
  std::uint64_t told = 0;
  for (std::size_t i = 0; i < std::min(most, hosts.size()); ++i) {
    const PeerHost& host = hosts[i];
    shown.push_back(
        fmt::format("{} {} ×{}{}", to_string(host.role), host.name, format_count(host.waits),
                    host.ports > 1 ? fmt::format(" ({})", format_plural(host.ports, "port")) : ""));
    told += host.ports;
  }
  const std::string more =
      told < edge.peers_known ? fmt::format(" and {} more", format_count(edge.peers_known - told)) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), more);
}

std::string part_of_weight(const FoundEdge& edge, const FoundStack& stack, bool verbose) {
  if (edge.stacks.size() <= 1) return "";
  std::string part = format_percent(stack.weight_s, edge.weight_s);
  if (stack.weight_error_s > kToldError * edge.weight_s)
    part += " ± " + format_percent(stack.weight_error_s, edge.weight_s);
  return verbose ? part
                 : fmt::format("{} of the weight, {}", part,
                               format_plural(edge.stacks.size() - 1, "other stack"));
}

std::string frames_left_out(std::size_t frames) { return fmt::format("← …{} more", format_count(frames)); }

std::string share_of_samples(double share, std::uint64_t samples) {
  return fmt::format("{} of {}{} in", format_percent(share, 1), samples < kFewSamples ? "only " : "",
                     format_plural(samples, "sample"));
}

std::vector<std::string> parts_of_place(const FunctionPlace& place) {
  constexpr double kMuch = 0.5;
  constexpr double kAll = 0.95;
  const auto part = [](double share, const std::string& in) {
    return share >= kAll ? in : fmt::format("{} of that {}", format_percent(share, 1), in);
  };
  std::vector<std::string> out;
  if (place.kernel >= kMuch) {
    const bool is_named = place.entered_by.empty() || place.stack.frames.front().function == place.entered_by;
    out.push_back(
        part(place.kernel, is_named ? "in the kernel" : fmt::format("in the kernel ({})", place.entered_by)));
  } else if (place.own >= kMuch && place.own < kAll) {
    out.push_back(part(place.own, "in its own code"));
  }
  if (place.callee && place.kernel < kMuch) {
    out.push_back(part(place.callee_share, "in " + short_frame(*place.callee)));
  }
  return out;
}

std::string spread_text(const FoundSamples& samples) {
  return samples.spread_below
             ? fmt::format("spread over many functions below {}", short_frame(*samples.spread_below))
             : "spread over many functions";
}

std::string share_of_samples(double share) { return fmt::format("{} in", format_percent(share, 1)); }

}  // namespace offwait
