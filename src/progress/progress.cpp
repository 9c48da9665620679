// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/progress.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "model/called.h"

namespace offwait {

namespace {

/// Two groups are joined if they hand over to each other at least this often, and if these are at least this
/// part of the hand-overs of one of them.
constexpr std::uint64_t kJoining = 3;
constexpr double kJoiningPart = 0.1;
/// Fewer answers to clients than these are no progress, nor are fewer units of work of any other kind: a
/// thread that runs all the time and sometimes takes a lock shows nothing that could be counted, and comes
/// after what does.
constexpr std::uint64_t kEnoughUnits = 20;
/// A part of a program that shows no units of work counts only if it works for this part of its threads'
/// lives: a thread that wakes up now and then to look at the time has no progress.
constexpr double kWorks = 0.05;
/// And one that works for this part of them is always busy.
constexpr double kAlwaysBusy = 0.9;
/// A group that timers pace counts as this part of its activity.
constexpr double kPaced = 0.1;
/// Smaller shares are raised to these, so that one small share alone does not decide.
constexpr double kLeastShare = 0.001;
constexpr double kLeastHandovers = 0.02;
/// The user may mean a part of the program, or a group, that has at least this part of all weight, or of all
/// work.
constexpr double kMeantWeight = 0.05;
constexpr double kMeantWork = 0.2;

/// Sets of groups that are joined one by one.
class Joined {
 public:
  explicit Joined(std::size_t groups) : leader_(groups) {
    std::iota(leader_.begin(), leader_.end(), GroupId{0});
  }
  GroupId leader(GroupId group) {
    while (leader_[group] != group) {
      group = leader_[group] = leader_[leader_[group]];
    }
    return group;
  }
  void join(GroupId a, GroupId b) { leader_[leader(a)] = leader(b); }
  std::vector<std::vector<GroupId>> sets(const std::vector<GroupId>& members) {
    std::vector<std::vector<GroupId>> by_leader(leader_.size());
    for (const GroupId group : members) {
      by_leader[leader(group)].push_back(group);
    }
    std::erase_if(by_leader, [](const std::vector<GroupId>& set) { return set.empty(); });
    return by_leader;
  }

 private:
  std::vector<GroupId> leader_;
};

/// What decides which part of a program is its main one, each as a share of the whole.
struct Shares {
  double weight = 0;
  double work = 0;
  double handovers = 0;
  double score() const {
    return std::cbrt(std::max(weight, kLeastShare) * std::max(work, kLeastShare) *
                     std::max(handovers, kLeastHandovers));
  }
};

class Inference {
 public:
  /// `responses`: those that were counted. `has_clients`: it is known whom the target answers.
  Inference(const ThreadGroups& groups, const WaitKinds& kinds, const Uses& uses,
            const std::optional<Progress>& responses, bool has_clients)
      : groups_(groups),
        has_clients_(has_clients),
        below_devices_(kinds.below_devices),
        uses_(uses),
        responds_(groups.groups.size()),
        weights_(weights_of(groups, uses)) {
    if (responses) {
      for (const ProgressPart& part : responses->parts) responds_[part.groups.front()] = true;
    }
    const std::vector<bool> strangers = this->strangers();
    double timers = 0;
    for (GroupId id = 0; id < groups.groups.size(); ++id) {
      // Groups behind a service do what the target asks of them, and the recorder's work is not wanted for
      // itself.
      if (!kinds.below_devices[id] && !kinds.services.is_behind[id] && !strangers[id] &&
          !groups.groups[id].recorder) {
        all_.push_back(id);
        sum_.weight += weights_[id];
        sum_.work += static_cast<double>(uses.groups[id].work_ns());
        sum_.handovers += static_cast<double>(uses.groups[id].handovers);
        timers += static_cast<double>(uses.groups[id].timers);
      }
    }
    telling_ = sum_.weight / std::max(sum_.weight + timers, 1.0);
  }

