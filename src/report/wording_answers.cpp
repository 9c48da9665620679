// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_answers.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "code/calls.h"
#include "report/quantity.h"
#include "report/wording.h"
#include "report/wording_cpus.h"
#include "report/wording_disks.h"
#include "report/wording_edges.h"
#include "report/wording_files.h"
#include "report/wording_gains.h"
#include "report/wording_locks.h"
#include "report/wording_progress.h"
#include "report/wording_sections.h"

namespace offwait {

namespace {

/// `sysbench×16`: threads that the report shows as more than one actor.
std::string all_alike(const AnswerEvidence& evidence, const ActorNames& names) {
  return names.threads(evidence.name, evidence.threads);
}

/// Whether the actor has more or fewer threads than are meant.
bool is_other(const AnswerEvidence& evidence, const ActorNames& names) {
  return evidence.alike > 0 ||
         (evidence.actor && evidence.threads > 0 && evidence.threads < names.members(*evidence.actor));
}

std::string owner(const FoundAnswer& answer, const ActorNames& names) {
  if (!answer.actor) return "the target";
  return is_other(answer.evidence, names) ? all_alike(answer.evidence, names) : names.brief(*answer.actor);
}

/// `A's CPU work`, `CPU work of A×8`
std::string of_owner(std::string_view what, const FoundAnswer& answer, const ActorNames& names) {
  return is_other(answer.evidence, names) ? fmt::format("{} of {}", what, owner(answer, names))
                                          : fmt::format("{}'s {}", owner(answer, names), what);
}

std::string each_time(const AnswerEvidence& evidence) {
  return evidence.waits == 0
             ? ""
             : fmt::format(", {} of {} each", format_plural(evidence.waits, "wait"),
                           format_seconds(evidence.time_s / static_cast<double>(evidence.waits)));
}

/// `A×4 waited 5.00 s (90% of its time), 100 waits of 50 ms each` or, if others have a part of that that is
/// worth a word, `threads waited 5.00 s, 100 waits of 50 ms each; A×4 3.10 s of it (90% of its time)`.
/// `share` is what stands in brackets, `waits` what stands behind the comma.
std::string who_waited(const AnswerEvidence& evidence, std::string_view who, const std::string& share,
                       const std::string& waits) {
  const std::string time = format_seconds(evidence.time_s);
  return evidence.others_matter() ? fmt::format("threads waited {}{}; {} {} of it{}", time, waits, who,
                                                format_seconds(evidence.own_s()), share)
                                  : fmt::format("{} waited {}{}{}", who, time, share, waits);
}

/// `up_worker×4, proxy`
std::string service_threads(const FoundService& service, const ActorNames& names) {
  std::vector<std::string> programs;
  for (const FoundProgress::Threads& threads : service.threads) {
    programs.push_back(names.threads(threads.name, threads.count));
  }
  return fmt::format("{}", fmt::join(programs, ", "));
}

/// `service 127.0.0.1:28081 (up_worker)`
std::string service_name(const FoundService& service, const ActorNames& names) {
  const std::size_t more = service.peers.size() - 1;
  return fmt::format("service {}{}{}", to_string(service.peers.front()),
                     more > 0 ? fmt::format(" and {} more", more) : "",
                     service.threads.empty() ? "" : fmt::format(" ({})", service_threads(service, names)));
}

/// ` of wrk×2 (outside)`: whose lock it is, if it does not belong to the target.
std::string outside_waiters(const FoundLock& lock, const ActorNames& names) {
  if (!lock.outside || lock.waiters.empty()) return "";
  return fmt::format(" of {} (outside)",
                     names.threads(lock.waiters.front().name, lock.waiters.front().count));
}

/// `fsync() and syncs by pwrite()`
std::string sync_calls(const FoundAnswer& answer) {
  std::vector<std::string> calls;
  for (const std::string& call : answer.syncs->calls) {
    calls.push_back(fmt::format("{}{}()", action_of(call) == FileAction::sync ? "" : "syncs by ", call));
  }
  return in_a_sentence(calls);
}

/// `client×4 waited 372 times, 43.1 ms each (98% of its time), for data of 127.0.0.1:7101 that TCP held back
/// …`
std::string held_back_text(const HeldBack& held, const ActorNames& names) {
  const std::string service = to_string(held.service);
  return fmt::format(
      "{} waited {} times, {} each ({} of its time), {}: TCP held it back until the packet before was "
      "acknowledged (Nagle's algorithm, delayed ACK). Set TCP_NODELAY {}, or write it with one call.",
      names.brief(held.actor), format_count(held.waits),
      format_seconds(held.wait_s / static_cast<double>(held.waits)), format_percent(held.share, 1),
      held.asked ? fmt::format("until {} had all of the request that it had written", service)
                 : fmt::format("for data that {} had written", service),
      held.asked ? "on its socket" : "there");
}

/// `, if disk loop0 serves 16 requests at a time`, where it had fewer under way on average; `, but disk loop0
/// serves 1 request at a time`.
std::string disk_condition(const Findings& findings, const FoundAnswer& answer, std::uint64_t requests,
                           const ActorNames& names) {
  const FoundDisk* const disk = answer.device ? disk_of(findings, *answer.device) : nullptr;
  if (disk == nullptr || !disk->activity || disk->serves >= requests ||
      disk->activity->in_flight_while_busy >= static_cast<double>(requests)) {
    return "";
  }
  const bool is_known = disk->serves > 0;
  return fmt::format(", {} {} serves {} at a time", is_known ? "but" : "if", names.brief(*answer.device),
                     format_plural(is_known ? disk->serves : requests, "request"));
}

}  // namespace

std::string too_short_text(const Findings& findings, const ActorNames& names) {
  const bool guess = !findings.answers.empty() && findings.answers.front().gain >= kWorthAFix;
  switch (short_evidence(findings)) {
    case ShortEvidence::none:
      return "";
    case ShortEvidence::window:
      return fmt::format(
          "Too short to judge: {} were recorded. Record for 10 s or more (-d 10s).{}",
          format_seconds(findings.window_s),
          guess ? fmt::format(" A first guess: {}.", change_text(findings.answers.front(), names)) : "");
    case ShortEvidence::end:
      return fmt::format("Too short to judge: it ended after {}. Give it more to do.",
                         format_seconds(findings.progress.front().end_s.value_or(0)));
    case ShortEvidence::waits:
      break;
  }
  return fmt::format("Too short to judge: {} in {}. Record for longer (-d).",
                     format_plural(findings.totals.waits, "wait"), format_seconds(findings.window_s));
}

std::string answers_heading(const Findings& findings, const AnswersHeading& heading,
                            const ActorNames& names) {
  switch (heading.what) {
    case AnswersHeading::What::none:
      break;
    case AnswersHeading::What::held_back:
      return held_back_text(*findings.held_back, names);
    case AnswersHeading::What::split:
      return "What limits depends on whose progress counts; --progress GLOB names it:";
    case AnswersHeading::What::unanswered:
      return fmt::format(
          "The target did not respond on most connections of {}: raise the limit that keeps it from that (of "
          "connections, open files or threads: its log says which).",
          owner(findings.answers.front(), names));
    case AnswersHeading::What::clients:
      return fmt::format("The clients set the pace: no change in the target gains as much as {}%.",
                         whole_percent(kWorthALine));
    case AnswersHeading::What::graph:
      return graph_sentence(findings, names);
    case AnswersHeading::What::unknown:
      return fmt::format(
          "What limits is not known, because it is not known which of these threads' work counts: name them "
          "(--progress GLOB). No single change makes all of them together faster by more than {}%, though "
          "one may make some of them much faster{}.",
          whole_percent(heading.most), machine_clause(findings));
    case AnswersHeading::What::balanced:
      return fmt::format("Balanced: no single change gains more than {}%{}.", whole_percent(heading.most),
                         machine_clause(findings));
  }
  return "";
}

namespace {

/// What the kernel does not do any more.
std::string pause_text(const FoundAnswer& answer, const ActorNames& names) {
  if (answer.device) return fmt::format("requests not held back above {}", names.brief(*answer.device));
  switch (answer.pause->why) {
    case KernelPause::dirty_pages:
      return "writers not held back until dirty pages are written";
    case KernelPause::memory:
      return "threads not held back for want of memory";
    case KernelPause::io_limit:
      return "threads not held back by an I/O limit";
    case KernelPause::disk_queue:
      return "threads not held back by a disk's full queue";
    case KernelPause::unknown:
      break;
  }
  return "threads not held back by the kernel";
}

}  // namespace

std::string change_text(const FoundAnswer& answer, const ActorNames& names) {
  switch (answer.what) {
    case Resource::cpu:
      return fmt::format("{} halved", of_owner("CPU work", answer, names));
    case Resource::io:
      return fmt::format("{} twice as fast",
                         of_owner(fmt::format("requests to {}", names.brief(*answer.device)), answer, names));
    case Resource::disk:
      return fmt::format("{} twice as fast", names.brief(*answer.device));
    case Resource::sync:
      return fmt::format("{} half as long", sync_calls(answer));
    case Resource::sleep:
      return fmt::format("{} half as long", of_owner("sleeps", answer, names));
    case Resource::pause:
      return pause_text(answer, names);
    case Resource::remote:
      return answer.service ? fmt::format("{} twice as fast", service_name(*answer.service, names))
                            : fmt::format("remote services twice as fast for {}", owner(answer, names));
    case Resource::waited:
      return fmt::format(
          "{}{} {}", lock_title(answer.lock->name), outside_waiters(*answer.lock, names),
          // A process has one GIL, which cannot be split.
          answer.lock->runtime == RuntimeLock::cpython_gil ? "not waited for" : "split, or not waited for");
    case Resource::cpus:
      if (answer.evidence.pinned_to > 0) {
        return fmt::format("all CPUs for the target, which is pinned to {}", answer.evidence.pinned_to);
      }
      if (answer.evidence.quota > 0) {
        return fmt::format("the quota of {} CPUs lifted", format_ratio(answer.evidence.quota));
      }
      break;
    case Resource::held:
    case Resource::threads:
    case Resource::runnable:
      break;
  }
  return "twice the CPU time";
}

std::string runtime_text(const FoundRuntime& found) {
  return hides_waits(found.runtime)
             ? fmt::format("{}: {} run {}, whose waits for each other the kernel does not see",
                           name_of(found.runtime), format_plural(found.threads, "thread"),
                           tasks_of(found.runtime))
             : "";
}

std::string what_if_text(const Findings& findings, const FoundWhatIf& what_if, const ActorNames& names) {
  const bool is_split = !findings.answers.empty() && findings.answers.front().certainty == Certainty::split;
  std::string direction;
  if (gain_text(what_if).empty()) {
    const bool is_little = std::abs(what_if.gain) < kWorthALine;
    direction = is_little ? "little would change " : what_if.gain > 0 ? "a gain " : "a loss ";
  }
  return fmt::format("what if {}: {}{}{}", what_if.asked,
                     is_split ? fmt::format("for {}: ", progress_told_apart(findings, 0, names)) : "",
                     direction, marked_gain_text(what_if));
}

std::string evidence_text(const Findings& findings, const FoundAnswer& answer, const ActorNames& names) {
  const AnswerEvidence& evidence = answer.evidence;
  const std::string who = !evidence.actor             ? owner(answer, names)
                          : is_other(evidence, names) ? all_alike(evidence, names)
                                                      : names.full(findings, *evidence.actor);
  const std::string time = format_seconds(evidence.time_s);
  switch (answer.what) {
    case Resource::cpu:
      return fmt::format("{} ran {} ({} of one CPU)", who, time,
                         format_percent(evidence.time_s, findings.window_s));
    case Resource::io:
    case Resource::disk:
    case Resource::pause:
      return who_waited(evidence, who, "", each_time(evidence) + waited_files_text(evidence, names));
    case Resource::sync:
      return fmt::format(
          "threads ran {} in {}; {}", format_seconds(answer.syncs->ran_s), sync_calls(answer),
          who_waited(evidence, who, "", each_time(evidence) + waited_files_text(evidence, names)));
    case Resource::remote:
      return who_waited(evidence, who, fmt::format(" ({} of its time)", format_percent(evidence.share, 1)),
                        each_time(evidence));
    case Resource::sleep:
      return fmt::format("{} slept {}{}", who, time, each_time(evidence));
    case Resource::waited:
      return fmt::format("threads of {} waited {} for it altogether, {}{}{}",
                         thread_list(answer.lock->waiters, names), format_seconds(answer.lock->wait_s),
                         format_plural(answer.lock->waits, "wait"),
                         answer.lock->holders.empty()
                             ? ""
                             : fmt::format("; held by {}", thread_list(answer.lock->holders, names)),
                         held_for_text(*answer.lock));
    case Resource::cpus:
    case Resource::held:
    case Resource::threads:
    case Resource::runnable:
      break;
  }
  return fmt::format("{}. Recorded threads were ready to run for {} without a CPU, {} longest{}",
                     cpu_room_text(findings, evidence.cpus, names), time, who, machine_clause(findings));
}

AnswerPlace place_of(const FoundAnswer& answer) {
  const AnswerEvidence& evidence = answer.evidence;
  if (answer.what == Resource::waited) {
    if (answer.lock->stack.empty()) return {};
    return {"most of the waiting is in", answer.lock->stack};
  }
  if (!evidence.stack.empty()) {
    const double own_s = evidence.others_matter() ? evidence.own_s() : evidence.time_s;
    const bool is_all = evidence.stack_s >= 0.95 * own_s;
    return {is_all ? "in"
                   : fmt::format("{} of {} in", format_percent(evidence.stack_s, own_s),
                                 evidence.others_matter() ? "that" : "it"),
            evidence.stack};
  }
  if (evidence.samples.spread) return {spread_text(evidence.samples), {}};
  if (evidence.samples.places.empty()) return {};
  const FunctionPlace& place = evidence.samples.places.front();
  return {fmt::format("{} of it in", format_percent(place.share, 1)), place.stack};
}

std::string service_text(const FoundAnswer& answer, const ActorNames& names) {
  if (!answer.service) {
    return "";
  }
  const FoundService& service = *answer.service;
  if (service.threads.empty()) {
    return "What the service did is not known: it is on another host, or who sends its packets could not be "
           "followed.";
  }
  constexpr double kWorthSaying = 0.03;
  std::vector<std::pair<double, std::string>> parts = {
      {service.slept, "slept"},
      {service.ran, "ran"},
      {service.runnable, "was ready to run without a CPU"},
      {service.at_disks,
       fmt::format("waited for {}", service.disk ? names.brief(*service.disk) : std::string("a disk"))},
      {service.for_remote, "waited for services of its own"},
      {service.for_others, "waited for other threads"},
      {service.for_requests, "waited to be asked"},
      {service.unknown, "did what the recording does not show"}};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> said;
  for (const auto& [part, what] : parts) {
    if (part >= kWorthSaying) {
      said.push_back(fmt::format("{} ({})", what, format_percent(part, 1)));
    }
  }
  return said.empty() ? ""
                      : fmt::format("meanwhile {} {}", service_threads(service, names), in_a_sentence(said));
}

std::string device_text(const Findings& findings, const FoundAnswer& answer, const ActorNames& names) {
  const FoundDisk* const disk = answer.device ? disk_of(findings, *answer.device) : nullptr;
  if (disk == nullptr) return "";
  return fmt::format("{}: {}{}, {}{}", findings.actors[disk->actor].name,
                     answer.pause
                         ? fmt::format("had requests under way for {} of that time; ",
                                       format_percent(answer.pause->served_s, answer.evidence.time_s))
                         : "",
                     busy_text(findings, *disk), requests_text(*disk),
                     answer.other_user ? fmt::format("; {} has {} of the requests under way",
                                                     names.full(findings, answer.other_user->actor),
                                                     format_percent(answer.other_user->part, 1))
                                       : "");
}

std::string held_gain_text(const FoundAnswer& answer) {
  if (answer.what != Resource::waited || !answer.lock->held) return "";
  const Gain& held = *answer.lock->held;
  // What may be nothing says nothing beside the bound.
  if (held.gain < kWorthAnAnswer || held.low.value_or(0) < kWorthAnAnswer) return "";
  if (held.certainty == Certainty::rough) return "";
  return "· held half as long: " + marked_gain_text(held);
}

std::string sync_parts_text(const FoundAnswer& answer) {
  if (!answer.syncs) return "";
  std::vector<std::string> parts;
  if (const std::string cpu = gain_text(answer.syncs->cpu); !cpu.empty()) {
    parts.push_back("· its CPU time alone: " + cpu);
  }
  if (const std::string disk = gain_text(answer.syncs->disk); !disk.empty()) {
    parts.push_back("· its waits for the disk alone: " + disk);
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string more_threads_text(const Findings& findings, const FoundAnswer& answer, const ActorNames& names) {
  if (!answer.more) return "";
  const std::uint64_t waiting = whole_threads(answer.more->waiting);
  const std::uint64_t now = whole_threads(answer.more->threads);
  const std::string gain = fmt::format("up to {}{}", rate_gain_text(answer.more->gain),
                                       disk_condition(findings, answer, waiting, names));
  if (answer.more->requests && !answer.service) {
    return fmt::format("· more than {}: {}", format_plural(now, "worker"), gain);
  }
  const std::string many = answer.more->of_service ? format_plural(waiting, "request") + " at a time"
                           : answer.service        ? format_plural(waiting, "worker") + " that ask it"
                                                   : format_plural(waiting, "thread");
  return fmt::format("· {} instead of {}: {}", many, now, gain);
}

std::string others_text(const OtherAnswers& others) {
  return others.gain >= kWorthALine
             ? fmt::format("{} more gain up to {}% (-v)", others.count, whole_percent(others.gain))
             : fmt::format("Everything else: < {}%",
                           std::max(1, static_cast<int>(std::ceil(100 * others.gain))));
}

std::string rest_text(const LeftOut& more) {
  std::vector<std::string> parts;
  if (more.knots > 0) parts.push_back(format_plural(more.knots, "more knot"));
  std::vector<std::string> idle;
  if (more.waits > 0) {
    idle.push_back(fmt::format("{} outside the knots", format_plural(more.waits, "long wait")));
  }
  if (more.background > 0) {
    idle.push_back(fmt::format("{} in the background", format_plural(more.background, "actor")));
  }
  if (more.blocked > 0) {
    idle.push_back(fmt::format("{} blocked throughout", format_plural(more.blocked, "thread")));
  }
  if (!idle.empty()) parts.push_back(fmt::format("what limits nothing: {}", fmt::join(idle, ", ")));
  return parts.empty() ? "" : fmt::format("-v also shows {}.", fmt::join(parts, ", and "));
}

}  // namespace offwait
