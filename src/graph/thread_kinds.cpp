// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/thread_kinds.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "graph/same_work.h"
#include "graph/start_functions.h"
#include "model/called.h"

namespace offwait {

namespace {

bool is_main(const Actor& actor) { return actor.tid == actor.tgid; }

std::vector<std::uint64_t> numbers_of(const std::vector<EndedWaits>& ended) {
  std::vector<std::uint64_t> out;
  for (const EndedWaits& here : ended) {
    out.push_back(here.waits);
  }
  return out;
}

/// Processes by what they are called; a process without a main thread by its number.
std::vector<std::string> process_names(const Trace& trace) {
  std::map<std::int32_t, std::string> by_tgid;
  for (const Actor& actor : trace.actors) {
    if (actor.kind == ActorKind::thread && is_main(actor)) {
      by_tgid[actor.tgid] = alike(actor);
    }
  }
  std::vector<std::string> out;
  for (const Actor& actor : trace.actors) {
    const auto found = by_tgid.find(actor.tgid);
    out.push_back(found != by_tgid.end() ? found->second : std::to_string(actor.tgid));
  }
  return out;
}

/// Numbers values in order of their first thread; those without a kind keep none.
template <class Value>
void number(std::vector<ThreadKind>& kinds, const std::vector<Value>& values) {
  std::map<std::pair<ThreadKind, Value>, ThreadKind> numbers;
  for (ActorId id = 0; id < kinds.size(); ++id) {
    if (kinds[id] != kNoThreadKind) {
      kinds[id] =
          numbers.try_emplace({kinds[id], values[id]}, static_cast<ThreadKind>(numbers.size())).first->second;
    }
  }
}

/// Makes kinds with one number in `joined` one.
void join(std::vector<ThreadKind>& kinds, const std::vector<ThreadKind>& joined) {
  std::map<ThreadKind, ThreadKind> numbers;
  for (ThreadKind& kind : kinds) {
    if (kind == kNoThreadKind) continue;
    kind = numbers.try_emplace(joined[kind], static_cast<ThreadKind>(numbers.size())).first->second;
  }
}

/// Divides kinds by what is known of each thread; empty: not known. A thread whose value is not known gets
/// that of its kind, if the others agree. A main thread first gets that of the other main threads; no other
/// thread does.
void divide(const Trace& trace, std::vector<ThreadKind>& kinds, std::vector<std::string> values) {
  struct Agreed {
    std::string value;
    bool all = true;
  };
  std::map<std::pair<ThreadKind, bool>, Agreed> agreed;  // by kind and whether they are main threads
  for (ActorId id = 0; id < kinds.size(); ++id) {
    if (!values[id].empty()) {
      Agreed& here =
          agreed.try_emplace({kinds[id], is_main(trace.actors[id])}, Agreed{values[id]}).first->second;
      here.all = here.all && here.value == values[id];
    }
  }
  for (ActorId id = 0; id < kinds.size(); ++id) {
    if (values[id].empty()) {
      auto found = is_main(trace.actors[id]) ? agreed.find({kinds[id], true}) : agreed.end();
      if (found == agreed.end()) {
        found = agreed.find({kinds[id], false});
      }
      values[id] = found != agreed.end() && found->second.all ? found->second.value : "";
    }
  }
  number(kinds, values);
}

/// Main threads of one program begin in one function: a stack of one that ends elsewhere was taken while the
/// program was loaded or left, as many are of a process that lives for milliseconds.
void agree_main_threads(const Trace& trace, const std::vector<ThreadKind>& kinds,
                        std::vector<std::string>& starts) {
  std::map<ThreadKind, std::map<std::string, std::size_t>> counts;
  for (ActorId id = 0; id < kinds.size(); ++id) {
    if (is_main(trace.actors[id]) && !starts[id].empty()) ++counts[kinds[id]][starts[id]];
  }
  for (ActorId id = 0; id < kinds.size(); ++id) {
    if (!is_main(trace.actors[id]) || starts[id].empty()) continue;
    const auto& here = counts[kinds[id]];
    starts[id] = std::max_element(here.begin(), here.end(), [](const auto& a, const auto& b) {
                   return a.second < b.second;
                 })->first;
  }
}

/// Pairs of threads.
using Pairs = std::vector<std::pair<ActorId, ActorId>>;

/// By thread: how many different threads it is in a pair with, as the first.
std::vector<std::size_t> count_different(Pairs pairs, std::size_t actors) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<std::size_t> counts(actors, 0);
  for (const auto& [first, second] : pairs) ++counts[first];
  return counts;
}

/// What threads of one kind hand over to each other.
struct Handovers {
  EndedWaits all;
  EndedWaits waits;  ///< of these threads, whatever ended them
  std::size_t members = 0;
};

/// For each thread its own id if it alone does what the others of its kind wait for, else kNoActor.
std::vector<ActorId> find_alone(const Trace& trace, const std::vector<ThreadKind>& kinds,
                                const std::vector<EndedWaits>& ended) {
  constexpr std::uint64_t kFewest = 20;
  constexpr std::size_t kForStar = 4;
  std::map<ThreadKind, Handovers> of_kind;
  std::vector<std::uint64_t> gave(trace.actors.size(), 0);
  std::vector<std::uint64_t> took_part(trace.actors.size(), 0);
  Pairs served;  // the waker first
  Pairs met;     // both ways
  for (const ThreadKind kind : kinds) {
    of_kind[kind].members += 1;
  }
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (site.waker == kNoActor || site.in_flight) {
      continue;
    }
    Handovers& here = of_kind[kinds[site.thread]];
    here.waits.add(ended[id]);
    if (site.waker != site.thread && kinds[site.waker] == kinds[site.thread]) {
      here.all.add(ended[id]);
      gave[site.waker] += ended[id].waits;
      took_part[site.waker] += ended[id].waits;
      took_part[site.thread] += ended[id].waits;
      served.emplace_back(site.waker, site.thread);
      met.emplace_back(site.waker, site.thread);
      met.emplace_back(site.thread, site.waker);
    }
  }
  const std::vector<std::size_t> threads_served = count_different(std::move(served), trace.actors.size());
  const std::vector<std::size_t> partners = count_different(std::move(met), trace.actors.size());
  std::vector<ActorId> out(trace.actors.size(), kNoActor);
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Handovers& here = of_kind[kinds[id]];
    if (kinds[id] == kNoThreadKind || here.all.waits < kFewest ||
        (here.all.waits * 10 < here.waits.waits && here.all.ns * 10 < here.waits.ns)) {
      continue;
    }
    const auto most = [&here](std::size_t others) { return others * 2 >= here.members - 1; };
    const bool gives = gave[id] * 5 >= here.all.waits * 4 && most(threads_served[id]);
    const bool star =
        here.members >= kForStar && took_part[id] * 10 >= here.all.waits * 9 && most(partners[id]);
    if (gives || star) {
      out[id] = id;
    }
  }
  return out;
}

}  // namespace

