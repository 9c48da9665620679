// SPDX-License-Identifier: GPL-2.0-or-later
// Disks and network interfaces in the text report.
#pragma once

#include "report/text_page.h"

namespace offwait {

void put_disks(const TextPage& page);
void put_nics(const TextPage& page);

}  // namespace offwait
