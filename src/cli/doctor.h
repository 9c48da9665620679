// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "report/text.h"

namespace offwait {

struct Diagnosis {
  std::string text;
  bool can_record = false;
};

/// Finds out what this host allows offwait to record, by recording itself for a moment. The text has a line
/// for each feature, or is JSON (schema "offwait-doctor/1").
Diagnosis diagnose(const TextStyle& style, bool json);

}  // namespace offwait
