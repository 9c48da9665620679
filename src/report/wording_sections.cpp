// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_sections.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/rankings.h"
#include "report/quantity.h"
#include "report/wording.h"
#include "report/wording_disks.h"

namespace offwait {

namespace {

/// `a, b` and `, 3 more` for what is left of `all`.
std::string listed(const std::vector<std::string>& shown, std::size_t all) {
  const std::string list = fmt::format("{}", fmt::join(shown, ", "));
  return shown.size() < all ? fmt::format("{}, {} more", list, format_count(all - shown.size())) : list;
}

std::string per_window(const Findings& findings, double s) { return format_percent(s, findings.window_s); }

bool is_disk(const Findings& findings, FoundActorId actor) {
  return findings.actors[actor].kind == ActorKind::disk;
}

bool is_assumed(const Findings& findings, FoundActorId actor) {
  const FoundDisk* const disk = disk_of(findings, actor);
  return disk != nullptr && !has_known_capacity(*disk);
}

std::string time_and_share(const Findings& findings, double s) {
  return fmt::format("{} {}", format_seconds(s), per_window(findings, s));
}

}  // namespace

std::string named_times(const std::vector<std::pair<std::string, double>>& items) {
  std::vector<std::string> out;
  for (const auto& [name, s] : items) out.push_back(fmt::format("{} {}", name, format_seconds(s)));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string described(const ThreadFilter& filter) {
  const auto called = [](std::string_view what, const std::vector<std::string>& patterns) {
    return patterns.empty() ? "" : fmt::format("{} called {}", what, fmt::join(patterns, " or "));
  };
  const std::string threads = called("threads", filter.threads);
  const std::string processes = called("processes", filter.comms);
  return fmt::format("{}{}{}", threads, threads.empty() || processes.empty() ? "" : " of ", processes);
}

std::string cpus_used(const Findings& findings) {
  const std::string used = format_ratio(findings.totals.target.running_s / std::max(findings.window_s, 1e-9));
  const std::uint32_t cpus = findings.recording.cpus;
  return cpus == 0 ? used + " CPUs" : fmt::format("{} of {}", used, format_plural(cpus, "CPU"));
}

std::string machine_text(const Findings& findings) {
  const std::optional<double> busy = machine_busy(findings);
  if (!busy) return "";
  const CpuSupply& supply = findings.cpu_supply;
  const bool is_by_others = *busy > 0.5 && supply.other_cpus > supply.target_cpus;
  return fmt::format("machine {} busy{}", format_percent(*busy, 1), is_by_others ? ", mostly by others" : "");
}

std::string labels_text(const Recording& recording) {
  std::string text;
  for (const Label& label : recording.labels)
    text += fmt::format("{}{}={}", text.empty() ? "Labels: " : ", ", label.name, label.value);
  return text;
}

std::string interrupted_text(const Recording& recording) {
  if (!recording.interrupted) return "";
  return "The recording was interrupted. It ends where it was last known to be whole, and its functions may "
         "have no names.";
}

std::string threads_text(const Totals& totals) {
  const std::string threads = format_plural(totals.threads, "thread");
  return totals.outside_threads == 0
             ? threads
             : fmt::format("{} and {} outside the target", threads, format_count(totals.outside_threads));
}

std::string background_knot_text(const FoundKnot& knot) {
  return fmt::format("knot, weight {}, busy {}, looks like: {}", format_seconds(knot.weight_s),
                     format_seconds(knot.cpu_s), pattern_title(knot));
}

std::string sink_share(const Findings& findings, const FoundSink& sink) {
  const std::string share = per_window(findings, sink.busy_s);
  if (sink.limit != SinkLimit::capacity) return "busy " + share;
  return is_assumed(findings, sink.actor) ? busy_text(findings, *disk_of(findings, sink.actor))
                                          : share + " of its capacity used";
}

std::string sink_text(const Findings& findings, const FoundSink& sink, std::size_t most) {
  const FoundActor& actor = findings.actors[sink.actor];
  if (actor.kind == ActorKind::thread || actor.kind == ActorKind::group) {
    const bool lacks_cpu = sink.saturated && sink.limit == SinkLimit::cpu;
    const std::string_view which = actor.short_lived                ? "one of them or another "
                                   : actor.kind == ActorKind::group ? "busiest thread "
                                                                    : "";
    return fmt::format(
        "{}{}ran {}, was runnable {}{}", lacks_cpu ? "lacks CPU: " : "", which,
        time_and_share(findings, sink.running_s), time_and_share(findings, sink.runnable_s),
        sink.paced ? ", slept until a time for " + time_and_share(findings, sink.asleep_s) : "");
  }
  if (sink.limit == SinkLimit::remote_service) {
    std::vector<std::string> services;
    for (std::size_t i = 0; i < std::min(most, sink.services.size()); ++i) {
      services.push_back(to_string(sink.services[i].peer));
    }
    const std::size_t more = sink.services.size() - services.size();
    return fmt::format("brings the answers of {}{}, outside of this host: threads wait {} for them",
                       fmt::join(services, ", "),
                       more > 0 ? fmt::format(" and {} more", format_count(more)) : "",
                       format_seconds(sink.remote_s));
  }
  if (const FoundDisk* const disk = disk_of(findings, sink.actor)) return saturated_text(findings, *disk);
  const std::string used = fmt::format("used {} of its capacity", per_window(findings, sink.busy_s));
  const auto nic = std::find_if(findings.nics.begin(), findings.nics.end(),
                                [&sink](const FoundNic& device) { return device.actor == sink.actor; });
  return nic != findings.nics.end() && nic->capacity_source
             ? fmt::format("{} ({})", used, to_string(*nic->capacity_source))
             : used;
}

std::string runnable_text(const Findings& findings, const ActorNames& names, std::size_t most) {
  const std::vector<FoundActorId> actors = actors_by_runnable(findings);
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(most, actors.size()); ++i) {
    shown.push_back(fmt::format("{} {}", names.full(findings, actors[i]),
                                format_seconds(findings.actors[actors[i]].time.runnable_s)));
  }
  return fmt::format("{} ready to run without a CPU, all threads together{}{}",
                     format_seconds(findings.totals.target.runnable_s), shown.empty() ? "" : ": ",
                     listed(shown, actors.size()));
}

std::string disk_users_text(const FoundDisk& disk, const ActorNames& names, std::size_t most) {
  const auto all = static_cast<double>(bytes_of_users(disk));
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(most, disk.users.size()); ++i) {
    const FoundDiskUser& user = disk.users[i];
    shown.push_back(fmt::format("{} {}", user.actor ? names.brief(*user.actor) : "others",
                                format_percent(static_cast<double>(user.bytes), all)));
  }
  return "traffic: " + listed(shown, disk.users.size());
}

