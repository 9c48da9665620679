// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/frame.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace offwait {

namespace {

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// `f(int) const` → `f`, `operator()(int)` → `operator()`; lambdas and the like inside stay.
std::string_view without_arguments(std::string_view function) {
  constexpr std::string_view kConst = " const";
  if (function.size() > kConst.size() && function.substr(function.size() - kConst.size()) == kConst) {
    function.remove_suffix(kConst.size());
  }
  if (function.empty() || function.back() != ')') {
    return function;
  }
  int depth = 0;
  for (std::size_t i = function.size(); i-- > 0;) {
    depth += function[i] == ')' ? 1 : function[i] == '(' ? -1 : 0;
    if (depth == 0) {
      return i == 0 ? function : function.substr(0, i);
    }
  }
  return function;
}

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

FrameParts parts_of(std::string_view frame) {
  FrameParts parts{frame, {}, {}};
  std::string_view& function = parts.function;
  if (const std::size_t at = function.rfind(" at "); at != std::string_view::npos) {
    parts.line = function.substr(at + 4);
    function = function.substr(0, at);
  }
  if (const std::size_t module = function.rfind(" (");
      module != std::string_view::npos && function.back() == ')') {
    std::string_view before = function.substr(0, module);
    const std::size_t plus = before.rfind("+0x");
    if (constexpr std::string_view kInlined = " (inlined)"; before.ends_with(kInlined)) {
      before.remove_suffix(kInlined.size());
      parts.module = function.substr(module);
      function = before;
    } else if (plus != std::string_view::npos && is_hex(before.substr(plus + 3))) {
      parts.module = function.substr(module);
      function = before;
    }
  }
  if (const std::size_t plus = function.rfind("+0x");
      plus != std::string_view::npos && plus > 0 && is_hex(function.substr(plus + 3))) {
    function = function.substr(0, plus);
  }
  return parts;
}

std::string short_frame(std::string_view frame) {
  FrameParts parts = parts_of(frame);
  std::string out(without_arguments(parts.function));
  if (!parts.line.empty()) {
    parts.line.remove_prefix(parts.line.rfind('/') + 1);  // npos + 1 == 0
    out.append(" (").append(parts.line).append(")");
  }
  return out;
}

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
      // `operator< <int>`
      if (function.substr(i + 1, 1) != "<") out.clear();
    } else if (brace_depth == 0 && c == '@') {
      break;
    } else {
      out += c;
    }
  }
  return out;
}

bool in_library(std::string_view frame) {
  constexpr std::array<std::string_view, 4> kLibraries = {"libc.so", "libc-", "libpthread", "libstdc++.so"};
  std::string_view module = parts_of(frame).module;
  constexpr std::string_view kOpen = " (";
  module = frame.starts_with('[') ? frame.substr(1) : module.substr(std::min(kOpen.size(), module.size()));
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [&](std::string_view library) { return module.starts_with(library); });
}

std::string narrow_frame(std::string_view short_frame) {
  std::size_t line = short_frame.rfind(" (");
  if (line == std::string_view::npos || short_frame.find(':', line) == std::string_view::npos) {
    line = short_frame.size();
  }
  return outline(short_frame.substr(0, line), "<…>").append(short_frame.substr(line));
}

std::string_view without_line(std::string_view frame) { return frame.substr(0, frame.rfind(" at ")); }

std::string function_of(std::string_view frame) {
  const FrameParts parts = parts_of(frame);
  return std::string(parts.function).append(parts.module);
}

}  // namespace offwait
