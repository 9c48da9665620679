// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/answers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/actors.h"
#include "analysis/file_calls.h"
#include "analysis/files.h"
#include "analysis/lock_names.h"
#include "analysis/samples.h"
#include "analysis/services.h"
#include "code/kernel.h"
#include "code/roles.h"
#include "model/backtrace.h"

namespace offwait {

namespace {

constexpr std::size_t kMostAnswerFiles = 3;

using ActorIds = std::vector<std::uint32_t>;  // the findings' actor of each of the trace's

FoundActorId actor_of(const ThreadGroup& group, const ActorIds& vertex_of) {
  std::map<FoundActorId, std::size_t> members;
  for (const ActorId member : group.members) {
    ++members[vertex_of[member]];
  }
  return std::max_element(members.begin(), members.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

FoundProgress found_progress(const Prepared& prepared, const Progress& progress, const ActorIds& vertex_of) {
  FoundProgress out;
  out.how = progress.how;
  out.share = progress.share;
  if (progress.count > 0) {
    const Window& window = prepared.trace.all().window;
    const Window& active = progress.active.length() > 0 ? progress.active : window;
    out.per_s = static_cast<double>(progress.count) / to_seconds(active.length());
    if (!is_nearly_all(active, window)) out.active_s = to_seconds(active.length());
  }
  out.functions = progress.functions;
  if (progress.connections > 0) out.connections = progress.connections;
  out.clients_stay = progress.count >= 2 * progress.connections;
  if (progress.requests.under_way > 0) out.requests = progress.requests;
  out.addresses = progress.addresses;
  if (progress.ends != kNoActor) {
    const Trace& trace = prepared.trace.all();
    out.end_s = to_seconds(trace.actors[progress.ends].exit - trace.window.begin);
  }
  std::set<FoundActorId> actors;
  for (const ProgressPart& part : progress.parts) {
    for (const GroupId id : part.groups) {
      const ThreadGroup& group = prepared.groups.groups[id];
      const std::string name = common_name(prepared.trace.all(), group.members);
      const auto known =
          std::find_if(out.threads.begin(), out.threads.end(),
                       [&name](const FoundProgress::Threads& threads) { return threads.name == name; });
      if (known == out.threads.end()) {
        out.threads.push_back({name, group.members.size()});
      } else {
        known->count += group.members.size();
      }
      for (const ActorId member : group.members) {
        actors.insert(vertex_of[member]);
      }
    }
  }
  out.actors.assign(actors.begin(), actors.end());
  return out;
}

using Vertices = std::set<FoundActorId>;

void add_members(const ThreadGroup& group, const ActorIds& vertex_of, Vertices& out) {
  for (const ActorId member : group.members) out.insert(vertex_of[member]);
}

/// The actors that threads wait for because of the part that the answer is about.
Vertices waited_for(const Prepared& prepared, const Answer& answer, const FoundAnswer& found,
                    const ActorIds& vertex_of) {
  if (found.service) return {found.service->actors.begin(), found.service->actors.end()};
  if (found.device) return {*found.device};
  Vertices out;
  if (answer.change.resource == Resource::waited && answer.lock) {
    for (const GroupId id : answer.lock->lock.holding)
      add_members(prepared.groups.groups[id], vertex_of, out);
  } else if (answer.change.group != kNoGroup) {
    add_members(prepared.groups.groups[answer.change.group], vertex_of, out);
  }
  return out;
}

/// The first knot in which threads wait for one of these actors.
std::optional<std::size_t> knot_with_waits_for(const Vertices& parts, const std::vector<FoundKnot>& knots,
                                               const WaitGraph& graph) {
  const auto found = std::find_if(knots.begin(), knots.end(), [&](const FoundKnot& knot) {
    return std::any_of(knot.edges.begin(), knot.edges.end(), [&](FoundEdgeId id) {
      const Edge& edge = graph.edges[id];
      return is_thread(graph.kinds[edge.from]) && parts.contains(edge.to);
    });
  });
  return found == knots.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - knots.begin()));
}

bool is_at_disk(const Answer& answer) {
  return answer.change.resource == Resource::io || answer.change.resource == Resource::disk ||
         answer.change.resource == Resource::pause || answer.syncs;
}

/// What threads ask of a disk, by all waits together: the longest stack alone may be one of many.
ActionTimes action_times(const Prepared& prepared, const PartUse& use) {
  const Trace& trace = prepared.trace.all();
  ActionTimes out;
  for (const SiteId id : use.sites) {
    out.add(file_action(trace, trace.sites[id].wait_stack), to_seconds(prepared.sweep.sites[id].wait_ns));
  }
  return out;
}

template <class Key>
std::vector<std::pair<Nanos, Key>> longest_first(const std::map<Key, Nanos>& times) {
  std::vector<std::pair<Nanos, Key>> out;
  for (const auto& [key, time_ns] : times) out.emplace_back(time_ns, key);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return out;
}

/// By answer: the files that its waits are for.
std::vector<std::vector<AnswerEvidence::File>> files_of_answers(const Trace& trace,
                                                                const std::vector<Answer>& answers) {
  std::vector<std::vector<AnswerEvidence::File>> out(answers.size());
  if (trace.objects.empty()) return out;
  std::vector<std::vector<std::size_t>> answers_of_site(trace.sites.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!is_at_disk(answers[i])) continue;
    for (const SiteId site : answers[i].use.sites) answers_of_site[site].push_back(i);
  }
  std::vector<std::map<ObjectId, Nanos>> times(answers.size());
  for (const Wait& wait : trace.waits) {
    if (!is_for_file(trace, wait)) continue;
    for (const std::size_t answer : answers_of_site[wait.site]) {
      times[answer][wait.object] += clipped(wait.block, wait.wake, trace.window);
    }
  }
  const FileNames names(trace);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::vector<std::pair<Nanos, ObjectId>> longest = longest_first(times[i]);
    for (std::size_t n = 0; n < std::min(kMostAnswerFiles, longest.size()); ++n) {
      out[i].push_back({names(longest[n].second), to_seconds(longest[n].first)});
    }
  }
  return out;
}

