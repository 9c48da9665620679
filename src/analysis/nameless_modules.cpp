// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/nameless_modules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "analysis/rankings.h"
#include "code/roles.h"

namespace offwait {
namespace {

/// The frame of the program that waits. Frames further inside are the C library's and the kernel's.
const Frame* waiting_frame(const Backtrace& stack) {
  const auto found = std::find_if(stack.frames.begin(), stack.frames.end(), [](const Frame& frame) {
    return frame.kind == Frame::Kind::user && !is_runtime_library(frame.module);
  });
  return found == stack.frames.end() ? nullptr : &*found;
}

void add_named(const Backtrace& stack, std::set<std::string_view>& named) {
  for (const Frame& frame : stack.frames) {
    if (!frame.function.empty()) named.insert(frame.module);
  }
}

std::set<std::string_view> named_modules(const Findings& findings) {
  std::set<std::string_view> named;
  for (const FoundEdge& edge : findings.edges) {
    for (const FoundStack& stack : edge.stacks) {
      add_named(stack.wait_stack, named);
      add_named(stack.waker_stack, named);
    }
  }
  return named;
}

/// The stacks that a report shows of the target: those of its answers, then of its edges.
std::vector<const Backtrace*> shown_stacks(const Findings& findings) {
  std::vector<const Backtrace*> stacks;
  for (const FoundAnswer& answer : findings.answers) {
    if (answer.actor && findings.actors[*answer.actor].outside) continue;
    stacks.push_back(&answer.evidence.stack);
    for (const FoundSamples::Place& place : answer.evidence.samples.stacks) stacks.push_back(&place.stack);
  }
  const auto add_edge = [&](FoundEdgeId id) {
    const FoundEdge& edge = findings.edges[id];
    if (!findings.actors[edge.from].outside && !edge.stacks.empty()) {
      stacks.push_back(&edge.stacks.front().wait_stack);
    }
  };
  for (const FoundKnot& knot : findings.knots) {
    if (!knot.background) std::for_each(knot.edges.begin(), knot.edges.end(), add_edge);
  }
  for (const ExcludedWait& wait : findings.excluded_waits) add_edge(wait.edge);
  return stacks;
}

}  // namespace

bool is_file(std::string_view module) {
  constexpr std::array<std::string_view, 5> kNoFiles = {"", "anon", "unknown", "vdso", "[vdso]"};
  return std::find(kNoFiles.begin(), kNoFiles.end(), module) == kNoFiles.end() &&
         !module.starts_with("perf-");
}

std::vector<std::string> nameless_modules(const Findings& findings) {
  const std::set<std::string_view> named = named_modules(findings);
  std::vector<std::string> nameless;
  for (const Backtrace* const stack : shown_stacks(findings)) {
    const Frame* const frame = waiting_frame(*stack);
    if (frame == nullptr || !is_file(frame->module) || named.contains(frame->module)) continue;
    const bool is_new = std::find(nameless.begin(), nameless.end(), frame->module) == nameless.end();
    if (is_new) nameless.push_back(frame->module);
  }
  return nameless;
}

bool has_nameless_jit_code(const Findings& findings) {
  const std::vector<const FoundAnswer*> answers = first_answers(distinct_answers(findings));
  return std::any_of(answers.begin(), answers.end(), [&findings](const FoundAnswer* answer) {
    if (answer->actor && findings.actors[*answer->actor].outside) return false;
    const auto is_nameless = [](const Backtrace& stack) {
      const Frame* const frame = waiting_frame(stack);
      return frame != nullptr && frame->function.empty() && frame->module == "anon";
    };
    const std::vector<FunctionPlace>& places = answer->evidence.samples.places;
    return is_nameless(answer->evidence.stack) || (!places.empty() && is_nameless(places.front().stack)) ||
           (answer->lock && is_nameless(answer->lock->stack));
  });
}

}  // namespace offwait
