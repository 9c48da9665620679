// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/outline.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace offwait {

namespace {

/// Behind the `)` that belongs to the `(` at `begin`; npos without one.
std::size_t end_of_arguments(std::string_view function, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < function.size(); ++i) {
    depth += function[i] == '(' ? 1 : function[i] == ')' ? -1 : 0;
    if (depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string outline(std::string_view function, std::string_view arguments) {
  std::string out;
  int template_depth = 0;
  int brace_depth = 0;  // a lambda's name
  for (std::size_t i = 0; i < function.size(); ++i) {
    const char c = function[i];
    const bool operator_name = out.ends_with("operator");
    if (c == '{' || c == '}') {
      brace_depth += c == '{' ? 1 : -1;
    } else if (brace_depth == 0 && c == '<' && !operator_name &&
               !(out.ends_with("operator<") && function[i - 1] == '<')) {
      if (template_depth++ == 0) out += arguments;
      continue;
    } else if (brace_depth == 0 && c == '>' && template_depth > 0) {
      --template_depth;
      continue;
    }
    if (template_depth > 0) {
      continue;
    }
    if (brace_depth == 0 && c == '(') {
      constexpr std::string_view kAnonymous = "(anonymous namespace)";
      const std::string_view rest = function.substr(i);
      const std::string_view kept = rest.starts_with(kAnonymous)              ? kAnonymous
                                    : operator_name && rest.starts_with("()") ? rest.substr(0, 2)
                                    : out.ends_with('.') && rest.starts_with("(*")  // Go's receiver
                                        ? rest.substr(0, end_of_arguments(rest, 0))
                                        : std::string_view();
      if (kept.empty()) {
        // A function inside of another has its arguments in the middle.
        const std::size_t end = end_of_arguments(function, i);
        if (function.substr(std::min(end, function.size())).substr(0, 2) != "::") {
          break;
        }
        i = end - 1;
        continue;
      }
      out += kept;
      i += kept.size() - 1;
    } else if (brace_depth == 0 && c == ' ' && !operator_name) {
      // `operator< <int>`, `StubRoutines (1)`
      const std::string_view next = function.substr(i + 1, 1);
      if (next != "<" && next != "(") out.clear();
    } else if (brace_depth == 0 && c == '@') {
      break;
    } else {
      out += c;
    }
  }
  return out;
}

bool in_library(const Frame& frame) {
  constexpr std::array<std::string_view, 4> kLibraries = {"libc.so", "libc-", "libpthread", "libstdc++.so"};
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [&frame](std::string_view library) { return frame.module.starts_with(library); });
}

}  // namespace offwait
