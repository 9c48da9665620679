// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/frame.h"

#include <array>
#include <charconv>

namespace offwait {

namespace {

void append_hex(std::string& out, std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  out.append("+0x").append(digits.data(), end);
}

}  // namespace

std::string to_string(const Frame& frame) {
  std::string out = frame.function;
  if (frame.function.empty() && (frame.begin || frame.offset)) {
    out.append("[").append(frame.module);
    append_hex(out, frame.begin ? *frame.begin : *frame.offset);
    out += ']';
  }
  if (frame.offset && (frame.begin || !frame.function.empty())) append_hex(out, *frame.offset);
  if (frame.inlined) out += " (inlined)";
  if (!frame.function.empty() && !frame.module.empty()) out.append(" (").append(frame.module).append(")");
  if (!frame.file.empty())
    out.append(" at ").append(frame.file).append(":").append(std::to_string(frame.line));
  return out;
}

Frame without_line(Frame frame) {
  frame.file.clear();
  frame.line = 0;
  return frame;
}

Frame function_of(const Frame& frame) {
  Frame out = without_line(frame);
  out.inlined = false;
  if (!out.function.empty() || out.begin) out.offset.reset();
  return out;
}

}  // namespace offwait