  std::vector<Progress> all() const {
    if (sum_.weight == 0 && sum_.work == 0) {
      return {};
    }
    std::vector<Component> components = this->components();
    std::stable_sort(components.begin(), components.end(),
                     [](const Component& a, const Component& b) { return a.score > b.score; });
    std::vector<Progress> out;
    bool first_shows_units = false;
    for (const Component& component : components) {
      if (out.empty()) {
        std::vector<std::vector<GroupId>> counted = counted_of(component.parts);
        if (counted.empty()) continue;
        first_shows_units = shows_units(counted.front());  // then all of them do
        out.push_back(progress(std::move(counted)));
      }
      for (const std::vector<GroupId>& part : component.parts) {
        // The work of groups that respond, and of those that work for them, is counted by the responses.
        if (std::any_of(part.begin(), part.end(), [this](GroupId id) { return responds_[id]; })) continue;
        add_if_meant(part, first_shows_units, out);
        // Groups that are joined only because both feed a third one, such as a log, have rates of their own.
        for (const GroupId group : part) {
          if (part.size() > 1 && has_own_rate(group)) {
            add_if_meant({group}, first_shows_units, out);
          }
        }
      }
    }
    return out;
  }

 private:
  /// Groups that hand-overs of any kind join. Its parts are joined by queues.
  struct Component {
    double score = 0;
    std::vector<std::vector<GroupId>> parts;
  };

  std::vector<Component> components() const {
    std::vector<Component> out;
    std::vector<std::size_t> component_of(groups_.groups.size());
    for (const std::vector<GroupId>& set : joined(true)) {
      for (const GroupId group : set) {
        component_of[group] = out.size();
      }
      Shares of_set = shares(set);
      of_set.weight *= telling_;
      of_set.handovers *= telling_;
      out.push_back({of_set.score(), {}});
    }
    for (std::vector<GroupId>& part : joined(false)) {
      const std::size_t component = component_of[part.front()];
      out[component].parts.push_back(std::move(part));
    }
    return out;
  }

  bool shows_units(const std::vector<GroupId>& part) const {
    const std::uint64_t units =
        std::accumulate(part.begin(), part.end(), std::uint64_t{0},
                        [this](std::uint64_t sum, GroupId id) { return sum + uses_.groups[id].units; });
    return units >= kEnoughUnits;
  }

  bool is_of_target(const std::vector<GroupId>& part) const {
    return std::none_of(part.begin(), part.end(), [this](GroupId id) { return groups_.groups[id].outside; });
  }

  bool works(const std::vector<GroupId>& part, double share) const {
    Nanos work_ns = 0;
    Nanos lifetime_ns = 0;
    for (const GroupId id : part) {
      // A thread that is ready to run has work to do.
      work_ns += uses_.groups[id].work_ns() + uses_.groups[id].runnable_ns;
      lifetime_ns += uses_.groups[id].lifetime_ns;
    }
    return static_cast<double>(work_ns) >= share * static_cast<double>(lifetime_ns);
  }

  /// The parts that show units of work or, if there is none, those that work.
  std::vector<std::vector<GroupId>> counted_of(std::vector<std::vector<GroupId>> parts) const {
    const auto shows = [this](const std::vector<GroupId>& part) { return shows_units(part); };
    const bool any = std::any_of(parts.begin(), parts.end(), shows);
    std::erase_if(
        parts, [&](const std::vector<GroupId>& part) { return !(any ? shows(part) : works(part, kWorks)); });
    return parts;
  }

  /// By GroupId: the groups outside of the target that no group of the target hands anything to, or gets
  /// anything from. They were recorded because they share something else, such as a disk's journal.
  std::vector<bool> strangers() const {
    std::vector<bool> out;
    for (const ThreadGroup& group : groups_.groups) out.push_back(group.outside);
    for (const auto& [between, handovers] : uses_.handovers) {
      const auto [a, b] = between;
      if (!groups_.groups[a].outside) out[b] = false;
      if (!groups_.groups[b].outside) out[a] = false;
    }
    return out;
  }

  /// A group that gets most of its work from others goes at their pace.
  bool has_own_rate(GroupId id) const { return 2 * uses_.groups[id].received < uses_.groups[id].units; }

