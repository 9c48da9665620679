// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace offwait {

inline constexpr const char* kVersion = OFFWAIT_VERSION;

}  // namespace offwait
