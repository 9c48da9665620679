// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace offwait {

/// offwait's exit status where the command line is wrong, or names what there is not: no thread, function,
/// disk or time of that name is in the recording, the target or this host. A target that is not there is a
/// failure, for it may have been there before.
inline constexpr int kUsage = 2;

}  // namespace offwait
