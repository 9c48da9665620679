// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/profile.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "analysis/code_uses.h"
#include "analysis/lock_names.h"
#include "analysis/stack_functions.h"
#include "graph/false_wakeups.h"
#include "graph/peer_kinds.h"
#include "graph/sweep.h"
#include "model/called.h"
#include "progress/group_use.h"

namespace offwait {

namespace {

constexpr std::size_t kMostCallers = 3;

std::size_t index_of(TimeKind kind) { return static_cast<std::size_t>(kind); }

TimeKind kind_of(WaitClass wait_class) {
  switch (wait_class) {
    case WaitClass::disk:
      return TimeKind::io;
    case WaitClass::futex:
    case WaitClass::lock:
    case WaitClass::spin:
      return TimeKind::lock;
    default:
      return TimeKind::other;
  }
}

/// The kernel's and the user's functions in which time passes, by stack.
class Stacks {
 public:
  explicit Stacks(const Trace& trace) : trace_(trace), functions_(trace) {}

  /// The innermost frame of the program; nothing if there is none.
  const Frame* innermost(StackId stack) const {
    if (stack == kNoStack) return nullptr;
    for (const FrameId frame : trace_.stacks[stack].frames) {
      if (trace_.frames[frame].kind == Frame::Kind::user) return &trace_.frames[frame];
    }
    return nullptr;
  }

  /// The innermost one; nothing if none is known.
  const Frame* function(StackId stack) {
    if (stack == kNoStack) return nullptr;
    const std::vector<FrameId> frames = functions_.frames_of(stack);
    return frames.empty() ? nullptr : &functions_.all[functions_.of(frames.front())];
  }

  std::vector<Frame> callers(StackId stack) {
    std::vector<Frame> out;
    const std::vector<FrameId> frames = functions_.frames_of(stack);
    for (std::size_t i = 1; i < frames.size() && out.size() < kMostCallers; ++i) {
      if (functions_.is_own(frames[i])) out.push_back(functions_.all[functions_.of(frames[i])]);
    }
    return out;
  }

 private:
  const Trace& trace_;
  StackFunctions functions_;
};

class Profiler {
 public:
  Profiler(const Trace& recorded, Trace clean, const ProfileChoices& choices)
      : trace_(std::move(clean)),
        threads_(thread_keys(recorded)),
        facts_(facts_of(recorded, group_threads(recorded), choices.progress)),
        uses_(code_uses_of(recorded, facts_)),
        peers_(kinds_of_peers(recorded)),
        stacks_(recorded) {}

  Result<Profile> run() {
    out_.window_s = to_seconds(trace_.window.length());
    take_progress();
    name_threads();
    name_locks();
    count_samples();
    count_waits();
    OFFWAIT_TRY_STATUS(add_pieces());
    describe();
    return std::move(out_);
  }

 private:
  bool of_target(ActorId thread) const { return !trace_.actors[thread].outside; }

  void take_progress() {
    if (facts_.progress.empty()) return;
    const Progress& first = facts_.progress.front();
    out_.how = first.how;
    out_.units = first.how == Progress::How::end ? 1 : first.count;
    out_.counted_responses = !first.addresses.empty();
    out_.functions = first.functions;
  }

  void name_threads() {
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      const Actor& actor = trace_.actors[id];
      if (actor.kind != ActorKind::thread) continue;
      const std::string name = called(actor);
      const auto [found, added] = out_.threads.try_emplace(threads_[id]);
      ThreadSums& sums = found->second;
      sums.name = added ? name : common_name_of(sums.name, name);
      out_.key_of_tid.try_emplace(actor.tid, threads_[id]);
      if (!of_target(id)) continue;
      sums.threads += 1;
      const GroupId group = facts_.groups.group_of[id];
      sums.counts = sums.counts || (group != kNoGroup && uses_.counts[group]);
    }
  }

  EndKey end_of(const WaitSite& site) const {
    const Actor& waker = trace_.actors[site.waker];
    if (waker.kind == ActorKind::thread) return {EndKey::Kind::thread, threads_[site.waker], {}};
    if (waker.kind == ActorKind::nic && site.peer != kNoPeer && peers_[site.peer] == PeerKind::remote_service)
      return {EndKey::Kind::service, {}, to_string(trace_.peers[site.peer])};
    return device_key(waker.kind, waker.name);
  }

