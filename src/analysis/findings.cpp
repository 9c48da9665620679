// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/findings.h"

#include <algorithm>
#include <numeric>

namespace offwait {

std::string_view to_string(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::knot:
      return "knot";
    case Verdict::Kind::sink:
      return "sink";
    case Verdict::Kind::background:
      return "background";
    case Verdict::Kind::cpu:
      return "cpu";
    case Verdict::Kind::idle:
      return "idle";
    case Verdict::Kind::stopped:
      return "stopped";
    case Verdict::Kind::none:
      return "none";
  }
  return "";
}

std::string_view to_string(BlockedBy by) {
  switch (by) {
    case BlockedBy::disk:
      return "disk";
    case BlockedBy::irq:
      return "irq";
    case BlockedBy::nic:
      return "nic";
    case BlockedBy::nobody:
      return "nobody";
    case BlockedBy::requests:
      return "requests";
    case BlockedBy::softirq:
      return "softirq";
    case BlockedBy::thread:
      return "thread";
    case BlockedBy::timer:
      return "timer";
    case BlockedBy::unknown:
      return "unknown";
  }
  return "";
}

std::string_view to_string(SinkLimit limit) {
  switch (limit) {
    case SinkLimit::execution:
      return "execution";
    case SinkLimit::cpu:
      return "cpu";
    case SinkLimit::capacity:
      return "capacity";
    case SinkLimit::remote_service:
      return "remote-service";
  }
  return "";
}

std::string_view to_string(CpuSupply::Cause cause) {
  switch (cause) {
    case CpuSupply::Cause::none:
      return "none";
    case CpuSupply::Cause::unknown:
      return "unknown";
    case CpuSupply::Cause::quota:
      return "quota";
    case CpuSupply::Cause::pinning:
      return "pinning";
    case CpuSupply::Cause::steal:
      return "steal";
    case CpuSupply::Cause::own:
      return "own";
    case CpuSupply::Cause::others:
      return "others";
    case CpuSupply::Cause::bursts:
      return "bursts";
  }
  return "";
}

std::string_view to_string(LimitedBy by) {
  switch (by) {
    case LimitedBy::unknown:
      return "unknown";
    case LimitedBy::target:
      return "target";
    case LimitedBy::service:
      return "service";
  }
  return "";
}

std::size_t FoundActor::members() const { return std::max<std::size_t>(1, tids.size()); }

double FoundMemory::read_again() const {
  const auto again = static_cast<double>(refault_bytes + swap_bytes);
  return read_bytes == 0 ? 0 : std::min(1.0, again / static_cast<double>(read_bytes));
}

Verdict::Kind Verdict::kind() const {
  switch (rule) {
    case Rule::stopped:
      return Kind::stopped;
    case Rule::knots:
      return Kind::knot;
    case Rule::saturated:
    case Rule::paced:
      return Kind::sink;
    case Rule::requests:
    case Rule::idle:
      return Kind::idle;
    case Rule::background:
      return Kind::background;
    case Rule::lacks_cpu:
      return Kind::cpu;
    case Rule::no_waits:
    case Rule::asks:
    case Rule::no_limit:
      break;
  }
  return Kind::none;
}

std::string_view to_string(ExcludedWait::Reason reason) {
  switch (reason) {
    case ExcludedWait::Reason::leads_in:
      return "leads-in";
    case ExcludedWait::Reason::to_pseudo:
      return "to-pseudo";
    case ExcludedWait::Reason::requests:
      return "requests";
    case ExcludedWait::Reason::saturated:
      return "saturated";
    case ExcludedWait::Reason::apart:
      return "apart";
    case ExcludedWait::Reason::light:
      return "light";
    case ExcludedWait::Reason::background:
      return "background";
    case ExcludedWait::Reason::noise:
      return "noise";
    case ExcludedWait::Reason::no_answer:
      return "no-answer";
  }
  return "";
}

std::optional<double> machine_busy(const Findings& findings) {
  const auto busy = static_cast<double>(findings.recording.cpu_busy_ns);
  const double all = busy + static_cast<double>(findings.recording.cpu_idle_ns);
  return all > 0 ? std::optional(busy / all) : std::nullopt;
}

std::uint64_t total_lost(const Findings& findings) {
  return std::accumulate(findings.loss.begin(), findings.loss.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& counter) { return sum + counter.second; });
}

}  // namespace offwait
