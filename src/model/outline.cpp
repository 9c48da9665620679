// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/outline.h"

#include <algorithm>
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

/// What the angle brackets at `i` add to their depth. An arrow is no bracket.
int depth_at(std::string_view function, std::size_t i) {
  const bool is_arrow = function[i] == '>' && i > 0 && function[i - 1] == '-';
  return function[i] == '<' ? 1 : function[i] == '>' && !is_arrow ? -1 : 0;
}

/// Behind the `>` that belongs to the `<` at `begin`; npos without one.
std::size_t end_of_angles(std::string_view function, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < function.size(); ++i) {
    depth += depth_at(function, i);
    if (depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// The last word of a type of Rust: `Pool` of `&mut r::Pool<alloc::vec::Vec<u8>>`.
std::string_view word_of_type(std::string_view type) {
  for (const std::string_view before : {"&", "*", "mut ", "const ", "dyn "}) {
    if (type.starts_with(before)) type.remove_prefix(before.size());
  }
  if (type.starts_with('<')) {  // `<T as Trait>::Item`
    type.remove_prefix(std::min(end_of_angles(type, 0), type.size()));
  }
  type = type.substr(0, type.find_first_of("<([ +"));
  if (const std::size_t generic = type.rfind("::{"); generic != std::string_view::npos) {
    type.remove_prefix(type.substr(0, generic).rfind(':') + 1);  // `main::{closure#0}`
    return type;
  }
  type.remove_prefix(type.rfind(':') + 1);  // npos + 1 == 0
  return type.empty() ? "…" : type;         // a slice, a tuple
}

/// `<Pool as Work>` of `<r::Pool<u8> as r::Work>`
std::string qualifier(std::string_view qualified) {
  constexpr std::string_view kAs = " as ";
  qualified = qualified.substr(1, qualified.size() - 2);
  std::size_t as = 0;
  for (int depth = 0; as < qualified.size(); depth += depth_at(qualified, as++)) {
    if (depth == 0 && qualified.substr(as).starts_with(kAs)) break;
  }
  std::string out("<");
  out += word_of_type(qualified.substr(0, as));
  if (as < qualified.size()) out.append(kAs).append(word_of_type(qualified.substr(as + kAs.size())));
  return out + ">";
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
    } else if (const std::size_t end = end_of_angles(function, i);
               brace_depth == 0 && c == '<' && out.empty() && end != std::string_view::npos) {
      // C++ begins no name so, Rust one of a type: `<r::Pool<u8> as r::Work>::item`.
      out = qualifier(function.substr(i, end - i));
      i = end - 1;
      continue;
    } else if (brace_depth == 0 && c == '<' && !operator_name &&
               !(out.ends_with("operator<") && function[i - 1] == '<')) {
      if (template_depth++ == 0) {
        if (out.ends_with("::")) out.resize(out.size() - 2);  // Rust's `f::<u8>`
        out += arguments;
      }
      continue;
    } else if (brace_depth == 0 && c == '>' && template_depth > 0) {
      template_depth += depth_at(function, i);
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

}  // namespace offwait
