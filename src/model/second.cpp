// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/second.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace offwait {
namespace {

constexpr std::size_t kNoRow = std::numeric_limits<std::size_t>::max();

/// The part of [first, last] that lies in the window, 0 to 1.
double share_of(Nanos first, Nanos last, const Window& part) {
  if (first >= last) return first >= part.begin && first < part.end ? 1 : 0;
  return static_cast<double>(clipped(first, last, part)) / static_cast<double>(last - first);
}

/// What the target's threads counted.
template <class Counted>
std::optional<double> even_count(const Trace& trace, const std::vector<Counted>& all, const Window& part) {
  std::optional<double> sum;
  for (const Counted& one : all) {
    if (trace.actors[one.thread].outside) continue;
    sum = sum.value_or(0) + static_cast<double>(one.count) * share_of(one.first, one.last, part);
  }
  return sum;
}

SecondCounts even_counts(const Trace& trace, const Window& part) {
  SecondCounts counts;
  counts.even = true;
  counts.responses = even_count(trace, trace.responses, part);
  counts.calls = even_count(trace, trace.calls, part);
  const double share = share_of(trace.window.begin, trace.window.end, part);
  const auto of_part = [share](Nanos whole) {
    return static_cast<Nanos>(static_cast<double>(whole) * share);
  };
  const Recording& recording = trace.recording;
  counts.cpu_busy = of_part(recording.cpu_busy_ns);
  counts.cpu_idle = of_part(recording.cpu_idle_ns);
  counts.cpu_steal = of_part(recording.cpu_steal_ns);
  counts.programs_cost = of_part(recording.cost.programs_ns);
  counts.recorder_cost = of_part(recording.cost.recorder_ns);
  double lost = 0;
  for (const auto& [name, count] : trace.loss) lost += static_cast<double>(count) * share;
  counts.lost = static_cast<std::uint64_t>(lost);
  return counts;
}

}  // namespace

Nanos ThreadTimes::all_blocked() const { return std::accumulate(blocked.begin(), blocked.end(), Nanos{0}); }

Nanos ThreadTimes::running() const { return std::max<Nanos>(0, lived - runnable - unknown - all_blocked()); }

void ThreadTimes::add(const ThreadTimes& more) {
  lived += more.lived;
  runnable += more.runnable;
  unknown += more.unknown;
  waits += more.waits;
  for (std::size_t i = 0; i < blocked.size(); ++i) blocked[i] += more.blocked[i];
}

Second second_of(const Trace& trace, const Window& part) {
  Second second;
  second.window = part;
  second.counts = even_counts(trace, part);
  std::vector<std::size_t> row_of(trace.actors.size(), kNoRow);
  for (std::size_t i = 0; i < trace.actors.size(); ++i) {
    const Actor& actor = trace.actors[i];
    if (actor.kind != ActorKind::thread || actor.recorder) continue;
    const Nanos lived = known_life(actor, part);
    if (lived <= 0) continue;
    row_of[i] = second.threads.size();
    second.threads.push_back({actor.tid, actor.tgid, actor.name, actor.outside});
    second.threads.back().times.lived = lived;
  }
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    // A wait of no time has no part in the sums, but counts.
    const bool ends_here = wait.run > part.begin && wait.run <= part.end && !site.in_flight;
    if (wait.block >= part.end || wait.run < part.begin || row_of[site.thread] == kNoRow) continue;
    ThreadTimes& times = second.threads[row_of[site.thread]].times;
    times.blocked[static_cast<std::size_t>(site.wait_class)] += clipped(wait.block, wait.wake, part);
    times.runnable += clipped(wait.wake, wait.run, part);
    if (!ends_here) continue;
    ++times.waits;
    ++second.waits;
  }
  for (const Preemption& one : trace.preemptions) {
    if (row_of[one.thread] == kNoRow) continue;
    second.threads[row_of[one.thread]].times.runnable += clipped(one.out, one.run, part);
  }
  for (const Gap& gap : trace.gaps) {
    if (row_of[gap.thread] == kNoRow) continue;
    second.threads[row_of[gap.thread]].times.unknown += clipped(gap.from, gap.to, part);
  }
  return second;
}

}  // namespace offwait
