// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/frame.h"

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

std::string_view without_line(std::string_view frame) { return frame.substr(0, frame.rfind(" at ")); }

std::string function_of(std::string_view frame) {
  const FrameParts parts = parts_of(frame);
  return std::string(parts.function).append(parts.module);
}

}  // namespace offwait
