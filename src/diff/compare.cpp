// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/compare.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "diff/thread_names.h"

namespace offwait {

namespace {

using RowChange = ComparedAmount::Change;
using Recordings = std::vector<RecordingToCompare>;

std::vector<const Profile*> profiles_of(const Recordings& side) {
  std::vector<const Profile*> out;
  for (const RecordingToCompare& one : side) out.push_back(&one.profile);
  return out;
}

// ---- rows

/// What an amount and its spread are found from.
struct Sides {
  SideValues before{};
  SideValues after{};
};

/// A row, whose spreads can be found once it is known how many amounts there are.
template <class Row>
struct LookedAt {
  Row row;
  Sides time{};
  Sides waits{};  ///< of rows that have a number of waits
};

/// The amount by which rows are in order.
template <class Row>
decltype(auto) main_amount(Row& row) {
  if constexpr (requires { row.weight; }) {
    return (row.weight);
  } else if constexpr (requires { row.time; }) {
    return (row.time);
  } else {
    return (row.wait);
  }
}

template <class Rows>
using KeyOf = typename Rows::key_type;

/// The time in the waits that came or went: the side with more waits has this much more, at its mean length.
template <class Row>
double time_of_changed_waits(const Row& row) {
  const bool fewer = row.waits.after < row.waits.before;
  const double most = fewer ? row.waits.before : row.waits.after;
  const double time_s = fewer ? row.wait.before : row.wait.after;
  return most > 0 ? std::abs(row.waits.difference()) / most * time_s : 0;
}

/// The sum of a row's pieces in the map of one profile; zeros if there is none.
template <class Rows, class Member>
Pieces pieces_at(const Rows& rows, const KeyOf<Rows>& key, Member member) {
  const auto found = rows.find(key);
  return found == rows.end() ? Pieces{} : found->second.*member;
}

class Comparer {
 public:
  Comparer(const Recordings& before, const Recordings& after, const ComparedUnit& unit, double noise)
      : before_(before),
        after_(after),
        unit_(unit),
        noise_(noise),
        least_before_(noise * window_per_unit(before)),
        least_after_(noise * window_per_unit(after)),
        names_(profiles()) {
    find_counting_threads();
  }

  void run(Comparison& out) {
    std::vector<LookedAt<ComparedTime>> times = look_at_times();
    std::vector<LookedAt<ComparedEdge>> edges = look_at_edges();
    std::vector<LookedAt<ComparedLock>> locks = look_at_locks();
    std::vector<LookedAt<ComparedFunction>> functions = look_at_functions();
    std::vector<LookedAt<ComparedKnot>> knots = look_at_knots();
    out.named_in_some = named_in_some();
    names_differ_ = !out.named_in_some.empty();
    amounts_ = times.size() + 2 * (edges.size() + locks.size()) + functions.size() + knots.size();
    out.amounts = amounts_;
    out.times = judged(times, out.throughput);
    out.edges = judged(edges, out.throughput);
    out.locks = judged(locks, out.throughput);
    out.functions = judged(functions, out.throughput);
    out.knots = judged(knots, out.throughput);
    out.before.programs = programs(before_);
    out.after.programs = programs(after_);
  }

 private:
  std::vector<const Profile*> profiles() const {
    std::vector<const Profile*> out = profiles_of(before_);
    for (const Profile* profile : profiles_of(after_)) out.push_back(profile);
    return out;
  }

  /// A thread counts if it does in half of the recordings of one side: whether others wait for it for 1 % of
  /// the window may differ from one recording to the next.
  void find_counting_threads() {
    for (const Recordings* side : {&before_, &after_}) {
      std::map<ThreadKindKey, std::size_t> times;
      for (const RecordingToCompare& one : *side) {
        for (const auto& [key, sums] : one.profile.threads) times[key] += sums.counts ? 1U : 0U;
      }
      for (const auto& [key, count] : times) {
        if (count > 0 && 2 * count >= side->size()) counts_.insert(key);
      }
    }
  }
  bool counts(const ThreadKindKey& key) const { return counts_.count(key) > 0; }

  std::vector<std::string> programs(const Recordings& side) const {
    std::set<std::string> out;
    for (const RecordingToCompare& one : side) {
      for (const auto& [key, sums] : one.profile.threads) {
        if (sums.threads == 0 || !counts(key)) continue;
        const std::string& name = key.program.empty() ? key.process : key.program;
        if (!name.empty()) out.insert(name);
      }
    }
    return {out.begin(), out.end()};
  }

