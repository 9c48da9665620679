// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/speedscope.h"

#include <map>
#include <utility>
#include <vector>

#include "export/stack_frames.h"
#include "report/json_values.h"

namespace offwait {

namespace {

using FrameNumbers = std::vector<std::size_t>;

/// Frames as the file numbers them.
class Frames {
 public:
  explicit Frames(const WaitProfile& profile) : profile_(profile) {}

  /// Outermost first: the thread, then the frames of the stack.
  const FrameNumbers& of(const std::string& thread, StackId stack) {
    const auto [found, added] = stacks_.try_emplace({thread, stack});
    if (added) {
      for (const ShownFrame& frame : shown_frames(profile_.frames, profile_.stacks, stack))
        found->second.insert(found->second.begin(), number_of(frame));
      found->second.insert(found->second.begin(), number_of({thread_frame(thread), {}, 0}));
    }
    return found->second;
  }

  Json take() { return std::move(frames_); }

 private:
  std::size_t number_of(const ShownFrame& frame) {
    const auto [found, added] = numbers_.try_emplace(frame, numbers_.size());
    if (added) {
      Json one = {{"name", text(frame.name)}};
      if (!frame.file.empty()) {
        one["file"] = text(frame.file);
        one["line"] = frame.line;
      }
      frames_.push_back(std::move(one));
    }
    return found->second;
  }

  const WaitProfile& profile_;
  std::map<std::pair<std::string, StackId>, FrameNumbers> stacks_;
  std::map<ShownFrame, std::size_t> numbers_;
  Json frames_ = Json::array();
};

/// One profile: each row is a stack with its amount; rows that are 0 are left out.
template <class Rows, class Amount>
Json profile_of(const char* name, const char* unit, const Rows& rows, Frames& frames, Amount amount) {
  std::map<FrameNumbers, std::int64_t> sums;
  for (const auto& row : rows) {
    if (amount(row) > 0) sums[frames.of(row.thread, row.stack)] += amount(row);
  }
  Json samples = Json::array();
  Json weights = Json::array();
  std::int64_t end = 0;
  for (const auto& [stack, sum] : sums) {
    samples.push_back(stack);
    weights.push_back(sum);
    end += sum;
  }
  return {{"type", "sampled"}, {"name", name},       {"unit", unit},      {"startValue", 0},
          {"endValue", end},   {"samples", samples}, {"weights", weights}};
}

}  // namespace

std::string to_speedscope(const WaitProfile& profile) {
  Frames frames(profile);
  Json profiles = Json::array();
  profiles.push_back(profile_of("time waited", "nanoseconds", profile.waits, frames,
                                [](const StackWaits& waits) { return waits.wait_ns; }));
  profiles.push_back(profile_of("weight of waits", "nanoseconds", profile.waits, frames,
                                [](const StackWaits& waits) { return waits.weight_ns; }));
  if (!profile.samples.empty()) {
    profiles.push_back(profile_of("CPU samples", "none", profile.samples, frames,
                                  [](const StackSum& row) { return row.amount; }));
  }
  const Json out = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                    {"name", text("offwait: " + profile.recording.target)},
                    {"exporter", "offwait"},
                    {"activeProfileIndex", 0},
                    {"shared", {{"frames", frames.take()}}},
                    {"profiles", std::move(profiles)}};
  return out.dump() + "\n";
}

}  // namespace offwait
