// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/thread_groups.h"

#include <map>
#include <tuple>

#include "graph/short_lived.h"
#include "model/frame.h"

namespace offwait {

namespace {

/// The function of the outermost user frame; empty for a stack that is cut or has no user frames.
std::string start_function(const Trace& trace, const Stack& stack) {
  if (stack.cut || stack.frames.empty()) {
    return {};
  }
  const Frame& outermost = trace.frames[stack.frames.back()];
  return outermost.kind == Frame::Kind::user ? to_string(function_of(outermost)) : std::string();
}

std::vector<std::string> start_functions(const Trace& trace) {
  std::vector<std::string> out(trace.actors.size());
  std::vector<std::string> of_stack(trace.stacks.size());
  for (StackId stack = 0; stack < trace.stacks.size(); ++stack) {
    of_stack[stack] = start_function(trace, trace.stacks[stack]);
  }
  for (const WaitSite& site : trace.sites) {
    if (out[site.thread].empty() && site.wait_stack != kNoStack) {
      out[site.thread] = of_stack[site.wait_stack];
    }
  }
  return out;
}

}  // namespace

ThreadGroups group_threads(const Trace& trace) {
  std::map<std::int32_t, std::string> process_names;
  for (const Actor& actor : trace.actors) {
    if (actor.kind == ActorKind::thread && actor.tid == actor.tgid) {
      process_names[actor.tgid] = name_pattern(actor.name);
    }
  }
  const std::vector<std::string> starts = start_functions(trace);
  std::map<std::tuple<std::string, std::string, std::string, bool, bool>, GroupId> known;
  ThreadGroups out;
  out.group_of.assign(trace.actors.size(), kNoGroup);
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread) {
      continue;
    }
    const auto process = process_names.find(actor.tgid);
    const std::string process_name =
        process != process_names.end() ? process->second : std::to_string(actor.tgid);
    const auto [found, added] =
        known.try_emplace({process_name, name_pattern(actor.name), starts[id], actor.outside, actor.kernel},
                          static_cast<GroupId>(out.groups.size()));
    if (added) {
      out.groups.push_back({actor.name, {}, actor.outside, actor.kernel});
    }
    out.groups[found->second].members.push_back(id);
    out.group_of[id] = found->second;
  }
  return out;
}

}  // namespace offwait
