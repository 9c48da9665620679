// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_cpus.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"

namespace offwait {

namespace {

constexpr std::size_t kMostProcesses = 3;
/// Processes that used less than this part of a CPU, and steal of less than this part of the time, are not
/// worth a word.
constexpr double kHardlyUsed = 0.01;

/// `rustc (pid 71) 0.11`, in CPUs
std::string use_text(const FoundProcess& process, double window_s, const ActorNames& names) {
  const std::string cpus = format_ratio((process.own_s + process.children_s) / window_s);
  return fmt::format("{}{} {}", process.children_s > process.own_s ? "ended children of " : "",
                     names.process(process), cpus);
}

/// ` (rustc (pid 71) 0.11, make (pid 70) 0.02)`
std::string named_text(const std::vector<FoundProcess>& processes, double window_s, const ActorNames& names) {
  std::vector<std::string> named;
  for (const FoundProcess& process : processes) {
    if (named.size() < kMostProcesses && process.own_s + process.children_s >= kHardlyUsed * window_s) {
      named.push_back(use_text(process, window_s, names));
    }
  }
  return named.empty() ? "" : fmt::format(" ({})", fmt::join(named, ", "));
}

double used_s(const std::vector<FoundProcess>& processes) {
  return std::accumulate(
      processes.begin(), processes.end(), 0.0,
      [](double sum, const FoundProcess& process) { return sum + process.own_s + process.children_s; });
}

/// The others that the target works with, such as its clients on this host, and the rest.
struct OthersOnCpus {
  std::vector<FoundProcess> partners;
  std::vector<FoundProcess> strangers;
};

OthersOnCpus others_on_cpus(const Findings& findings) {
  OthersOnCpus out;
  for (const FoundProcess& process : findings.cpu_supply.others) {
    (process.with_target ? out.partners : out.strangers).push_back(process);
  }
  return out;
}

/// Whether those that the target works with used more than half of what all others did.
bool have_partners_most(const Findings& findings) {
  return used_s(others_on_cpus(findings).partners) > findings.cpu_supply.other_cpus * findings.window_s / 2;
}

/// `the target used 1.82 of 2, others 0.15 (…), the hypervisor 0.02`
std::string users_text(const Findings& findings, const ActorNames& names) {
  const CpuSupply& supply = findings.cpu_supply;
  const std::uint32_t cpus = findings.recording.cpus;
  std::string out = fmt::format("the target used {}{}", format_ratio(supply.target_cpus),
                                cpus == 0 ? "" : fmt::format(" of {}", format_count(cpus)));
  if (supply.other_cpus >= kHardlyUsed) {
    out += fmt::format(", others {}{}", format_ratio(supply.other_cpus),
                       named_text(supply.others, findings.window_s, names));
  }
  if (supply.steal >= kHardlyUsed) {
    out += fmt::format(", the hypervisor {}", format_ratio(supply.stolen_cpus));
  }
  return out;
}

std::string busy_text(const Findings& findings) {
  return format_percent(machine_busy(findings).value_or(0), 1);
}

std::string quota_text(const FoundQuota& quota, double window_s, const ActorNames& names) {
  return fmt::format(
      "CPU quota of cgroup {}: {} CPUs. It was used up in {} of {} periods, and throttled its threads for {} "
      "of {}, all CPUs together.",
      names.cgroup(quota), format_ratio(quota.cpus), format_count(quota.throttled_periods),
      format_count(quota.periods), format_seconds(quota.throttled_s), format_seconds(window_s));
}

std::string pinning_text(const FoundPinning& pinning) {
  return fmt::format("Pinned: {} may use {} of {} CPUs ({}), {} busy. The other CPUs were {} busy.",
                     format_plural(pinning.threads, "thread"), pinning.allowed_cpus, pinning.online_cpus,
                     to_string(pinning.allowed), format_percent(pinning.allowed_busy, 1),
                     format_percent(pinning.others_busy, 1));
}

std::string ready_text(const Findings& findings) {
  return fmt::format("Its threads were ready to run for {} without one.",
                     format_seconds(findings.totals.target.runnable_s));
}

/// CPUs that are short of whole ones by less count as all: switches between threads take a part of each.
constexpr double kNearlyWhole = 0.25;

}  // namespace

std::string idle_cpus_clause(const Findings& findings) {
  const std::optional<double> busy = machine_busy(findings);
  const std::uint32_t cpus = findings.recording.cpus;
  if (!busy || (1 - *busy) * cpus < kNearlyWhole) return "";
  return fmt::format(" ({} of {} were idle)", format_ratio((1 - *busy) * cpus), format_plural(cpus, "CPU"));
}

std::string neighbours_text(const Findings& findings, const ActorNames& names) {
  const CpuSupply& supply = findings.cpu_supply;
  if (!others_have_the_cpus(findings)) return "";
  const std::uint32_t cpus = findings.recording.cpus;
  const auto [partners, strangers] = others_on_cpus(findings);
  const double partners_cpus = used_s(partners) / std::max(findings.window_s, 1e-9);
  const double strangers_cpus = supply.other_cpus - partners_cpus;
  std::vector<std::string> parts = {fmt::format("it has {}", format_ratio(supply.target_cpus))};
  if (partners_cpus >= kHardlyUsed) {
    parts.push_back(fmt::format("programs that it works with {}{}", format_ratio(partners_cpus),
                                named_text(partners, findings.window_s, names)));
  }
  if (strangers_cpus >= kHardlyUsed) {
    parts.push_back(fmt::format("others {}{}", format_ratio(strangers_cpus),
                                named_text(strangers, findings.window_s, names)));
  }
  return fmt::format("Other programs have CPUs that the target lacks: {}{}.",
                     cpus == 0 ? "" : fmt::format("of {}, ", cpus), fmt::join(parts, ", "));
}

std::string cpu_limit_clause(const Findings& findings, const ActorNames& names) {
  const CpuSupply& supply = findings.cpu_supply;
  if (supply.cause == CpuSupply::Cause::quota && supply.quota) {
    return fmt::format("the quota of cgroup {} gives it {} CPUs", names.cgroup(*supply.quota),
                       format_ratio(supply.quota->cpus));
  }
  if (supply.cause == CpuSupply::Cause::pinning && supply.pinning) {
    return fmt::format("the target is pinned to {} of {} CPUs", supply.pinning->allowed_cpus,
                       supply.pinning->online_cpus);
  }
  return "";
}

std::string cpu_room_text(const Findings& findings, double usable, const ActorNames& names) {
  if (const std::string limit = cpu_limit_clause(findings, names); !limit.empty()) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(limit.front()))) + limit.substr(1);
  }
  const double all = findings.recording.cpus;
  return usable > all - kNearlyWhole
             ? fmt::format("It has {}", format_plural(findings.recording.cpus, "CPU"))
             : fmt::format("The recorded threads get {:.1f} of {}; others use the rest", usable,
                           format_plural(findings.recording.cpus, "CPU"));
}