  /// Debug information names all functions of a module, and a table of symbols only some of them.
  static bool names_all_of(const Profile& profile, const std::string& module) {
    if (profile.nameless_modules.contains(module)) return false;
    return std::any_of(profile.frame_of.begin(), profile.frame_of.end(), [&module](const auto& one) {
      return one.second.module == module && !one.second.function.empty();
    });
  }

  std::vector<std::string> named_in_some() const {
    std::set<std::string> modules;
    for (const Profile* profile : profiles()) {
      for (const auto& [module, time_s] : profile->nameless_s) modules.insert(module);
    }
    std::vector<std::string> out;
    for (const std::string& module : modules) {
      bool some_lack = false;
      bool some_have = false;
      for (const Profile* profile : profiles()) {
        const auto nameless = profile->nameless_s.find(module);
        const double part = nameless == profile->nameless_s.end() ? 0 : nameless->second / profile->window_s;
        some_lack = some_lack || part >= noise_;
        some_have = some_have || names_all_of(*profile, module);
      }
      if (some_lack && some_have) out.push_back(module);
    }
    return out;
  }

  // ---- amounts

  double window_per_unit(const Recordings& side) const {
    double sum = 0;
    for (const RecordingToCompare& one : side) sum += one.profile.window_s / units_of(one.profile, unit_);
    return sum / static_cast<double>(side.size());
  }

  /// `pieces_in` gives a row's pieces in a profile.
  template <class PiecesIn>
  SideValues values(const Recordings& side, PiecesIn pieces_in) const {
    SideValues out;
    out.within_degrees = kPieces - 1;
    for (const RecordingToCompare& one : side) {
      const double units = units_of(one.profile, unit_);
      Pieces rates = pieces_in(one.profile);
      out.values.push_back(sum_of(rates) / units);
      for (double& rate : rates) rate *= kPieces / units;
      // The pieces of a program's run are different work, so they say nothing of other runs.
      if (unit_.kind != ComparedUnit::Kind::run) out.within.push_back(variance_of_mean(rates));
    }
    return out;
  }

  template <class PiecesIn>
  Sides both_sides(PiecesIn pieces_in) const {
    return {values(before_, pieces_in), values(after_, pieces_in)};
  }

  static void fill(ComparedAmount& amount, const Sides& sides) {
    amount.before = sides.before.mean();
    amount.after = sides.after.mean();
    amount.each_before = sides.before.values;
    amount.each_after = sides.after.values;
  }

  /// Keeps the row if it fills enough of a side: `times` as much as the least part of the window.
  template <class Row>
  void look_at(LookedAt<Row> one, std::vector<LookedAt<Row>>& rows, double times = 1) const {
    ComparedAmount& amount = main_amount(one.row);
    fill(amount, one.time);
    if constexpr (requires { one.row.waits; }) fill(one.row.waits, one.waits);
    if (amount.before >= times * least_before_ || amount.after >= times * least_after_)
      rows.push_back(std::move(one));
  }

  /// `time_s` is the time that came or went with the difference; without it there is no change.
  void judge(ComparedAmount& amount, const Sides& sides, double time_s) const {
    amount.spread = spread_of(sides.before, sides.after, kErrorOfAll / static_cast<double>(amounts_));
    if (time_s >= std::max(least_before_, least_after_)) amount.change = change_of(amount);
  }

  static RowChange change_of(const ComparedAmount& amount) {
    if (std::abs(amount.difference()) <= amount.spread) return RowChange::none;
    if (amount.before <= kNearlyNone * amount.after) return RowChange::came;
    if (amount.after <= kNearlyNone * amount.before) return RowChange::went;
    return amount.after > amount.before ? RowChange::grew : RowChange::shrank;
  }

  /// What is known by functions cannot be compared if some recordings lack their names.
  template <class Row>
  bool is_comparable(const Row& row) const {
    if constexpr (std::is_same_v<Row, ComparedFunction>) return !names_differ_;
    if constexpr (std::is_same_v<Row, ComparedLock>) return !names_differ_ || row.key.function.empty();
    return true;
  }

  template <class Row>
  std::vector<Row> judged(std::vector<LookedAt<Row>>& rows,
                          const std::optional<ComparedAmount>& throughput) const {
    std::vector<Row> out;
    for (LookedAt<Row>& one : rows) {
      ComparedAmount& amount = main_amount(one.row);
      const bool comparable = is_comparable(one.row);
      judge(amount, one.time, comparable ? std::abs(amount.difference()) : 0);
      if constexpr (requires { one.row.waits; })
        judge(one.row.waits, one.waits, comparable ? time_of_changed_waits(one.row) : 0);
      out.push_back(std::move(one.row));
    }
    const auto rank = [&throughput](const Row& row) {
      const ComparedAmount& amount = main_amount(row);
      return std::tuple(explains(amount, throughput), amount.changed() ? std::abs(amount.difference()) : -1.0,
                        row.changed(), std::max(amount.before, amount.after));
    };
    std::stable_sort(out.begin(), out.end(),
                     [&rank](const Row& a, const Row& b) { return rank(a) > rank(b); });
    return out;
  }

