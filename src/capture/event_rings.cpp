// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/event_rings.h"

#include <algorithm>
#include <bit>
#include <cerrno>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/unique_fd.h"
#include "capture/libbpf_calls.h"

namespace offwait {

std::size_t ring_bytes_for(unsigned cpus) {
  constexpr std::size_t kAll = std::size_t{16} << 20;
  constexpr std::size_t kLeast = std::size_t{1} << 20;
  return std::max(kAll / std::bit_ceil(std::size_t{cpus}), kLeast);
}

EventRings::~EventRings() {
  for (const Mapping& mapping : mappings_) ::munmap(mapping.at, mapping.bytes);
}

/// The kernel maps a page with the reader's position, which may be written, one with the writers', and the
/// data twice.
Status EventRings::add(int fd, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const consumed = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (consumed == MAP_FAILED) return libbpf_error("cannot map a ring buffer", errno);
  mappings_.push_back({consumed, page});
  const std::size_t rest = page + 2 * bytes;
  void* const produced = ::mmap(nullptr, rest, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(page));
  if (produced == MAP_FAILED) return libbpf_error("cannot map a ring buffer", errno);
  mappings_.push_back({produced, rest});
  readers_.emplace_back(RingMemory{static_cast<std::uint64_t*>(consumed),
                                   static_cast<const std::uint64_t*>(produced),
                                   static_cast<const std::byte*>(produced) + page, bytes});
  return success();
}

Status EventRings::open(offwait_bpf& skeleton, unsigned cpus, std::size_t bytes) {
  const bpf_map* const threads = skeleton.maps.thread_events;
  OFFWAIT_TRY_STATUS(add(bpf_map__fd(threads), bpf_map__max_entries(threads)));
  // Its map and its mapping keep a ring buffer: the descriptor may be closed.
  for (__u32 cpu = 0; cpu < cpus; ++cpu) {
    UniqueFd ring(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "events", 0, 0, static_cast<__u32>(bytes), nullptr));
    if (!ring) return libbpf_error("cannot create a ring buffer", errno);
    const int fd = ring.get();
    if (bpf_map_update_elem(bpf_map__fd(skeleton.maps.events_by_cpu), &cpu, &fd, BPF_ANY) != 0)
      return libbpf_error("cannot add a ring buffer", errno);
    OFFWAIT_TRY_STATUS(add(fd, bytes));
  }
  return success();
}

void EventRings::consume(RecordTaker taker, void* context) {
  take_in_order(readers_, monotonic_now(), taker, context);
}

}  // namespace offwait
