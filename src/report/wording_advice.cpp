// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_advice.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/wording.h"
#include "report/wording_cpus.h"
#include "report/wording_disks.h"
#include "report/wording_locks.h"

namespace offwait {

namespace {

bool outside(const Findings& findings, const std::optional<FoundActorId>& actor) {
  return actor && findings.actors[*actor].outside;
}

/// Whether the CPUs were idle for less time than these threads ran: one more like them would take CPU time
/// from the target.
bool has_no_cpus_for_more(const Findings& findings, const FoundAnswer& answer) {
  const std::optional<double> busy = machine_busy(findings);
  if (!busy || findings.recording.cpus == 0 || answer.what != Resource::cpu) return false;
  return (1 - *busy) * findings.recording.cpus * findings.window_s < answer.evidence.time_s;
}

/// Whether most requests that clients have sent lie unread: the target is behind.
bool has_a_queue(const Findings& findings, const FoundAnswer& answer) {
  const std::optional<Requests>& requests = findings.progress[answer.progress].requests;
  return requests && requests->unread > requests->under_way;
}

/// The target either waits for a thread outside to take what it writes, or for something from that thread.
/// The advice depends on which it is.
std::string outside_advice(const Findings& findings, const FoundAnswer& answer) {
  if (answer.evidence.takes_output) {
    return "it takes what the target writes, and the target waits until it has: let it take more at a time, "
           "or sooner, give the two a larger buffer, or write less";
  }
  if (answer.doubt == Doubt::unanswered) {
    return "raise the limit that keeps the target from responding on most of this client's connections (of "
           "connections, open files or threads: its log says which)";
  }
  if (!has_no_cpus_for_more(findings, answer)) {
    return "change nothing in the target, which waits for it: make this client (or load generator, or "
           "consumer) faster, or run more of it";
  }
  return fmt::format(
      "run this client (or load generator, or consumer) on another machine, or make it cheaper: {}",
      has_a_queue(findings, answer) ? "it uses CPUs that the target needs"
                                    : "the target waits for it, and there is no CPU left for it here");
}

/// What takes most of a service's time decides what to try.
std::string service_advice(const FoundAnswer& answer) {
  const std::string_view ask = "ask it less often (a cache), or for several things at a time";
  if (!answer.service || answer.service->threads.empty()) {
    return fmt::format("make the service answer faster, or {}", ask);
  }
  if (answer.doubt == Doubt::held_back) {
    return "set TCP_NODELAY on the service's sockets, or let it write each answer with one call: parts of "
           "its answers wait for the acknowledgement of those before them";
  }
  const FoundService& service = *answer.service;
  const double most = std::max({service.ran, service.runnable, service.slept, service.at_disks,
                                service.for_remote, service.for_others, service.for_requests});
  std::string_view first = "find out what it waits for (record it)";
  if (service.unknown > most) {
    first = "find out what it does (record it)";
  } else if (most == service.ran) {
    first = "make the service's code cheaper, or let it compute on more CPUs";
  } else if (most == service.runnable) {
    first = "give the service a CPU: it is ready to run without one";
  } else if (most == service.slept) {
    first = "make the service answer sooner: it sleeps meanwhile";
  } else if (most == service.at_disks) {
    first = "make the service wait less for its disk (record it to see why it does)";
  }
  return fmt::format("{}; or {}", first, ask);
}

/// `let backup ask less often, …; or fewer requests, …`: what uses the disk most comes first.
std::string with_other_user(const FoundAnswer& answer, const std::string& own, const ActorNames& names) {
  if (!answer.other_user) return own;
  const std::string others = fmt::format("let {} ask less often, for less at a time, or of another disk",
                                         names.brief(answer.other_user->actor));
  return 2 * answer.other_user->part > 1 ? fmt::format("{}; or {}", others, own)
                                         : fmt::format("{}; or {}", own, others);
}

/// What to try for CPU work of the target that is its own. One thread's can be shared among several. Where
/// threads run tasks in turns, how many threads there are says nothing of how many tasks have work; of
/// greenlets only one runs at a time.
std::string work_advice(const Findings& findings, const FoundAnswer& answer) {
  const Runtime runtime = answer.evidence.runtime;
  if (hides_waits(runtime) && runtime != Runtime::greenlets && !idle_cpus_clause(findings).empty()) {
    return fmt::format("do less of this work, make its code cheaper, or share it among more {}{}",
                       tasks_of(runtime), idle_cpus_clause(findings));
  }
  return answer.evidence.threads == 1 && !answer.more
             ? "do less of this work, make its code cheaper, or share it among several threads"
             : "do less of this work, or make its code cheaper";
}

/// `better` is what a better query does, and why.
std::string query_advice(std::string_view better) {
  return fmt::format(
      "an index, or a query that {} (pg_stat_activity, SHOW PROCESSLIST or the log of slow queries names the "
      "query)",
      better);
}

/// What to try so that the kernel does not hold threads back.
std::string pause_advice(const FoundAnswer& answer) {
  switch (answer.pause->why) {
    case KernelPause::dirty_pages:
      return "write less, or to a faster disk: the kernel lets writers go on as fast as the disk takes what "
             "they wrote (more room for dirty pages, vm.dirty_bytes or memory for the cgroup, lasts for a "
             "burst)";
    case KernelPause::memory:
      return "more memory for its cgroup (memory.high, memory.max) or its host, or use less";
    case KernelPause::unknown:
      if (!answer.device) return "find out in the stack what the kernel waits for";
      break;
    case KernelPause::io_limit:
    case KernelPause::disk_queue:
      break;
  }
  return fmt::format(
      "a higher I/O limit, if its cgroup has one (io.max, blkio.throttle.*), or look at the disk's I/O "
      "scheduler{}",
      answer.pause->disk_matters ? "" : "; a faster disk gains little");
}

/// What to try for one part.
std::string advice_for_part(const Findings& findings, const FoundAnswer& answer, const ActorNames& names) {
  const AnswerEvidence& evidence = answer.evidence;
  const bool is_outside = outside(findings, answer.actor);
  switch (answer.what) {
    case Resource::io:
    case Resource::disk:
      return with_other_user(answer, disk_advice(evidence, answer.shares_syncs), names);
    case Resource::sync:
      return sync_advice(evidence, answer.shares_syncs);
    case Resource::cpu:
      if (is_outside) {
        return outside_advice(findings, answer);
      }
      if (evidence.work == KnownWork::garbage) {
        return "a larger heap, or allocate less: these threads collect garbage";
      }
      if (evidence.work == KnownWork::table_scan) {
        return query_advice("needs fewer rows: these threads read all rows of tables");
      }
      if (evidence.work == KnownWork::row_filter) {
        return query_advice(
            "looks at fewer rows: these threads check a condition for one row after the other");
      }
      if (evidence.work == KnownWork::sync) {
        return "fewer syncs (one for several changes, or for those of several threads): that saves their CPU "
               "time and their waits for the disk; or make the rest of this work cheaper";
      }
      return work_advice(findings, answer);
    case Resource::sleep:
      if (is_outside) return outside_advice(findings, answer);
      return evidence.fixed_rate
                 ? "a shorter period, if what these threads do at a fixed rate is wanted more often"
                 : "sleep for less long (if this polls, wait for the event itself; if it limits a "
                   "rate, raise the rate)";
    case Resource::pause:
      return pause_advice(answer);
    case Resource::remote:
      return service_advice(answer);
    case Resource::waited:
      return (answer.lock->outside ? "change nothing in the target, which waits for these threads: " : "") +
             lock_advice(*answer.lock);
    case Resource::cpus:
    case Resource::held:
    case Resource::threads:
    case Resource::runnable:
      break;
  }
  return cpu_room_advice(findings);
}

/// `14 requests wait while 2 are`, by `one` or `several`: those that wait beside those that are done at a
/// time.
std::string wait_while(const MoreThreads& more, const std::string& what, std::string_view one,
                       std::string_view several) {
  const std::uint64_t now = whole_threads(more.threads);
  const std::uint64_t all = whole_threads(more.waiting);
  const std::uint64_t waiting = all > now ? all - now : 1;
  return fmt::format("{} wait{} while {} {}", format_plural(waiting, what), waiting == 1 ? "s" : "",
                     format_count(now), now == 1 ? one : several);
}

/// What to change so that the service does more at a time.
std::string more_of_service(LimitedBy limit, const MoreThreads& more) {
  const std::string wait = wait_while(more, "request", "is", "are");
  switch (limit) {
    case LimitedBy::service:
      return fmt::format("run more workers in the service, whose limit it is: {} under way there", wait);
    case LimitedBy::target:
      return fmt::format("raise the target's own limit (a pool, connections): {} at the service", wait);
    case LimitedBy::unknown:
      break;
  }
  return fmt::format(
      "let it do more at a time: {} under way (whether the target's connections or the service's workers "
      "limit cannot be told)",
      wait);
}

/// What there could be more of: the threads that work queues for may be processes of their own.
std::string_view more_of_them(const Findings& findings, const FoundAnswer& answer) {
  if (!answer.evidence.actor) return "more workers like it";
  const FoundActor& actor = findings.actors[*answer.evidence.actor];
  if (actor.tids != actor.tgids) return "more threads like it";
  return actor.tids.size() > 1 ? "more processes like these" : "more processes, or threads, like it";
}

/// What to try so that more is done at a time.
std::string more_advice(const Findings& findings, const FoundAnswer& answer) {
  const MoreThreads& more = *answer.more;
  if (more.of_service) return more_of_service(answer.limit, more);
  if (answer.service) {
    return fmt::format("run more workers in the target: {} the service",
                       wait_while(more, "request", "worker asks", "workers ask"));
  }
  return more.requests
             ? fmt::format("run {}, if the program can: {} served", more_of_them(findings, answer),
                           wait_while(more, "request", "is", "are"))
             : fmt::format("share it among more threads: {} it", wait_while(more, "thread", "does", "do"));
}

}  // namespace

/// More threads come first only if they clearly gain more, and if the program can have more: one that has a
/// single worker for requests may be made so.
std::string advice(const Findings& findings, const FoundAnswer& answer, const ActorNames& names) {
  constexpr double kClearlyMore = 2;
  const std::string part = advice_for_part(findings, answer, names);
  if (!answer.more) return part;
  const std::string more = more_advice(findings, answer);
  const bool may_be_single =
      answer.more->requests && !answer.service && whole_threads(answer.more->threads) == 1;
  return answer.more->gain >= kClearlyMore * answer.gain && !may_be_single
             ? fmt::format("{}; or {}", more, part)
             : fmt::format("{}; or {}", part, more);
}

}  // namespace offwait