/// The thread waits until somebody takes what it writes.
bool is_wait_to_write(const Trace& trace, const WaitSite& site) {
  if (site.wait_stack == kNoStack) return false;
  const std::vector<FrameId>& frames = trace.stacks[site.wait_stack].frames;
  return std::any_of(frames.begin(), frames.end(), [&trace](FrameId id) {
    const Frame& frame = trace.frames[id];
    return frame.kind == Frame::Kind::kernel && waits_to_write(frame.function);
  });
}

/// AnswerEvidence::takes_output
bool takes_output(const Prepared& prepared, const ThreadGroup& group) {
  const Trace& trace = prepared.trace.all();
  const std::set<ActorId> members(group.members.begin(), group.members.end());
  Nanos to_write_ns = 0;
  Nanos other_ns = 0;
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (trace.actors[site.thread].outside || !members.contains(site.waker)) continue;
    (is_wait_to_write(trace, site) ? to_write_ns : other_ns) += prepared.sweep.sites[id].wait_ns;
  }
  return to_write_ns > other_ns;
}

/// Whether the threads are of a Java virtual machine, by their program or what they wait in.
bool is_java(const Trace& trace, const ThreadGroup& group) {
  const std::string& program = trace.actors[group.members.front()].program;
  if (!program.empty()) return program.substr(program.rfind('/') + 1) == "java";
  return std::any_of(trace.frames.begin(), trace.frames.end(),
                     [](const Frame& frame) { return is_java_machine(frame.module); });
}

/// The known work that a fifth or more of the group's samples show.
KnownWork work_of(const Prepared& prepared, GroupId group) {
  constexpr std::size_t kOneIn = 5;
  const Trace& trace = prepared.trace.all();
  std::size_t all = 0;
  std::map<StackId, std::size_t> stacks;
  for (const CpuSample& sample : trace.cpu_samples) {
    if (prepared.groups.group_of[sample.thread] != group) continue;
    ++all;
    if (sample.stack != kNoStack) ++stacks[sample.stack];
  }
  std::map<KnownWork, std::size_t> samples;
  for (const auto& [stack, number] : stacks) samples[known_work(trace, stack)] += number;
  for (const auto& [work, number] : samples) {
    const bool java_only = work == KnownWork::garbage && !is_java(trace, prepared.groups.groups[group]);
    if (work != KnownWork::none && kOneIn * number >= all && !java_only) return work;
  }
  return KnownWork::none;
}

