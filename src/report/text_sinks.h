// SPDX-License-Identifier: GPL-2.0-or-later
// Sinks that limit, and long waits outside of the knots, in the text report.
#pragma once

#include "report/text_page.h"

namespace offwait {

/// Sinks that are saturated, paced, or stand for a service outside of the host.
void put_limiting_sinks(const TextPage& page);

/// Long waits that are no part of the answer, each with the reason.
void put_excluded_waits(const TextPage& page);

}  // namespace offwait