  // ---- sections

  /// The keys of one kind of rows in all profiles.
  template <class Rows>
  std::set<KeyOf<Rows>> keys_of(Rows Profile::*rows) const {
    std::set<KeyOf<Rows>> out;
    for (const Profile* profile : profiles()) {
      for (const auto& [key, sums] : profile->*rows) out.insert(key);
    }
    return out;
  }

  std::vector<LookedAt<ComparedTime>> look_at_times() const {
    std::vector<LookedAt<ComparedTime>> out;
    for (std::size_t i = 0; i < kTimeKinds; ++i) {
      ComparedTime row;
      row.kind = static_cast<TimeKind>(i);
      const auto pieces = [this, &row](const Profile& profile) {
        Pieces sum{};
        for (const auto& [key, time] : profile.times) {
          if (key.kind == row.kind && counts(key.thread)) add(sum, time);
        }
        return sum;
      };
      look_at<ComparedTime>({row, both_sides(pieces)}, out);
    }
    return out;
  }

  ComparedEnd name_of(const EndKey& key) const {
    return {key.kind, key.kind == EndKey::Kind::thread ? names_.of(key.thread) : key.name};
  }

  /// Mean per unit over the recordings of a side.
  template <class AmountIn>
  double mean_per_unit(const Recordings& side, AmountIn amount_in) const {
    double sum = 0;
    for (const RecordingToCompare& one : side) sum += amount_in(one.profile) / units_of(one.profile, unit_);
    return sum / static_cast<double>(side.size());
  }

  /// The row of the recording that has most of it, on the side that has more of it.
  template <class Rows, class SizeOf>
  const typename Rows::mapped_type* largest(Rows Profile::*rows, const KeyOf<Rows>& key,
                                            SizeOf size_of) const {
    const typename Rows::mapped_type* out = nullptr;
    double most = 0;
    for (const Recordings* side : {&before_, &after_}) {
      for (const RecordingToCompare& one : *side) {
        const auto found = (one.profile.*rows).find(key);
        if (found == (one.profile.*rows).end()) continue;
        const double size = size_of(found->second) / units_of(one.profile, unit_);
        if (out != nullptr && size <= most) continue;
        most = size;
        out = &found->second;
      }
    }
    return out;
  }

  std::vector<LookedAt<ComparedEdge>> look_at_edges() const {
    std::vector<LookedAt<ComparedEdge>> out;
    for (const EdgeKey& key : keys_of(&Profile::edges)) {
      if (!counts(key.from.thread)) continue;
      ComparedEdge row;
      row.from = name_of(key.from);
      row.to = name_of(key.to);
      const auto sides_of = [&](Pieces EdgeSums::*member) {
        return both_sides([&](const Profile& profile) { return pieces_at(profile.edges, key, member); });
      };
      fill(row.wait, sides_of(&EdgeSums::wait));
      if (const EdgeSums* const most =
              largest(&Profile::edges, key, [](const EdgeSums& sums) { return sum_of(sums.weight); })) {
        row.stack = most->stack;
        const double all_s = sum_of(most->wait);
        for (const auto& [wait_class, time_s] : most->classes)
          if (time_s > 0) row.classes[wait_class] = time_s / all_s;
      }
      look_at<ComparedEdge>({std::move(row), sides_of(&EdgeSums::weight), sides_of(&EdgeSums::waits)}, out);
    }
    return out;
  }

  /// Calls `take` with the key and sums of each row of `rows` that belongs to `lock` and threads that count.
  template <class Take>
  void for_lock(const Profile& profile, const LockKey& lock, Take take) const {
    for (auto row = profile.locks.lower_bound({lock, {}});
         row != profile.locks.end() && row->first.lock == lock; ++row) {
      if (counts(row->first.waiter)) take(row->first, row->second);
    }
  }