AnswerEvidence evidence_of(const Prepared& prepared, const WaitGraph& graph, const Answer& answer,
                           const std::vector<Runtime>& runtimes) {
  const Trace& trace = prepared.trace.all();
  const PartUse& use = answer.use;
  AnswerEvidence out;
  out.time_s = to_seconds(use.time_ns);
  out.waits = use.waits;
  out.stack = backtrace_of(trace, use.stack);
  out.stack_s = to_seconds(use.stack_ns);
  out.fixed_rate = use.fixed_rate;
  out.share = use.share;
  if (use.group != kNoGroup) {
    const ThreadGroup& group = prepared.groups.groups[use.group];
    out.others_s = to_seconds(use.time_ns - use.group_ns);
    out.threads = group.members.size();
    out.takes_output = group.outside && takes_output(prepared, group);
    out.actor = actor_of(group, graph.vertex_of);
    out.name = common_name(trace, group.members);
    out.tid = trace.actors[group.members.front()].tid;
    out.alike = static_cast<std::size_t>(
        std::count_if(group.members.begin(), group.members.end(),
                      [&](ActorId member) { return graph.vertex_of[member] != *out.actor; }));
    if (answer.change.resource == Resource::cpu) {
      out.work = is_java(trace, group) && is_garbage_collector(out.name) ? KnownWork::garbage
                                                                         : work_of(prepared, use.group);
      out.runtime = runtimes[group.members.front()];
      out.samples = sum_places(trace, graph.code, graph.samples.by_vertex[*out.actor]);
    }
  }
  out.cpus = prepared.answers.cpus.usable();
  if (answer.change.resource == Resource::cpus) {
    out.pinned_to = static_cast<std::uint32_t>(prepared.answers.cpus.pinned_to);
    out.quota = prepared.answers.cpus.quota;
  }
  if (is_at_disk(answer)) out.actions = action_times(prepared, use);
  return out;
}

std::vector<FoundProgress::Threads> threads_of(const Prepared& prepared, const std::vector<GroupId>& groups) {
  std::vector<FoundProgress::Threads> out;
  for (const GroupId id : groups) {
    const std::vector<ActorId>& members = prepared.groups.groups[id].members;
    out.push_back({common_name(prepared.trace.all(), members), members.size()});
  }
  return out;
}

/// What the holders of the lock did.
void add_meanwhile(const Lock& lock, FoundLock& out) {
  if (lock.held_ns <= 0) return;
  const auto part = [&lock](Nanos ns) { return static_cast<double>(ns) / static_cast<double>(lock.held_ns); };
  out.ran = part(lock.ran_ns);
  out.no_cpu = part(lock.queued_ns);
  out.slept = part(lock.slept_ns);
  out.at_disks = part(lock.disk_ns);
  out.for_remote = part(lock.remote_ns);
  out.for_clients = part(lock.client_ns);
  out.for_others = part(lock.others_ns);
}

/// Whether this is no lock of the program: it was taken for one because threads end each other's waits there,
/// but a scheduler makes them do so.
bool is_of_scheduler(const Trace& trace, const std::optional<LockGain>& gain) {
  const StackId stack = gain ? trace.sites[gain->lock.site].wait_stack : kNoStack;
  return stack != kNoStack && is_parked_by_scheduler(trace, trace.stacks[stack]);
}

std::optional<FoundLock> found_lock(const Prepared& prepared, const WaitGraph& graph,
                                    const std::optional<LockGain>& gain) {
  if (!gain || is_of_scheduler(prepared.trace.all(), gain)) return std::nullopt;
  const Trace& trace = prepared.trace.all();
  FoundLock out;
  out.name = prepared.lock_names.names[gain->id];
  out.evidence = gain->lock.evidence;
  out.waiters = threads_of(prepared, gain->lock.waiting);
  const auto is_outside = [&](GroupId id) { return prepared.groups.groups[id].outside; };
  out.outside = !gain->lock.waiting.empty() &&
                std::all_of(gain->lock.waiting.begin(), gain->lock.waiting.end(), is_outside) &&
                std::all_of(gain->lock.holding.begin(), gain->lock.holding.end(), is_outside);
  out.holders = threads_of(prepared, gain->lock.holding);
  add_meanwhile(gain->lock, out);
  out.wait_s = to_seconds(gain->lock.wait_ns);
  out.waits = gain->lock.waits;
  Nanos lives_ns = 0;
  std::vector<ActorId> members;
  if (gain->lock.holders != kNoGroup) members = prepared.groups.groups[gain->lock.holders].members;
  for (const ActorId member : members) {
    const Actor& actor = trace.actors[member];
    lives_ns += known_life(actor, trace.window);
  }
  out.share = std::min(1.0, out.wait_s / std::max(to_seconds(lives_ns), 1e-9));
  const StackId stack = trace.sites[gain->lock.site].wait_stack;
  out.stack = backtrace_of(trace, stack);
  out.runtime = prepared.lock_names.runtimes[gain->id];
  out.held = gain->held;
  out.free_gain = gain->waited.gain;
  out.full = gain->waited.full;
  if (out.full == Full::disk) out.full_disk = graph.vertex_of[gain->waited.disk];
  if (out.full == Full::lock) out.full_lock = prepared.lock_names.names[gain->waited.lock];
  return out;
}

std::optional<FoundPause> found_pause(const Trace& trace, const Answer& answer) {
  if (answer.change.resource != Resource::pause) return std::nullopt;
  return FoundPause{pause_in(trace, answer.use.stack), to_seconds(answer.use.served_ns),
                    is_much(answer.use.served_ns, answer.use.time_ns)};
}

