// SPDX-License-Identifier: GPL-2.0-or-later
// Prepares the BPF programs before they are loaded, and attaches them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <bpf/libbpf.h>
#include <offwait.skel.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "capture/kernel_types.h"
#include "capture/recorder.h"
#include "capture/unwind_tables.h"

namespace offwait {

struct FreeSkeleton {
  void operator()(offwait_bpf* skeleton) const { offwait_bpf__destroy(skeleton); }
};
using Skeleton = std::unique_ptr<offwait_bpf, FreeSkeleton>;

/// The attached programs; the destructor detaches them.
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

/// Sets what is fixed once the programs are loaded: constants, sizes of maps, and which programs this kernel
/// and this recording need.
Status configure(offwait_bpf& skeleton, const CaptureOptions& options, const KernelTypes& types);

/// Creates the maps of the unwind tables ahead of loading, so that they can be filled while the programs
/// load.
Result<UnwindTables::Maps> create_table_maps(offwait_bpf& skeleton);

/// Tells the loaded programs which processes and threads are the target.
Status set_target(offwait_bpf& skeleton, const CaptureOptions& options);

Status attach_tracepoints(offwait_bpf& skeleton, BpfLinks& links);

/// Attaches the program that takes the stacks of waits that were drawn where the kernel has no tracepoint at
/// the end of a switch. The kernel calls its function while the returned performance event of this thread is
/// open; the descriptor is empty if that program was not loaded. After an error nothing is attached.
Result<UniqueFd> attach_after_switch(offwait_bpf& skeleton, BpfLinks& links);

/// Attaches those of the programs that count responses to functions of the kernel. Fails if the kernel
/// refuses them, or if no program at all counts responses.
Status attach_response_counters(offwait_bpf& skeleton, BpfLinks& links);

/// Attaches probes to places in the target's files. If a probe that the user asked for cannot be attached,
/// returns an Error. If another one cannot, the rest is left out, and `notes` says why.
Status attach_probes(offwait_bpf& skeleton, const std::vector<Probe>& probes, BpfLinks& links,
                     std::vector<std::string>& notes);

}  // namespace offwait
