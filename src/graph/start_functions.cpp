// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/start_functions.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "code/roles.h"
#include "model/frame.h"

namespace offwait {

namespace {

constexpr std::string_view kGoRuntime = "runtime";

std::string name_of(const Frame& frame, const Roles& roles) {
  return roles.of_go ? std::string(kGoRuntime) : to_string(function_of(frame));
}

/// The frames of a stack from the one in which its thread began, inwards; the innermost one is left out, and
/// with `most` those behind so many. `roles_at`: the roles of a frame by its id.
template <typename RolesAt>
std::vector<FrameId> frames_from_start(const Trace& trace, const Stack& stack, std::size_t most,
                                       const RolesAt& roles_at) {
  std::vector<FrameId> out;
  const auto is_user = [&](std::size_t i) { return trace.frames[stack.frames[i]].kind == Frame::Kind::user; };
  for (std::size_t i = stack.cut ? 0 : stack.frames.size(); i-- > 1 && out.size() < most;) {
    if (!is_user(i)) break;
    const Roles& roles = roles_at(stack.frames[i]);
    if (!is_user(i - 1) && !roles.of_go) break;
    if (!out.empty() || !roles.begins_thread) out.push_back(stack.frames[i]);
  }
  return out;
}

using FunctionId = std::uint32_t;
inline constexpr FunctionId kNoFunction = UINT32_MAX;
using Times = std::map<FunctionId, std::uint64_t>;

/// The function of nine tenths of the times; kNoFunction if there is none.
FunctionId prevailing(const Times& times) {
  constexpr std::uint64_t kTenths = 9;
  std::uint64_t all = 0;
  for (const auto& [function, here] : times) {
    all += here;
  }
  for (const auto& [function, here] : times) {
    if (here * 10 >= all * kTenths) {
      return function;
    }
  }
  return kNoFunction;
}

class Starts {
 public:
  explicit Starts(const Trace& trace)
      : trace_(trace), roles_(roles_of(trace.frames)), depths_(trace.stacks.size(), 0) {
    for (const Stack& stack : trace.stacks) {
      std::vector<FunctionId> functions;
      const auto roles_at = [this](FrameId frame) -> const Roles& { return roles_[frame]; };
      for (const FrameId frame : frames_from_start(trace, stack, kDepth, roles_at)) {
        functions.push_back(number_of(frame));
      }
      chains_.push_back(std::move(functions));
    }
  }

  void count(ActorId thread, StackId stack, std::uint64_t times) {
    if (stack != kNoStack && !chains_[stack].empty()) {
      uses_[{thread, stack}] += times;
    }
  }

  std::vector<std::string> find() {
    for (std::size_t round = 1; round < kDepth && pass_nameless(); ++round) {
    }
    std::map<ActorId, Times> starts;
    for (const auto& [where, times] : uses_) {
      starts[where.first][at(where.second, 0)] += times;
    }
    std::vector<std::string> out(trace_.actors.size());
    for (const auto& [thread, times] : starts) {
      const FunctionId start = prevailing(times);
      out[thread] = start == kNoFunction ? "" : names_[start];
    }
    return out;
  }

 private:
  static constexpr std::size_t kDepth = 4;

  FunctionId number_of(FrameId id) {
    const Frame& frame = trace_.frames[id];
    std::string name = name_of(frame, roles_[id]);
    const auto [found, added] = numbers_.try_emplace(name, static_cast<FunctionId>(names_.size()));
    if (added) {
      names_.push_back(std::move(name));
      nameless_.push_back(frame.function.empty());
    }
    return found->second;
  }

  /// The function in which the stack's thread began as far as is known, or the one that this called.
  FunctionId at(StackId stack, std::size_t called) const {
    const std::size_t depth = depths_[stack] + called;
    return depth < chains_[stack].size() ? chains_[stack][depth] : kNoFunction;
  }

  /// Looks for functions without names that begin every thread, and passes over them. False if there are
  /// none.
  bool pass_nameless() {
    std::map<FunctionId, std::map<ActorId, Times>> calls;
    for (const auto& [where, times] : uses_) {
      const FunctionId function = at(where.second, 0);
      if (function != kNoFunction && nameless_[function]) {
        calls[function][where.first][at(where.second, 1)] += times;
      }
    }
    std::set<FunctionId> passed;
    for (const auto& [function, threads] : calls) {
      std::set<FunctionId> called;
      for (const auto& [thread, times] : threads) {
        called.insert(prevailing(times));
      }
      if (called.size() > 1 && !called.contains(kNoFunction)) {
        passed.insert(function);
      }
    }
    for (StackId stack = 0; stack < chains_.size(); ++stack) {
      depths_[stack] += passed.contains(at(stack, 0)) ? 1U : 0U;
    }
    return !passed.empty();
  }

  const Trace& trace_;
  const std::vector<Roles> roles_;  ///< by FrameId
  std::map<std::string, FunctionId> numbers_;
  std::vector<std::string> names_;  ///< by FunctionId, like the next one
  std::vector<bool> nameless_;
  std::vector<std::vector<FunctionId>> chains_;  ///< by StackId, as of frames_from_start()
  std::vector<std::size_t> depths_;              ///< by StackId: where in its chain the thread began
  std::map<std::pair<ActorId, StackId>, std::uint64_t> uses_;
};

}  // namespace

std::string start_function(const Trace& trace, const Stack& stack) {
  const std::vector<FrameId> frames =
      frames_from_start(trace, stack, 1, [&trace](FrameId id) { return roles_of(trace.frames[id]); });
  if (frames.empty()) return "";
  const Frame& frame = trace.frames[frames[0]];
  return name_of(frame, roles_of(frame));
}

std::vector<std::string> start_functions(const Trace& trace, const std::vector<std::uint64_t>& ended) {
  Starts starts(trace);
  for (SiteId id = 0; id < trace.sites.size(); ++id) {
    // A wait that is still open tells as well where its thread began.
    starts.count(trace.sites[id].thread, trace.sites[id].wait_stack, std::max<std::uint64_t>(ended[id], 1));
  }
  for (const CpuSample& sample : trace.cpu_samples) {
    starts.count(sample.thread, sample.stack, 1);
  }
  return starts.find();
}

}  // namespace offwait