std::optional<FoundSyncs> found_syncs(const Prepared& prepared, const Answer& answer) {
  if (!answer.syncs) return std::nullopt;
  const Trace& trace = prepared.trace.all();
  std::map<std::string, Nanos> times;
  for (const SiteId id : answer.use.sites) {
    const StackId stack = trace.sites[id].wait_stack;
    if (file_action(trace, stack) != FileAction::sync) continue;
    times[file_call(trace, stack)] += prepared.sweep.sites[id].wait_ns;
  }
  FoundSyncs out{{}, to_seconds(answer.syncs->ran_ns), answer.syncs->cpu, answer.syncs->disk};
  for (const auto& [wait_ns, call] : longest_first(times)) out.calls.push_back(call);
  return out;
}

/// Which side limits how much is done at a time. Where the answer is about threads of the target, it is the
/// target: there are too few of them.
LimitedBy limit_of(const Prepared& prepared, const Answer& answer) {
  if (!answer.more) return LimitedBy::unknown;
  if (!answer.more->of_service) return LimitedBy::target;
  const std::vector<Requests> requests = requests_of(prepared.trace.all(), prepared.groups);
  Requests at_service;
  for (const GroupId id : prepared.answers.services[answer.change.service].answering) {
    at_service.under_way += requests[id].under_way;
    at_service.unread += requests[id].unread;
  }
  if (at_service.under_way <= 0) return LimitedBy::unknown;
  const double queued = answer.more->waiting - answer.more->threads;
  return at_service.unread >= queued / 2 ? LimitedBy::service : LimitedBy::target;
}

}  // namespace

FoundAnswers find_answers(const Prepared& prepared, const WaitGraph& graph,
                          const std::vector<FoundKnot>& knots, const std::vector<WhatIf>& what_ifs,
                          const std::vector<Runtime>& runtimes) {
  FoundAnswers out;
  std::map<std::size_t, std::size_t> shown;  // index into out.progress of each kind that is referred to
  const auto refer = [&](std::size_t progress) {
    const auto [found, added] = shown.try_emplace(progress, out.progress.size());
    if (added) {
      out.progress.push_back(found_progress(prepared, prepared.answers.progress[progress], graph.vertex_of));
    }
    return found->second;
  };
  if (!prepared.answers.progress.empty()) {
    refer(0);
    for (std::size_t i = 0; i < prepared.answers.asked.size(); ++i) {
      out.what_ifs.push_back({prepared.answers.asked[i], what_ifs[i].asked});
    }
  }
  const std::vector<Answer>& answers = prepared.answers.answers;
  std::vector<std::vector<AnswerEvidence::File>> files = files_of_answers(prepared.trace.all(), answers);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Answer& answer = answers[i];
    if (answer.change.resource == Resource::waited && is_of_scheduler(prepared.trace.all(), answer.lock))
      continue;
    FoundAnswer one;
    static_cast<Gain&>(one) = answer;
    one.what = answer.change.resource;
    one.progress = refer(answer.progress);
    if (answer.change.group != kNoGroup) {
      one.actor = actor_of(prepared.groups.groups[answer.change.group], graph.vertex_of);
    }
    if (answer.change.device != kNoActor) {
      one.device = graph.vertex_of[answer.change.device];
    }
    one.service = find_service(prepared, graph, answer);
    if (one.service && answer.use.group != kNoGroup) {
      one.actor = actor_of(prepared.groups.groups[answer.use.group], graph.vertex_of);
    }
    one.knot = knot_with_waits_for(waited_for(prepared, answer, one, graph.vertex_of), knots, graph);
    one.evidence = evidence_of(prepared, graph, answer, runtimes);
    one.evidence.files = std::move(files[i]);
    one.syncs = found_syncs(prepared, answer);
    one.pause = found_pause(prepared.trace.all(), answer);
    one.lock = found_lock(prepared, graph, answer.lock);
    one.more = answer.more;
    one.limit = limit_of(prepared, answer);
    out.answers.push_back(one);
  }
  return out;
}

std::vector<FoundRuntime> find_runtimes(const Trace& trace, const std::vector<Runtime>& runtimes) {
  std::map<Runtime, std::size_t> threads;
  for (ActorId id = 0; id < runtimes.size(); ++id) {
    if (runtimes[id] != Runtime::none && !trace.actors[id].outside) ++threads[runtimes[id]];
  }
  std::vector<FoundRuntime> out;
  for (const auto& [runtime, count] : threads) out.push_back({runtime, count});
  std::stable_sort(out.begin(), out.end(),
                   [](const FoundRuntime& a, const FoundRuntime& b) { return a.threads > b.threads; });
  return out;
}

}  // namespace offwait
