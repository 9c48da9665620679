// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/wording_views.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/quantity.h"
#include "report/wording_gains.h"

namespace offwait {

namespace {

constexpr double kWorthASentence = 0.0005;

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  const std::size_t shown = std::min(names.size(), kMost);
  return fmt::format("{}{}",
                     fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "");
}

}  // namespace

std::string functions_meaning(const FoundFunctions& functions) {
  return fmt::format(
      "Time of the {} that {} for the progress ({}), {} in all. Numbers are parts of it in %, `crit` and "
      "`gain` apart.",
      format_plural(functions.threads, "thread"), functions.threads == 1 ? "counts" : "count",
      names_text(functions.names), format_seconds(functions.counted.total_s()));
}

std::string columns_meaning(const Findings& findings) {
  const FoundFunctions& functions = findings.views.functions;
  const std::string cpu = functions.samples > 0
                              ? fmt::format("cpu: it ran ({})", format_plural(functions.samples, "sample"))
                              : "cpu: unknown, as no samples were taken";
  return fmt::format(
      "self: in the function itself; with callees: in what it called as well, whole in a recursion. {}; io: "
      "it "
      "waited for a disk; lock: for a futex or a lock; run: for a CPU; oth: for something else. crit: its "
      "part of the criticality in %, which is time on CPUs that counts the more the fewer threads were "
      "active. gain: of the progress, if all that it does with its callees took half as long.",
      cpu);
}

std::string time_apart_text(const Findings& findings) {
  const FoundFunctions& functions = findings.views.functions;
  const double all_s = functions.counted.total_s() + functions.requests_s + functions.apart_s;
  std::vector<std::string> parts;
  const auto add = [&](double part_s, std::string_view what) {
    if (part_s > kWorthASentence * all_s) {
      parts.push_back(fmt::format("{} {}", format_seconds(part_s), what));
    }
  };
  add(functions.requests_s, "of waits for requests (idle)");
  add(functions.apart_s, "of threads that no progress waits for");
  std::string out = parts.empty() ? "" : fmt::format("Set aside: {}.", fmt::join(parts, ", "));
  if (functions.without_stack.total_s() > kWorthASentence * all_s) {
    out += fmt::format("{}In no row: {} of time without a stack.", out.empty() ? "" : " ",
                       format_seconds(functions.without_stack.total_s()));
  }
  return out;
}

std::string place_text(const FoundFunction& row) {
  return fmt::format("{}:{}", row.file.substr(row.file.rfind('/') + 1), row.line);
}

std::string callers_text(const FoundFunction& row, const std::vector<std::string>& callers) {
  constexpr double kNearlyAll = 0.995;
  const std::string from = fmt::format("from {}", fmt::join(callers, " ← "));
  return row.caller_share >= kNearlyAll ? from : format_percent(row.caller_share, 1) + " " + from;
}

std::string gain_cell(const Gain& gain) {
  if (gain.certainty == Certainty::rough) return "rough";
  return gain.certainty == Certainty::up_to ? "≤" + rate_gain_text(most_of(gain)) : rate_gain_text(gain.gain);
}

