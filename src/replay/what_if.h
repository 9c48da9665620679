// SPDX-License-Identifier: GPL-2.0-or-later
// Changes as the user writes them: `disk loop0 /2, comm:rocksdb:low cpu /2, cpus *2`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "progress/thread_groups.h"
#include "replay/scenario.h"

namespace offwait {

struct WhatIf {
  Resource resource = Resource::cpu;
  std::string threads;  ///< cpu, io, sleep, remote: pattern of a shell (fnmatch(3)) for names of threads
  std::string disk;     ///< disk, io: its name
  double factor = 0.5;  ///< as Change::factor
  friend bool operator==(const WhatIf&, const WhatIf&) = default;
};

/// Changes are separated by commas, words by blanks. Each is one of
///   disk NAME /N          requests to this disk take an N-th of their time
///   cpus *N               N times as many CPUs
///   comm:PATTERN cpu /N   CPU work of these threads; likewise `sleep` and `remote`
///   comm:PATTERN io NAME /N
/// N is a decimal number above 0, and `/N` may be written `*M` as well.
Result<std::vector<WhatIf>> parse_what_if(std::string_view text);

/// The changes in terms of this trace's groups and disks. Fails if no thread matches a pattern, or no disk
/// has a given name.
Result<Scenario> scenario_of(const std::vector<WhatIf>& what_ifs, const Trace& trace,
                             const ThreadGroups& groups);

}  // namespace offwait
