// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/frame.h"

#include <cstddef>

#include "model/outline.h"

namespace offwait {

namespace {

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
      const std::string_view name = function.substr(0, i);
      return name.empty() || name.ends_with("operator") ? function : name;
    }
  }
  return function;
}

/// `ns::do_commit(int)`, or the place of a function without a name.
std::string name_of(const Frame& frame) {
  return frame.function.empty() ? to_string(function_of(frame)) : frame.function;
}

/// ` (db.cc:120)`, or nothing
std::string line_of(const Frame& frame) {
  if (frame.file.empty()) return "";
  const std::size_t name = frame.file.rfind('/') + 1;  // npos + 1 == 0
  return " (" + frame.file.substr(name) + ":" + std::to_string(frame.line) + ")";
}

}  // namespace

std::string short_frame(const Frame& frame) {
  return std::string(without_arguments(name_of(frame))).append(line_of(frame));
}

std::string narrow_frame(const Frame& frame) {
  return outline(without_arguments(name_of(frame)), "<…>").append(line_of(frame));
}

}  // namespace offwait
