// SPDX-License-Identifier: GPL-2.0-or-later
// --explain: the steps of the search for knots in the text report.
#pragma once

#include "report/text_page.h"

namespace offwait {

void put_search(const TextPage& page);

}  // namespace offwait