  /// Threads that work all the time show no units, and may be all that the program is for, beside others that
  /// do. A target that answers clients exists for these.
  void add_if_meant(const std::vector<GroupId>& part, bool first_shows_units,
                    std::vector<Progress>& out) const {
    const Shares of_part = shares(part);
    const bool may_be_all =
        !has_clients_ && first_shows_units && is_of_target(part) && works(part, kAlwaysBusy);
    if ((shows_units(part) || may_be_all) && (of_part.weight >= kMeantWeight || of_part.work >= kMeantWork)) {
      out.push_back(progress({part}));
    }
  }

  Progress progress(std::vector<std::vector<GroupId>> parts) const {
    Progress out;
    for (std::vector<GroupId>& part : parts) {
      const Shares of_part = shares(part);
      out.share += of_part.weight;
      out.work_share += of_part.work;
      out.parts.push_back({std::move(part), of_part.weight});
    }
    return out;
  }

  Shares shares(const std::vector<GroupId>& set) const {
    Shares out;
    for (const GroupId id : set) {
      out.weight += weights_[id] / std::max(sum_.weight, 1e-9);
      out.work += static_cast<double>(uses_.groups[id].work_ns()) / std::max(sum_.work, 1.0);
      out.handovers += static_cast<double>(uses_.groups[id].handovers) / std::max(sum_.handovers, 1.0);
    }
    return out;
  }

  std::vector<std::vector<GroupId>> joined(bool by_locks) const {
    Joined sets(groups_.groups.size());
    for (const auto& [pair, handovers] : uses_.handovers) {
      const auto [a, b] = pair;
      const std::uint64_t number = handovers.queue + (by_locks ? handovers.lock : 0);
      const auto either = static_cast<double>(std::min(uses_.groups[a].handovers, uses_.groups[b].handovers));
      if (number >= kJoining && static_cast<double>(number) >= kJoiningPart * either && !below_devices_[a] &&
          !below_devices_[b]) {
        sets.join(a, b);
      }
    }
    return sets.sets(all_);
  }

  const ThreadGroups& groups_;
  const bool has_clients_;
  const std::vector<bool>& below_devices_;  ///< by GroupId
  const Uses& uses_;
  std::vector<bool> responds_;  ///< by GroupId: to clients
  std::vector<double> weights_;
  std::vector<GroupId> all_;
  Shares sum_;  ///< totals of all groups, which shares are parts of
  /// The part of all waits that something other than a timer ended. If it is small, a few hand-overs besides
  /// say little: threads that compute and sleep do the work and show none.
  double telling_ = 1;
};

/// The groups with a thread that the user named.
std::optional<Progress> told(const Trace& trace, const ThreadGroups& groups, const Uses& uses,
                             const std::vector<std::string>& patterns) {
  const auto named = [&](ActorId thread) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return is_called(trace.actors[thread], pattern); });
  };
  Progress out;
  out.how = Progress::How::told;
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    const std::vector<ActorId>& members = groups.groups[id].members;
    if (std::any_of(members.begin(), members.end(), named)) {
      out.parts.push_back(
          {{id}, static_cast<double>(std::max<std::uint64_t>(uses.groups[id].waits_ended, 1))});
    }
  }
  return out.parts.empty() ? std::nullopt : std::optional(out);
}

/// Progress of the groups of the target that call the function whose calls were counted.
std::optional<Progress> callers(const Trace& trace, const ThreadGroups& groups) {
  std::map<GroupId, std::uint64_t> of_group;
  std::set<std::string> functions;
  Progress out;
  out.how = Progress::How::told;
  for (const Calls& calls : trace.calls) {
    if (trace.actors[calls.thread].outside) continue;
    of_group[groups.group_of[calls.thread]] += calls.count;
    functions.insert(calls.function);
    out.count += calls.count;
  }
  for (const auto& [group, count] : of_group) out.parts.push_back({{group}, static_cast<double>(count)});
  out.functions.assign(functions.begin(), functions.end());
  return out.parts.empty() ? std::nullopt : std::optional(out);
}

