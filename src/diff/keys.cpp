// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/keys.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/lock_names.h"
#include "base/base_name.h"
#include "code/calls.h"
#include "code/roles.h"
#include "graph/start_functions.h"
#include "model/called.h"

namespace offwait {

namespace {

/// A function without a name is a place in a file, `[libc.so.6+0x891f0]`, which differs between builds, and
/// does not tell what the thread does.
std::string with_name(const std::string& start) { return start.starts_with('[') ? "" : start; }

/// As of without_alias(), in libc.
std::string name_in_all_recordings(const Frame& frame) {
  if (!in_library(frame)) return frame.function;
  // An empty name would mean that the function has no name.
  const std::string_view name = without_alias(frame.function);
  return name.empty() ? frame.function : std::string(name);
}

std::map<std::int32_t, std::string> process_patterns(const Trace& trace) {
  std::map<std::int32_t, std::string> out;
  for (const Actor& actor : trace.actors) {
    if (actor.kind == ActorKind::thread && actor.tid == actor.tgid) out[actor.tgid] = alike(actor);
  }
  return out;
}

std::vector<std::uint64_t> waits_ended(const Trace& trace) {
  std::vector<std::uint64_t> out(trace.sites.size());
  for (const Wait& wait : trace.waits) out[wait.site] += wait.wake != kNever ? 1U : 0U;
  return out;
}

/// A thread whose value is not known takes that of the others that are called alike, if these agree.
void complete(std::vector<ThreadKindKey>& keys, std::string ThreadKindKey::*value) {
  std::map<CalledKey, std::optional<std::string>> agreed;  // none: they differ
  for (const ThreadKindKey& key : keys) {
    if ((key.*value).empty()) continue;
    const auto [found, added] = agreed.try_emplace(called_of(key), key.*value);
    if (!added && found->second != key.*value) found->second.reset();
  }
  for (ThreadKindKey& key : keys) {
    if (!(key.*value).empty()) continue;
    if (const auto found = agreed.find(called_of(key)); found != agreed.end() && found->second)
      key.*value = *found->second;
  }
}

}  // namespace

CalledKey called_of(const ThreadKindKey& key) { return {key.kernel, key.first, key.process, key.name}; }

std::string_view to_string(EndKey::Kind kind) {
  switch (kind) {
    case EndKey::Kind::thread:
      return "thread";
    case EndKey::Kind::disk:
      return "disk";
    case EndKey::Kind::nic:
      return "nic";
    case EndKey::Kind::timer:
      return "timer";
    case EndKey::Kind::irq:
      return "irq";
    case EndKey::Kind::softirq:
      return "softirq";
    case EndKey::Kind::service:
      return "service";
  }
  return "thread";
}

std::vector<ThreadKindKey> thread_keys(const Trace& trace) {
  const std::map<std::int32_t, std::string> processes = process_patterns(trace);
  const std::vector<std::string> starts = start_functions(trace, waits_ended(trace));
  std::vector<ThreadKindKey> out(trace.actors.size());
  for (ActorId id = 0; id < out.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind != ActorKind::thread) continue;
    const auto process = processes.find(actor.tgid);
    out[id] = {actor.kernel,
               actor.tid == actor.tgid,
               process == processes.end() ? "" : process->second,
               alike(actor),
               std::string(base_name(actor.program)),
               starts[id]};
  }
  complete(out, &ThreadKindKey::program);
  complete(out, &ThreadKindKey::start);
  // This comes last: a thread whose start function has no name must not take that of others.
  for (ThreadKindKey& key : out) key.start = with_name(key.start);
  return out;
}

EndKey device_key(ActorKind kind, const std::string& name) {
  switch (kind) {
    case ActorKind::disk:
      return {EndKey::Kind::disk, {}, name};
    case ActorKind::nic:
      return {EndKey::Kind::nic, {}, name};
    case ActorKind::timer:
      return {EndKey::Kind::timer, {}, name};
    case ActorKind::irq:
      return {EndKey::Kind::irq, {}, name};
    case ActorKind::softirq:
      return {EndKey::Kind::softirq, {}, name};
    case ActorKind::thread:
    case ActorKind::group:
      break;
  }
  return {EndKey::Kind::thread, {}, name};
}

LockKey lock_key(const Trace& trace, const Object& lock, StackId wait_stack,
                 const std::vector<ThreadKindKey>& threads) {
  LockKey out;
  out.kind = lock.kind;
  out.lock = lock.lock;
  if (lock.kind == Object::Kind::kernel_lock && lock.tgid != 0) {
    out.variable = "mmap_lock";
    for (ActorId id = 0; id < trace.actors.size(); ++id) {
      const Actor& actor = trace.actors[id];
      if (actor.kind == ActorKind::thread && actor.tgid == lock.tgid) {
        out.process = threads[id].process;
        break;
      }
    }
  } else if (!own_name(lock).empty()) {
    const bool mapped = lock.symbol.empty() && lock.module.empty();
    out.variable = mapped ? base_name(lock.path) : std::string_view(lock.symbol);
    out.module = base_name(lock.module);
    out.offset = mapped ? lock.file_offset : lock.symbol_offset;
  } else if (wait_stack != kNoStack) {
    out.function = taken_in(trace, trace.stacks[wait_stack], lock);
  }
  return out;
}

std::string without_digits(std::string_view name) {
  std::string out = name_pattern(name);  // in which each run is one 0
  std::replace(out.begin(), out.end(), '0', '*');
  return out;
}

void fold_digits(StackSums& sums) {
  for (StackSum& sum : sums.sums) {
    sum.thread = without_digits(sum.thread);
    if (sum.lock.starts_with("mmap_lock of process ")) sum.lock = "mmap_lock";
    if (sum.waker && sum.waker->kind == ActorKind::thread) sum.waker->name = without_digits(sum.waker->name);
  }
}

FunctionKey function_key(const Frame& function) {
  return {name_in_all_recordings(function), name_pattern(function.module),
          function.kind == Frame::Kind::kernel};
}

}  // namespace offwait
