// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/services.h"

#include <algorithm>
#include <set>
#include <string>

#include "analysis/actors.h"
#include "model/called.h"

namespace offwait {

namespace {

/// The interpreter and its script; else the name of the executable or, where that is not known, of the
/// process, which is that of its main thread; else what the threads have in common.
std::string program_name(const Trace& trace, const ThreadGroup& group) {
  const Actor& first = trace.actors[group.members.front()];
  if (names_script(first.title)) return first.title;
  if (!first.program.empty()) return first.program.substr(first.program.rfind('/') + 1);
  const auto main = std::find_if(trace.actors.begin(), trace.actors.end(), [&first](const Actor& actor) {
    return actor.kind == ActorKind::thread && actor.tid == first.tgid && actor.tgid == first.tgid;
  });
  return main == trace.actors.end() || main->name.empty() ? common_name(trace, group.members) : main->name;
}

void add_threads(FoundService& service, const Prepared& prepared, const WaitGraph& graph,
                 const Service& about) {
  std::set<FoundActorId> actors;
  for (const GroupId id : about.answering) {
    const ThreadGroup& group = prepared.groups.groups[id];
    const std::string name = program_name(prepared.trace.all(), group);
    const auto known =
        std::find_if(service.threads.begin(), service.threads.end(),
                     [&name](const FoundProgress::Threads& threads) { return threads.name == name; });
    if (known == service.threads.end()) {
      service.threads.push_back({name, group.members.size()});
    } else {
      known->count += group.members.size();
    }
    for (const ActorId member : group.members) actors.insert(graph.vertex_of[member]);
  }
  service.actors.assign(actors.begin(), actors.end());
}

}  // namespace

std::optional<FoundService> find_service(const Prepared& prepared, const WaitGraph& graph,
                                         const Answer& answer) {
  if (answer.change.service == kNoService) return std::nullopt;
  const Service& about = prepared.answers.services[answer.change.service];
  FoundService out;
  out.peers = about.peers;
  if (answer.use.peer != kNoPeer) {
    const auto longest =
        std::find(out.peers.begin(), out.peers.end(), prepared.trace.all().peers[answer.use.peer]);
    if (longest != out.peers.end()) std::rotate(out.peers.begin(), longest, longest + 1);
  }
  add_threads(out, prepared, graph, about);
  const ServiceUse& use = answer.use.service;
  const auto part = [&use](Nanos ns) {
    return use.all_ns > 0 ? static_cast<double>(ns) / static_cast<double>(use.all_ns) : 0;
  };
  out.ran = part(use.ran_ns);
  out.runnable = part(use.runnable_ns);
  out.slept = part(use.slept_ns);
  out.at_disks = part(use.disk_ns);
  out.for_remote = part(use.remote_ns);
  out.for_others = part(use.others_ns);
  out.for_requests = part(use.request_ns);
  out.unknown = part(use.unknown_ns);
  if (use.disk != kNoActor) out.disk = graph.vertex_of[use.disk];
  return out;
}

}  // namespace offwait