  std::vector<LookedAt<ComparedLock>> look_at_locks() const {
    std::set<LockKey> locks;
    for (const LockRowKey& key : keys_of(&Profile::locks)) locks.insert(key.lock);
    std::vector<LookedAt<ComparedLock>> out;
    for (const LockKey& lock : locks) {
      ComparedLock row;
      row.key = lock;
      describe(row);
      const auto sides_of = [&](Pieces LockSums::*member) {
        return both_sides([&](const Profile& profile) {
          Pieces sum{};
          for_lock(profile, lock, [&](const LockRowKey&, const LockSums& sums) { add(sum, sums.*member); });
          return sum;
        });
      };
      look_at<ComparedLock>({std::move(row), sides_of(&LockSums::wait), sides_of(&LockSums::waits)}, out);
    }
    return out;
  }

  void describe(ComparedLock& row) const {
    std::map<std::string, double> waiters;
    double most = 0;
    for (const Profile* profile : profiles()) {
      for_lock(*profile, row.key, [&](const LockRowKey& key, const LockSums& sums) {
        waiters[names_.of(key.waiter)] += sum_of(sums.wait) / units_of(*profile, unit_);
        if (sums.stack_s / units_of(*profile, unit_) <= most) return;
        most = sums.stack_s / units_of(*profile, unit_);
        row.stack = sums.stack;
      });
    }
    std::vector<std::pair<double, std::string>> longest;
    for (const auto& [name, wait] : waiters) longest.emplace_back(-wait, name);
    std::sort(longest.begin(), longest.end());
    for (auto& [wait, name] : longest) row.waiters.push_back(std::move(name));
  }

  template <class Take>
  void for_function(const Profile& profile, const FunctionKey& function, Take take) const {
    for (auto row = profile.functions_by_time.lower_bound({function, {}});
         row != profile.functions_by_time.end() && row->first.function == function; ++row) {
      if (counts(row->first.thread)) take(row->second);
    }
  }

  /// How many windows long all that the threads did is, on average; 1 or more.
  double windows_of_threads() const {
    double sum_s = 0;
    double windows_s = 0;
    for (const Profile* profile : profiles()) {
      windows_s += profile->window_s;
      for (const auto& [key, time] : profile->times) sum_s += counts(key.thread) ? sum_of(time) : 0;
    }
    return std::max(1.0, sum_s / windows_s);
  }

  /// A function has a part of the time of all threads, so that more threads do not make more rows.
  std::vector<LookedAt<ComparedFunction>> look_at_functions() const {
    std::vector<LookedAt<ComparedFunction>> out;
    const double times = windows_of_threads();
    for (const FunctionKey& key : keys_of(&Profile::frame_of)) {
      ComparedFunction row;
      double most = 0;
      for (const Profile* profile : profiles()) {
        if (const auto frame = profile->frame_of.find(key); frame != profile->frame_of.end())
          row.function = frame->second;
        for_function(*profile, key, [&](const FunctionSums& sums) {
          if (sums.callers_s / units_of(*profile, unit_) <= most) return;
          most = sums.callers_s / units_of(*profile, unit_);
          row.callers = sums.callers;
        });
      }
      for (std::size_t kind = 0; kind < kTimeKinds; ++kind) {
        const auto time = [&](const Profile& profile) {
          double sum = 0;
          for_function(profile, key, [&](const FunctionSums& sums) { sum += sums.by_kind[kind]; });
          return sum;
        };
        row.before[kind] = mean_per_unit(before_, time);
        row.after[kind] = mean_per_unit(after_, time);
      }
      const auto pieces = [&](const Profile& profile) {
        Pieces sum{};
        for_function(profile, key, [&sum](const FunctionSums& sums) { add(sum, sums.time); });
        return sum;
      };
      look_at<ComparedFunction>({std::move(row), both_sides(pieces)}, out, times);
    }
    return out;
  }

  // ---- knots

  static KnotKey key_of(const FoundKnot& knot, const RecordingToCompare& recording) {
    std::set<EndKey> members;
    for (const FoundActorId id : knot.actors) {
      const FoundActor& actor = recording.findings.actors[id];
      if (actor.kind != ActorKind::thread && actor.kind != ActorKind::group) {
        members.insert(device_key(actor.kind, actor.name));
        continue;
      }
      for (const std::int32_t tid : actor.tids) {
        const auto found = recording.profile.key_of_tid.find(tid);
        if (found != recording.profile.key_of_tid.end())
          members.insert({EndKey::Kind::thread, found->second, {}});
      }
    }
    return {members.begin(), members.end()};
  }

  static void count_knots(const Recordings& side, std::map<KnotKey, std::size_t>& counts) {
    for (const RecordingToCompare& one : side) {
      std::set<KnotKey> here;
      for (const FoundKnot& knot : one.findings.knots) {
        if (!knot.background) here.insert(key_of(knot, one));
      }
      for (const KnotKey& key : here) ++counts[key];
    }
  }