/// Progress of the groups of the target that respond to clients.
std::optional<Progress> responders(const Trace& trace, const ThreadGroups& groups) {
  std::map<GroupId, std::uint64_t> of_group;
  std::map<std::pair<std::uint16_t, std::string>, std::uint64_t> of_address;
  Progress out;
  out.how = Progress::How::clients;
  for (const Responses& responses : trace.responses) {
    if (trace.actors[responses.thread].outside) continue;
    of_group[groups.group_of[responses.thread]] += responses.count;
    of_address[{responses.port, responses.path}] += responses.count;
    out.count += responses.count;
    out.connections += responses.connections;
  }
  if (out.count < kEnoughUnits) return std::nullopt;
  out.active = served_part(trace);
  const std::vector<Requests> requests = requests_of(trace, groups);
  for (const auto& [group, count] : of_group) {
    out.parts.push_back({{group}, static_cast<double>(count)});
    out.requests.under_way += requests[group].under_way;
    out.requests.unread += requests[group].unread;
  }
  std::vector<std::pair<std::uint64_t, ServedAddress>> addresses;
  for (const auto& [address, count] : of_address)
    addresses.push_back({count, {address.first, address.second}});
  std::stable_sort(addresses.begin(), addresses.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [count, address] : addresses) out.addresses.push_back(std::move(address));
  return out;
}

/// The end of the command. It is what counts unless the user says otherwise.
std::optional<Progress> end_of_command(const Trace& trace, const ThreadGroups& groups) {
  const std::optional<ActorId> thread = command_end(trace);
  if (!thread) {
    return std::nullopt;
  }
  Progress out;
  out.how = Progress::How::end;
  out.ends = *thread;
  out.parts = {{{groups.group_of[*thread]}, 1}};
  return out;
}

/// All of its groups are outside of the target.
bool is_outside(const ThreadGroups& groups, const Progress& progress) {
  return std::all_of(progress.parts.begin(), progress.parts.end(), [&groups](const ProgressPart& part) {
    return std::all_of(part.groups.begin(), part.groups.end(),
                       [&groups](GroupId id) { return groups.groups[id].outside; });
  });
}

/// Progress of the groups outside of the target that threads of the target answer.
std::optional<Progress> answered_threads(const Trace& trace, const ThreadGroups& groups,
                                         const WaitKinds& kinds) {
  std::vector<std::uint64_t> answers(groups.groups.size());
  for (const Wait& wait : trace.waits) {
    const WaitSite& site = trace.sites[wait.site];
    if (kinds.of_site[wait.site] == WaitKind::handover && trace.actors[site.thread].outside &&
        !trace.actors[site.thread].kernel && !trace.actors[site.waker].outside &&
        wait.wake >= trace.window.begin) {
      ++answers[groups.group_of[site.thread]];
    }
  }
  Progress out;
  out.how = Progress::How::clients;
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    if (answers[id] >= kEnoughUnits && !kinds.below_devices[id] && !kinds.services.is_behind[id] &&
        !groups.groups[id].recorder) {
      out.parts.push_back({{id}, static_cast<double>(answers[id])});
      out.count += answers[id];
    }
  }
  return out.parts.empty() ? std::nullopt : std::optional(out);
}

}  // namespace

std::string_view to_string(Progress::How how) {
  switch (how) {
    case Progress::How::told:
      return "told";
    case Progress::How::end:
      return "end";
    case Progress::How::clients:
      return "clients";
    case Progress::How::inferred:
      return "inferred";
  }
  return "inferred";
}

std::vector<Requests> requests_of(const Trace& trace, const ThreadGroups& groups) {
  std::vector<Requests> out(groups.groups.size());
  const auto window = static_cast<double>(std::max<Nanos>(trace.window.length(), 1));
  for (const Responses& responses : trace.responses) {
    Requests& here = out[groups.group_of[responses.thread]];
    here.under_way += static_cast<double>(responses.under_way) / window;
    here.unread += static_cast<double>(responses.unread) / window;
  }
  return out;
}

