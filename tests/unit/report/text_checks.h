// SPDX-License-Identifier: GPL-2.0-or-later
// What tests ask of a text report.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include "report/canvas.h"

namespace offwait {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The columns of the longest line.
inline int widest(const std::string& text) {
  int width = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) width = std::max(width, display_width(line));
  return width;
}

}  // namespace offwait
