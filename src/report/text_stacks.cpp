// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_stacks.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "report/frame.h"
#include "report/wording_edges.h"

namespace offwait {

namespace {

constexpr std::size_t kPlaces = 2;
constexpr std::size_t kPlaceFrames = 4;
constexpr int kFrameColumns = 44;

Backtrace shown_whole(const Backtrace& stack, StackNoise noise) {
  Backtrace out{{}, stack.cut};
  std::copy_if(stack.frames.begin(), stack.frames.end(), std::back_inserter(out.frames),
               [](const Frame& frame) { return frame.kind != Frame::Kind::user; });
  const std::vector<Frame> user = user_frames(stack, noise);
  out.frames.insert(out.frames.end(), user.begin(), user.end());
  return out;
}

}  // namespace

std::vector<Word> chain(const TextPage& page, const Backtrace& stack, const std::string& remark,
                        std::size_t frames, std::size_t kernel_frames) {
  const FoldedStack folded = fold(stack, frames, page.noise, kernel_frames);
  std::vector<Word> out;
  const auto add = [&](const std::string& text, const char* joint, Ink ink) {
    const std::string fitting = page.canvas.fit(text, kFrameColumns);
    out.push_back({out.empty() ? fitting : joint + (" " + fitting), ink});
  };
  const auto name = [&page](const Frame& frame) {
    return fitting_frame(frame, kFrameColumns,
                         [&page](std::string_view text) { return page.canvas.columns(text); });
  };
  for (const Frame& frame : folded.kernel) {
    add(name(frame), "←", Ink::dim);
  }
  for (std::size_t i = 0; i < folded.user.size(); ++i) {
    add(name(folded.user[i]), i == 0 ? "┆" : "←", Ink::plain);
  }
  if (folded.cut) {
    add(std::string(cut_frame(*folded.cut)), folded.user.empty() ? "┆" : "←", Ink::plain);
  }
  if (folded.left_out > 0) {
    out.push_back({frames_left_out(folded.left_out), Ink::dim});
  }
  if (!remark.empty()) {
    out.push_back({"(" + remark + ")", Ink::dim});
  }
  return out;
}

void put_stack(const TextPage& page, const std::string& label, const Backtrace& stack,
               const std::string& remark) {
  put_label(page.canvas, label);
  if (!page.verbose) {
    page.canvas.flow(chain(page, told_by_callers(stack), remark), kLabelled, 2);
    return;
  }
  for (const std::string& line : to_lines(shown_whole(stack, page.noise))) {
    page.canvas.to(kLabelled).flow(words(line), kLabelled + 2);
  }
  if (!remark.empty()) {
    page.canvas.to(kLabelled).put("(" + remark + ")", Ink::dim).end();
  }
}

void put_stacks(const TextPage& page, const FoundEdge& edge) {
  const std::size_t shown = page.limit(1, edge.stacks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FoundStack& stack = edge.stacks[i];
    const std::string part = part_of_weight(edge, stack, page.verbose);
    const bool waker = !stack.waker_stack.empty();
    if (!stack.wait_stack.empty()) {
      put_stack(page, "waits in", stack.wait_stack, waker ? "" : part);
    }
    if (waker) {
      put_stack(page, "woken in", stack.waker_stack, part);
    }
  }
}

std::vector<Word> place_words(const TextPage& page, const FunctionPlace& place) {
  std::vector<Word> out = chain(page, place.stack, "", kPlaceFrames);
  const std::vector<std::string> parts = parts_of_place(place);
  for (const std::string& part : parts) {
    out.back().text += ",";
    const std::vector<Word> more = words(part);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

void put_places(const TextPage& page, const FoundSamples& samples) {
  if (samples.spread) {
    page.canvas.to(kLabelled).flow(words(spread_text(samples)), kLabelled + 2, 2);
  }
  const std::size_t most = page.limit(kPlaces, samples.places.size());
  for (std::size_t i = 0; i < most; ++i) {
    const FunctionPlace& place = samples.places[i];
    std::vector<Word> line =
        words(i == 0 ? share_of_samples(place.share, samples.samples) : share_of_samples(place.share));
    const std::vector<Word> code = place_words(page, place);
    line.insert(line.end(), code.begin(), code.end());
    page.canvas.to(kLabelled).flow(line, kLabelled + 2, 2);
  }
}

}  // namespace offwait
