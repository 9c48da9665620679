// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_locks.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/quantity.h"

namespace offwait {

namespace {

/// What holders of a lock do while they hold it.
struct Meanwhile {
  double part = 0;          ///< of the time that it is held, 0 to 1
  std::string_view they{};  ///< `wait for their clients`
  std::string_view
      avoid{};  ///< `wait for the client`, which people do not do while they hold it; empty: they work
};

/// What the holders do, in order of time, the longest first.
std::vector<Meanwhile> meanwhile(const FoundLock& lock) {
  std::vector<Meanwhile> out = {{lock.ran, "run", ""},
                                {lock.no_cpu, "lack a CPU", "lack a CPU"},
                                {lock.slept, "sleep", "sleep"},
                                {lock.at_disks, "wait for disks", "wait for the disk"},
                                {lock.for_remote, "wait for remote services", "wait for the remote service"},
                                {lock.for_clients, "wait for their clients", "wait for the client"},
                                {lock.for_others, "wait for others", "wait for other threads"}};
  std::stable_sort(out.begin(), out.end(),
                   [](const Meanwhile& a, const Meanwhile& b) { return a.part > b.part; });
  return out;
}

std::string advice_for_held(const FoundLock& lock) {
  const std::string_view what = meanwhile(lock).front().avoid;
  if (what == "wait for the client") {
    return "commit, or let go of it, before waiting for the client";
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

/// Transactions hold locks of rows until they commit. `which` shows the transactions and their statements.
std::string advice_for_rows(const FoundLock& lock, std::string_view which) {
  if (meanwhile(lock).front().avoid == "wait for the client") {
    return fmt::format(
        "commit, or roll back, before waiting for the client ({} shows whose transaction it is)", which);
  }
  return fmt::format(
      "let transactions change different rows (split the one that all change), or change it last, right "
      "before the commit; {} shows the statements",
      which);
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
    case RuntimeLock::innodb_row:
      return advice_for_rows(lock, "SHOW ENGINE INNODB STATUS");
    case RuntimeLock::postgres_row:
      return advice_for_rows(lock, "pg_stat_activity");
  }
  return advice_for_held(lock);
}

std::string held_for_text(const FoundLock& lock) {
  constexpr double kWorthSaying = 0.05;
  std::vector<std::string> said;
  for (const Meanwhile& one : meanwhile(lock)) {
    if (one.part >= kWorthSaying)
      said.push_back(fmt::format("{} ({})", one.they, format_percent(one.part, 1)));
  }
  return said.empty() ? "" : fmt::format(", which {} meanwhile", in_a_sentence(said));
}

std::string full_text(const FoundAnswer& answer, const ActorNames& names) {
  if (answer.what != Resource::waited) return "";
  const FoundLock& lock = *answer.lock;
  switch (lock.full) {
    case Full::cpus:
      return "Without its waits the CPUs would be full, if the work takes as much CPU time as now.";
    case Full::disk:
      return fmt::format("Without its waits {} would be full.", names.brief(*lock.full_disk));
    case Full::lock:
      return fmt::format("Without its waits {} would be held all the time.", lock_title(lock.full_lock));
    case Full::nothing:
      break;
  }
  return "";
}

std::string lock_title(const std::string& name) { return name.starts_with("lock") ? name : "lock " + name; }

std::string contention_text(const FoundLock& lock) {
  return fmt::format("its threads waited {} for {}, all together.", format_seconds(lock.wait_s),
                     lock_title(lock.name));
}

}  // namespace offwait
