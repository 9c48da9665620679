// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks as a page has them: each once, of frames of which each is there once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/backtrace.h"
#include "report/json_values.h"

namespace offwait::html {

class StackTable {
 public:
  /// The stack's number in stacks(), without what every stack has (report/fold.h). 0: nothing is known.
  std::uint32_t number_of(const Backtrace& stack);

  /// `[short, whole, kind]` for each frame: its name where there is little room and all that is known of it,
  /// both escaped; kind 0 is of the program, 1 of the kernel, 2 says why a stack ends early.
  Json frames() const;
  /// Indices into frames(), innermost first; the first stack is empty.
  Json stacks() const;

 private:
  enum class Kind : std::uint8_t { program, kernel, cut };
  struct Text {
    std::string brief;
    std::string whole;
    Kind kind = Kind::program;
    friend auto operator<=>(const Text&, const Text&) = default;
  };
  std::uint32_t frame_number(Text text);

  std::map<Backtrace, std::uint32_t> known_;
  std::map<Text, std::uint32_t> frame_numbers_;
  std::vector<Text> frames_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
  std::vector<std::vector<std::uint32_t>> stacks_{{}};
};

}  // namespace offwait::html
