// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/thread_filter.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/called.h"
#include "model/name_patterns.h"

namespace offwait {
namespace {

bool matches_any(const std::vector<std::string>& patterns, const Actor& actor) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(),
                     [&actor](const std::string& pattern) { return is_called(actor, pattern); });
}

/// By which is_called() finds it.
void add_names(const Actor& actor, std::set<std::string>& names) {
  names.insert(actor.name);
  names.insert(called(actor));
}

/// The thread that names each process. By tgid, in order of birth, these are the main threads of all
/// processes that had it; for a tgid without a recorded main thread it is the oldest thread.
class Leaders {
 public:
  explicit Leaders(const std::vector<Actor>& actors) {
    for (const Actor& actor : actors) {
      if (actor.kind != ActorKind::thread) continue;
      std::map<Nanos, const Actor*>& here = leaders_[actor.tgid];
      const bool main = actor.tid == actor.tgid;
      const bool stand_in = !here.empty() && here.begin()->second->tid != actor.tgid;
      if (stand_in && (main || actor.start < here.begin()->first)) here.clear();
      if (main || here.empty()) here.emplace(actor.start, &actor);
    }
  }

  const Actor& of(const Actor& thread) const {
    const std::map<Nanos, const Actor*>& here = leaders_.at(thread.tgid);
    const auto later = here.upper_bound(thread.start);
    return *(later == here.begin() ? later : std::prev(later))->second;
  }

 private:
  std::map<std::int32_t, std::map<Nanos, const Actor*>> leaders_;
};

/// The threads of the target that the filter chooses.
Result<std::vector<ActorId>> choose(const std::vector<Actor>& actors, const ThreadFilter& filter) {
  std::vector<ActorId> chosen;
  for (ActorId id = 0; id < actors.size(); ++id) {
    if (actors[id].kind == ActorKind::thread && !actors[id].outside) chosen.push_back(id);
  }
  std::set<std::string> comms;
  const Leaders leaders(actors);
  for (const ActorId id : chosen) add_names(leaders.of(actors[id]), comms);
  OFFWAIT_TRY_STATUS(check_patterns(filter.comms, comms, "--comm: no process of the target"));
  std::erase_if(chosen, [&](ActorId id) { return !matches_any(filter.comms, leaders.of(actors[id])); });

  std::set<std::string> names;
  for (const ActorId id : chosen) add_names(actors[id], names);
  const std::string where = filter.comms.empty() ? "target" : "chosen processes";
  OFFWAIT_TRY_STATUS(check_patterns(filter.threads, names, "--threads: no thread of the " + where));
  std::erase_if(chosen, [&](ActorId id) { return !matches_any(filter.threads, actors[id]); });
  return chosen;
}

}  // namespace

Status check_filter(const std::vector<Actor>& actors, const ThreadFilter& filter) {
  if (filter.empty()) return success();
  OFFWAIT_TRY([[maybe_unused]] const auto chosen, choose(actors, filter));
  return success();
}

Status check_progress_threads(const std::vector<Actor>& actors, const std::vector<std::string>& patterns) {
  std::set<std::string> names;
  for (const Actor& actor : actors) {
    if (actor.kind == ActorKind::thread) add_names(actor, names);
  }
  return check_patterns(patterns, names, "--progress: no thread");
}

Result<Trace> with_target(Trace trace, const ThreadFilter& filter) {
  if (filter.empty()) return trace;
  OFFWAIT_TRY(const std::vector<ActorId> chosen, choose(trace.actors, filter));
  for (Actor& actor : trace.actors) {
    if (actor.kind == ActorKind::thread) actor.outside = true;
  }
  for (const ActorId id : chosen) trace.actors[id].outside = false;
  return trace;
}

}  // namespace offwait
