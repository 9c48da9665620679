// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

#include "event/recording.h"

namespace offwait {

/// When the thread ran again if it was blocked before the recording began; the window's start if it was not
/// blocked then or has not run.
Nanos first_run(const KernelRecording& recording, std::int32_t tid);

}  // namespace offwait
