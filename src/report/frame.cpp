// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/frame.h"

#include <cstddef>
#include <vector>

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

/// Where the parts of a qualified name begin; brackets and what follows `operator` are part of one.
std::vector<std::size_t> part_begins(std::string_view name) {
  std::vector<std::size_t> out = {0};
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = name.substr(i);
    if (depth == 0 && i == out.back() && rest.starts_with("operator")) break;
    if (rest.starts_with(" (")) break;  // the line
    depth += std::string_view("<({[").find(name[i]) != std::string_view::npos   ? 1
             : std::string_view(">)}]").find(name[i]) != std::string_view::npos ? -1
                                                                                : 0;
    if (depth == 0 && rest.starts_with("::")) out.push_back(++i + 1);
  }
  return out;
}

}  // namespace

std::string short_frame(const Frame& frame) {
  return std::string(without_arguments(name_of(frame))).append(line_of(frame));
}

std::string narrow_frame(const Frame& frame) {
  return outline(without_arguments(name_of(frame)), "<…>").append(line_of(frame));
}

std::string fitting_frame(const Frame& frame, int columns,
                          const std::function<int(std::string_view)>& columns_of) {
  const std::string whole = short_frame(frame);
  if (columns_of(whole) <= columns || frame.function.empty()) return whole;
  const std::string narrow = narrow_frame(frame);
  std::string out = narrow;
  std::vector<std::size_t> begins = part_begins(narrow);
  // An operator or a lambda says nothing without the function or class that it is part of.
  while (begins.size() > 1 && (std::string_view(narrow).substr(begins.back()).starts_with("operator") ||
                               narrow[begins.back()] == '{')) {
    begins.pop_back();
  }
  for (std::size_t i = 1; i < begins.size() && columns_of(out) > columns; ++i) {
    out = "…" + narrow.substr(begins[i]);
  }
  return out;
}

}  // namespace offwait
