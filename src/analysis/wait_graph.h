// SPDX-License-Identifier: GPL-2.0-or-later
// The second step: who waits for whom. Vertices are merged threads, devices and interrupts; everything that
// later steps ask of the recording as a whole is summed up here.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/prepare.h"
#include "analysis/sampled_code.h"
#include "device/disk.h"
#include "device/nic.h"
#include "graph/cpu_samples.h"
#include "graph/merge.h"
#include "graph/peer_kinds.h"
#include "model/trace.h"

namespace offwait {

struct WaitGraph {
  std::vector<Vertex> vertices;
  std::vector<ActorKind> kinds;          ///< by vertex; of several threads: group
  std::vector<bool> outside;             ///< by vertex: no part of the target
  std::vector<bool> below_devices;       ///< by vertex: works for devices (Prepared::below_devices)
  std::vector<std::uint32_t> vertex_of;  ///< by ActorId (stand-ins included)
  std::vector<Edge> edges;               ///< heaviest first; `from` and `to` are vertices
  std::vector<PeerKind> peer_kinds;      ///< by PeerId
  std::vector<DiskUse> disks;
  std::vector<NicUse> nics;
  CpuSampleSums samples;
  SampledCode code;
};

/// With `merge`, similar threads are one vertex.
WaitGraph build_wait_graph(const Prepared& prepared, bool merge);

inline bool is_thread(ActorKind kind) { return kind == ActorKind::thread || kind == ActorKind::group; }
inline bool is_device(ActorKind kind) { return kind == ActorKind::disk || kind == ActorKind::nic; }

/// The part of an edge that the target waited for peers of this kind. For edges of threads outside of the
/// target the sum is 0.
PeerSum target_waits(const WaitGraph& graph, const Edge& edge, PeerKind kind);

}  // namespace offwait