std::string parts_text(const FoundFunction& row) {
  std::vector<std::string> parts;
  for (const auto& [gain, name] :
       {std::pair(row.cpu_gain, "cpu"), std::pair(row.io_gain, "io"),
        std::pair(row.runnable_gain, "runnable"), std::pair(row.other_gain, "sleeps")}) {
    if (!gain) continue;
    const std::string text = gain_text(*gain);
    if (!text.empty()) parts.push_back(fmt::format("{} /2: {}", name, text));
  }
  return parts.size() < 2 ? "" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string file_text(const Object& file) {
  if (file.kind != Object::Kind::file)
    return fmt::format("the {} of {}", to_string(file.kind), to_string(file.device));
  if (file.path.empty()) return fmt::format("a file of {}", to_string(file.device));
  return file.path + (file.deleted ? " (deleted)" : "");
}

std::string threads_meaning(const FoundThreads& threads) {
  return fmt::format(
      "by criticality: the time that a thread ran, each moment divided by the number of threads that were "
      "active then, running or ready to run. Some thread was active for {}, {} at a time. crit: the thread's "
      "part of all criticality in %. The others are parts of the window in %: cpu: it ran; io: it waited for "
      "a disk; lock: for a futex or a lock; run: for a CPU; oth: for something else.",
      format_seconds(threads.some_active_s), format_ratio(threads.mean_active));
}

std::string locks_meaning(const FoundLocks& locks) {
  std::vector<std::string> apart;
  const auto add = [&](double part_s, std::string_view what) {
    if (part_s > kWorthASentence * (locks.wait_s + locks.queues_s)) {
      apart.push_back(fmt::format("{} {}", format_seconds(part_s), what));
    }
  };
  add(locks.requests_s, "of waits for requests");
  add(locks.apart_s, "of waits of threads that no progress waits for");
  add(locks.not_let_go_s, "of waits that no thread ended");
  add(locks.unknown_s, "of waits whose lock is not known");
  const std::string queues =
      locks.queues == 1 ? "1 condition or queue" : format_count(locks.queues) + " conditions and queues";
  const std::string waited = locks.locks == 0
                                 ? "Threads waited for no lock"
                                 : fmt::format("Threads waited {} for {}", format_seconds(locks.wait_s),
                                               format_plural(locks.locks, "lock"));
  return fmt::format(
      "{}{}.{}{}", waited,
      locks.queues == 0 ? "" : fmt::format(", and {} for {}", format_seconds(locks.queues_s), queues),
      locks.locks + locks.queues == 0 ? ""
                                      : " line: how many waited at a time, on average and at most. A lock "
                                        "without a name is called by the "
                                        "function that takes it; #1 was waited for longest.",
      apart.empty() ? "" : fmt::format(" Set aside: {}.", fmt::join(apart, ", ")));
}

std::string lock_evidence_text(const FoundLockRow& lock) {
  if (!lock.evidence || (lock.kind != LockKind::lock && *lock.evidence != LockEvidence::behaviour)) return "";
  switch (*lock.evidence) {
    case LockEvidence::kernel:
      return "what the kernel says";
    case LockEvidence::name:
      return "the name of a function that waits for it";
    case LockEvidence::behaviour:
      return "its behaviour: the threads that wait for it let it go, to one at a time";
  }
  return "";
}

std::string holder_text(const FoundLockRow& lock, const ActorNames& names) {
  if (lock.holders.empty()) return "";
  constexpr std::size_t kMostHolders = 2;
  const FoundLockRow::Meanwhile& meanwhile = lock.meanwhile;
  const bool one = lock.holders.size() == 1 && lock.holders.front().threads == 1;
  std::vector<std::pair<double, std::string>> parts = {
      {meanwhile.ran_s, "ran"},
      {meanwhile.runnable_s, fmt::format("{} ready to run without a CPU", one ? "was" : "were")},
      {meanwhile.at_disks_s,
       fmt::format("waited for {}", lock.disk.empty() ? "a disk" : "disk " + lock.disk)},
      {meanwhile.other_locks_s, "waited for other locks"},
      {meanwhile.others_s, "waited for other things"},
      {meanwhile.unknown_s, "did what is not known"}};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> said;
  for (const auto& [part_s, what] : parts) {
    constexpr double kWorthSaying = 0.03;
    if (part_s > kWorthSaying * meanwhile.looked_s) {
      said.push_back(fmt::format("{} ({})", what, format_percent(part_s, meanwhile.looked_s)));
    }
  }
  std::vector<std::string> holders;
  for (const FoundLockRow::Holder& holder : lock.holders) {
    if (holders.size() < kMostHolders) holders.push_back(names.threads(holder.name, holder.threads));
  }
  const std::size_t more = lock.holders.size() - holders.size();
  const bool by_waker = lock.owner_s < lock.wait_s / 2;
  return fmt::format("{} {}{}{}", by_waker ? "let go by" : "held by", fmt::join(holders, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "",
                     said.empty() ? "" : fmt::format(", which {} meanwhile", in_a_sentence(said)));
}

}  // namespace offwait
