// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.h"

namespace offwait {

/// Success if this process may record: CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH are
/// effective (CAP_SYS_ADMIN includes the first two). Otherwise the error names those that are missing.
Status check_privileges();

}  // namespace offwait