std::string mismatch_text(const FoundDiskCheck& check) {
  return fmt::format("/proc/diskstats counted {} of {}B, the tracepoints saw {} of {}B: trust neither",
                     format_plural(check.counted_ios, "request"),
                     format_scaled(static_cast<double>(check.counted_bytes)), format_count(check.seen_ios),
                     format_scaled(static_cast<double>(check.seen_bytes)));
}

std::string direction_text(std::string_view name, const FoundNicDirection& use, double window_s) {
  return fmt::format("{} {}B/s{}", name, format_scaled(use.bytes_per_s),
                     use.capacity_bytes_per_s > 0 ? ", idle " + format_percent(use.idle_s, window_s) : "");
}

std::string capacity_text(const FoundNic& nic) {
  if (!nic.capacity_source) return "no capacity known (--nic-capacity)";
  constexpr double kBits = 8;
  const std::string received = format_scaled(nic.received.capacity_bytes_per_s * kBits) + "bit/s";
  const std::string sent = format_scaled(nic.sent.capacity_bytes_per_s * kBits) + "bit/s";
  return fmt::format("capacity {} ({}{})",
                     received == sent ? received + " each way" : fmt::format("{} in, {} out", received, sent),
                     to_string(*nic.capacity_source),
                     nic.capacity_raised ? ", raised to the highest rate seen" : "");
}

