// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/sleep_paces.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "model/activity.h"
#include "model/stretches.h"

namespace offwait {

namespace {

constexpr std::size_t kFewestSleeps = 16;
/// These tell as well as all what sleeps in one place look like, and which groups are at work meanwhile.
constexpr std::size_t kMostSleeps = 20'000;
constexpr std::size_t kMostLookedAt = 2000;
constexpr std::size_t kMostWaitsLookedAt = 1'000'000;
/// A group that waited less often for another one is not seen to depend on it.
constexpr std::uint64_t kFewestHanded = 8;
/// Sleeps in one place that take a smaller part of their threads' lives hold nothing back.
constexpr double kLeastPart = 0.01;
constexpr double kStandardErrors = 3;
/// A correlation, or a part of the time, that is no larger says nothing.
constexpr double kLittle = 0.1;

using Series = std::vector<double>;

/// What one thread's sleeps in a place, and what lies between them, look like.
struct Sleeper {
  Series lengths;
  Series worked;                               ///< CPU time between two sleeps, where it is known
  std::map<std::uint64_t, std::size_t> asked;  ///< how often so many waits for devices came in between
};

/// Those of a group in one place.
struct Sleeps {
  std::map<ActorId, Sleeper> threads;
  Series periods;       ///< from the end of a thread's sleep to the end of its next one
  Series rounds;        ///< from the end of a thread's sleep to the start of its next one, of each period
  Nanos active_ns = 0;  ///< in between: running, or in waits for devices
  Nanos slept_ns = 0;
};

/// The value that so many quarters of them, which are not all, are below; there is one or more.
double quartile_of(Series values, std::size_t quarters) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() * quarters / 4);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double median_of(Series values) { return quartile_of(std::move(values), 2); }

double mean_of(const Series& values) {
  double out = 0;
  for (const double value : values) out += value / static_cast<double>(values.size());
  return out;
}

/// How far values are from their mean, and each of them from that together with the next one, over all
/// threads: a thread that sleeps longer than others is no sign that a sleep tells the next.
struct Spread {
  std::size_t values = 0;
  std::size_t pairs = 0;
  double squares = 0;         ///< of the distances from the mean of the thread
  double paired_squares = 0;  ///< the same, of the values with a next one
  double products = 0;        ///< of the distances of a value and the next one
  double mean_squares = 0;    ///< of the threads' means, once for each value

  void add(const Series& series) {
    if (series.empty()) return;
    const double mean = mean_of(series);
    for (std::size_t i = 0; i < series.size(); ++i) {
      const double distance = series[i] - mean;
      squares += distance * distance;
      // The mean of a few values makes each of them tell that the next is unlike it.
      if (series.size() < kFewestSleeps || i + 1 == series.size()) continue;
      paired_squares += distance * distance;
      products += distance * (series[i + 1] - mean);
      ++pairs;
    }
    values += series.size();
    mean_squares += mean * mean * static_cast<double>(series.size());
  }

  /// The squared coefficient of variation.
  double variation() const { return mean_squares > 0 ? squares / mean_squares : 0; }

  /// Autocorrelation with the next value; 0 if that is no more than chance makes it, or if values hardly
  /// differ.
  double tells_the_next() const {
    if (pairs < kFewestSleeps || variation() < kLittle * kLittle) return 0;
    const double correlation = products / paired_squares;
    const double by_chance = kStandardErrors / std::sqrt(static_cast<double>(pairs));
    return std::abs(correlation) > std::max(kLittle, by_chance) ? correlation : 0;
  }

