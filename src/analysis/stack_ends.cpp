// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/stack_ends.h"

#include <array>
#include <string_view>

#include "base/nanos.h"

namespace offwait {

namespace {

bool is_kernel_frame(std::string_view frame) {
  constexpr std::string_view kVdso = " ([vdso])";
  return frame.starts_with("[kernel+0x") ||
         (frame.ends_with("])") && frame.find(" ([") != frame.npos && !frame.ends_with(kVdso));
}

enum End : std::size_t { kComplete = kStackCuts, kMissing, kEnds };

std::size_t end_of(const Trace& trace, StackId id) {
  if (id == kNoStack || trace.stacks[id].frames.empty()) {
    return kMissing;
  }
  const std::string& outermost = trace.frames[trace.stacks[id].frames.back()];
  if (const std::optional<StackCut> cut = cut_of(outermost)) {
    return static_cast<std::size_t>(*cut);
  }
  return is_kernel_frame(outermost) ? kMissing : kComplete;
}

}  // namespace

ReportStackEnds stack_ends(const Prepared& prepared) {
  const Trace& trace = prepared.trace.all();
  std::array<Nanos, kEnds> ns{};
  for (SiteId id = 0; id < prepared.trace.sites().size(); ++id) {
    const WaitSite& site = trace.sites[id];
    if (!trace.actors[site.thread].outside) {
      ns.at(end_of(trace, site.wait_stack)) += prepared.sweep.sites[id].wait_ns;
    }
  }
  ReportStackEnds out;
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