  // ---- locks

  bool is_lock_wait(const Wait& wait) const {
    const WaitSite& site = trace_.sites[wait.site];
    if (!of_target(site.thread) || uses_.requests[wait.site]) return false;
    if (wait.object != kNoObject && trace_.objects[wait.object].kind == Object::Kind::kernel_lock)
      return true;
    const bool of_class = site.wait_class == WaitClass::futex || site.wait_class == WaitClass::lock;
    return of_class && facts_.kinds.of_site[wait.site] == WaitKind::lock;
  }

  /// A lock that is known by its address, or else the place where it is taken.
  using LockOf = std::pair<ObjectId, StackId>;
  LockOf lock_of(const Wait& wait) const {
    const bool known = wait.object != kNoObject && !is_stored(trace_.objects[wait.object]);
    return known ? LockOf(wait.object, kNoStack) : LockOf(kNoObject, trace_.sites[wait.site].wait_stack);
  }

  void name_locks() {
    std::map<LockOf, std::map<StackId, Nanos>> stacks;
    for (const Wait& wait : trace_.waits) {
      if (!is_lock_wait(wait)) continue;
      stacks[lock_of(wait)][trace_.sites[wait.site].wait_stack] +=
          clipped(wait.block, wait.wake, trace_.window);
    }
    for (const auto& [lock, times] : stacks) {
      const auto longest = std::max_element(times.begin(), times.end(),
                                            [](const auto& a, const auto& b) { return a.second < b.second; });
      Object unknown;
      const Object& object = lock.first == kNoObject ? unknown : trace_.objects[lock.first];
      locks_[lock] = lock_key(trace_, object, longest->first, threads_);
    }
  }

  /// A lock without any stack or name gets no row, because nothing tells which lock it is.
  static bool is_known(const LockKey& key) {
    return !key.variable.empty() || !key.function.empty() || !key.module.empty();
  }

  void add_lock_waits(const std::vector<const Wait*>& waits, std::size_t piece, const Window& window) {
    for (const Wait* wait : waits) {
      if (!is_lock_wait(*wait)) continue;
      const WaitSite& site = trace_.sites[wait->site];
      const LockKey& key = locks_.at(lock_of(*wait));
      if (!is_known(key)) continue;
      const double wait_s = to_seconds(clipped(wait->block, wait->wake, window));
      const LockRowKey row{key, threads_[site.thread]};
      out_.locks[row].wait[piece] += wait_s;
      lock_stacks_[row][site.wait_stack] += wait_s;
    }
  }

  // ---- time on CPUs

  /// A sample stands for the CPU time, and the time ready to run after preemptions, of its thread's kind,
  /// divided by the number of its samples.
  struct SampleWorth {
    std::uint64_t samples = 0;
    double running_s = 0;
    double preempted_s = 0;
  };

  void count_samples() {
    for (const CpuSample& sample : trace_.cpu_samples) {
      if (is_inside(sample)) ++worth_[threads_[sample.thread]].samples;
    }
  }
  bool is_inside(const CpuSample& sample) const {
    return of_target(sample.thread) && sample.at >= trace_.window.begin && sample.at < trace_.window.end;
  }

  void count_waits() {
    for (const Wait& wait : trace_.waits) {
      const WaitSite& site = trace_.sites[wait.site];
      const bool ended = wait.wake >= trace_.window.begin && wait.wake < trace_.window.end;
      if (!ended || site.in_flight || site.waker == kNoActor || !of_target(site.thread) ||
          uses_.requests[wait.site])
        continue;
      const std::size_t piece = piece_of(wait.wake);
      out_.edges[{{EndKey::Kind::thread, threads_[site.thread], {}}, end_of(site)}].waits[piece] += 1;
      if (is_lock_wait(wait) && is_known(locks_.at(lock_of(wait))))
        out_.locks[{locks_.at(lock_of(wait)), threads_[site.thread]}].waits[piece] += 1;
    }
  }

  // ---- pieces of the window

  Window window_of(std::size_t piece) const {
    const auto edge = [this](std::size_t i) {
      return trace_.window.begin + static_cast<Nanos>(static_cast<double>(trace_.window.length()) *
                                                      static_cast<double>(i) / kPieces);
    };
    return {edge(piece), piece + 1 == kPieces ? trace_.window.end : edge(piece + 1)};
  }

