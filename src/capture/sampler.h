// SPDX-License-Identifier: GPL-2.0-or-later
// Clocks that look at what each CPU runs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

struct bpf_link;
struct bpf_program;

namespace offwait {

/// Runs `program` (of type perf_event) `hz` times a second on every CPU that is online: a software clock,
/// which virtual machines have, too. The links are added to `links`; without any of them, if it fails. 1 <=
/// hz <= 9999. The error says what was not possible; the caller can go on.
Status start_sampling(const bpf_program* program, std::uint32_t hz, std::vector<bpf_link*>& links);

}  // namespace offwait
