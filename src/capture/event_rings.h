// SPDX-License-Identifier: GPL-2.0-or-later
// The ring buffers into which the BPF programs write their records (bpf/records.h).
#pragma once

#include <cstddef>
#include <vector>

#include <offwait.skel.h>

#include "base/nanos.h"
#include "base/result.h"
#include "capture/ring_reader.h"

namespace offwait {

/// The size of each CPU's ring buffer: 16 MB divided by the number of CPUs, and 1 MB for each if there are
/// more than 16.
std::size_t ring_bytes_for(unsigned cpus);

class EventRings {
 public:
  EventRings() = default;
  EventRings(const EventRings&) = delete;
  EventRings& operator=(const EventRings&) = delete;
  ~EventRings();

  /// After the programs are loaded. Each of `cpus` gets a ring buffer of `bytes`, a power of two and a
  /// multiple of the page size.
  Status open(offwait_bpf& skeleton, unsigned cpus, std::size_t bytes);

  /// Takes the records that were emitted until now (take_in_order).
  void consume(RecordTaker taker, void* context);

 private:
  struct Mapping {
    void* at;
    std::size_t bytes;
  };

  Status add(int fd, std::size_t bytes);

  std::vector<Mapping> mappings_;
  std::vector<RingReader> readers_;  ///< the one for births and exits of threads comes first
};

}  // namespace offwait