  /// The piece that a time in the window lies in.
  std::size_t piece_of(Nanos at) const {
    const double part =
        static_cast<double>(at - trace_.window.begin) / static_cast<double>(trace_.window.length());
    return std::min(kPieces - 1, static_cast<std::size_t>(kPieces * part));
  }

  Status add_pieces() {
    Trace part;
    part.actors = trace_.actors;
    part.sites = trace_.sites;
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
      part.window = window_of(piece);
      if (part.window.length() <= 0) continue;
      OFFWAIT_TRY_STATUS(add_piece(part, piece));
    }
    share_samples();
    for (const Frame& frame : trace_.frames) {
      if (frame.function.empty()) out_.nameless_modules.insert(frame.module);
    }
    return success();
  }

  template <class Items, class From, class To>
  static void keep_inside(const Items& all, const Window& window, From from, To to, Items& out) {
    out.clear();
    for (const auto& item : all) {
      if (from(item) < window.end && to(item) >= window.begin) out.push_back(item);
    }
  }

  Status add_piece(Trace& part, std::size_t piece) {
    const Window& window = part.window;
    std::vector<const Wait*> waits;
    part.waits.clear();
    for (const Wait& wait : trace_.waits) {
      if (wait.block >= window.end || wait.run < window.begin) continue;
      part.waits.push_back(wait);
      waits.push_back(&wait);
    }
    keep_inside(
        trace_.preemptions, window, [](const Preemption& one) { return one.out; },
        [](const Preemption& one) { return one.run; }, part.preemptions);
    keep_inside(
        trace_.gaps, window, [](const Gap& one) { return one.from; }, [](const Gap& one) { return one.to; },
        part.gaps);
    OFFWAIT_TRY(const Sweep sums, sweep(part));
    add_sites(sums, piece);
    add_running(sums, piece);
    add_lock_waits(waits, piece, window);
    return success();
  }

  void add_sites(const Sweep& sums, std::size_t piece) {
    for (SiteId id = 0; id < trace_.sites.size(); ++id) {
      const WaitSite& site = trace_.sites[id];
      const SiteSum& sum = sums.sites[id];
      if (sum.wait_ns == 0 && sum.weight_ns == 0 && sum.resume_ns == 0) continue;
      if (site.waker != kNoActor) add_to_edge(site, sum, id, piece);
      if (of_target(site.thread)) add_time(site, sum, id, piece);
    }
  }

  void add_to_edge(const WaitSite& site, const SiteSum& sum, SiteId id, std::size_t piece) {
    const EdgeKey key{{EndKey::Kind::thread, threads_[site.thread], {}}, end_of(site)};
    if (!of_target(site.thread)) {
      out_.outside[key][piece] += to_seconds(sum.weight_ns);
      return;
    }
    if (uses_.requests[id]) return;
    EdgeSums& edge = out_.edges[key];
    edge.wait[piece] += to_seconds(sum.wait_ns);
    edge.weight[piece] += to_seconds(sum.weight_ns);
    edge.classes[site.wait_class] += to_seconds(sum.wait_ns);
    if (site.wait_stack != kNoStack) edge_stacks_[key][site.wait_stack] += to_seconds(sum.weight_ns);
  }

  void add_time(const WaitSite& site, const SiteSum& sum, SiteId id, std::size_t piece) {
    const ThreadKindKey& thread = threads_[site.thread];
    const double resume_s = to_seconds(sum.resume_ns);
    worth_[thread].preempted_s -= resume_s;
    const double wait_s = uses_.requests[id] || site.waker == kNoActor ? 0 : to_seconds(sum.wait_ns);
    const TimeKind kind = kind_of(site.wait_class);
    out_.times[{kind, thread}][piece] += wait_s;
    add_in_stack(site.wait_stack, thread, kind, wait_s, piece);
    add_in_stack(site.wait_stack, thread, TimeKind::runnable, resume_s, piece);
  }

  void add_in_stack(StackId stack, const ThreadKindKey& thread, TimeKind kind, double time_s,
                    std::size_t piece) {
    if (time_s <= 0) return;
    if (const Frame* const frame = stacks_.innermost(stack); frame != nullptr && frame->function.empty())
      out_.nameless_s[frame->module] += time_s;
    const std::optional<FunctionKey> function = function_of_stack(stack);
    if (!function) return;
    const FunctionRowKey key{*function, thread};
    FunctionSums& row = out_.functions_by_time[key];
    row.time[piece] += time_s;
    row.by_kind[index_of(kind)] += time_s;
    function_stacks_[key][stack] += time_s;
  }

