// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/stack_ends.h"

#include <array>

#include "base/nanos.h"

namespace offwait {

namespace {

enum End : std::size_t { kComplete = kStackCuts, kMissing, kEnds };

std::size_t end_of(const Trace& trace, StackId id) {
  if (id == kNoStack || trace.stacks[id].empty()) {
    return kMissing;
  }
  const Stack& stack = trace.stacks[id];
  if (stack.cut) {
    return static_cast<std::size_t>(*stack.cut);
  }
  return trace.frames[stack.frames.back()].kind == Frame::Kind::kernel ? kMissing : kComplete;
}

}  // namespace

StackEnds stack_ends(const Prepared& prepared) {
  const Trace& trace = prepared.trace.all();
  std::array<Nanos, kEnds> ns{};
  for (SiteId id = 0; id < prepared.trace.sites().size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (!trace.actors[site.thread].outside) {
      ns.at(end_of(trace, site.wait_stack)) += prepared.sweep.sites[id].wait_ns;
    }
  }
  StackEnds out;
  out.complete_s = to_seconds(ns.at(kComplete));
  out.missing_s = to_seconds(ns.at(kMissing));
  for (std::size_t i = 0; i < kStackCuts; ++i) {
    if (ns.at(i) > 0) {
      out.cut_s[static_cast<StackCut>(i)] = to_seconds(ns.at(i));
    }
  }
  return out;
}

}  // namespace offwait