  /// Times between events that come by chance (a Poisson process) have a variation of 1, which so many of
  /// them show to within the square root of 8 / n.
  bool varies_more_than_chance() const {
    return values >= kFewestSleeps &&
           variation() > 1 + kStandardErrors * std::sqrt(8 / static_cast<double>(values));
  }
};

bool come_otherwise_than_by_chance(const Sleeps& sleeps) {
  Spread lengths;
  Spread worked;
  for (const auto& [thread, sleeper] : sleeps.threads) {
    lengths.add(sleeper.lengths);
    worked.add(sleeper.worked);
  }
  // What work takes is alike for a while in any program, but not long after short, and short after long.
  return lengths.tells_the_next() != 0 || worked.tells_the_next() < 0 || worked.varies_more_than_chance();
}

/// Whether other numbers of waits for devices than a thread's most frequent one came before a tenth of the
/// sleeps: then these are not part of each round of its work.
bool come_in_some_rounds(const Sleeps& sleeps) {
  std::size_t all = 0;
  std::size_t most_frequent = 0;
  for (const auto& [thread, sleeper] : sleeps.threads) {
    std::size_t of_thread = 0;
    for (const auto& [asked, times] : sleeper.asked) {
      all += times;
      of_thread = std::max(of_thread, times);
    }
    most_frequent += of_thread;
  }
  return all >= kFewestSleeps &&
         static_cast<double>(all - most_frequent) > kLittle * static_cast<double>(all);
}

/// How far each value is from a multiple of the unit.
Series distances(const Series& values, double unit) {
  Series out;
  for (const double value : values) out.push_back(std::abs(value - unit * periods_in(value, unit)));
  return out;
}

Series lengths_of(const Sleeps& sleeps) {
  Series out;
  for (const auto& [thread, sleeper] : sleeps.threads) {
    out.insert(out.end(), sleeper.lengths.begin(), sleeper.lengths.end());
  }
  return out;
}

/// 0: the sleeps are as steady as the periods, or steadier.
double steady_period(const Sleeps& sleeps, const Series& lengths) {
  if (sleeps.periods.size() < kFewestSleeps) return 0;
  const double period = median_of(sleeps.periods);
  const double length = median_of(lengths);
  if (!(period > 0) || !(length > 0)) return 0;
  const double of_periods = quartile_of(distances(sleeps.periods, period), 3);
  return 2 * of_periods < median_of(distances(lengths, length)) ? period : 0;
}

/// Whether work took longer than the period more often than once in ten times, or would if that were half as
/// long.
bool is_late(const Sleeps& sleeps, const Series& lengths, double period) {
  const auto late = std::count_if(sleeps.rounds.begin(), sleeps.rounds.end(),
                                  [period](double one) { return one > period; });
  return static_cast<double>(late) > kLittle * static_cast<double>(sleeps.rounds.size()) ||
         2 * median_of(lengths) < period;
}

/// Which groups are at work while others sleep.
class GroupsAtWork {
 public:
  GroupsAtWork(const Trace& trace, const ThreadGroups& groups, const Surroundings& known,
               const Activity& activity)
      : trace_(trace), groups_(groups), known_(known), activity_(activity) {
    window_ = trace.window;
    sleeps_.resize(trace.actors.size());
    for (SiteId id = 0; id < trace.sites.size(); ++id) {
      if (known.sleeps[id]) sleeps_[trace.sites[id].thread] = true;
    }
    if (trace.waits.size() > kMostWaitsLookedAt) {
      constexpr std::size_t kOneIn = 64;
      std::vector<Nanos> blocks;
      for (std::size_t id = 0; id < trace.waits.size(); id += kOneIn) blocks.push_back(trace.waits[id].block);
      const auto last = blocks.begin() + static_cast<std::ptrdiff_t>(kMostWaitsLookedAt / kOneIn);
      std::nth_element(blocks.begin(), last, blocks.end());
      window_.end = std::clamp(*last, window_.begin, window_.end);
    }
    for (GroupId id = 0; id < groups.groups.size(); ++id) {
      if (!known.may_pace[id]) continue;
      Worker worker{idle_times_of(id), 0, sleeps_itself(id)};
      worker.idle = static_cast<double>(worker.idle_times.within(window_.begin, window_.end)) /
                    static_cast<double>(std::max<Nanos>(window_.length(), 1));
      workers_.emplace(id, std::move(worker));
    }
    std::vector<std::uint64_t> waits(trace.sites.size());
    const std::size_t first = std::min(trace.waits.size(), kMostWaitsLookedAt);
    for (std::size_t id = 0; id < first; ++id) ++waits[trace.waits[id].site];
    std::map<std::pair<GroupId, GroupId>, std::uint64_t> handed;
    for (SiteId id = 0; id < trace.sites.size(); ++id) {
      if (!known.handed[id]) continue;
      const WaitSite& site = trace.sites[id];
      handed[{groups.group_of[site.thread], groups.group_of[site.waker]}] += waits[id];
    }
    for (const auto& [pair, number] : handed) {
      if (number >= kFewestHanded) waits_for_[pair.first].insert(pair.second);
    }
  }