std::optional<ActorId> command_end(const Trace& trace) {
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind == ActorKind::thread && trace.recording.command != 0 &&
        actor.tid == trace.recording.command && actor.tgid == actor.tid && !actor.outside &&
        actor.exit > trace.window.begin && actor.exit <= trace.window.end) {
      return id;
    }
  }
  return std::nullopt;
}

std::vector<double> weights_of(const ThreadGroups& groups, const Uses& uses) {
  std::vector<double> out;
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    const GroupUse& use = uses.groups[id];
    auto weight = static_cast<double>(use.handovers + use.waits_ended);
    if (groups.groups[id].kernel) {
      weight = 0;
    } else if (2 * use.timer_ns >= use.lifetime_ns) {
      weight *= kPaced;
    }
    out.push_back(weight);
  }
  return out;
}

namespace {

/// A thread of the target that responds to clients waits for less than half of `part`.
bool works_in(const Trace& trace, const Window& part) {
  if (part.length() <= 0) return false;
  std::vector<bool> responds(trace.actors.size());
  for (const Responses& responses : trace.responses) {
    responds[responses.thread] = !trace.actors[responses.thread].outside;
  }
  std::vector<Nanos> waited(trace.actors.size());
  for (const Wait& wait : trace.waits) {
    if (wait.block >= part.end || wait.wake <= part.begin) continue;
    waited[trace.sites[wait.site].thread] += clipped(wait.block, wait.wake, part);
  }
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    const Nanos life_ns = known_life(actor, part);
    if (responds[id] && 2 * waited[id] < life_ns) return true;
  }
  return false;
}

}  // namespace

Window served_part(const Trace& trace) {
  constexpr double kFew = 0.1;
  std::uint64_t all = 0;
  for (const Responses& responses : trace.responses) {
    if (!trace.actors[responses.thread].outside) all += responses.count;
  }
  if (all < kEnoughUnits) return trace.window;
  Window out{kNever, 0};
  for (const Responses& responses : trace.responses) {
    if (trace.actors[responses.thread].outside) continue;
    if (static_cast<double>(responses.count) < kFew * static_cast<double>(all)) continue;
    out.begin = std::min(out.begin, responses.first);
    out.end = std::max(out.end, responses.last);
  }
  if (out.end <= out.begin) return trace.window;
  if (works_in(trace, {trace.window.begin, out.begin})) out.begin = trace.window.begin;
  if (works_in(trace, {out.end, trace.window.end})) out.end = trace.window.end;
  return out;
}

bool is_nearly_all(const Window& part, const Window& whole) {
  constexpr double kNearly = 0.9;
  return static_cast<double>(clipped(part.begin, part.end, whole)) >=
         kNearly * static_cast<double>(whole.length());
}

std::vector<Progress> progress_of(const Trace& trace, const ThreadGroups& groups, const WaitKinds& kinds,
                                  const Uses& uses, const ProgressOptions& options) {
  if (std::optional<Progress> named = told(trace, groups, uses, options.threads)) {
    return {std::move(*named)};
  }
  std::optional<Progress> end = end_of_command(trace, groups);
  if (std::optional<Progress> called = callers(trace, groups); called && !(options.end && end)) {
    return {std::move(*called)};
  }
  if (end) {
    return {std::move(*end)};
  }
  std::optional<Progress> answered = responders(trace, groups);
  std::optional<Progress> asking;
  if (!answered) asking = answered_threads(trace, groups, kinds);
  std::vector<Progress> out = Inference(groups, kinds, uses, answered, answered || asking).all();
  // Threads that are never idle may show no other progress. For its clients the target makes progress when it
  // responds.
  if (answered) std::erase_if(out, [&groups](const Progress& one) { return is_outside(groups, one); });
  if (answered && out.empty()) return {std::move(*answered)};
  if (asking) answered = std::move(asking);
  if (answered && !out.empty()) {
    answered->share = out.front().share;
    answered->work_share = out.front().work_share;
    out.front() = std::move(*answered);
  }
  return out;
}

}  // namespace offwait
