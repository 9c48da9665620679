// SPDX-License-Identifier: GPL-2.0-or-later
// The ring buffers into which the BPF programs write their records (bpf/records.h).
#pragma once

#include <memory>
#include <vector>

#include <bpf/libbpf.h>
#include <offwait.skel.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace offwait {

/// How many ring buffers so many CPUs need: one for each eight, rounded up to a power of two.
unsigned rings_for(unsigned cpus);

/// Before the programs are loaded: they will write `rings` ring buffers, a power of two. One has `bytes`, a
/// power of two; several have a quarter of that each.
void configure_rings(offwait_bpf& skeleton, unsigned rings, std::size_t bytes);

class EventRings {
 public:
  /// After the programs are loaded. `taken` will be called for each record, with `context` and the record's
  /// bytes.
  Status open(offwait_bpf& skeleton, ring_buffer_sample_fn taken, void* context);

  /// Takes all records. What a thread did comes in order, and births, names and exits of all threads do too.
  /// When this returns, the birth of each thread of which a record was taken has been taken as well.
  Status consume();

 private:
  struct FreeReader {
    void operator()(ring_buffer* reader) const { ring_buffer__free(reader); }
  };

  std::vector<UniqueFd> more_;
  std::unique_ptr<ring_buffer, FreeReader> reader_;
};

}  // namespace offwait
