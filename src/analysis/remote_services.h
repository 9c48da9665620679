// SPDX-License-Identifier: GPL-2.0-or-later
// Services outside of this host that the target waits for. Their answers come through an interface, so it is
// the interface that stands for them in the graph.
#pragma once

#include <vector>

#include "analysis/findings.h"
#include "analysis/prepare.h"
#include "analysis/wait_graph.h"

namespace offwait {

/// What the target's waits for the services behind one interface weigh together.
struct RemoteServices {
  PeerSum sum;
  std::vector<RemoteService> services;  ///< by wait_s, longest first; ties by peer
};

/// By vertex; empty for all but interfaces. This is the one rule for which remote services count: peers that
/// no thread of this host answers for (PeerKind::remote_service), waited for by threads of the target.
std::vector<RemoteServices> find_remote_services(const Prepared& prepared, const WaitGraph& graph);

}  // namespace offwait
