// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/lock_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/noise.h"
#include "analysis/runtime_parts.h"
#include "model/outline.h"
#include "progress/wait_kinds.h"

namespace offwait {

namespace {

using ToldKind = std::pair<std::string_view, LockKind>;

/// Parts of names of functions, the more special ones first.
constexpr std::array kTold = {
    ToldKind{"barrier_wait", LockKind::barrier},
    ToldKind{"barrier<", LockKind::barrier},
    ToldKind{"Barrier::wait", LockKind::barrier},
    ToldKind{"latch::wait", LockKind::barrier},
    ToldKind{"pthread_join", LockKind::join},
    ToldKind{"clockjoin", LockKind::join},
    ToldKind{"thrd_join", LockKind::join},
    ToldKind{"sem_wait", LockKind::semaphore},
    ToldKind{"sem_timedwait", LockKind::semaphore},
    ToldKind{"sem_clockwait", LockKind::semaphore},
    ToldKind{"new_sem_wait", LockKind::semaphore},
    ToldKind{"cond_wait", LockKind::condition},
    ToldKind{"cond_timedwait", LockKind::condition},
    ToldKind{"cond_clockwait", LockKind::condition},
    ToldKind{"cnd_wait", LockKind::condition},
    ToldKind{"cnd_timedwait", LockKind::condition},
    ToldKind{"Condvar", LockKind::condition},
    ToldKind{"condition_variable", LockKind::condition},
    ToldKind{"rwlock", LockKind::rwlock},
    ToldKind{"RwLock", LockKind::rwlock},
    ToldKind{"shared_mutex", LockKind::rwlock},
    ToldKind{"mutex_lock", LockKind::mutex},
    ToldKind{"mutex_timedlock", LockKind::mutex},
    ToldKind{"mutex_clocklock", LockKind::mutex},
    ToldKind{"lll_lock_wait", LockKind::mutex},
    ToldKind{"mtx_lock", LockKind::mutex},
    ToldKind{"Mutex::lock", LockKind::mutex},
    ToldKind{"Mutex>::lock", LockKind::mutex},
    ToldKind{"RawMutex", LockKind::mutex},
    ToldKind{"parking_lot", LockKind::parker},
    ToldKind{"thread::park", LockKind::parker},
    ToldKind{"runtime.futex", LockKind::parker},
};

/// Java's threads wait with condition variables of their own, whatever for. Parts of names, innermost first.
constexpr std::array<std::string_view, 3> kJavaParks = {"PlatformEvent::park", "Parker::park", "Unsafe_Park"};

/// The Java virtual machine, and what the classes of locks of Java consist of.
bool is_of_java(const Frame& frame) {
  constexpr std::array<std::string_view, 4> kParts = {
      "java.util.concurrent.locks.", "jdk.internal.misc.Unsafe", "Runtime1 stub", "StubRoutines ("};
  return frame.module.starts_with("libjvm.so") || frame.function == "Interpreter" ||
         std::any_of(kParts.begin(), kParts.end(), [&frame](std::string_view part) {
           return frame.function.find(part) != std::string::npos;
         });
}

/// `Lookup` of `Cache<int>::Lookup(Key const&)`.
std::string last_part(std::string_view function) {
  const std::string name = outline(function);
  return name.substr(name.rfind(':') + 1);  // all of it without a colon
}

/// Whether `word` stands in the name as a word of its own, in any spelling: `wr_lock`, `tryLock`, `Lock`; not
/// `block` or `clock`.
bool has_word(std::string_view name, std::string_view word) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (auto at = name.begin();; ++at) {
    at = std::search(at, name.end(), word.begin(), word.end(), same);
    if (at == name.end()) return false;
    const bool begins = at == name.begin() || std::isalpha(static_cast<unsigned char>(*(at - 1))) == 0 ||
                        std::isupper(static_cast<unsigned char>(*at)) != 0;
    const auto after = at + static_cast<std::ptrdiff_t>(word.size());
    const bool ends = after == name.end() || std::islower(static_cast<unsigned char>(*after)) == 0;
    if (begins && ends) return true;
  }
}

/// A function that is called for what it does to any lock.
bool is_about_locks(std::string_view function) {
  constexpr std::array<std::string_view, 16> kWords = {
      "lock", "trylock", "spinlock", "rwlock", "mutex", "wait",   "acquire", "sem",
      "down", "park",    "rwsem",    "futex",  "guard", "wrlock", "rdlock",  "enter"};
  const std::string name = last_part(function);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&name](std::string_view word) { return has_word(name, word); });
}

/// The body of a lambda, which has no name that says anything.
bool is_nameless_body(std::string_view function) { return last_part(function) == "operator()"; }

/// The kernel's functions on the way from a lock to the scheduler.
bool is_of_scheduler(std::string_view function) {
  return function.starts_with("__schedule") || function.starts_with("schedule") ||
         function.find("_slowpath") != std::string_view::npos || is_about_locks(function);
}

/// Without arguments and module; of a function without a name, where it is.
std::string name_of(const Frame& frame) {
  return frame.function.empty() ? to_string(function_of(frame)) : outline(frame.function);
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::optional<LockKind> lock_kind(const Trace& trace, const Stack& stack) {
  const bool parks = std::any_of(stack.frames.begin(), stack.frames.end(), [&trace](FrameId id) {
    return std::any_of(kJavaParks.begin(), kJavaParks.end(), [&](std::string_view part) {
      return trace.frames[id].function.find(part) != std::string::npos;
    });
  });
  if (parks) return LockKind::parker;
  for (const FrameId id : stack.frames) {
    const Frame& frame = trace.frames[id];
    if (frame.kind != Frame::Kind::user) continue;
    const auto found = std::find_if(kTold.begin(), kTold.end(), [&frame](const ToldKind& told) {
      return frame.function.find(told.first) != std::string::npos;
    });
    if (found != kTold.end()) return found->second;
  }
  return std::nullopt;
}

bool takes_a_lock(const Trace& trace, const Stack& stack) {
  static constexpr std::array<std::string_view, 5> kWords = {"lock", "rwlock", "spinlock", "mutex", "rwsem"};
  return std::any_of(stack.frames.begin(), stack.frames.end(), [&trace](FrameId id) {
    const Frame& frame = trace.frames[id];
    if (frame.kind != Frame::Kind::user) return false;
    const std::string name = last_part(frame.function);
    return std::any_of(kWords.begin(), kWords.end(),
                       [&name](std::string_view word) { return has_word(name, word); });
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
    if (noise_of(frame) != Noise::none || is_nameless_body(frame.function) || is_of_java(frame)) continue;
    if (!is_about_locks(frame.function)) return function;
    if (own.empty()) own = function;
  }
  if (own.empty() && monitor) return "synchronized Java code";
  return own.empty() ? any : own;
}

/// The GIL is a field of the interpreter's state, whose name says nothing of it.
std::string own_name_of(const Trace& trace, const Stack* stack, const Object& lock) {
  const bool gil = stack != nullptr && runtime_lock(trace, *stack) == RuntimeLock::cpython_gil;
  return gil ? "" : own_name(lock);
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
  for (LockId id = 0; id < locks.all.size(); ++id) {
    const Object object = locks.all[id].object == kNoObject ? Object{} : trace.objects[locks.all[id].object];
    const auto longest = std::max_element(stacks[id].begin(), stacks[id].end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    const Stack* const stack = longest == stacks[id].end() ? nullptr : &trace.stacks[longest->first];
    own.push_back(own_name_of(trace, stack, object));
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
