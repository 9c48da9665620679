// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "analysis/findings.h"
#include "base/escape.h"

namespace offwait {

struct TextStyle {
  bool color = false;  ///< without: the same text without escape sequences
  Charset charset = Charset::utf8;
  int width = 100;    ///< columns; no line is wider; at least 40
  int verbosity = 0;  ///< 1: every edge, every stack with all that is not noise, every refinement step
  bool explain = false;
  bool full_stacks = false;  ///< with the user frames that noise.h leaves out
};

/// The report for a person on call: one screen unless asked for more (verbosity, explain). What is left
/// out is said ("3 more edges"); everything is in to_json().
std::string to_text(const Findings& findings, const TextStyle& style);

}  // namespace offwait
