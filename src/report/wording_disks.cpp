// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_disks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "report/quantity.h"

namespace offwait {

namespace {

/// From this mean on two digits are shown, because "one request at a time" would not be true.
constexpr double kMoreThanOne = 1.05;

std::string at_a_time(const FoundDiskActivity& activity) {
  const std::string requests =
      activity.in_flight_while_busy < kMoreThanOne
          ? "one request at a time"
          : fmt::format("{} requests at a time", format_ratio(activity.in_flight_while_busy));
  return activity.ios == 0 ? requests + ", none of them complete"
                           : fmt::format("{}, {} each", requests, format_seconds(activity.each_s));
}

/// Empty where no word fits what the disk did, or the word would rest on a capacity that is assumed.
std::string kind_in_words(const FoundDisk& disk) {
  switch (disk.activity->kind) {
    case DiskKind::idle:
    case DiskKind::occasional:
      return "";
    case DiskKind::latency_bound:
      return "latency-bound";
    case DiskKind::parallel:
      return disk.serves == 0 || disk.serves >= disk.activity->in_flight_while_busy
                 ? "parallel or queued"
                 : fmt::format("they queue, as it serves {} at a time", disk.serves);
    case DiskKind::ios_bound:
      return has_known_capacity(disk) ? "IO/s-bound" : "";
    case DiskKind::bandwidth_bound:
      break;
  }
  return has_known_capacity(disk) ? "bandwidth-bound" : "";
}

std::string capacity_figures(const FoundDisk& disk) {
  return fmt::format("{}B/s, {} IO/s", format_scaled(disk.capacity_bytes_per_s),
                     format_count(static_cast<std::uint64_t>(std::llround(disk.capacity_ios_per_s))));
}

std::string capacity_used(const Findings& findings, const FoundDisk& disk) {
  return format_percent(disk.busy_s, findings.window_s) + " of its capacity";
}

}  // namespace

bool has_known_capacity(const FoundDisk& disk) { return disk.capacity_source != CapacitySource::assumed; }

std::string busy_text(const Findings& findings, const FoundDisk& disk) {
  if (!disk.activity) return "no request was seen";
  if (disk.activity->kind == DiskKind::idle) return "idle: nothing under way";
  return fmt::format("busy {} (something under way)",
                     format_percent(disk.activity->under_way_s, findings.window_s));
}

std::string requests_text(const FoundDisk& disk) {
  if (!disk.activity || disk.activity->kind == DiskKind::idle) return "";
  const std::string kind = kind_in_words(disk);
  return fmt::format("{}{}{}", at_a_time(*disk.activity), kind.empty() ? "" : ": ", kind);
}

std::string rate_text(const FoundDisk& disk) {
  const double ios_per_s = disk.activity ? disk.activity->ios_per_s : disk.ios_per_s;
  const double bytes_per_s = disk.activity ? disk.activity->bytes_per_s : disk.bytes_per_s;
  return fmt::format("{} IO/s, {}B/s", format_count(static_cast<std::uint64_t>(std::llround(ios_per_s))),
                     format_scaled(bytes_per_s));
}

std::string capacity_source(const FoundDisk& disk) {
  return disk.capacity_measured_on.empty()
             ? std::string(to_string(disk.capacity_source))
             : fmt::format("{} {}", to_string(disk.capacity_source), disk.capacity_measured_on);
}

std::string capacity_text(const Findings& findings, const FoundDisk& disk) {
  if (!has_known_capacity(disk)) {
    return fmt::format("capacity assumed: {} ({}offwait calibrate measures it)", capacity_figures(disk),
                       disk.capacity_raised ? "raised to the highest rate seen; " : "");
  }
  return fmt::format("{} used: {} ({}{})", capacity_used(findings, disk), capacity_figures(disk),
                     capacity_source(disk), disk.capacity_raised ? ", raised to the highest rate seen" : "");
}

std::string unseen_text(const FoundDisk& disk) {
  return disk.unseen == 0 ? ""
                          : fmt::format("{} left out whose completion was not seen",
                                        format_plural(disk.unseen, "request"));
}

std::string disk_sentence(const Findings& findings, const FoundDisk& disk) {
  const std::string used = has_known_capacity(disk)
                               ? fmt::format(" {} was used ({}, {}).", capacity_used(findings, disk),
                                             capacity_figures(disk), capacity_source(disk))
                               : "";
  const std::string& name = findings.actors[disk.actor].name;
  if (!disk.activity) return fmt::format("Disk {}:{}", name, used.empty() ? " no request was seen." : used);
  if (disk.activity->kind == DiskKind::idle) return fmt::format("Disk {} had nothing under way.", name);
  const std::string kind = kind_in_words(disk);
  return fmt::format("Disk {} was busy for {} of the window, with {}{}.{}", name,
                     format_percent(disk.activity->under_way_s, findings.window_s), at_a_time(*disk.activity),
                     kind.empty() ? "" : fmt::format(" ({})", kind), used);
}

std::string saturated_text(const Findings& findings, const FoundDisk& disk) {
  return has_known_capacity(disk)
             ? fmt::format("used {} ({})", capacity_used(findings, disk), capacity_source(disk))
             : fmt::format("did as much as is assumed to be its capacity ({})", capacity_figures(disk));
}

std::string unsaturated_text(const Findings& findings, const FoundDisk& disk) {
  return has_known_capacity(disk)
             ? fmt::format("used only {}, so it does not limit", capacity_used(findings, disk))
             : fmt::format("did less than is assumed to be its capacity ({})", capacity_figures(disk));
}

std::string spare_text(const Findings& findings, const FoundDisk& disk, const std::string& name) {
  if (!has_known_capacity(disk)) {
    return fmt::format("{} could have served more, by the capacity that is assumed for it ({})", name,
                       capacity_figures(disk));
  }
  return fmt::format("{} used {} ({}, {}) and could have served more", name, capacity_used(findings, disk),
                     capacity_figures(disk), capacity_source(disk));
}

namespace {

/// Advice for one thread that waits for the disk.
std::string disk_advice_for_one(const AnswerEvidence& evidence) {
  constexpr std::string_view kLowerLatency = ", or a device with lower latency";
  std::string out = "fewer requests, several at a time";
  switch (evidence.actions.longest()) {
    case FileAction::sync:
      return fmt::format("fewer syncs (one for several changes, or for those of several threads){}",
                         kLowerLatency);
    case FileAction::write:
      if (evidence.actions.are_syncs()) {
        return fmt::format(
            "fewer syncs, each after one larger write (one for several changes, or for those of several "
            "threads){}",
            kLowerLatency);
      }
      out =
          "fewer and larger writes, several at a time, writes that do not wait for the disk (neither "
          "O_DIRECT nor O_SYNC)";
      break;
    case FileAction::read:
      out = "fewer requests (a larger cache), ask ahead or for several at a time";
      break;
    case FileAction::other:
      break;
  }
  return fmt::format("{}{}", out, kLowerLatency);
}

bool is_of_one_thread(const AnswerEvidence& evidence) {
  return evidence.threads == 1 && !evidence.others_matter();
}

}  // namespace

std::string disk_advice(const AnswerEvidence& evidence, bool in_groups) {
  if (is_of_one_thread(evidence)) return disk_advice_for_one(evidence);
  if (in_groups) {
    return "sync less often (one sync serves several threads already), or take a device with lower latency";
  }
  switch (evidence.actions.longest()) {
    case FileAction::sync:
      return "let one sync serve more changes (larger transactions, group commit), sync less often, or "
             "take a device with lower latency";
    case FileAction::write:
      return evidence.actions.are_syncs()
                 ? "let one sync, and the write before it, serve more changes (larger transactions, group "
                   "commit), sync less often, or take a device with lower latency"
                 : "fewer and larger writes, writes that do not wait for the disk (neither O_DIRECT nor "
                   "O_SYNC), or a device with more parallelism or a lower latency";
    case FileAction::read:
      return "fewer requests (a larger cache), or a device with more parallelism or a lower latency";
    case FileAction::other:
      break;
  }
  return "fewer requests, or a device with more parallelism or a lower latency";
}

std::string sync_advice(const AnswerEvidence& evidence, bool in_groups) {
  const std::string_view fewer =
      in_groups ? "sync less often (one sync serves several threads already)"
      : is_of_one_thread(evidence)
          ? "fewer syncs (one for several changes, or for those of several threads)"
          : "let one sync serve more changes (larger transactions, group commit), or sync less "
            "often";
  // A sync that serves more changes may have more to write.
  return fmt::format(
      "{}, which gains as much where each of them takes no longer than now; a device with "
      "lower latency saves the waits alone",
      fewer);
}

}  // namespace offwait
