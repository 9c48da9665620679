// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/wording.h"

namespace offwait {

namespace {

std::string called(const ReportThread& thread) { return thread_name(thread.name, thread.tid, thread.ns_tid); }

/// "Deadlock: A (tid 11) waits for the mutex of B (tid 12), which waits for that of A (tid 11). "
std::string deadlock_sentence(const ReportDeadlock& deadlock) {
  constexpr std::size_t kMostNamed = 4;
  const std::vector<ReportThread>& threads = deadlock.threads;
  const std::string first = called(threads[0]);
  if (threads.size() == 1) {
    return fmt::format("Deadlock: {} waits for a mutex that it holds itself. ", first);
  }
  std::string out = fmt::format("Deadlock: {} waits for the mutex of {}", first, called(threads[1]));
  for (std::size_t i = 2; i <= std::min(threads.size(), kMostNamed); ++i) {
    out += fmt::format(", which waits for that of {}", called(threads[i % threads.size()]));
  }
  if (threads.size() > kMostNamed) {
    out += fmt::format(", and so on through {} threads", threads.size());
  }
  return out + ". ";
}

/// " The target waits for the remote service 10.0.0.5:3306, outside of this host (9.50 s): …"
std::string remote_sentence(const ReportVerdict& verdict) {
  if (!verdict.remote) {
    return "";
  }
  const ReportVerdict::Remote& remote = *verdict.remote;
  const std::string more = remote.others > 0 ? fmt::format(" and {} more", format_count(remote.others)) : "";
  return fmt::format(
      " The target waits for the remote service {}{}, outside of this host ({}): how long it takes limits.",
      to_string(remote.longest), more, format_seconds(remote.wait_s));
}

std::string paced_sentence(std::uint32_t count) {
  if (count == 0) {
    return "";
  }
  if (count == 1) {
    return " 1 actor sleeps or runs all the time while threads that do the work wait for it: how long it "
           "sleeps limits.";
  }
  return fmt::format(
      " {} actors sleep or run all the time while threads that do the work wait for it: how long they sleep "
      "limits.",
      count);
}

std::string knots_sentence(const ReportVerdict& verdict) {
  std::string out =
      verdict.knots == 1
          ? "One knot limits throughput: at least one wait in it must get shorter before throughput can rise."
          : fmt::format(
                "{} knots limit throughput: in each, at least one wait must get shorter before throughput "
                "can rise.",
                verdict.knots);
  if (verdict.saturated > 0) {
    out += fmt::format(" Saturated besides: {} {}.", verdict.saturated,
                       verdict.saturated == 1 ? "actor" : "actors");
  }
  return out;
}

std::string saturated_sentence(const ReportVerdict& verdict) {
  const bool one = verdict.saturated == 1;
  std::string limit;
  switch (verdict.saturated_by) {
    case SinkLimit::execution:
      limit = one ? "What it executes limits, not a wait." : "What they execute limits, not a wait.";
      break;
    case SinkLimit::cpu:
      limit = fmt::format("{} CPU: ready to run, but mostly without one.", one ? "It lacks" : "They lack");
      break;
    case SinkLimit::capacity:
    case SinkLimit::remote_service:
      limit = one ? "Its capacity limits." : "Their capacity limits.";
      break;
  }
  return fmt::format("No knot: {} saturated. {}",
                     one ? "one actor is" : fmt::format("{} actors are", verdict.saturated), limit);
}

std::string_view in_words(BlockedBy by) {
  switch (by) {
    case BlockedBy::timer:
      return "timers";
    case BlockedBy::nobody:
      return "events that did not come before the recording ended";
    case BlockedBy::requests:
      return "requests from outside";
    case BlockedBy::nic:
      return "the network, for requests or a remote service";
    case BlockedBy::thread:
      return "other threads";
    case BlockedBy::disk:
      return "disks";
    case BlockedBy::unknown:
      return "something unknown";
    case BlockedBy::irq:
    case BlockedBy::softirq:
      break;
  }
  return "interrupts";
}

/// ", and its threads wait for timers (60% of their blocked time), …"
std::string where_the_waits_go(const Report& report) {
  const double blocked_s = report.totals.target.blocked_s;
  std::vector<std::pair<BlockedBy, double>> kinds(report.totals.waits_for.begin(),
                                                  report.totals.waits_for.end());
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (const auto& [by, wait_s] : kinds) {
    if (wait_s < 0.01 * blocked_s) {
      continue;
    }
    const bool first = out.empty();
    out += fmt::format("{}{} ({}{})", first ? ", and its threads wait for " : ", ", in_words(by),
                       format_percent(wait_s, blocked_s), first ? " of their blocked time" : "");
  }
  return out;
}

/// " from memcaslap, which ran for 81% of that time", if it is a thread of this host.
std::string who_asks(const Report& report, ReportEdgeId requests, const ActorNames& names) {
  const ReportEdge& edge = report.edges[requests];
  const ActorKind kind = report.actors[edge.to].kind;
  if ((kind != ActorKind::thread && kind != ActorKind::group) || edge.wait_s <= 0) {
    return "";
  }
  return fmt::format(" from {}, which ran for {} of that time", names.brief(edge.to),
                     format_percent(edge.waker_running_s, edge.wait_s));
}

std::string of_one_cpu(const Report& report) {
  return fmt::format("{} of one CPU", format_percent(report.totals.target.running_s, report.window_s));
}

std::string requests_sentence(const Report& report, const ActorNames& names) {
  std::string out = fmt::format(
      "Idle: it waits for requests{}. Nothing in the target limits, it ran {}{}; it would serve more if it "
      "were asked for more at a time{}.",
      who_asks(report, *report.verdict.requests, names), of_one_cpu(report), where_the_waits_go(report),
      machine_clause(report));
  if (report.verdict.lacks_cpu) {
    out += fmt::format(" When it had requests it was mostly ready to run without a CPU ({}).",
                       format_seconds(report.totals.target.runnable_s));
  }
  return out;
}

/// Why a target lacks CPU.
std::string who_else_runs(const Report& report) {
  const std::optional<double> busy = machine_busy(report);
  if (!busy || report.recording.cpus == 0) {
    return "";
  }
  if (!report.verdict.machine_full) {
    return " They were not all taken: it may be a CPU quota, pinning, or short bursts.";
  }
  const double all_s = *busy * report.recording.cpus * report.window_s;
  return fmt::format(" Its own part of that was {}.", format_percent(report.totals.target.running_s, all_s));
}

std::string lacks_cpu_sentence(const Report& report) {
  return fmt::format(
      "Lacks CPU: no knot, and nothing is saturated, but the target was ready to run for {} without a CPU "
      "and ran for {}{}.{}",
      format_seconds(report.totals.target.runnable_s), format_seconds(report.totals.target.running_s),
      machine_clause(report), who_else_runs(report));
}

std::string answer(const Report& report, const ActorNames& names) {
  const ReportVerdict& verdict = report.verdict;
  switch (verdict.rule) {
    case ReportVerdict::Rule::knots:
      return knots_sentence(verdict) + paced_sentence(verdict.paced) + remote_sentence(verdict);
    case ReportVerdict::Rule::saturated:
      return saturated_sentence(verdict) + paced_sentence(verdict.paced) + remote_sentence(verdict);
    case ReportVerdict::Rule::paced:
      return "No knot, and nothing is saturated." + paced_sentence(verdict.paced) + remote_sentence(verdict);
    case ReportVerdict::Rule::requests:
      return requests_sentence(report, names);
    case ReportVerdict::Rule::background:
      return "Nothing is saturated and there are only background knots (little CPU, no disk). If the target "
             "should do more than it does, they are the answer.";
    case ReportVerdict::Rule::no_waits:
      return fmt::format("No thread waited in the window: there is no wait to improve. The target ran {}.",
                         of_one_cpu(report));
    case ReportVerdict::Rule::lacks_cpu:
      return lacks_cpu_sentence(report);
    case ReportVerdict::Rule::idle:
      return fmt::format("Idle: no knot, and nothing is saturated. The target ran {}{}{}.",
                         of_one_cpu(report), where_the_waits_go(report), machine_clause(report));
    case ReportVerdict::Rule::no_limit:
      break;
  }
  return fmt::format("No knot, and nothing is saturated: no single wait limits. The target ran {}{}{}.",
                     of_one_cpu(report), where_the_waits_go(report), machine_clause(report));
}

}  // namespace

std::string machine_clause(const Report& report) {
  const std::optional<double> busy = machine_busy(report);
  return busy ? fmt::format("; the machine's CPUs were {} busy", format_percent(*busy, 1)) : std::string();
}

std::string verdict_sentence(const Report& report, const ActorNames& names) {
  std::string out;
  for (const ReportDeadlock& deadlock : report.deadlocks) {
    out += deadlock_sentence(deadlock);
  }
  return out + answer(report, names);
}

}  // namespace offwait
