// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_files.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/quantity.h"

namespace offwait {

namespace {

std::string where(const FoundFileName& file) {
  if (!file.disk.empty()) return file.disk;
  return file.device == DeviceNumber{} ? "" : to_string(file.device);
}

/// `path`, or what takes its place, of a file whose path is `path`.
std::string called(const FoundFileName& file, const std::string& path) {
  const std::string place = where(file);
  switch (file.kind) {
    case Object::Kind::journal:
      return place.empty() ? "a journal" : "journal of " + place;
    case Object::Kind::metadata:
      return place.empty() ? "metadata" : "metadata of " + place;
    case Object::Kind::file:
    case Object::Kind::futex:
    case Object::Kind::kernel_lock:
      break;
  }
  const std::string name =
      path.empty() ? fmt::format("inode {}{}", file.inode, place.empty() ? "" : " on " + place) : path;
  return file.deleted ? name + " (deleted)" : name;
}

std::string written_back_text(const FoundDiskFile& file) {
  constexpr double kNearlyAll = 0.95;
  constexpr double kWorthSaying = 0.05;
  const double part = static_cast<double>(file.written_back) / static_cast<double>(file.ios);
  if (part < kWorthSaying) return "";
  return part >= kNearlyAll ? ", writeback" : fmt::format(", {} writeback", format_percent(part, 1));
}

}  // namespace

std::string file_text(const FoundFileName& file) { return called(file, file.path); }

std::string file_brief(const FoundFileName& file, const ActorNames& names) {
  const std::size_t slash = file.path.rfind('/');
  const bool has_name = slash != std::string::npos && slash + 1 < file.path.size();
  return called(file, names.text(has_name ? file.path.substr(slash + 1) : file.path));
}

std::string waited_files_text(const AnswerEvidence& evidence, const ActorNames& names) {
  constexpr double kWorthANumber = 0.1;
  constexpr std::size_t kMostNamed = 2;
  std::vector<std::string> shown;
  for (const AnswerEvidence::File& file : evidence.files) {
    if (shown.size() == kMostNamed || file.wait_s < kWorthANumber * evidence.time_s) break;
    const bool alike =
        std::any_of(evidence.files.begin(), evidence.files.end(), [&](const AnswerEvidence::File& other) {
          return &other != &file && file_brief(other.name, names) == file_brief(file.name, names);
        });
    shown.push_back(fmt::format("{} ({})", alike ? file_text(file.name) : file_brief(file.name, names),
                                format_percent(file.wait_s, evidence.time_s)));
  }
  return shown.empty() ? "" : " for " + in_a_sentence(shown);
}

std::string disk_files_text(const FoundDisk& disk, const ActorNames& names, std::size_t most) {
  const bool known = std::any_of(disk.files.begin(), disk.files.end(),
                                 [](const FoundDiskFile& file) { return file.file.has_value(); });
  if (!known) return "";
  double all_s = 0;
  for (const FoundDiskUser& user : disk.users) all_s += user.service_s * static_cast<double>(user.ios);
  const std::size_t count = std::min(most, disk.files.size());
  double rest_s = all_s;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < count; ++i) {
    const FoundDiskFile& file = disk.files[i];
    rest_s -= file.under_way_s;
    const std::string name = file.file      ? file_brief(*file.file, names)
                             : file.flushes ? "flushes, discards"
                                            : "not known";
    const std::string data =
        file.flushes ? "" : fmt::format(" ({}{})", format_bytes(file.bytes), written_back_text(file));
    shown.push_back(fmt::format("{} {}{}", name, format_percent(file.under_way_s, all_s), data));
  }
  if (disk.files_known > count) {
    shown.push_back(fmt::format("{} more {}", format_count(disk.files_known - count),
                                format_percent(std::max(rest_s, 0.0), all_s)));
  }
  return fmt::format("requests: {}", fmt::join(shown, ", "));
}

std::string files_meaning(const Findings& findings) {
  const FoundFiles& files = findings.views.files;
  return fmt::format(
      "The target's threads waited {} for {}. waited: all threads together; %: part of the whole; waits, "
      "longest: how many, and the longest one; read, written, requests: what disks did for the file, whoever "
      "asked.",
      format_seconds(files.wait_s), format_plural(files.files, "file"));
}

std::string calls_text(const FoundFile& file) {
  constexpr std::size_t kMost = 3;
  constexpr double kWorthSaying = 0.005;
  std::vector<std::string> shown;
  for (const FoundFile::Call& call : file.calls) {
    if (shown.size() == kMost || call.wait_s <= kWorthSaying * file.wait_s) break;
    const bool is_synced = call.action == FileAction::sync && action_of(call.name) != FileAction::sync;
    shown.push_back(fmt::format("{}{} {}", call.name.empty() ? "an unknown call" : call.name,
                                is_synced ? " (synced)" : "", format_percent(call.wait_s, file.wait_s)));
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

std::string waiters_text(const FoundFile& file, const ActorNames& names, std::size_t most) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(most, file.threads.size()); ++i) {
    const FoundFile::Threads& threads = file.threads[i];
    shown.push_back(fmt::format("{} {}", names.threads(threads.name, threads.count),
                                format_percent(threads.wait_s, file.wait_s)));
  }
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     file.threads.size() > shown.size()
                         ? fmt::format(" and {} more", file.threads.size() - shown.size())
                         : "");
}

std::string unknown_files_text(const FoundFiles& files) {
  std::vector<std::string> parts;
  if (files.unknown_s > 0) {
    parts.push_back(fmt::format("{} of waits for disks", format_seconds(files.unknown_s)));
  }
  if (files.unknown_ios > 0) {
    parts.push_back(fmt::format("{} ({}), flushes and discards among them",
                                format_plural(files.unknown_ios, "request"),
                                format_bytes(files.unknown_bytes)));
  }
  return parts.empty() ? "" : fmt::format("For no known file: {}.", fmt::join(parts, "; "));
}

}  // namespace offwait