std::string false_wakeups_text(const FoundFalseWakeups& all, const ActorNames& names, std::size_t most) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(most, all.edges.size()); ++i) {
    const FoundFalseWakeups::Edge& edge = all.edges[i];
    shown.push_back(
        fmt::format("{} by {} {}", names.brief(edge.from), names.brief(edge.to), format_count(edge.count)));
  }
  const std::string ran = format_seconds(all.ran_s);
  const std::string counted =
      all.removed ? fmt::format(
                        ": the waits around each count as one, with the {} that ran in between "
                        "(--keep-false-wakeups counts them apart).",
                        ran)
                  : fmt::format(", after having run {} together.", ran);
  return fmt::format("{}: {}; they found nothing and waited again{}", format_count(all.count),
                     listed(shown, all.edges.size()), counted);
}

namespace {

std::string_view in_words(StackCut cut) {
  switch (cut) {
    case StackCut::deep:
      return "has more frames than are kept";
    case StackCut::no_mapping:
      return "is cut where no code was known to be mapped";
    case StackCut::no_rule:
      return "is cut in code that its file's unwind table (.eh_frame) leaves out";
    case StackCut::no_frame_pointer:
      return "is cut in code without unwind table and frame pointers (a JIT's: java "
             "-XX:+PreserveFramePointer; or built without both: -fno-omit-frame-pointer)";
    case StackCut::unreadable:
      return "could not be read to its end";
    case StackCut::bits_32:
      return "is of 32-bit programs, whose stacks are not walked";
  }
  return "";
}

}  // namespace

std::string wrong_stacks_text(const StackReuse& reuse) {
  return fmt::format(
      "{} of {} known stacks that were walked again were others: about {} of all stacks are wrong.",
      format_count(reuse.wrong), format_count(reuse.verified),
      format_percent(static_cast<double>(reuse.wrong), static_cast<double>(reuse.verified)));
}

