// SPDX-License-Identifier: GPL-2.0-or-later
// Waits as a profile for pprof (https://github.com/google/pprof, proto/profile.proto).
#pragma once

#include <string>

#include "base/result.h"
#include "export/wait_profile.h"

namespace offwait {

/// gzip-compressed bytes, the same for the same profile. Each sample has three values: `off_cpu` and `weight`
/// in nanoseconds, and the number of `waits`; and the labels `thread`, `class`, `waker`, `idle` (`yes` or
/// `no`: StackWaits::idle) and, where it is known, `object`. Fails only if there is no memory to compress in.
Result<std::string> to_pprof(const WaitProfile& profile);

}  // namespace offwait