  struct Behind {
    std::size_t groups = 0;       ///< how many may be what the sleeps are for
    GroupId group = kNoGroup;     ///< the last of them, unless it sleeps itself: then it is not behind
    bool always_at_work = false;  ///< one of them is, and the sleepers are not seen to wait for it
  };

  Behind behind_of(GroupId sleeper, const std::vector<std::uint32_t>& waits) const {
    std::vector<const Wait*> looked_at;
    const std::size_t each = (waits.size() + kMostLookedAt - 1) / kMostLookedAt;
    Nanos slept_ns = 0;
    for (std::size_t i = 0; i < waits.size(); i += each) {
      const Wait& wait = trace_.waits[waits[i]];
      if (wait.block < window_.begin || wait.wake > window_.end) continue;
      looked_at.push_back(&wait);
      slept_ns += wait.wake - wait.block;
    }
    Behind out;
    if (slept_ns == 0) return out;
    const double most_idle = kLittle * static_cast<double>(slept_ns);
    const std::set<GroupId> seen_for = all_that_it_waits_for(sleeper);
    for (const auto& [group, worker] : workers_) {
      if (group == sleeper) continue;
      Nanos idle_ns = 0;
      for (const Wait* const wait : looked_at) {
        idle_ns += worker.idle_times.within(wait->block, wait->wake);
        if (static_cast<double>(idle_ns) > most_idle) break;
      }
      if (static_cast<double>(idle_ns) > most_idle) continue;
      ++out.groups;
      out.group = worker.sleeps ? kNoGroup : group;
      out.always_at_work |= worker.idle <= kLittle && !seen_for.contains(group);
    }
    return out;
  }

  /// The thread of the group that is at work at `at`, if there is one; `before`, if that one is.
  ActorId at_work(GroupId group, Nanos at, ActorId before) const {
    if (before != kNoActor && is_at_work(before, at)) return before;
    const std::vector<ActorId>& members = groups_.groups[group].members;
    const auto found =
        std::find_if(members.begin(), members.end(), [&](ActorId thread) { return is_at_work(thread, at); });
    return found == members.end() ? kNoActor : *found;
  }

 private:
  struct Worker {
    Stretches idle_times;  ///< when no thread of the group had anything to do
    double idle = 0;       ///< the part of the window that these are
    bool sleeps = false;   ///< for a part of its threads' lives that says something
  };

  bool is_at_work(ActorId thread, Nanos at) const {
    const Actor& actor = trace_.actors[thread];
    if (at < actor.start || at >= actor.exit) return false;
    const std::span<const std::uint32_t> waits = activity_.waits_of(thread);
    const auto next = std::partition_point(waits.begin(), waits.end(),
                                           [&](std::uint32_t id) { return trace_.waits[id].block < at; });
    if (next == waits.begin()) return true;
    const Wait& last = trace_.waits[*std::prev(next)];
    return last.wake <= at || !known_.idle[last.site];
  }

  /// The groups that it waits for, directly or behind others, and itself.
  std::set<GroupId> all_that_it_waits_for(GroupId group) const {
    std::set<GroupId> out{group};
    std::vector<GroupId> next{group};
    while (!next.empty()) {
      const auto found = waits_for_.find(next.back());
      next.pop_back();
      if (found == waits_for_.end()) continue;
      for (const GroupId other : found->second) {
        if (out.insert(other).second) next.push_back(other);
      }
    }
    return out;
  }

