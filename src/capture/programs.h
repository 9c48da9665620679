// SPDX-License-Identifier: GPL-2.0-or-later
// The BPF programs: what is set before they are loaded, and attaching them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <bpf/libbpf.h>
#include <offwait.skel.h>

#include "base/result.h"
#include "capture/kernel_types.h"
#include "capture/recorder.h"
#include "capture/unwind_tables.h"

namespace offwait {

struct FreeSkeleton {
  void operator()(offwait_bpf* skeleton) const { offwait_bpf__destroy(skeleton); }
};
using Skeleton = std::unique_ptr<offwait_bpf, FreeSkeleton>;

/// Programs that are attached until destroyed.
class BpfLinks {
 public:
  BpfLinks() = default;
  BpfLinks(const BpfLinks&) = delete;
  BpfLinks& operator=(const BpfLinks&) = delete;
  ~BpfLinks() { detach(); }
  std::vector<bpf_link*>& links() { return links_; }
  void detach();

 private:
  std::vector<bpf_link*> links_;
};

/// Sets what is fixed before loading: constants, the sizes of maps, and which programs this kernel and this
/// recording need.
Status configure(offwait_bpf& skeleton, const CaptureOptions& options, const KernelTypes& types);

/// Creates the maps of the unwind tables before the programs are loaded, so that they can be filled
/// meanwhile.
Result<UnwindTables::Maps> create_table_maps(offwait_bpf& skeleton);

/// Tells the loaded programs which processes and threads are the target.
Status set_target(offwait_bpf& skeleton, const CaptureOptions& options);

Status attach_tracepoints(offwait_bpf& skeleton, BpfLinks& links);

/// Attaches probes to places in the target's files. One that is not possible is an Error if it was asked
/// for; else the rest are left out, and `notes` says why.
Status attach_probes(offwait_bpf& skeleton, const std::vector<Probe>& probes, BpfLinks& links,
                     std::vector<std::string>& notes);

}  // namespace offwait
