// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/lock_names.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/noise.h"
#include "analysis/runtime_parts.h"
#include "code/kernel.h"
#include "code/lock_words.h"
#include "code/roles.h"
#include "model/outline.h"
#include "progress/wait_kinds.h"

namespace offwait {

namespace {

/// The kernel's functions on the way from a lock to the scheduler.
bool is_of_scheduler(std::string_view function) {
  return leads_to_switch(function) || is_about_locks(function);
}

LockKind kind_of(WaitsFor what) {
  switch (what) {
    case WaitsFor::nothing:
      break;
    case WaitsFor::anything:
    case WaitsFor::event:
      return LockKind::parker;
    case WaitsFor::mutex:
      return LockKind::mutex;
    case WaitsFor::rwlock:
      return LockKind::rwlock;
    case WaitsFor::semaphore:
      return LockKind::semaphore;
    case WaitsFor::condition:
      return LockKind::condition;
    case WaitsFor::barrier:
      return LockKind::barrier;
    case WaitsFor::join:
      return LockKind::join;
  }
  return LockKind::queue;
}

/// Without arguments and module; of a function without a name, where it is.
std::string name_of(const Frame& frame) {
  return frame.function.empty() ? to_string(function_of(frame)) : outline(frame.function);
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::optional<LockKind> lock_kind(const Trace& trace, const Stack& stack) {
  const WaitsFor what =
      waits_for(stack.frames.size(), [&](std::size_t i) { return roles_of(trace.frames[stack.frames[i]]); });
  return what == WaitsFor::nothing ? std::nullopt : std::optional(kind_of(what));
}

bool takes_a_lock(const Trace& trace, const Stack& stack) {
  return std::any_of(stack.frames.begin(), stack.frames.end(), [&trace](FrameId id) {
    const Frame& frame = trace.frames[id];
    return frame.kind == Frame::Kind::user && takes_a_lock(frame.function);
  });
}

std::string own_name(const Object& lock) {
  if (lock.kind == Object::Kind::kernel_lock && lock.tgid != 0) {
    return fmt::format("mmap_lock of process {}", lock.tgid);
  }
  const std::string_view module = base_name(lock.module);
  if (!lock.symbol.empty()) {
    return fmt::format("{}{}{}", lock.symbol,
                       lock.symbol_offset != 0 ? fmt::format("+{:#x}", lock.symbol_offset) : "",
                       module.empty() ? "" : fmt::format(" ({})", module));
  }
  if (!module.empty()) return fmt::format("{}+{:#x}", module, lock.symbol_offset);
  if (lock.inode != 0) {
    return fmt::format("{}+{:#x}", lock.path.empty() ? "shared memory" : std::string(base_name(lock.path)),
                       lock.file_offset);
  }
  return "";
}

std::string taken_in(const Trace& trace, const Stack& stack, const Object& lock) {
  const RuntimeLock runtime = runtime_lock(trace, &stack, lock);
  if (runtime == RuntimeLock::cpython_gil) return "all Python code (GIL)";
  if (runtime == RuntimeLock::innodb_row) return "rows (InnoDB)";
  if (runtime == RuntimeLock::postgres_row) return "rows (PostgreSQL)";
  std::vector<Frame> user;
  for (const FrameId id : stack.frames) {
    const Frame& frame = trace.frames[id];
    if (frame.kind == Frame::Kind::user) {
      user.push_back(frame);
    } else if (lock.kind == Object::Kind::kernel_lock && !is_of_scheduler(frame.function)) {
      return name_of(frame);
    }
  }
  const bool monitor = runtime == RuntimeLock::java_monitor;
  std::string any, own;
  for (const Frame& frame : without_noise(user, stack.cut.has_value())) {
    // What Java code consists of has no name unless the virtual machine was asked for it.
    if (monitor && frame.function.empty()) continue;
    const std::string function = name_of(frame);
    if (any.empty()) any = function;
    const Roles roles = roles_of(frame);
    if (roles.noise != Noise::none || is_nameless_body(frame.function) || roles.of_java) continue;
    if (!is_about_locks(frame.function)) return function;
    if (own.empty()) own = function;
  }
  if (own.empty() && monitor) return "synchronized Java code";
  return own.empty() ? any : own;
}

/// The GIL is a field of the interpreter's state, whose name says nothing of it.
std::string own_name_of(const Trace& trace, const Stack* stack, const Object& lock) {
  return runtime_lock(trace, stack, lock) == RuntimeLock::cpython_gil ? "" : own_name(lock);
}

std::vector<std::string> names_of_locks(const Trace& trace, const ContendedLocks& locks) {
  std::vector<std::map<StackId, Nanos>> stacks(locks.all.size());
  for (const Wait& wait : trace.waits) {
    const LockId lock = locks.of(wait);
    if (lock == kNoLock || trace.sites[wait.site].wait_stack == kNoStack) continue;
    stacks[lock][trace.sites[wait.site].wait_stack] += clipped(wait.block, wait.wake, trace.window);
  }
  std::vector<std::string> own;
  std::vector<std::string> taken;
  std::map<std::string, std::size_t> count;
  std::set<std::int32_t> with_gil;  // processes
  for (LockId id = 0; id < locks.all.size(); ++id) {
    const Object object = locks.all[id].object == kNoObject ? Object{} : trace.objects[locks.all[id].object];
    const auto longest = std::max_element(stacks[id].begin(), stacks[id].end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    const Stack* const stack = longest == stacks[id].end() ? nullptr : &trace.stacks[longest->first];
    own.push_back(own_name_of(trace, stack, object));
    // Of the locks in the state of one interpreter, the GIL is the one that was waited for longest.
    if (runtime_lock(trace, stack, object) == RuntimeLock::cpython_gil && object.tgid != 0 &&
        !with_gil.insert(object.tgid).second) {
      own.back() = own_name(object);
    }
    taken.push_back(stack == nullptr ? "" : taken_in(trace, *stack, object));
    if (own[id].empty()) ++count[taken[id]];
  }
  std::map<std::string, std::size_t> numbers;
  for (LockId id = 0; id < locks.all.size(); ++id) {
    if (!own[id].empty()) continue;
    const std::string number = count[taken[id]] > 1 ? " #" + std::to_string(++numbers[taken[id]]) : "";
    own[id] = "lock" + number + (taken[id].empty() ? "" : " of " + taken[id]);
  }
  return own;
}

std::vector<std::string> names_of_locks(const Trace& trace, const ThreadGroups& groups,
                                        const std::vector<WhatIf>& what_ifs) {
  if (std::none_of(what_ifs.begin(), what_ifs.end(), names_a_lock)) return {};
  return names_of_locks(trace, kinds_of_waits(trace, groups).locks);
}

std::string name_of_lock(const Trace& trace, ObjectId lock, StackId wait_stack) {
  const Object& object = trace.objects[lock];
  const Stack* const stack = wait_stack == kNoStack ? nullptr : &trace.stacks[wait_stack];
  std::string name = own_name_of(trace, stack, object);
  if (!name.empty()) return name;
  if (stack != nullptr) name = taken_in(trace, *stack, object);
  return name.empty() ? "lock" : "lock of " + name;
}

}  // namespace offwait
