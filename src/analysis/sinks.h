// SPDX-License-Identifier: GPL-2.0-or-later
// The sinks that were found, each with what limits it.
#pragma once

#include <vector>

#include "analysis/findings.h"
#include "analysis/knot_input.h"
#include "analysis/prepare.h"
#include "analysis/remote_services.h"
#include "analysis/wait_graph.h"

namespace offwait {

/// In the order of `found`. `input` is what these were found in; `remote` as of find_remote_services().
std::vector<FoundSink> find_sinks(const Prepared& prepared, const WaitGraph& graph, const KnotInput& input,
                                  const std::vector<RemoteServices>& remote,
                                  const std::vector<KnotSink>& found);

}  // namespace offwait
