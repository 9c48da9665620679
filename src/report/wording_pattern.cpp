// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/wording.h"
#include "report/wording_disks.h"

namespace offwait {

namespace {

/// A sentence for each of its disks; empty without any.
std::string disks_of(const Findings& findings, const FoundKnot& knot) {
  std::string out;
  for (const FoundDisk& disk : findings.disks) {
    if (std::binary_search(knot.actors.begin(), knot.actors.end(), disk.actor)) {
      out += (out.empty() ? "" : " ") + disk_sentence(findings, disk);
    }
  }
  return out;
}

/// "its waits are futex 92%, pipe 8%.", empty without any.
std::string class_shares(const PatternEvidence& evidence) {
  const std::vector<std::pair<WaitClass, double>> shares = classes_by_time(evidence.classes);
  double all_s = 0;
  for (const auto& [wait_class, wait_s] : shares) {
    all_s += wait_s;
  }
  std::string out;
  for (const auto& [wait_class, wait_s] : shares) {
    out += fmt::format("{}{} {}", out.empty() ? "its waits are " : ", ", to_string(wait_class),
                       format_percent(wait_s, all_s));
  }
  return out.empty() ? out : out + ".";
}

std::string mean_release(const KnotReleases& releases) {
  return format_ratio(static_cast<double>(releases.together_waits) / releases.releases);
}

/// "84% of the wait time ended when several threads were let go at once: 9.3 on average, at most 31. …"
std::string committed(const KnotReleases& releases) {
  return fmt::format(
      "{} of the wait time ended when several threads were let go at once: {} on average, at most {}. The "
      "thread that let them go spent {} of that time waiting for a disk.{}",
      format_percent(releases.together_s, releases.wait_s), mean_release(releases),
      format_count(releases.largest), format_percent(releases.together_disk_s, releases.together_s),
      releases.always_as_many
          ? " As many each time: a barrier whose last thread waits for a disk would look the same."
          : "");
}

/// "For 93% of the time …"
std::string kept_from_disk(const KnotReleases& releases) {
  return fmt::format(
      "For {} of the time that its threads wait for each other, they wait for one that is at a disk "
      "meanwhile, "
      "for {} of the time that it keeps them waiting. For {} of this time the next thread then waits for the "
      "disk as well: they are there one after the other.",
      format_percent(releases.behind_disk_s, releases.wait_s),
      format_percent(releases.kept_disk_s, releases.kept_s),
      format_percent(releases.then_disk_s, releases.behind_disk_s));
}

/// How the waits ended: " 97% of the wait time ended in releases of several threads at once (3.0 on
/// average)."
std::string released(const KnotReleases& releases) {
  if (releases.releases == 0) {
    return " One thread is let go at a time.";
  }
  return fmt::format(" {} of the wait time ended in releases of several threads at once ({} on average).",
                     format_percent(releases.together_s, releases.wait_s), mean_release(releases));
}

/// A lock may be held over a sleep, or a writer slowed down while the others queue behind it: the pattern
/// alone says too little then.
std::string asleep(const KnotReleases& releases) {
  if (!releases.often_asleep) {
    return "";
  }
  return fmt::format(
      " The thread that the others wait for spends {} of that time in timed sleeps (a limit on the rate, a "
      "write stall, or a remote service).",
      format_percent(releases.asleep_s, releases.wait_s));
}

/// " CPUs are short, too: its threads ran for 6.42 s and were runnable for 24.1 s."
std::string lack_of_cpu(const Findings& findings, const PatternEvidence& evidence) {
  if (evidence.cpu_shortage == CpuShortage::none) {
    return "";
  }
  return fmt::format(" CPUs are short{}: its threads ran for {} and were runnable for {}{}.",
                     evidence.cpu_shortage == CpuShortage::above_all ? " above all" : ", too",
                     format_seconds(evidence.running_s), format_seconds(evidence.runnable_s),
                     machine_clause(findings));
}

std::string cpu_starvation(const Findings& findings, const PatternEvidence& evidence) {
  return fmt::format(
      "its threads were runnable for {}, blocked for {}; the threads they waited for ran {} of the time they "
      "could have{}.",
      format_seconds(evidence.runnable_s), format_seconds(evidence.blocked_s),
      format_percent(evidence.waker_running_s, evidence.waker_running_s + evidence.waker_runnable_s),
      machine_clause(findings));
}

/// "W0 waits 3.03 s for W1, and W1 3.08 s for W0, in turns.": of two single threads.
std::string in_turns(const Findings& findings, const FoundKnot& knot, const ActorNames& names) {
  if (knot.actors.size() != 2 || knot.threads != 2 || knot.edges.size() != 2) return "";
  const FoundEdge& there = findings.edges[knot.edges.front()];
  const FoundEdge& back = findings.edges[knot.edges.back()];
  return fmt::format("{0} waits {2} for {1}, and {1} {3} for {0}, in turns.", names.brief(there.from),
                     names.brief(there.to), format_seconds(there.wait_s), format_seconds(back.wait_s));
}

std::string evidence_of_waits(const Findings& findings, const FoundKnot& knot, const ActorNames& names) {
  switch (knot.pattern) {
    case Pattern::lock_across_disk: {
      const std::string disks = disks_of(findings, knot);
      return kept_from_disk(knot.evidence.releases) + (disks.empty() ? "" : " " + disks);
    }
    case Pattern::group_commit: {
      const std::string disks = disks_of(findings, knot);
      return committed(knot.evidence.releases) + (disks.empty() ? "" : " " + disks);
    }
    case Pattern::blocking_io: {
      const std::string disks = disks_of(findings, knot);
      return disks.empty() ? "its threads wait for what works for a disk." : disks;
    }
    case Pattern::timer_driven:
      return fmt::format("{} of its threads' blocked time ended by a timer.",
                         format_percent(knot.evidence.timer_s, knot.evidence.blocked_s));
    case Pattern::load_imbalance: {
      const std::string turns = in_turns(findings, knot, names);
      return turns.empty() ? class_shares(knot.evidence) + released(knot.evidence.releases) : turns;
    }
    case Pattern::lock_contention:
      return class_shares(knot.evidence) + released(knot.evidence.releases);
    case Pattern::cpu_starvation:
    case Pattern::producer_consumer:
    case Pattern::request_answer:
    case Pattern::mixed:
      break;
  }
  return class_shares(knot.evidence);
}

}  // namespace

std::string_view pattern_title(const FoundKnot& knot) {
  switch (knot.pattern) {
    case Pattern::lock_across_disk:
      return "lock held across a disk wait";
    case Pattern::group_commit:
      return "group commit";
    case Pattern::blocking_io:
      return "blocking I/O";
    case Pattern::cpu_starvation:
      return "CPU starvation";
    case Pattern::timer_driven:
      return "timer-driven";
    case Pattern::lock_contention:
      return knot.threads <= 2 ? "lock contention (or a barrier)" : "lock contention";
    case Pattern::load_imbalance:
      return knot.threads <= 2 ? "load imbalance at a barrier (or a lock)" : "load imbalance at a barrier";
    case Pattern::producer_consumer:
      return "producer and consumer";
    case Pattern::request_answer:
      return "request and answer";
    case Pattern::mixed:
      break;
  }
  return "no one pattern";
}

std::string evidence(const Findings& findings, const FoundKnot& knot, const ActorNames& names) {
  if (knot.pattern == Pattern::cpu_starvation) {
    return cpu_starvation(findings, knot.evidence);
  }
  return evidence_of_waits(findings, knot, names) + asleep(knot.evidence.releases) +
         lack_of_cpu(findings, knot.evidence);
}

std::string evidence(const FoundSink& sink) {
  if (sink.sleeps.count == 0) {
    return "";
  }
  return fmt::format("{}, {} each on average.", format_plural(sink.sleeps.count, "sleep"),
                     format_seconds(sink.sleeps.sum_s / static_cast<double>(sink.sleeps.count)));
}

std::string_view advice(Pattern pattern) {
  switch (pattern) {
    case Pattern::lock_across_disk:
      return "A thread keeps the others out while it waits for the disk (with a lock, a row, a transaction): "
             "usually the wait is moved out of the lock, several commit at a time, the lock or the hot row "
             "is "
             "split, or the disk is replaced by one with lower latency.";
    case Pattern::group_commit:
      return "Many threads wait for one that writes and flushes for all of them: usually the flush is made "
             "cheaper (a faster device for the log, less durability where that may be) or serves more at a "
             "time.";
    case Pattern::blocking_io:
      return "Threads and a device take turns waiting for each other: usually requests are batched, sent "
             "ahead or asynchronously, or by more threads, so that the device always has work; or the device "
             "is replaced by a faster one.";
    case Pattern::cpu_starvation:
      return "The threads wait for a CPU more than for each other: usually they get more CPUs or a higher "
             "priority, or there are fewer threads.";
    case Pattern::timer_driven:
      return "The threads mostly sleep until a time: usually the sleep is replaced by a wait for the event "
             "itself, or shortened.";
    case Pattern::lock_contention:
      return "The threads wait for each other in the same place. If it is a lock, it is usually held for a "
             "shorter time, split, or avoided; if it is a barrier, the work between barriers is balanced.";
    case Pattern::load_imbalance:
      return "The threads wait in the same place until the last one comes: usually the work between two such "
             "points is divided more evenly, in smaller pieces, or on demand.";
    case Pattern::producer_consumer:
      return "The threads hand work to each other and take turns waiting: usually the queue between them is "
             "made longer, items are handed over in batches, or the slower side gets more threads.";
    case Pattern::request_answer:
      return "Both sides of a dialogue are in the knot and take turns waiting: usually there are more "
             "requests at a time (more clients, pipelining, batches), or the slower side is made faster; "
             "the slower side is the one that runs or is runnable while it is waited for.";
    case Pattern::mixed:
      break;
  }
  return "No one kind of wait prevails: look at the heaviest edges and their stacks.";
}

std::string_view advice(const FoundSink& sink) {
  if (!sink.pattern) {
    return "";
  }
  return "Usually the sleep is replaced by a wait for the event itself, or shortened; one that stands for "
         "something remote is shortened there, or several are under way at a time.";
}

}  // namespace offwait