std::vector<ThreadKind> thread_kinds(const Trace& trace) {
  const std::vector<std::string> processes = process_names(trace);
  const std::vector<EndedWaits> ended = waits_ended(trace);
  const std::vector<std::uint32_t> places = places_of(trace);
  std::map<std::tuple<bool, bool, bool, std::string>, std::uint32_t> numbers;
  std::vector<std::uint32_t> programs(trace.actors.size(), kNoThreadKind);
  std::vector<std::string> names;
  std::vector<std::string> paths;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    paths.push_back(actor.program);
    names.push_back(actor.kind == ActorKind::thread ? alike(actor) : "");
    if (actor.kind == ActorKind::thread) {
      programs[id] = numbers
                         .try_emplace({actor.outside, actor.kernel, actor.recorder, processes[id]},
                                      static_cast<std::uint32_t>(numbers.size()))
                         .first->second;
    }
  }
  std::vector<ThreadKind> kinds = programs;
  number(kinds, names);
  divide(trace, kinds, std::move(paths));
  std::vector<std::string> starts = start_functions(trace, numbers_of(ended));
  agree_main_threads(trace, kinds, starts);
  divide(trace, kinds, std::move(starts));
  join(kinds, kinds_of_same_work(trace, kinds, programs, ended, places));
  number(kinds, makers_of_processes(trace, kinds, ended, places));
  number(kinds, find_alone(trace, kinds, ended));
  return kinds;
}

}  // namespace offwait
