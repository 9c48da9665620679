// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/pauses.h"

#include <cstdint>

namespace offwait {

KernelPause pause_in(const Trace& trace, StackId stack) {
  KernelPause out = KernelPause::unknown;
  if (stack == kNoStack) return out;
  for (const FrameId id : trace.stacks[stack].frames) {
    const Frame& frame = trace.frames[id];
    if (frame.kind != Frame::Kind::kernel) break;
    if (const KernelPause here = pauses_in(frame.function); here != KernelPause::unknown) out = here;
  }
  return out;
}

std::vector<bool> pauses_by_time(const Trace& trace) {
  std::vector<bool> out;
  for (const WaitSite& site : trace.sites) {
    const bool by_timer = site.waker != kNoActor && trace.actors[site.waker].kind == ActorKind::timer &&
                          !trace.actors[site.thread].kernel;
    const bool of_io = site.wait_class == WaitClass::disk || site.wait_class == WaitClass::fault;
    out.push_back(by_timer && (of_io || (site.wait_class == WaitClass::lock &&
                                         pause_in(trace, site.wait_stack) != KernelPause::unknown)));
  }
  return out;
}

std::vector<bool> pauses_above_disks(const Trace& trace, const std::vector<bool>& at_disks,
                                     const std::vector<DiskPart>& parts, const std::vector<bool>& collected) {
  std::vector<Nanos> all(trace.sites.size());
  std::vector<Nanos> known(trace.sites.size());
  std::vector<Nanos> served(trace.sites.size());
  std::vector<bool> out(trace.sites.size());
  for (std::uint32_t id = 0; id < trace.waits.size(); ++id) {
    const Wait& wait = trace.waits[id];
    if (!at_disks[wait.site] || trace.sites[wait.site].any_request) continue;
    const Nanos length = clipped(wait.block, wait.wake, trace.window);
    all[wait.site] += length;
    const DiskPartRange requests = parts_of(parts, id);
    if (requests.begin() == requests.end() || (!collected.empty() && collected[id])) continue;
    known[wait.site] += length;
    for (const DiskPart& part : requests) served[wait.site] += part.part_ns;
  }
  for (SiteId id = 0; id < all.size(); ++id) {
    out[id] = 2 * known[id] > all[id] && 2 * served[id] < known[id];
  }
  return out;
}

ActorId paused_above(const Trace& trace, const WaitSite& site) {
  return trace.actors[site.waker].kind == ActorKind::disk ? site.waker : kNoActor;
}

}  // namespace offwait