std::string cpu_room_advice(const Findings& findings) {
  switch (findings.cpu_supply.cause) {
    case CpuSupply::Cause::quota:
      return fmt::format("raise the quota{} in cpu.max or cpu.cfs_quota_us, or do less work",
                         idle_cpus_clause(findings));
    case CpuSupply::Cause::pinning:
      return fmt::format("let it use more CPUs{}, or do less work", idle_cpus_clause(findings));
    case CpuSupply::Cause::others:
      if (have_partners_most(findings)) {
        return "run the programs that it works with on another machine, give it more CPUs, or do less work";
      }
      [[fallthrough]];
    case CpuSupply::Cause::steal:
      return "fewer other programs on these CPUs, more CPUs, or less work on them";
    case CpuSupply::Cause::none:
    case CpuSupply::Cause::unknown:
    case CpuSupply::Cause::own:
    case CpuSupply::Cause::bursts:
      break;
  }
  return "more CPUs for it, or less work on them";
}

std::string cpu_supply_text(const Findings& findings, const ActorNames& names) {
  const CpuSupply& supply = findings.cpu_supply;
  switch (supply.cause) {
    case CpuSupply::Cause::none:
    case CpuSupply::Cause::unknown:
      break;
    case CpuSupply::Cause::quota:
      return supply.quota ? quota_text(*supply.quota, findings.window_s, names) : "";
    case CpuSupply::Cause::pinning:
      return supply.pinning ? pinning_text(*supply.pinning) : "";
    case CpuSupply::Cause::steal:
      return fmt::format("Steal: the hypervisor took {} of the CPUs' time; {}. {}",
                         format_percent(supply.steal, 1), users_text(findings, names), ready_text(findings));
    case CpuSupply::Cause::own:
    case CpuSupply::Cause::others:
      return fmt::format("CPUs {} busy: {}. {}", busy_text(findings), users_text(findings, names),
                         ready_text(findings));
    case CpuSupply::Cause::bursts:
      return fmt::format(
          "Bursts: the CPUs were {} busy on average, but not free when threads were ready: {}.",
          busy_text(findings), users_text(findings, names));
  }
  return "";
}

}  // namespace offwait
