// SPDX-License-Identifier: GPL-2.0-or-later
// Words about lost events. The strings may hold hostile bytes: the renderer escapes them and cuts
// them to width.
#pragma once

#include <string>

#include "analysis/findings.h"
#include "analysis/losses.h"
#include "report/names.h"

namespace offwait {

/// `0.3% of time lost`, of all threads; `nothing lost`; `no time lost` where only figures are incomplete.
std::string lost_text(const Findings& findings, const LossImpact& impact);

/// What was lost, what each loss means for the report, and whose time is unknown; several sentences.
std::string losses_text(const Findings& findings, const ActorNames& names);

/// The same in one line: `5 unseen context switches: 0.1% of the recorded time is unknown`.
std::string brief_losses_text(const Findings& findings, const LossImpact& impact);

}  // namespace offwait
