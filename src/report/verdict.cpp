// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/verdict.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "report/escape.h"
#include "report/names.h"
#include "report/quantity.h"

namespace offwait {

namespace {

/// A target that is runnable, without a CPU, for this part of the window, all threads together, is not idle.
constexpr double kLacksCpu = 0.2;

/// " The target waits for 10.0.0.5:3306, outside of this host, for 95% of the window: that service limits."
std::string remote_sentence(const Report& report, const OutsideWaits& outside) {
  if (outside.services.empty()) {
    return "";
  }
  const double wait_s =
      std::accumulate(report.sinks.begin(), report.sinks.end(), 0.0, [](double sum, const ReportSink& sink) {
        return sum + (sink.limit == "remote-service" ? sink.remote_s : 0);
      });
  const auto most = std::max_element(outside.services.begin(), outside.services.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return " The target waits for the remote service " + escape(most->first) +
         (outside.services.size() > 1 ? " and " + format_count(outside.services.size() - 1) + " more" : "") +
         ", outside of this host (" + format_seconds(wait_s) + "): how long it takes limits.";
}

/// " of memcaslap, who ran for 81% of that time", if it is a thread of this host.
std::string who_asks(const Report& report, ReportEdgeId requests) {
  const ReportEdge& edge = report.edges[requests];
  const ActorKind kind = report.actors[edge.to].kind;
  if ((kind != ActorKind::thread && kind != ActorKind::group) || edge.wait_s <= 0) {
    return "";
  }
  return " of " + escape(ActorNames(report).brief(edge.to)) + ", who ran for " +
         format_percent(edge.waker_running_s, edge.wait_s) + " of that time";
}

/// Of a target that lacks CPU.
std::string who_else_runs(const Report& report) {
  const std::optional<double> busy = machine_busy(report);
  if (!busy || report.recording.cpus == 0) {
    return "";
  }
  if (*busy < kMachineBusy) {
    return " They were not all taken: it may be a CPU quota, pinning, or short bursts.";
  }
  const double all_s = *busy * report.recording.cpus * report.window_s;
  return " Its own part of that was " + format_percent(report.totals.target.running_s, all_s) + ".";
}

std::string paced_sentence(std::ptrdiff_t count) {
  return (count == 1 ? std::string("1 actor sleeps or runs")
                     : std::to_string(count) + " actors sleep or run") +
         " all the time while threads that do the work wait for it: how long " +
         (count == 1 ? "it sleeps" : "they sleep") + " limits.";
}

std::string what_limits(const Report& report, bool one) {
  const auto count = [&report](const char* limit) {
    return std::count_if(report.sinks.begin(), report.sinks.end(),
                         [limit](const ReportSink& sink) { return sink.saturated && sink.limit == limit; });
  };
  if (count("execution") > 0) {
    return std::string("What ") + (one ? "it executes" : "they execute") + " limits, not a wait.";
  }
  if (count("cpu") > 0) {
    return std::string(one ? "It lacks" : "They lack") + " CPU: ready to run, but mostly without one.";
  }
  return std::string(one ? "Its" : "Their") + " capacity limits.";
}

/// ", and its threads wait for timers (60% of their blocked time), …"
std::string where_the_waits_go(const Report& report) {
  const double blocked_s = report.totals.target.blocked_s;
  std::vector<std::pair<std::string, double>> kinds(report.totals.waits_for.begin(),
                                                    report.totals.waits_for.end());
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (const auto& [kind, wait_s] : kinds) {
    if (wait_s < 0.01 * blocked_s) {
      continue;
    }
    const std::string what = kind == "timer"      ? "timers"
                             : kind == "nobody"   ? "what did not come within the window"
                             : kind == "requests" ? "requests from outside"
                             : kind == "nic"      ? "the network, for requests or a remote service"
                             : kind == "thread"   ? "other threads"
                             : kind == "disk"     ? "disks"
                             : kind == "unknown"  ? "something unknown"
                                                  : "interrupts";
    out += (out.empty() ? ", and its threads wait for " : ", ") + what + " (" +
           format_percent(wait_s, blocked_s) + (out.empty() ? " of their blocked time)" : ")");
  }
  return out;
}

/// "Deadlock: A (tid 11) waits for the mutex of B (tid 12), who waits for that of A (tid 11). ", once for
/// each circle.
std::string deadlock_sentences(const Report& report) {
  constexpr std::size_t kMostNamed = 4;
  std::map<std::int32_t, const ReportOpenWait*> circles;
  for (const ReportOpenWait& open : report.open_waits) {
    if (open.deadlock) {
      circles.emplace(open.tid, &open);
    }
  }
  std::string out;
  while (!circles.empty()) {
    std::vector<std::string> names;
    for (auto at = circles.begin(); at != circles.end();) {
      const ReportOpenWait::Holder& holder = *at->second->holder;
      names.push_back(thread_name(holder.name, holder.tid, holder.ns_tid));
      circles.erase(at);
      at = circles.find(holder.tid);
    }
    if (names.size() == 1) {
      out += "Deadlock: " + names[0] + " waits for a mutex that it holds itself. ";
      continue;
    }
    out += "Deadlock: " + names.back() + " waits for the mutex of " + names[0];
    for (std::size_t i = 1; i < names.size(); ++i) {
      out += i == kMostNamed  ? ", and so on through " + std::to_string(names.size()) + " threads"
             : i < kMostNamed ? ", who waits for that of " + names[i]
                              : "";
    }
    out += ". ";
  }
  return out;
}

}  // namespace

std::string machine_clause(const Report& report) {
  const std::optional<double> busy = machine_busy(report);
  return busy ? "; the machine's CPUs were " + format_percent(*busy, 1) + " busy" : std::string();
}

ReportVerdict verdict(const Report& report, const OutsideWaits& outside) {
  const auto answers = std::count_if(report.knots.begin(), report.knots.end(),
                                     [](const ReportKnot& knot) { return !knot.background; });
  const auto saturated = std::count_if(report.sinks.begin(), report.sinks.end(),
                                       [](const ReportSink& sink) { return sink.saturated; });
  const auto paced = std::count_if(report.sinks.begin(), report.sinks.end(), [](const ReportSink& sink) {
    return sink.paced && sink.limit != "remote-service";
  });
  const std::string remote = remote_sentence(report, outside);
  const bool lacks_cpu = report.totals.target.runnable_s >= kLacksCpu * report.window_s &&
                         report.totals.target.runnable_s > report.totals.target.running_s;
  ReportVerdict answer;
  const std::string ran = format_percent(report.totals.target.running_s, report.window_s) + " of one CPU";
  if (answers > 0) {
    answer.kind = ReportVerdict::Kind::knot;
    answer.sentence =
        answers == 1 ? "1 knot limits: at least one wait in it must get shorter before throughput can rise."
                     : std::to_string(answers) +
                           " knots limit: in each, at least one wait must get shorter before "
                           "throughput can rise.";
    if (saturated > 0) {
      answer.sentence +=
          " Saturated besides: " + std::to_string(saturated) + (saturated == 1 ? " actor." : " actors.");
    }
    if (paced > 0) {
      answer.sentence += " " + paced_sentence(paced);
    }
    answer.sentence += remote;
  } else if (saturated > 0) {
    answer.kind = ReportVerdict::Kind::sink;
    answer.sentence =
        "No knot: " +
        (saturated == 1 ? std::string("one actor is") : std::to_string(saturated) + " actors are") +
        " saturated. " + what_limits(report, saturated == 1);
    if (paced > 0) {
      answer.sentence += " " + paced_sentence(paced);
    }
    answer.sentence += remote;
  } else if (paced > 0 || !remote.empty()) {
    answer.kind = ReportVerdict::Kind::sink;
    answer.sentence =
        "No knot, and nothing is saturated." + (paced > 0 ? " " + paced_sentence(paced) : "") + remote;
  } else if (outside.requests &&
             (!lacks_cpu || report.edges[*outside.requests].wait_s >= 0.5 * report.window_s)) {
    answer.kind = ReportVerdict::Kind::idle;
    answer.sentence = "Idle: waiting for requests" + who_asks(report, *outside.requests) +
                      ". Nothing in the target limits, it ran " + ran + where_the_waits_go(report) +
                      "; it would serve more if it were asked for more at a time" + machine_clause(report) +
                      ".";
    if (lacks_cpu) {
      answer.sentence += " When it had requests it was mostly ready to run without a CPU (" +
                         format_seconds(report.totals.target.runnable_s) + ").";
    }
  } else if (!report.knots.empty()) {
    answer.kind = ReportVerdict::Kind::background;
    answer.sentence =
        "Nothing is saturated and there are only background knots (little CPU, no disk). If the target "
        "should do more "
        "than it does, they are the answer.";
  } else if (report.totals.waits == 0) {
    answer.kind = ReportVerdict::Kind::none;
    answer.sentence =
        "No thread waited in the window: there is no wait to improve. The target ran " + ran + ".";
  } else if (lacks_cpu) {
    answer.kind = ReportVerdict::Kind::cpu;
    answer.sentence = "Lacks CPU: no knot, and nothing is saturated, but the target was ready to run for " +
                      format_seconds(report.totals.target.runnable_s) + " without a CPU and ran for " +
                      format_seconds(report.totals.target.running_s) + machine_clause(report) + "." +
                      who_else_runs(report);
  } else if (report.totals.target.running_s < 0.5 * report.window_s) {
    answer.kind = ReportVerdict::Kind::idle;
    answer.sentence = "Idle: no knot, and nothing is saturated. The target ran " + ran +
                      where_the_waits_go(report) + machine_clause(report) + ".";
  } else {
    answer.kind = ReportVerdict::Kind::none;
    answer.sentence = "No knot, and nothing is saturated: no single wait limits. The target ran " + ran +
                      where_the_waits_go(report) + machine_clause(report) + ".";
  }
  answer.sentence = deadlock_sentences(report) + answer.sentence;
  return answer;
}

}  // namespace offwait
