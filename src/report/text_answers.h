// SPDX-License-Identifier: GPL-2.0-or-later
// The first screen of the text report: the progress, and the changes that gain it most.
#pragma once

#include "report/text_page.h"

namespace offwait {

/// The progress, and why it cannot be judged.
void put_too_short(const TextPage& page);

void put_answers(const TextPage& page);

/// What the changes that the user asked about would gain, a line for each.
void put_what_ifs(const TextPage& page);

}  // namespace offwait