  const std::optional<FunctionKey>& function_of_stack(StackId stack) {
    const auto [found, added] = function_of_stack_.try_emplace(stack);
    if (const Frame* const frame = added ? stacks_.function(stack) : nullptr; frame != nullptr) {
      found->second = function_key(*frame);
      out_.frame_of.try_emplace(*found->second, *frame);
    }
    return found->second;
  }

  void add_running(const Sweep& sums, std::size_t piece) {
    for (ActorId id = 0; id < trace_.actors.size(); ++id) {
      if (trace_.actors[id].kind != ActorKind::thread || !of_target(id)) continue;
      const double running_s = to_seconds(sums.actors[id].running_ns);
      if (running_s > 0) out_.times[{TimeKind::cpu, threads_[id]}][piece] += running_s;
      SampleWorth& worth = worth_[threads_[id]];
      worth.running_s += running_s;
      const double runnable_s = to_seconds(sums.actors[id].runnable_ns);
      worth.preempted_s += runnable_s;
      if (runnable_s > 0) out_.times[{TimeKind::runnable, threads_[id]}][piece] += runnable_s;
    }
  }

  void share_samples() {
    for (const CpuSample& sample : trace_.cpu_samples) {
      if (!is_inside(sample)) continue;
      const ThreadKindKey& thread = threads_[sample.thread];
      const SampleWorth& worth = worth_.at(thread);
      const auto samples = static_cast<double>(worth.samples);
      const std::size_t piece = piece_of(sample.at);
      add_in_stack(sample.stack, thread, TimeKind::cpu, worth.running_s / samples, piece);
      add_in_stack(sample.stack, thread, TimeKind::runnable, worth.preempted_s / samples, piece);
    }
  }

  // ---- where

  template <class Key, class Found>
  static void for_longest(const std::map<Key, std::map<StackId, double>>& stacks, Found found) {
    for (const auto& [key, times] : stacks) {
      const auto longest = std::max_element(times.begin(), times.end(),
                                            [](const auto& a, const auto& b) { return a.second < b.second; });
      found(key, longest->first, longest->second);
    }
  }

  void describe() {
    for_longest(edge_stacks_, [this](const EdgeKey& key, StackId stack, double time_s) {
      out_.edges[key].stack = backtrace_of(trace_, stack);
      out_.edges[key].stack_s = time_s;
    });
    for_longest(lock_stacks_, [this](const LockRowKey& key, StackId stack, double time_s) {
      out_.locks[key].stack = backtrace_of(trace_, stack);
      out_.locks[key].stack_s = time_s;
    });
    for_longest(function_stacks_, [this](const FunctionRowKey& key, StackId stack, double time_s) {
      out_.functions_by_time[key].callers = stacks_.callers(stack);
      out_.functions_by_time[key].callers_s = time_s;
    });
  }

  Trace trace_;  ///< without false wakeups
  std::vector<ThreadKindKey> threads_;
  Facts facts_;
  CodeUses uses_;
  std::vector<PeerKind> peers_;
  Stacks stacks_;
  Profile out_;
  std::map<LockOf, LockKey> locks_;
  std::map<ThreadKindKey, SampleWorth> worth_;
  std::map<StackId, std::optional<FunctionKey>> function_of_stack_;
  std::map<EdgeKey, std::map<StackId, double>> edge_stacks_;
  std::map<LockRowKey, std::map<StackId, double>> lock_stacks_;
  std::map<FunctionRowKey, std::map<StackId, double>> function_stacks_;
};

}  // namespace

double sum_of(const Pieces& pieces) { return std::accumulate(pieces.begin(), pieces.end(), 0.0); }

void add(Pieces& sum, const Pieces& more) {
  for (std::size_t i = 0; i < kPieces; ++i) sum[i] += more[i];
}

std::string common_name_of(const std::string& one, const std::string& other) {
  return one == other ? one : without_digits(other);
}

