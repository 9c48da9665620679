// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/event_rings.h"

#include <bit>
#include <cerrno>
#include <utility>

#include <bpf/bpf.h>

#include "capture/libbpf_calls.h"

namespace offwait {

unsigned rings_for(unsigned cpus) {
  constexpr unsigned kCpusForOne = 8;
  return std::bit_ceil((cpus + kCpusForOne - 1) / kCpusForOne);
}

void configure_rings(offwait_bpf& skeleton, unsigned rings, std::size_t bytes) {
  constexpr std::size_t kPartOfOne = 4;
  skeleton.rodata->last_ring = rings - 1;
  bpf_map__set_max_entries(skeleton.maps.events, static_cast<__u32>(rings == 1 ? bytes : bytes / kPartOfOne));
  bpf_map__set_max_entries(skeleton.maps.event_rings, rings);
}

Status EventRings::open(offwait_bpf& skeleton, ring_buffer_sample_fn taken, void* context) {
  const auto add = [&](int fd) {
    if (reader_) return ring_buffer__add(reader_.get(), fd, taken, context) == 0;
    reader_.reset(ring_buffer__new(fd, taken, context, nullptr));
    return reader_ != nullptr;
  };
  const int first = bpf_map__fd(skeleton.maps.events);
  const __u32 rings = skeleton.rodata->last_ring + 1;
  for (__u32 at = 0; rings > 1 && at < rings; ++at) {
    UniqueFd created;
    if (at != 0) {
      created = UniqueFd(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "events", 0, 0,
                                        bpf_map__max_entries(skeleton.maps.events), nullptr));
      if (!created) return libbpf_error("cannot create a ring buffer", errno);
    }
    const int fd = at == 0 ? first : created.get();
    if (bpf_map_update_elem(bpf_map__fd(skeleton.maps.event_rings), &at, &fd, BPF_ANY) != 0)
      return libbpf_error("cannot add a ring buffer", errno);
    if (at == 0) continue;
    if (!add(fd)) return libbpf_error("cannot map a ring buffer", errno);
    more_.push_back(std::move(created));
  }
  // The one with the births is read last.
  if (!add(first)) return libbpf_error("cannot map the ring buffer", errno);
  return success();
}

Status EventRings::consume() {
  if (const int taken = ring_buffer__consume(reader_.get()); taken < 0)
    return libbpf_error("cannot read the ring buffer", taken);
  return success();
}

}  // namespace offwait
