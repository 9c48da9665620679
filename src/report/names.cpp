// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace offwait {

namespace {

bool has_threads(const FoundActor& actor) {
  return actor.kind == ActorKind::thread || actor.kind == ActorKind::group;
}

std::string tid_text(std::int32_t tid, std::int32_t ns_tid) {
  return ns_tid > 0 ? fmt::format("tid {}, {} in its namespace", tid, ns_tid) : fmt::format("tid {}", tid);
}

/// Where the threads of a group are: `in tgid 10`, `in 8 processes`, `short-lived processes`.
std::string processes_of(const FoundActor& group) {
  // Each member of a group of main threads is a process of its own.
  const bool short_lived = group.short_lived || group.lives > group.tids.size();
  if (group.tid == group.tgid && short_lived) return "short-lived processes";
  return group.tgids.size() > 1 ? fmt::format("in {} processes", group.tgids.size())
                                : fmt::format("in tgid {}", group.tgid);
}

}  // namespace

ActorNames::ActorNames(const Findings& findings, WrittenName written) : written_(std::move(written)) {
  std::map<std::string, int> uses;
  for (const FoundActor& actor : findings.actors) {
    brief_.push_back(base_name(actor));
    members_.push_back(actor.tids.size());
    ++uses[brief_.back()];
  }
  for (std::size_t i = 0; i < brief_.size(); ++i) {
    const FoundActor& actor = findings.actors[i];
    if (uses[brief_[i]] > 1 && has_threads(actor) && !actor.name.empty()) {
      brief_[i] += fmt::format("/{}", actor.tid);
    }
  }
}

std::string ActorNames::base_name(const FoundActor& actor) const {
  if (!has_threads(actor)) {
    return actor.name.empty() ? std::string(to_string(actor.kind))
                              : fmt::format("{} {}", to_string(actor.kind), written_(actor.name));
  }
  const std::string name = actor.name.empty() ? tid_text(actor.tid, 0) : written_(actor.name);
  const std::uint64_t threads = std::max<std::uint64_t>(actor.lives, actor.tids.size());
  return threads > 1 ? fmt::format("{}×{}", name, threads) : name;
}

std::string ActorNames::full(const Findings& findings, FoundActorId actor) const {
  const FoundActor& it = findings.actors[actor];
  if (!has_threads(it)) {
    return brief(actor) + disks_below(it);
  }
  const std::string_view outside = it.outside ? ", outside" : "";
  if (it.kind == ActorKind::group || it.lives > 1) {
    return fmt::format("{} ({}{})", base_name(it), processes_of(it), outside);
  }
  if (it.name.empty()) {
    return brief(actor) + (it.outside ? " (outside)" : "");
  }
  const std::int32_t ns_tid = it.ns_tids.empty() ? 0 : it.ns_tids.front();
  return fmt::format("{} ({}{})", base_name(it), tid_text(it.tid, ns_tid), outside);
}

std::string ActorNames::box(const Findings& findings, const DrawnBox& box) const {
  const std::string& first = findings.actors[box.actors.front()].name;
  if (box.actors.size() == 1) return brief(box.actors.front());
  bool all_alike = true;
  std::size_t threads = 0;
  for (const FoundActorId actor : box.actors) {
    all_alike = all_alike && findings.actors[actor].name == first;
    threads += members(actor);
  }
  return this->threads(all_alike ? first : name_begin(first) + "*", threads);
}

std::string ActorNames::thread(const FoundThread& thread) const {
  const std::string number = tid_text(thread.tid, thread.ns_tid);
  return thread.name.empty() ? number : fmt::format("{} ({})", written_(thread.name), number);
}

std::string ActorNames::process(const FoundProcess& process) const {
  return fmt::format("{} (pid {})", written_(process.name), process.tgid);
}

std::string ActorNames::disks_below(const FoundActor& disk) const {
  constexpr std::size_t kShown = 3;
  if (disk.on.empty()) return "";
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kShown, disk.on.size()); ++i) shown.push_back(written_(disk.on[i]));
  if (disk.on.size() > kShown) shown.push_back(fmt::format("{} more", disk.on.size() - kShown));
  return fmt::format(" (on {})", fmt::join(shown, ", "));
}

std::string ActorNames::threads(std::string_view name, std::size_t count) const {
  return count == 1 ? written_(name) : fmt::format("{}×{}", written_(name), count);
}

}  // namespace offwait