std::string_view to_string(TimeKind kind) {
  switch (kind) {
    case TimeKind::cpu:
      return "cpu";
    case TimeKind::io:
      return "io";
    case TimeKind::lock:
      return "lock";
    case TimeKind::runnable:
      return "runnable";
    case TimeKind::other:
      return "other";
  }
  return "other";
}

Result<Profile> profile_of(const Trace& trace, const ProfileChoices& choices) {
  const std::vector<FalseWakeup> found =
      choices.keep_false_wakeups ? std::vector<FalseWakeup>{} : find_false_wakeups(trace);
  return Profiler(trace, found.empty() ? trace : without_false_wakeups(trace, found), choices).run();
}

namespace {

/// The threads called so of which one recording knows no value at all.
std::set<CalledKey> unknown_in_one(const std::vector<Profile*>& profiles, std::string ThreadKindKey::*value) {
  std::set<CalledKey> out;
  for (const Profile* profile : profiles) {
    std::set<CalledKey> all;
    std::set<CalledKey> known;
    for (const auto& [key, sums] : profile->threads) {
      all.insert(called_of(key));
      if (!(key.*value).empty()) known.insert(called_of(key));
    }
    std::set_difference(all.begin(), all.end(), known.begin(), known.end(), std::inserter(out, out.end()));
  }
  return out;
}

void join(ThreadSums& sum, const ThreadSums& more) {
  sum.name = sum.name.empty() ? more.name : common_name_of(sum.name, more.name);
  sum.threads += more.threads;
  sum.counts = sum.counts || more.counts;
}

void join(Pieces& sum, const Pieces& more) { add(sum, more); }

void join(EdgeSums& sum, const EdgeSums& more) {
  add(sum.wait, more.wait);
  add(sum.weight, more.weight);
  add(sum.waits, more.waits);
  for (const auto& [wait_class, time_s] : more.classes) sum.classes[wait_class] += time_s;
  if (more.stack_s > sum.stack_s) {
    sum.stack = more.stack;
    sum.stack_s = more.stack_s;
  }
}

void join(LockSums& sum, const LockSums& more) {
  add(sum.wait, more.wait);
  add(sum.waits, more.waits);
  if (more.stack_s > sum.stack_s) {
    sum.stack = more.stack;
    sum.stack_s = more.stack_s;
  }
}

void join(FunctionSums& sum, const FunctionSums& more) {
  add(sum.time, more.time);
  for (std::size_t i = 0; i < kTimeKinds; ++i) sum.by_kind[i] += more.by_kind[i];
  if (more.callers_s > sum.callers_s) {
    sum.callers = more.callers;
    sum.callers_s = more.callers_s;
  }
}

template <class Key, class Sums, class NewKey>
void with_keys(std::map<Key, Sums>& rows, NewKey new_key) {
  std::map<Key, Sums> out;
  for (auto& [key, sums] : rows) {
    const auto [found, added] = out.try_emplace(new_key(key), sums);
    if (!added) join(found->second, sums);
  }
  rows = std::move(out);
}

}  // namespace

void align(const std::vector<Profile*>& profiles) {
  const std::set<CalledKey> programs = unknown_in_one(profiles, &ThreadKindKey::program);
  const std::set<CalledKey> starts = unknown_in_one(profiles, &ThreadKindKey::start);
  const auto thread = [&](ThreadKindKey key) {
    if (programs.count(called_of(key)) > 0) key.program.clear();
    if (starts.count(called_of(key)) > 0) key.start.clear();
    return key;
  };
  const auto end = [&](EndKey key) {
    if (key.kind == EndKey::Kind::thread) key.thread = thread(key.thread);
    return key;
  };
  const auto edge = [&](const EdgeKey& key) { return EdgeKey{end(key.from), end(key.to)}; };
  for (Profile* profile : profiles) {
    with_keys(profile->threads, thread);
    with_keys(profile->edges, edge);
    with_keys(profile->outside, edge);
    with_keys(profile->locks, [&](const LockRowKey& key) {
      return LockRowKey{key.lock, thread(key.waiter)};
    });
    with_keys(profile->functions_by_time, [&](const FunctionRowKey& key) {
      return FunctionRowKey{key.function, thread(key.thread)};
    });
    with_keys(profile->times, [&](const TimeRowKey& key) {
      return TimeRowKey{key.kind, thread(key.thread)};
    });
    for (auto& [tid, key] : profile->key_of_tid) key = thread(key);
  }
}

}  // namespace offwait
