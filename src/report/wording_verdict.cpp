// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/wording.h"
#include "report/wording_cpus.h"
#include "report/wording_disks.h"

namespace offwait {

namespace {

/// "Deadlock: A (tid 11) waits for the mutex of B (tid 12), which waits for that of A (tid 11). "
std::string deadlock_sentence(const Deadlock& deadlock, const ActorNames& names) {
  constexpr std::size_t kMostNamed = 4;
  const std::vector<FoundThread>& threads = deadlock.threads;
  const std::string first = names.thread(threads[0]);
  if (threads.size() == 1) {
    return fmt::format("Deadlock: {} waits for a mutex that it holds itself. ", first);
  }
  std::string out = fmt::format("Deadlock: {} waits for the mutex of {}", first, names.thread(threads[1]));
  for (std::size_t i = 2; i <= std::min(threads.size(), kMostNamed); ++i) {
    out += fmt::format(", which waits for that of {}", names.thread(threads[i % threads.size()]));
  }
  if (threads.size() > kMostNamed) {
    out += fmt::format(", and so on through {} threads", threads.size());
  }
  return out + ". ";
}

/// " The target waits for the remote service 10.0.0.5:3306, outside of this host (9.50 s): …"
std::string remote_sentence(const Verdict& verdict) {
  if (!verdict.remote) {
    return "";
  }
  const Verdict::Remote& remote = *verdict.remote;
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

std::string knots_sentence(const Verdict& verdict) {
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

/// Whether a disk is called saturated only because of an assumed capacity.
bool is_saturated_by_guess(const Findings& findings) {
  return std::any_of(findings.sinks.begin(), findings.sinks.end(), [&findings](const FoundSink& sink) {
    const FoundDisk* const disk = sink.saturated ? disk_of(findings, sink.actor) : nullptr;
    return disk != nullptr && !has_known_capacity(*disk);
  });
}

std::string saturated_sentence(const Findings& findings) {
  const Verdict& verdict = findings.verdict;
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
      limit = fmt::format("{} capacity limits{}.", one ? "Its" : "Their",
                          is_saturated_by_guess(findings) ? ", if it is what is assumed" : "");
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
      return "events that did not come";
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
std::string where_the_waits_go(const Findings& findings) {
  const double blocked_s = findings.totals.target.blocked_s;
  std::string out;
  for (const auto& [by, wait_s] : blockers_by_time(findings.totals)) {
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
std::string asking_thread(const Findings& findings, FoundEdgeId requests, const ActorNames& names) {
  const FoundEdge& edge = findings.edges[requests];
  const ActorKind kind = findings.actors[edge.to].kind;
  if ((kind != ActorKind::thread && kind != ActorKind::group) || edge.wait_s <= 0) {
    return "";
  }
  return fmt::format(" from {}, which ran for {} of that time", names.brief(edge.to),
                     format_percent(edge.waker_running_s, edge.wait_s));
}

/// "45% of one CPU"
std::string share_of_one_cpu(const Findings& findings) {
  return fmt::format("{} of one CPU", format_percent(findings.totals.target.running_s, findings.window_s));
}

std::string requests_sentence(const Findings& findings, const ActorNames& names) {
  std::string out = fmt::format(
      "Idle: it waits for requests{}. Nothing in the target limits, it ran {}{}; it would serve more if it "
      "were asked for more at a time{}.",
      asking_thread(findings, *findings.verdict.requests, names), share_of_one_cpu(findings),
      where_the_waits_go(findings), machine_clause(findings));
  if (findings.verdict.lacks_cpu) {
    out += fmt::format(" When it had requests it was mostly ready to run without a CPU ({}).",
                       format_seconds(findings.totals.target.runnable_s));
  }
  return out;
}

/// Why the target lacks CPU: others run, or it may not use what is free.
std::string cause_of_lack(const Findings& findings, const ActorNames& names) {
  const std::optional<double> busy = machine_busy(findings);
  if (!busy || findings.recording.cpus == 0) {
    return "";
  }
  if (const CpuSupply::Cause cause = findings.cpu_supply.cause;
      cause != CpuSupply::Cause::own && cause != CpuSupply::Cause::others) {
    const std::string why = cpu_supply_text(findings, names);
    return why.empty() ? "" : " " + why;
  }
  if (const std::string neighbours = neighbours_text(findings, names); !neighbours.empty()) {
    return " " + neighbours;
  }
  const double all_s = *busy * findings.recording.cpus * findings.window_s;
  return fmt::format(" The target itself used {} of that.",
                     format_percent(findings.totals.target.running_s, all_s));
}

std::string lacks_cpu_sentence(const Findings& findings, const ActorNames& names) {
  return fmt::format(
      "Lacks CPU: no knot, and nothing is saturated, but the target was ready to run for {} without a CPU "
      "and ran for {}{}.{}",
      format_seconds(findings.totals.target.runnable_s), format_seconds(findings.totals.target.running_s),
      machine_clause(findings), cause_of_lack(findings, names));
}

bool serves_clients(const Findings& findings) {
  return !findings.progress.empty() && findings.progress.front().how == Progress::How::clients &&
         findings.progress.front().per_s;
}

std::string stopped_sentence(const Totals& totals) {
  const bool frozen = totals.frozen_s > totals.stopped_s;
  return fmt::format("{}: its threads did not run for {} of their time, because {}. Record it when it runs.",
                     frozen ? "Frozen" : "Stopped",
                     format_percent(totals.stopped_s + totals.frozen_s, totals.target.lifetime_s),
                     why_stopped(totals));
}

}  // namespace

std::string why_stopped(const Totals& totals) {
  const std::string stopped = "a signal or a debugger had stopped them";
  const std::string frozen = "their cgroup was frozen";
  if (totals.frozen_s == 0) return stopped;
  return totals.stopped_s == 0 ? frozen : stopped + ", or " + frozen;
}

std::string graph_sentence(const Findings& findings, const ActorNames& names) {
  const Verdict& verdict = findings.verdict;
  switch (verdict.rule) {
    case Verdict::Rule::stopped:
      return stopped_sentence(findings.totals);
    case Verdict::Rule::knots:
      return knots_sentence(verdict) + paced_sentence(verdict.paced) + remote_sentence(verdict);
    case Verdict::Rule::saturated:
      return saturated_sentence(findings) + paced_sentence(verdict.paced) + remote_sentence(verdict);
    case Verdict::Rule::paced:
      return "No knot, and nothing is saturated." + paced_sentence(verdict.paced) + remote_sentence(verdict);
    case Verdict::Rule::requests:
      return requests_sentence(findings, names);
    case Verdict::Rule::background:
      return "Nothing is saturated and there are only background knots (little CPU, no disk). If the target "
             "should do more than it does, they are the answer.";
    case Verdict::Rule::no_waits:
      return fmt::format("No thread waited in the window: there is no wait to improve. The target ran {}.",
                         share_of_one_cpu(findings));
    case Verdict::Rule::lacks_cpu:
      return lacks_cpu_sentence(findings, names);
    case Verdict::Rule::asks:
      return fmt::format(
          "No knot, and nothing is saturated. The target ran {}, and mostly waited for service {}{}.{}",
          share_of_one_cpu(findings), to_string(*verdict.asked), machine_clause(findings),
          findings.held_back ? "" : " What takes it so long did not show: record the service as well.");
    case Verdict::Rule::idle:
      return fmt::format(
          "{} The target ran {}{}{}.",
          serves_clients(findings)
              ? "There is no knot, and nothing is saturated: the target would respond to more "
                "if its clients asked for more, unless it keeps to a rate or a delay of its own."
              : "Idle: no knot, and nothing is saturated.",
          share_of_one_cpu(findings), where_the_waits_go(findings), machine_clause(findings));
    case Verdict::Rule::no_limit:
      break;
  }
  return fmt::format("No knot, and nothing is saturated. The target ran {}{}{}.", share_of_one_cpu(findings),
                     where_the_waits_go(findings), machine_clause(findings));
}

std::string machine_clause(const Findings& findings) {
  const std::optional<double> busy = machine_busy(findings);
  return busy ? fmt::format("; the machine's CPUs were {} busy", format_percent(*busy, 1)) : std::string();
}

std::string deadlock_sentences(const Findings& findings, const ActorNames& names) {
  std::string out;
  for (const Deadlock& deadlock : findings.deadlocks) {
    out += deadlock_sentence(deadlock, names);
  }
  return out;
}

std::string verdict_sentence(const Findings& findings, const ActorNames& names) {
  return deadlock_sentences(findings, names) + graph_sentence(findings, names);
}

}  // namespace offwait