std::string cost_text(const Recording& recording, bool verbose) {
  const RecordingCost& cost = recording.cost;
  const double whole = to_seconds(cost.programs_ns + cost.recorder_ns);
  const double busy = to_seconds(recording.cpu_busy_ns);
  const std::string took =
      whole > 0
          ? fmt::format("recording took {} of CPU time{}", format_seconds(whole),
                        busy > 0 ? ", " + format_percent(whole, busy) + " of what all programs used" : "")
          : "";
  if (!verbose) {
    std::vector<std::string> parts;
    if (!took.empty()) parts.push_back(took);
    if (cost.waits_without_stacks > 0) parts.emplace_back("times by stack are estimates");
    return parts.empty() ? "" : fmt::format("{} (-v)", fmt::join(parts, "; "));
  }
  std::vector<std::string> sentences;
  if (!took.empty()) {
    sentences.push_back(fmt::format("{}: {} in the kernel, {} in offwait.", took,
                                    format_seconds(to_seconds(cost.programs_ns)),
                                    format_seconds(to_seconds(cost.recorder_ns))));
  }
  if (cost.waits_without_stacks > 0) {
    sentences.push_back(
        fmt::format("To keep within {}, stacks were taken for {} of {} waits, by chance and in proportion to "
                    "their length: "
                    "times by stack are estimates, all other times are exact (--max-overhead off takes all).",
                    format_percent(cost.most, 1), format_count(cost.waits_with_stacks),
                    format_count(cost.waits_with_stacks + cost.waits_without_stacks)));
    if (busy > 0 && whole > cost.most * busy)
      sentences.push_back("The rest cannot be sampled away: waits and threads are always recorded.");
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

std::string stack_ends_text(const StackEnds& ends) {
  const double all = all_s(ends);
  std::string text = fmt::format("{} of the target's wait time has complete user stacks",
                                 format_percent(ends.complete_s, all));
  for (const auto& [cut, wait_s] : cuts_by_time(ends)) {
    text += fmt::format("; {} {}", format_percent(wait_s, all), in_words(cut));
  }
  if (ends.missing_s > 0) text += fmt::format("; {} has none", format_percent(ends.missing_s, all));
  return text + ".";
}

std::string other_blocked_text(const BlockedThreads& blocked) {
  std::vector<std::string> parts;
  if (blocked.outside > 0) {
    parts.push_back(format_plural(blocked.outside, "thread") + " outside the target blocked throughout");
  }
  if (blocked.later > 0) {
    parts.push_back(fmt::format("{} blocked at the end, the longest for {}",
                                format_plural(blocked.later, "more thread"),
                                format_seconds(blocked.longest_later_s)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

const FoundOpenWait* blocked_holder(const Findings& findings, const FoundOpenWait& open) {
  if (!open.holder || open.holder->tid == open.tid || open.deadlock) return nullptr;
  const auto other =
      std::find_if(findings.open_waits.begin(), findings.open_waits.end(),
                   [&open](const FoundOpenWait& candidate) { return candidate.tid == open.holder->tid; });
  return other == findings.open_waits.end() ? nullptr : &*other;
}

std::string holder_text(const Findings& findings, const FoundOpenWait& open, const ActorNames& names) {
  if (open.holder->tid == open.tid) return "for a pthread mutex that it holds itself: a deadlock";
  const bool blocked =
      std::any_of(findings.open_waits.begin(), findings.open_waits.end(),
                  [&open](const FoundOpenWait& candidate) { return candidate.tid == open.holder->tid; });
  const FoundOpenWait* const other = blocked_holder(findings, open);
  return fmt::format("for the pthread mutex held by {}, which {}", names.thread(*open.holder),
                     !blocked           ? "is not blocked"
                     : other == nullptr ? "waits for it in turn: a deadlock"
                                        : fmt::format("is blocked ({}) in", to_string(other->wait_class)));
}

std::string search_options_text(const Findings& findings) {
  const AppliedOptions& options = findings.options;
  return fmt::format("noise floor {} ({}), --min-weight {} ({}), {}", format_seconds(options.noise_s),
                     per_window(findings, options.noise_s), format_seconds(options.min_weight_s),
                     per_window(findings, options.min_weight_s),
                     options.merge ? "similar threads merged" : "threads kept apart");
}

std::string noise_text(const Findings& findings) {
  const NoiseSum noise = noise_of(findings.refinement);
  return noise.edges == 0 ? ""
                          : fmt::format("{} under the noise floor set aside, {} together",
                                        format_plural(noise.edges, "edge"), format_seconds(noise.weight_s));
}

std::string step_text(const Findings& findings, const RefinementStep& step, const ActorNames& names) {
  const std::string what = step.edge ? fmt::format("{} → {}", names.brief(findings.edges[*step.edge].from),
                                                   names.brief(findings.edges[*step.edge].to))
                           : step.actor ? names.full(findings, *step.actor)
                                        : "";
  const std::string weight =
      fmt::format("{} ({})", format_seconds(step.weight_s), per_window(findings, step.weight_s));
  switch (step.reason) {
    case RefinementStep::Reason::noise:
      return fmt::format("set aside {}: weight {}, under the noise floor", what, weight);
    case RefinementStep::Reason::to_pseudo:
      return fmt::format("set aside {}: waits for a time or an interrupt, not for somebody", what);
    case RefinementStep::Reason::requests:
      return fmt::format("set aside {}: waits for requests from outside of the target, not for anybody in it",
                         what);
    case RefinementStep::Reason::always_running:
      return fmt::format("set aside {}: {} is busy nearly all the time besides: this wait cannot limit", what,
                         names.full(findings, findings.edges[*step.edge].from));
    case RefinementStep::Reason::apart:
      return fmt::format("set aside {}: nothing in the target waits for it", what);
    case RefinementStep::Reason::light:
      return fmt::format("dropped {}: weight {} is the lightest in its knot and under --min-weight", what,
                         weight);
    case RefinementStep::Reason::background_sink:
      return step.actor && is_disk(findings, *step.actor)
                 ? fmt::format("removed {}: waits for nobody that is left and used only {} of {} capacity",
                               what, per_window(findings, step.weight_s),
                               is_assumed(findings, *step.actor) ? "the assumed" : "its")
                 : fmt::format("removed {}: waits for nobody that is left and is busy only {}", what, weight);
    case RefinementStep::Reason::background_knot:
      return fmt::format("removed {}: its knot uses less than one CPU and no disk", what);
    case RefinementStep::Reason::kept:
      return fmt::format("went back to the last knot{}: going on would have left nothing but background",
                         what.empty() ? "" : fmt::format(" ({})", what));
  }
  return what;
}

}  // namespace offwait
