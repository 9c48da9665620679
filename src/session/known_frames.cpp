// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/known_frames.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sandbox/message.h"

namespace offwait {
namespace {

/// More are looked up anew: a name takes some hundred bytes.
constexpr std::size_t kMostKnown = 100'000;

bool stays(const FrameAddress& address, const std::vector<Frame>& frames) {
  if (address.tgid == 0) return true;
  return !frames.empty() && std::none_of(frames.begin(), frames.end(), [](const Frame& frame) {
    return frame.function.empty() || frame.module.empty() || frame.module.front() == '[' ||
           frame.module.starts_with("perf-");
  });
}

void write_number(MessageWriter& message, const std::optional<std::uint64_t>& number) {
  message.number(number ? 1 : 0);
  message.number(number.value_or(0));
}

std::optional<std::uint64_t> read_number(MessageReader& message) {
  const bool known = message.number() != 0;
  const std::uint64_t number = message.number();
  return known ? std::optional(number) : std::nullopt;
}

Frame read_frame(MessageReader& message) {
  Frame frame;
  frame.function = message.text();
  frame.begin = read_number(message);
  frame.offset = read_number(message);
  frame.module = message.text();
  frame.file = message.text();
  frame.line = static_cast<std::uint32_t>(message.number());
  frame.inlined = message.number() != 0;
  frame.kind = message.number() == static_cast<std::uint64_t>(Frame::Kind::kernel) ? Frame::Kind::kernel
                                                                                   : Frame::Kind::user;
  return frame;
}

}  // namespace

std::vector<std::vector<Frame>> KnownFrames::frames(const std::vector<FrameAddress>& addresses,
                                                    Symbolizer& symbols) {
  std::vector<std::vector<Frame>> out(addresses.size());
  std::vector<FrameAddress> unknown;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto known = known_.find(addresses[i]);
    if (known != known_.end()) {
      out[i] = known->second;
      continue;
    }
    unknown.push_back(addresses[i]);
    places.push_back(i);
  }
  if (unknown.empty()) return out;
  std::vector<std::vector<Frame>> found = symbols.frames(unknown);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    if (stays(unknown[i], found[i]) && known_.size() < kMostKnown) {
      known_.emplace(unknown[i], found[i]);
      found_.push_back(unknown[i]);
    }
    out[places[i]] = std::move(found[i]);
  }
  return out;
}

std::string KnownFrames::found() const {
  MessageWriter message;
  message.number(found_.size());
  for (const FrameAddress& address : found_) {
    const std::vector<Frame>& frames = known_.at(address);
    message.number(static_cast<std::uint32_t>(address.tgid));
    message.number(address.pc);
    message.number(address.return_address ? 1 : 0);
    message.number(frames.size());
    for (const Frame& frame : frames) {
      message.text(frame.function);
      write_number(message, frame.begin);
      write_number(message, frame.offset);
      message.text(frame.module);
      message.text(frame.file);
      message.number(frame.line);
      message.number(frame.inlined ? 1 : 0);
      message.number(static_cast<std::uint64_t>(frame.kind));
    }
  }
  return std::move(message).take();
}

Status KnownFrames::add(std::string_view bytes) {
  MessageReader message(bytes);
  const std::uint64_t count = message.number();
  for (std::uint64_t i = 0; i < count && !message.failed(); ++i) {
    FrameAddress address;
    address.tgid = static_cast<std::int32_t>(message.number());
    address.pc = message.number();
    address.return_address = message.number() != 0;
    const std::uint64_t frame_count = message.number();
    std::vector<Frame> frames;
    for (std::uint64_t k = 0; k < frame_count && !message.failed(); ++k)
      frames.push_back(read_frame(message));
    if (!message.failed() && known_.size() < kMostKnown) known_.insert_or_assign(address, std::move(frames));
  }
  if (message.failed() || !message.at_end()) return Error{"an analysis sent something else than names"};
  return success();
}

void KnownFrames::forget(std::int32_t tgid) {
  // Addresses are in order of their process.
  const auto first = known_.lower_bound({tgid, 0, false});
  auto last = first;
  while (last != known_.end() && last->first.tgid == tgid) ++last;
  known_.erase(first, last);
}

}  // namespace offwait
