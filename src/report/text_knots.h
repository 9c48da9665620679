// SPDX-License-Identifier: GPL-2.0-or-later
// Knots in the text report, and what is background.
#pragma once

#include "report/text_page.h"

namespace offwait {

/// The knots that limit, with their edges; background knots if they are the answer.
void put_knots(const TextPage& page);

/// Other background knots, and sinks that do not limit.
void put_background(const TextPage& page);

}  // namespace offwait
