// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/stack_frames.h"

#include "report/frame.h"

namespace offwait {

ShownFrame shown_frame(const Frame& frame) {
  return {short_frame(without_line(frame)), frame.file, frame.line};
}

std::vector<ShownFrame> shown_frames(const std::vector<Frame>& frames, const std::vector<Stack>& stacks,
                                     StackId stack) {
  std::vector<ShownFrame> out;
  if (stack == kNoStack) return out;
  for (const FrameId id : stacks[stack].frames) {
    if (frames[id].kind != Frame::Kind::boundary) out.push_back(shown_frame(frames[id]));
  }
  if (stacks[stack].cut) out.push_back({std::string(cut_frame(*stacks[stack].cut)), {}, 0});
  return out;
}

std::string thread_frame(const std::string& thread) { return thread.empty() ? "[no name]" : thread; }

}  // namespace offwait
