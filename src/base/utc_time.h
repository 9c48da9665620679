// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "base/nanos.h"

namespace offwait {

/// The time of Recording::start_time (RFC 3339, UTC) since 1970, in whole seconds; 0 if the text is none.
Nanos utc_ns(const std::string& rfc3339);

}  // namespace offwait
