// SPDX-License-Identifier: GPL-2.0-or-later
// offwait diff: from recordings to a comparison.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/input.h"
#include "cli/options.h"
#include "report/text.h"

namespace offwait::cli {

/// The forms of a comparison. Those that are not wanted are empty.
struct DiffTexts {
  std::string text;
  std::string json;
  std::string folded;
  std::string html{};
  std::vector<std::string> notes;  ///< sentences about recordings that the user should read; hostile bytes
};
struct DiffWanted {
  bool text = true;
  bool json = false;
  bool folded = false;
  bool html = false;
};

/// Reads one recording after the other, so that only one trace is in memory at a time. Errors name the file.
Result<DiffTexts> compare(const DiffOptions& options, const std::vector<Input>& before,
                          const std::vector<Input>& after, const DiffWanted& wanted, const TextStyle& style);

}  // namespace offwait::cli
