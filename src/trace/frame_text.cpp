// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/frame_text.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace offwait {

namespace {

constexpr std::string_view kOffset = "+0x";

/// The number that `text` is, if it is written exactly as the writer would.
template <class Number>
std::optional<Number> number(std::string_view text, int base) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

/// Takes an offset like `+0x1f` off the end of `text`.
std::optional<std::uint64_t> take_offset(std::string_view& text) {
  const std::size_t plus = text.rfind(kOffset);
  if (plus == std::string_view::npos) return std::nullopt;
  const auto offset = number<std::uint64_t>(text.substr(plus + kOffset.size()), 16);
  if (offset) text = text.substr(0, plus);
  return offset;
}

/// Takes ` at file:line` off the end of `text`, where it begins at `at`.
void take_line(std::string_view& text, std::size_t at, Frame& frame) {
  constexpr std::size_t kWordAt = 4;
  const std::size_t colon = text.rfind(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon < at + kWordAt) return;
  const auto line = number<std::uint32_t>(text.substr(colon + 1), 10);
  if (!line) return;
  frame.file = text.substr(at + kWordAt, colon - at - kWordAt);
  frame.line = *line;
  text = text.substr(0, at);
}

/// Parses `[module+0xoff]` or `[module+0xbegin]+0xoff`.
bool parse_nameless(std::string_view text, Frame& frame) {
  std::optional<std::uint64_t> offset;
  if (!text.ends_with(']')) {
    offset = take_offset(text);
    if (!offset || !text.ends_with(']')) return false;
  }
  text = text.substr(1, text.size() - 2);
  const std::optional<std::uint64_t> place = take_offset(text);
  if (!place) return false;
  frame.module = text;
  frame.begin = offset ? place : std::nullopt;
  frame.offset = offset ? offset : place;
  return true;
}

/// Parses `function (inlined) (module)` or `function+0xoff (module)`. The module may contain spaces and
/// parentheses.
bool parse_with_module(std::string_view text, Frame& frame) {
  constexpr std::string_view kInlined = " (inlined) (";
  constexpr std::string_view kOpen = " (";
  constexpr std::string_view kOpenBracket = " ([";
  std::size_t module = 0;
  if (const std::size_t inlined = text.rfind(kInlined); inlined != std::string_view::npos) {
    frame.inlined = true;
    frame.function = text.substr(0, inlined);
    module = inlined + kInlined.size();
  } else {
    const std::size_t plus = text.rfind(kOffset);
    // Without an offset only a bracketed module can be distinguished from argument types.
    const std::size_t open =
        plus == std::string_view::npos ? text.rfind(kOpenBracket) : text.find(kOpen, plus);
    if (open == std::string_view::npos) return false;
    std::string_view function = text.substr(0, open);
    frame.offset = take_offset(function);
    if (plus != std::string_view::npos && !frame.offset) return false;
    frame.function = function;
    module = open + kOpen.size();
  }
  frame.module = text.substr(module, text.size() - module - 1);
  return true;
}

Frame parse(std::string_view text, std::size_t at) {
  Frame frame;
  take_line(text, at, frame);
  if (text.starts_with('[') && parse_nameless(text, frame)) return frame;
  if (text.ends_with(')') && parse_with_module(text, frame)) return frame;
  frame.offset = take_offset(text);
  frame.function = text;
  return frame;
}

Frame::Kind kind_of(const Frame& frame) {
  const std::string_view module = frame.module;
  const bool kernel = frame.function.empty() ? module == "kernel" && !frame.begin
                                             : module.starts_with('[') && module.ends_with(']') &&
                                                   module != "[vdso]" && module != "[vsyscall]";
  return kernel ? Frame::Kind::kernel : Frame::Kind::user;
}

}  // namespace

Frame frame_of_text(std::string_view text) {
  constexpr std::string_view kAt = " at ";
  // Both a path and a function may contain ` at `. If the path does, the first one is right; if the function
  // does, the last one.
  Frame frame = parse(text, text.find(kAt));
  if (frame.module.empty() || to_string(frame) != text) frame = parse(text, text.rfind(kAt));
  if (to_string(frame) != text) frame = {.function = std::string(text)};
  frame.kind = kind_of(frame);
  return frame;
}

Peer peer_of_text(Peer::Role role, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const std::string_view port = text.substr(colon + 1);
    Peer peer{role, std::string(host), port == "*" ? kAnyPort : number<std::uint16_t>(port, 10)};
    if (to_string(peer) == text) return peer;
  }
  return {role, std::string(text), std::nullopt};
}

}  // namespace offwait