  bool sleeps_itself(GroupId group) const {
    Nanos slept_ns = 0;
    Nanos lives_ns = 0;
    for (const ActorId thread : groups_.groups[group].members) {
      lives_ns += known_life(trace_.actors[thread], trace_.window);
      if (!sleeps_[thread]) continue;
      for (const std::uint32_t id : activity_.waits_of(thread)) {
        const Wait& wait = trace_.waits[id];
        if (known_.sleeps[wait.site]) slept_ns += clipped(wait.block, wait.wake, trace_.window);
      }
    }
    return static_cast<double>(slept_ns) > kLittle * static_cast<double>(lives_ns);
  }

  Stretches idle_times_of(GroupId group) const {
    const std::vector<ActorId>& members = groups_.groups[group].members;
    std::vector<std::pair<Nanos, int>> changes;
    const auto idle = [&](Nanos from, Nanos to) {
      from = std::max(from, window_.begin);
      to = std::min(to, window_.end);
      if (from >= to) return;
      changes.emplace_back(from, 1);
      changes.emplace_back(to, -1);
    };
    for (const ActorId thread : members) {
      const Actor& actor = trace_.actors[thread];
      // What a thread did before it was seen is not known, and no sign of work.
      idle(window_.begin, std::max(actor.start, actor.seen));
      idle(actor.exit, window_.end);
      for (const std::uint32_t id : activity_.waits_of(thread)) {
        const Wait& wait = trace_.waits[id];
        if (wait.block >= window_.end) break;
        if (known_.idle[wait.site]) idle(wait.block, std::min(wait.wake, actor.exit));
      }
    }
    std::sort(changes.begin(), changes.end());
    Stretches out;
    const auto all = static_cast<std::ptrdiff_t>(members.size());
    std::ptrdiff_t at_rest = 0;
    Nanos since = window_.begin;
    for (const auto& [at, change] : changes) {
      if (at_rest == all) out.add(since, at);
      at_rest += change;
      since = at;
    }
    return out;
  }

  const Trace& trace_;
  const ThreadGroups& groups_;
  const Surroundings& known_;
  const Activity& activity_;
  Window window_{};           ///< of the first kMostWaitsLookedAt
  std::vector<bool> sleeps_;  ///< by ActorId: whether it ever does
  std::map<GroupId, Worker> workers_;
  std::map<GroupId, std::set<GroupId>> waits_for_;
};

/// Those of the places' sleeps that are looked at, each in order of time.
Sleeps sleeps_of(const Trace& trace, const Surroundings& known, const Activity& activity,
                 const std::vector<std::uint32_t>& waits) {
  Sleeps out;
  std::map<ActorId, const Wait*> last;
  for (std::size_t i = 0; i < std::min(waits.size(), kMostSleeps); ++i) {
    const Wait& wait = trace.waits[waits[i]];
    const ActorId thread = trace.sites[wait.site].thread;
    Sleeper& sleeper = out.threads[thread];
    const Wait* const before = std::exchange(last[thread], &wait);
    sleeper.lengths.push_back(static_cast<double>(wait.wake - wait.block));
    if (before == nullptr) continue;
    std::uint64_t asked = 0;
    const auto count = [&](std::uint32_t between, Nanos from, Nanos to) {
      if (!known.device[trace.waits[between].site]) return;
      ++asked;
      out.active_ns += to - from;
    };
    const Activity::Times times = activity.look(thread, before->run, wait.block, count);
    out.active_ns += times.ran_ns;
    out.slept_ns += wait.wake - wait.block;
    if (times.unknown_ns == 0) sleeper.worked.push_back(static_cast<double>(times.ran_ns));
    ++sleeper.asked[asked];
    out.periods.push_back(static_cast<double>(wait.wake - before->wake));
    out.rounds.push_back(static_cast<double>(wait.block - before->wake));
  }
  return out;
}

/// A group, and where its threads sleep.
using Place = std::pair<GroupId, StackId>;

/// By place: sleeps that are over, each thread's in order of time; those that may hold something back.
std::map<Place, std::vector<std::uint32_t>> places_of(const Trace& trace, const ThreadGroups& groups,
                                                      const Surroundings& known) {
  std::map<Place, std::vector<std::uint32_t>> out;
  if (std::find(known.sleeps.begin(), known.sleeps.end(), true) == known.sleeps.end()) return out;
  std::map<GroupId, Nanos> lives;
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    const Wait& wait = trace.waits[id];
    if (!known.sleeps[wait.site] || wait.run == kNever) continue;
    const WaitSite& site = trace.sites[wait.site];
    out[{groups.group_of[site.thread], site.wait_stack}].push_back(id);
  }
  for (const auto& [place, waits] : out) {
    if (lives.contains(place.first)) continue;
    for (const ActorId thread : groups.groups[place.first].members) {
      lives[place.first] += known_life(trace.actors[thread], trace.window);
    }
  }
  std::erase_if(out, [&](const auto& one) {
    Nanos slept_ns = 0;
    for (const std::uint32_t id : one.second) {
      slept_ns += clipped(trace.waits[id].block, trace.waits[id].wake, trace.window);
    }
    return one.second.size() < kFewestSleeps || slept_ns == 0 ||
           static_cast<double>(slept_ns) < kLeastPart * static_cast<double>(lives[one.first.first]);
  });
  return out;
}

}  // namespace