  static Pieces weight_between(const Profile& profile, const std::set<EndKey>& members) {
    Pieces sum{};
    const auto inside = [&members](const EdgeKey& key) {
      return members.count(key.from) > 0 && members.count(key.to) > 0;
    };
    for (const auto& [key, sums] : profile.edges) {
      if (inside(key)) add(sum, sums.weight);
    }
    for (const auto& [key, weight] : profile.outside) {
      if (inside(key)) add(sum, weight);
    }
    return sum;
  }

  std::vector<LookedAt<ComparedKnot>> look_at_knots() const {
    std::map<KnotKey, std::size_t> in_before;
    std::map<KnotKey, std::size_t> in_after;
    count_knots(before_, in_before);
    count_knots(after_, in_after);
    std::set<KnotKey> keys;
    for (const auto& [key, count] : in_before) keys.insert(key);
    for (const auto& [key, count] : in_after) keys.insert(key);
    std::vector<LookedAt<ComparedKnot>> out;
    for (const KnotKey& key : keys) {
      ComparedKnot row;
      for (const EndKey& member : key) row.members.push_back(name_of(member));
      row.before = in_before[key];
      row.after = in_after[key];
      const std::set<EndKey> members(key.begin(), key.end());
      const auto weight = [&members](const Profile& profile) { return weight_between(profile, members); };
      look_at<ComparedKnot>({std::move(row), both_sides(weight)}, out);
    }
    return out;
  }

  const Recordings& before_;
  const Recordings& after_;
  ComparedUnit unit_;
  double noise_;
  double least_before_;
  double least_after_;
  ThreadNames names_;
  std::set<ThreadKindKey> counts_;
  std::size_t amounts_ = 1;
  bool names_differ_ = false;
};

SideValues rates_of(const Recordings& side, const ComparedUnit& unit) {
  SideValues out;
  for (const RecordingToCompare& one : side) {
    out.values.push_back(units_of(one.profile, unit) / one.profile.window_s);
  }
  return out;
}

/// How fast progress is; of runs, how many there would be in a second.
std::optional<ComparedAmount> throughput_of(const Recordings& before, const Recordings& after,
                                            const ComparedUnit& unit) {
  if (unit.kind == ComparedUnit::Kind::second) return std::nullopt;
  const SideValues rates_before = rates_of(before, unit);
  const SideValues rates_after = rates_of(after, unit);
  ComparedAmount out;
  out.before = rates_before.mean();
  out.after = rates_after.mean();
  out.each_before = rates_before.values;
  out.each_after = rates_after.values;
  if (before.size() == 1 && after.size() == 1) return out;
  out.spread = spread_of(rates_before, rates_after, kErrorOfAll);
  if (std::abs(out.difference()) > out.spread)
    out.change = out.difference() > 0 ? RowChange::grew : RowChange::shrank;
  return out;
}

void take(Recordings& recordings, const ComparedUnit& unit, ComparedSide& side) {
  for (RecordingToCompare& one : recordings) {
    ComparedSide::Recording out{std::move(one.file), std::move(one.findings), {}};
    if (unit.kind != ComparedUnit::Kind::second)
      out.units_per_s = units_of(one.profile, unit) / one.profile.window_s;
    side.recordings.push_back(std::move(out));
  }
}

}  // namespace

std::string_view to_string(ComparedAmount::Change change) {
  switch (change) {
    case ComparedAmount::Change::none:
      return "none";
    case ComparedAmount::Change::came:
      return "came";
    case ComparedAmount::Change::went:
      return "went";
    case ComparedAmount::Change::grew:
      return "grew";
    case ComparedAmount::Change::shrank:
      return "shrank";
  }
  return "none";
}

bool explains(const ComparedAmount& amount, const std::optional<ComparedAmount>& throughput) {
  if (!throughput || !throughput->changed() || !amount.changed()) return false;
  return (amount.difference() < 0) == (throughput->difference() > 0);
}

Comparison compare(std::vector<RecordingToCompare> before, std::vector<RecordingToCompare> after,
                   double noise) {
  std::vector<Profile*> profiles;
  for (RecordingToCompare& one : before) profiles.push_back(&one.profile);
  for (RecordingToCompare& one : after) profiles.push_back(&one.profile);
  align(profiles);
  Comparison out;
  out.unit = unit_of(profiles_of(before), profiles_of(after));
  out.spread_within = before.size() == 1 && after.size() == 1;
  out.throughput = throughput_of(before, after, out.unit);
  Comparer(before, after, out.unit, noise).run(out);
  take(before, out.unit, out.before);
  take(after, out.unit, out.after);
  return out;
}

}  // namespace offwait
