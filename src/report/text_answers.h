// SPDX-License-Identifier: GPL-2.0-or-later
// The first screen of the text report: the progress, and the changes that gain it most.
#pragma once

#include <vector>

#include "report/text_page.h"

namespace offwait {

/// The answers that the report shows.
std::vector<const FoundAnswer*> shown_answers(const TextPage& page);

/// Needs at least one kind of progress and one answer.
void put_answers(const TextPage& page);

/// What the changes that the user asked about would gain, a line for each. Puts nothing if there are none,
/// and if the recording is too short to judge.
void put_what_ifs(const TextPage& page);

}  // namespace offwait
