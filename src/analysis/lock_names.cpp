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

#include "analysis/nameless_modules.h"
#include "analysis/noise.h"
#include "analysis/runtime_parts.h"
#include "base/base_name.h"
#include "code/kernel.h"
#include "code/lock_words.h"
#include "code/roles.h"
#include "model/outline.h"
#include "progress/wait_kinds.h"

namespace offwait {

namespace {

constexpr const char* kGil = "all Python code (GIL)";

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

/// Whether the function is a part of a way to wait, or its name says nothing of what it does.
bool says_nothing(const Frame& frame) {
  const Roles roles = roles_of(frame);
  return roles.noise != Noise::none || is_nameless_body(frame.function) || roles.of_java;
}

/// What the function is called. If it has no name, the first caller in the same file that has one stands for
/// it, as that says more than an address.
std::string named_caller(const std::vector<Frame>& frames, std::size_t at) {
  const std::string& module = frames[at].module;
  if (!frames[at].function.empty() || !is_file(module)) return name_of(frames[at]);
  for (std::size_t i = at + 1; i < frames.size() && frames[i].module == module; ++i) {
    const std::string& caller = frames[i].function;
    if (!caller.empty() && !says_nothing(frames[i]) && !is_about_locks(caller)) return name_of(frames[i]);
  }
  return name_of(frames[at]);
}

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
  const RuntimeLock runtime = runtime_lock(trace, stack);
  if (runtime == RuntimeLock::cpython_gil) return kGil;
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
  const std::vector<Frame> frames = without_noise(user, stack.cut.has_value());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    // What Java code consists of has no name unless the virtual machine was asked for it.
    if (monitor && frame.function.empty()) continue;
    const std::string function = name_of(frame);
    if (any.empty()) any = function;
    if (says_nothing(frame)) continue;
    if (!is_about_locks(frame.function)) return named_caller(frames, i);
    if (own.empty()) own = function;
  }
  if (own.empty() && monitor) return "synchronized Java code";
  return own.empty() ? any : own;
}

/// By LockId: the stack in which threads waited for it longest.
std::vector<StackId> longest_stacks(const Trace& trace, const ContendedLocks& locks) {
  std::vector<std::map<StackId, Nanos>> waited(locks.all.size());
  for (const Wait& wait : trace.waits) {
    const LockId lock = locks.of(wait);
    if (lock == kNoLock || trace.sites[wait.site].wait_stack == kNoStack) continue;
    waited[lock][trace.sites[wait.site].wait_stack] += clipped(wait.block, wait.wake, trace.window);
  }
  std::vector<StackId> out;
  for (const std::map<StackId, Nanos>& of_lock : waited) {
    const auto longest = std::max_element(of_lock.begin(), of_lock.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    out.push_back(longest == of_lock.end() ? kNoStack : longest->first);
  }
  return out;
}

/// By LockId. An interpreter without symbols has the names of variables that it exports, and its GIL lies in
/// one of these: of the locks there, it is the one that was waited for longest.
std::vector<RuntimeLock> runtimes_of(const Trace& trace, const ContendedLocks& locks,
                                     const std::vector<StackId>& stacks) {
  std::vector<RuntimeLock> out;
  std::set<std::int32_t> with_gil;  // processes
  for (LockId id = 0; id < locks.all.size(); ++id) {
    const ObjectId object = locks.all[id].object;
    out.push_back(stacks[id] == kNoStack ? RuntimeLock::none : runtime_lock(trace, trace.stacks[stacks[id]]));
    if (out[id] == RuntimeLock::cpython_gil && object != kNoObject)
      with_gil.insert(trace.objects[object].tgid);
  }
  for (LockId id = 0; id < locks.all.size(); ++id) {
    const ObjectId object = locks.all[id].object;
    if (out[id] != RuntimeLock::none || object == kNoObject) continue;
    const Object& lock = trace.objects[object];
    if (lock.kind != Object::Kind::futex || !is_state_of_python(lock.symbol)) continue;
    if (with_gil.insert(lock.tgid).second) out[id] = RuntimeLock::cpython_gil;
  }
  return out;
}

LockNames names_of_locks(const Trace& trace, const ContendedLocks& locks) {
  const std::vector<StackId> stacks = longest_stacks(trace, locks);
  LockNames out;
  out.runtimes = runtimes_of(trace, locks, stacks);
  std::vector<std::string> taken;
  std::map<std::string, std::size_t> count;
  for (LockId id = 0; id < locks.all.size(); ++id) {
    const Object object = locks.all[id].object == kNoObject ? Object{} : trace.objects[locks.all[id].object];
    // The GIL is a field of the interpreter's state, whose name says nothing of it.
    const bool is_gil = out.runtimes[id] == RuntimeLock::cpython_gil;
    out.names.push_back(is_gil ? "" : own_name(object));
    taken.push_back(is_gil                   ? kGil
                    : stacks[id] == kNoStack ? ""
                                             : taken_in(trace, trace.stacks[stacks[id]], object));
    if (out.names[id].empty()) ++count[taken[id]];
  }
  std::map<std::string, std::size_t> numbers;
  for (LockId id = 0; id < locks.all.size(); ++id) {
    if (!out.names[id].empty()) continue;
    const std::string number = count[taken[id]] > 1 ? " #" + std::to_string(++numbers[taken[id]]) : "";
    out.names[id] = "lock" + number + (taken[id].empty() ? "" : " of " + taken[id]);
  }
  return out;
}

std::vector<std::string> names_of_locks(const Trace& trace, const ThreadGroups& groups,
                                        const std::vector<WhatIf>& what_ifs) {
  if (std::none_of(what_ifs.begin(), what_ifs.end(), names_a_lock)) return {};
  return names_of_locks(trace, kinds_of_waits(trace, groups).locks).names;
}

std::string name_of_lock(const Trace& trace, ObjectId lock, StackId wait_stack) {
  const Object& object = trace.objects[lock];
  const Stack* const stack = wait_stack == kNoStack ? nullptr : &trace.stacks[wait_stack];
  const bool is_gil = stack != nullptr && runtime_lock(trace, *stack) == RuntimeLock::cpython_gil;
  std::string name = is_gil ? "" : own_name(object);
  if (!name.empty()) return name;
  if (stack != nullptr) name = taken_in(trace, *stack, object);
  return name.empty() ? "lock" : "lock of " + name;
}

}  // namespace offwait
