// SPDX-License-Identifier: GPL-2.0-or-later
// Starts the clocks that sample the code which each CPU runs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

struct bpf_link;
struct bpf_program;

namespace offwait {

/// Runs `program` (of type perf_event) `hz` times a second (1 to 9999) on every CPU that is online. The clock
/// is a software clock, which virtual machines have as well. Adds the links to `links`, or none of them if it
/// fails. The error says what was impossible; the caller can go on without samples.
Status start_sampling(const bpf_program* program, std::uint32_t hz, std::vector<bpf_link*>& links);

}  // namespace offwait
