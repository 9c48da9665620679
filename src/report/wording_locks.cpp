// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_locks.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/quantity.h"

namespace offwait {

namespace {

/// The part of the time that it is held in which something other than CPU work takes most; empty for CPU
/// work.
std::string_view mostly_held_for(const FoundLock& lock) {
  const std::vector<std::pair<double, std::string_view>> parts = {
      {lock.ran, ""},
      {lock.no_cpu, "lack a CPU"},
      {lock.slept, "sleep"},
      {lock.at_disks, "wait for the disk"},
      {lock.for_remote, "wait for the remote service"},
      {lock.for_clients, "wait for the client"},
      {lock.for_others, "wait for other threads"}};
  return std::max_element(parts.begin(), parts.end(),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

std::string advice_for_held(const FoundLock& lock) {
  const std::string_view what = mostly_held_for(lock);
  if (what == "wait for the client") {
    return "end the transaction, or let go of it, before the client is waited for";
  }
  if (what == "lack a CPU") {
    return "let its holders run: they queue for a CPU while they hold it (fewer threads at a time, or more "
           "CPUs); or split it, so that fewer threads need the same one";
  }
  return what.empty() ? "do less while the lock is held, or split it, so that fewer threads need the same one"
                      : fmt::format(
                            "do not {} while the lock is held, or split it, so that fewer threads need "
                            "the same one",
                            what);
}

}  // namespace

std::string thread_list(const std::vector<FoundProgress::Threads>& threads, const ActorNames& names) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kMostNamed, threads.size()); ++i) {
    shown.push_back(names.threads(threads[i].name, threads[i].count));
  }
  const std::size_t more = threads.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string lock_advice(const FoundLock& lock) {
  switch (lock.runtime) {
    case RuntimeLock::none:
      break;
    case RuntimeLock::java_monitor:
      return advice_for_held(lock) + "; jstack shows whose monitor it is";
    case RuntimeLock::cpython_gil:
      return "use processes instead of threads (or a build without GIL)";
  }
  return advice_for_held(lock);
}

std::string held_for_text(const FoundLock& lock) {
  constexpr double kWorthSaying = 0.05;
  std::vector<std::pair<double, std::string_view>> parts = {{lock.ran, "run"},
                                                            {lock.no_cpu, "lack a CPU"},
                                                            {lock.slept, "sleep"},
                                                            {lock.at_disks, "wait for disks"},
                                                            {lock.for_remote, "wait for remote services"},
                                                            {lock.for_clients, "wait for their clients"},
                                                            {lock.for_others, "wait for others"}};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> said;
  for (const auto& [part, what] : parts) {
    if (part >= kWorthSaying) said.push_back(fmt::format("{} ({})", what, format_percent(part, 1)));
  }
  return said.empty() ? "" : fmt::format(", which {} meanwhile", in_a_sentence(said));
}

std::string full_text(const FoundLock& lock, const ActorNames& names) {
  switch (lock.full) {
    case Full::cpus:
      return ". At this bound the CPUs are full";
    case Full::disk:
      return fmt::format(". At this bound {} is full", names.brief(*lock.full_disk));
    case Full::lock:
      return fmt::format(". At this bound {} is held all the time",
                         lock.full_lock.starts_with("lock") ? lock.full_lock : "lock " + lock.full_lock);
    case Full::nothing:
      break;
  }
  return "";
}

}  // namespace offwait
