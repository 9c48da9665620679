// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/names.h"

#include <algorithm>
#include <map>

#include "base/escape.h"

namespace offwait {

namespace {

bool has_threads(const FoundActor& actor) {
  return actor.kind == ActorKind::thread || actor.kind == ActorKind::group;
}

std::string base_name(const FoundActor& actor) {
  const std::string name = cut_to_width(escape(actor.name), ActorNames::kNameColumns);
  if (actor.kind == ActorKind::thread) {
    return name.empty() ? "tid " + std::to_string(actor.tid) : name;
  }
  if (actor.kind == ActorKind::group) {
    return (name.empty() ? "tid " + std::to_string(actor.tid) : name) + "×" +
           std::to_string(actor.tids.size());
  }
  return std::string(to_string(actor.kind)) + (name.empty() ? "" : " " + name);
}

std::string tid_text(std::int32_t tid, std::int32_t ns_tid) {
  return "tid " + std::to_string(tid) +
         (ns_tid > 0 ? ", " + std::to_string(ns_tid) + " in its namespace" : "");
}

}  // namespace

std::string thread_name(const std::string& name, std::int32_t tid, std::int32_t ns_tid) {
  const std::string number = tid_text(tid, ns_tid);
  return name.empty() ? number : cut_to_width(escape(name), ActorNames::kNameColumns) + " (" + number + ")";
}

std::string disks_below(const FoundActor& disk) {
  constexpr std::size_t kShown = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(kShown, disk.on.size()); ++i) {
    out += (i == 0 ? " (on " : ", ") + cut_to_width(escape(disk.on[i]), ActorNames::kNameColumns);
  }
  if (disk.on.size() > kShown) {
    out += ", " + std::to_string(disk.on.size() - kShown) + " more";
  }
  return out.empty() ? out : out + ")";
}

ActorNames::ActorNames(const Findings& findings) {
  std::map<std::string, int> uses;
  for (const FoundActor& actor : findings.actors) {
    brief_.push_back(base_name(actor));
    ++uses[brief_.back()];
  }
  for (std::size_t i = 0; i < brief_.size(); ++i) {
    const FoundActor& actor = findings.actors[i];
    if (uses[brief_[i]] > 1 && has_threads(actor) && !actor.name.empty()) {
      brief_[i] += "/" + std::to_string(actor.tid);
    }
  }
}

std::string ActorNames::full(const Findings& findings, FoundActorId actor) const {
  const FoundActor& it = findings.actors[actor];
  if (!has_threads(it)) {
    return brief(actor) + disks_below(it);
  }
  const std::string outside = it.outside ? ", outside" : "";
  if (it.kind == ActorKind::group) {
    // Each member of a group of main threads is a process of its own.
    const std::string where =
        it.tid == it.tgid && it.short_lived ? "short-lived processes" : "in tgid " + std::to_string(it.tgid);
    return base_name(it) + " (" + where + outside + ")";
  }
  if (it.name.empty()) {
    return brief(actor) + (it.outside ? " (outside)" : "");
  }
  return base_name(it) + " (" + tid_text(it.tid, it.ns_tids.empty() ? 0 : it.ns_tids.front()) + outside + ")";
}

}  // namespace offwait
