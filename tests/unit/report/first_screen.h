// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <regex>
#include <string>

#include "report/text.h"

namespace offwait {

/// What stands before the first section, without the head.
inline std::string first_screen(const Findings& findings, bool verbose = false) {
  TextStyle style;
  style.verbosity = verbose ? 1 : 0;
  const std::string text = to_text(findings, style);
  const std::size_t begin = text.find("progress");
  std::size_t end = text.size();
  for (const char* section : {"\nKNOT", "\nRUNNABLE", "\nDISK", "\nLOST", "\n-v also shows"}) {
    end = std::min(end, text.find(section, begin));
  }
  return text.substr(begin, end - begin);
}

/// The same with each paragraph on one line.
inline std::string sentences(const Findings& findings) {
  return std::regex_replace(first_screen(findings), std::regex("\n +"), " ");
}

}  // namespace offwait
