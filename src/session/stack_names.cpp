// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/stack_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "code/kernel.h"
#include "code/roles.h"
#include "offwait/unwind.h"
#include "recording_file/frame_addresses.h"

namespace offwait {
namespace {

std::vector<FrameAddress> addresses_of(const offwait_stack& stack) {
  return frame_addresses(stack.tgid, pcs_of(stack));
}

std::vector<FrameAddress> addresses_of(const RecordStack& stack, const Symbolizer& symbols) {
  std::vector<FrameAddress> addresses = frame_addresses(stack.tgid, stack.pcs);
  addresses.erase(std::find_if(addresses.begin(), addresses.end(),
                               [&symbols](const FrameAddress& address) {
                                 return address.return_address && !symbols.is_code(address.tgid, address.pc);
                               }),
                  addresses.end());
  return addresses;
}

/// The frames at each of many addresses.
class FrameTable {
 public:
  FrameTable(const std::set<FrameAddress>& addresses, Symbolizer& symbols, KnownFrames* known)
      : addresses_(addresses.begin(), addresses.end()) {
    std::vector<std::vector<Frame>> found = name_addresses(addresses_, symbols, known);
    begins_.reserve(found.size() + 1);
    for (std::vector<Frame>& here : found) {
      begins_.push_back(static_cast<std::uint32_t>(frames_.size()));
      std::move(here.begin(), here.end(), std::back_inserter(frames_));
    }
    begins_.push_back(static_cast<std::uint32_t>(frames_.size()));
  }

  /// The frames of a stack that has these addresses, as indices into take_frames().
  NamedStacks::Indices indices_of(const std::vector<FrameAddress>& stack) const {
    NamedStacks::Indices indices;
    RecorderFrames recorder;
    for (const FrameAddress& address : stack) {
      const auto found = std::lower_bound(addresses_.begin(), addresses_.end(), address);
      const auto place = static_cast<std::size_t>(found - addresses_.begin());
      const std::uint32_t begin = begins_[place];
      if (recorder.reach(std::span(frames_).subspan(begin, begins_[place + 1] - begin))) {
        indices.clear();
        continue;
      }
      indices.resize(indices.size() + begins_[place + 1] - begin);
      std::iota(indices.end() - (begins_[place + 1] - begin), indices.end(), begin);
    }
    indices.shrink_to_fit();
    return indices;
  }

  /// Whether the stack is complete although its walk did not know how to go on.
  bool is_complete(const NamedStacks::Indices& indices) const {
    return !indices.empty() && roles_of(frames_[indices.back()]).outermost;
  }

  std::vector<Frame> take_frames() { return std::move(frames_); }

 private:
  std::vector<FrameAddress> addresses_;  ///< in order
  std::vector<std::uint32_t> begins_;    ///< where the frames of each address begin, and where the last ends
  std::vector<Frame> frames_;
};

}  // namespace

std::vector<std::vector<Frame>> name_addresses(const std::vector<FrameAddress>& addresses,
                                               Symbolizer& symbols, KnownFrames* known) {
  std::vector<std::vector<Frame>> frames =
      known == nullptr ? symbols.frames(addresses) : known->frames(addresses, symbols);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (addresses[i].tgid != 0 || frames[i].empty()) continue;
    Frame& innermost = frames[i].front();
    if (is_recorder(innermost.function)) {
      frames[i].clear();
    } else if (addresses[i].return_address && is_thread_switch(innermost.function)) {
      innermost.offset = 0;
    }
  }
  return frames;
}

NamedStacks name_stacks(const std::unordered_map<std::uint32_t, offwait_stack>& stacks,
                        const std::set<RecordStack>& in_records, Symbolizer& symbols, KnownFrames* known) {
  std::set<FrameAddress> wanted;
  for (const auto& [id, stack] : stacks) {
    for (const FrameAddress& address : addresses_of(stack)) wanted.insert(address);
  }
  for (const RecordStack& stack : in_records) {
    for (const FrameAddress& address : addresses_of(stack, symbols)) wanted.insert(address);
  }
  FrameTable table(wanted, symbols, known);
  wanted.clear();
  NamedStacks named;
  named.recorded.reserve(stacks.size());
  for (const auto& [id, stack] : stacks) {
    NamedStacks::Recorded recorded{table.indices_of(addresses_of(stack)), cut_of(stack)};
    const bool no_way_on = recorded.cut == StackCut::no_frame_pointer || recorded.cut == StackCut::no_rule;
    if (no_way_on && table.is_complete(recorded.frames)) recorded.cut.reset();
    if (recorded.cut && symbols.is_32_bit(static_cast<std::int32_t>(stack.tgid)))
      recorded.cut = StackCut::bits_32;
    named.recorded.emplace(id, std::move(recorded));
  }
  for (const RecordStack& stack : in_records)
    named.in_records.emplace(stack, table.indices_of(addresses_of(stack, symbols)));
  named.frames = table.take_frames();
  return named;
}

}  // namespace offwait