double periods_in(double time_ns, double period_ns) { return std::max(1.0, std::round(time_ns / period_ns)); }

double periods_needed(double since_ns, double period_ns, double recorded) {
  return period_ns > 0 ? std::clamp(std::ceil(since_ns / period_ns), 1.0, std::max(recorded, 1.0)) : 1;
}

FixedRate at_fixed_rate(double since_ns, double work_ns, double period_ns) {
  const double periods = periods_in(since_ns, period_ns);
  const double each = since_ns / periods;
  const double worked = periods_needed(work_ns, each, periods);
  return {worked, periods - worked, each};
}

SleepPaces sleep_paces(const Trace& trace, const ThreadGroups& groups, const Surroundings& known) {
  SleepPaces out{std::vector<SleepPace>(trace.sites.size()),
                 std::vector<GroupId>(trace.sites.size(), kNoGroup),
                 std::vector<double>(trace.sites.size()),
                 {}};
  const std::map<Place, std::vector<std::uint32_t>> places = places_of(trace, groups, known);
  if (places.empty()) return out;
  const Activity activity(trace);
  std::optional<GroupsAtWork> workers;
  struct Found {
    SleepPace pace = SleepPace::length;
    GroupId behind = kNoGroup;
    double period_ns = 0;
  };
  std::map<Place, Found> found;
  for (const auto& [place, waits] : places) {
    const Sleeps here = sleeps_of(trace, known, activity, waits);
    const Series lengths = lengths_of(here);
    if (const double period = steady_period(here, lengths); period > 0) {
      const bool late = is_late(here, lengths, period);
      found[place] = {late ? SleepPace::late : SleepPace::clock, kNoGroup, period};
      continue;
    }
    if (groups.groups[place.first].outside) continue;
    if (!workers) workers.emplace(trace, groups, known, activity);
    const auto [number, behind, always_at_work] = workers->behind_of(place.first, waits);
    // What hardly does anything but sleep is not held back by its sleeps.
    const bool works = static_cast<double>(here.active_ns) > kLittle * static_cast<double>(here.slept_ns);
    const bool depends = works && come_otherwise_than_by_chance(here);
    if (number == 1 && depends && behind != kNoGroup) {
      found[place] = {SleepPace::thread, behind};
      ActorId thread = kNoActor;
      for (const std::uint32_t id : waits) {
        thread = workers->at_work(behind, trace.waits[id].wake, thread);
        if (thread != kNoActor) out.at_work[id] = thread;
      }
    } else if (depends || come_in_some_rounds(here) || always_at_work) {
      found[place].pace = SleepPace::unknown;
    }
  }
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    if (!known.sleeps[id]) continue;
    const WaitSite& site = trace.sites[id];
    const auto at = found.find({groups.group_of[site.thread], site.wait_stack});
    if (at == found.end()) continue;
    out.of_site[id] = at->second.pace;
    out.behind[id] = at->second.behind;
    out.period_ns[id] = at->second.period_ns;
  }
  return out;
}

}  // namespace offwait
