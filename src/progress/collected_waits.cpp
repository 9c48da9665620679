// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/collected_waits.h"

#include <algorithm>
#include <utility>

#include "code/kernel.h"

namespace offwait {

namespace {

/// By SiteId: waits for any of the requests under way, where nothing but the site tells.
std::vector<bool> sites_for_any(const Trace& trace) {
  const auto waits_for_any = [&trace](FrameId id) {
    const Frame& frame = trace.frames[id];
    return frame.kind == Frame::Kind::kernel && waits_for_any_request(frame.function);
  };
  std::vector<bool> stacks;
  for (const Stack& stack : trace.stacks) {
    stacks.push_back(std::any_of(stack.frames.begin(), stack.frames.end(), waits_for_any));
  }
  std::vector<bool> out;
  for (const WaitSite& site : trace.sites) {
    const bool any = site.any_request || (site.wait_stack != kNoStack && stacks[site.wait_stack]);
    out.push_back(site.wait_class == WaitClass::disk && any);
  }
  return out;
}

}  // namespace

std::vector<bool> collected_waits(const Trace& trace) {
  // By thread, in order of completion: when it was complete, and issued.
  std::vector<std::vector<std::pair<Nanos, Nanos>>> requests(trace.actors.size());
  for (const DiskIo& io : trace.disk_ios) {
    if (io.thread != kNoActor && io.complete != kNever) {
      requests[io.thread].emplace_back(io.complete, io.issue);
    }
  }
  for (auto& of_thread : requests) std::sort(of_thread.begin(), of_thread.end());
  const std::vector<bool> for_any = sites_for_any(trace);
  if (trace.disk_ios.empty() && std::find(for_any.begin(), for_any.end(), true) == for_any.end()) return {};
  std::vector<Nanos> woke(trace.actors.size(), kNever);
  std::vector<bool> out;
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    const Wait& wait = trace.waits[id];
    const WaitSite& site = trace.sites[wait.site];
    if (wait.wake == kNever) continue;
    const Nanos before = std::exchange(woke[site.thread], wait.wake);
    if (site.wait_class != WaitClass::disk || before == kNever) continue;
    const auto& of_thread = requests[site.thread];
    const auto after = std::upper_bound(of_thread.begin(), of_thread.end(), std::pair(wait.wake, kNever));
    const bool collects = of_thread.empty()
                              ? for_any[wait.site]
                              : after != of_thread.begin() && std::prev(after)->first > wait.block &&
                                    std::prev(after)->second < before;
    if (!collects) continue;
    out.resize(trace.waits.size());
    out[id] = true;
  }
  return out;
}

}  // namespace offwait
