// SPDX-License-Identifier: GPL-2.0-or-later
// Any trace that can be read has answers: in bounded time, with finite gains, each in its range.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "replay/answers.h"
#include "trace/text.h"

namespace {

void must(bool holds, std::string_view what) {
  if (holds) {
    return;
  }
  std::cerr << "answers_fuzz: " << what << "\n";
  std::abort();
}

void check(const offwait::Gain& gain) {
  must(std::isfinite(gain.gain) && gain.gain >= -1, "a gain that is none");
  must(gain.low.has_value() == gain.high.has_value(), "half of a range");
  must(!gain.low || (*gain.low <= gain.gain && gain.gain <= *gain.high), "a gain outside of its range");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT(*-reinterpret-cast)
  const offwait::Result<offwait::Trace> trace = offwait::parse_text(text, "f");
  if (!trace.ok() || trace->window.length() <= 0) {
    return 0;
  }
  const offwait::Facts facts = offwait::facts_of(*trace, offwait::group_threads(*trace), {});
  offwait::AnswerOptions options;
  options.asked = {{}, {{offwait::Resource::cpus, offwait::kNoGroup, offwait::kNoActor, 0.01}}};
  const offwait::Answers found = offwait::answers_of(*trace, facts, options);
  must(found.answers.size() <= options.most_answers, "too many answers");
  must(found.asked.size() == options.asked.size(), "not all that was asked is answered");
  std::for_each(found.asked.begin(), found.asked.end(), check);
  for (const offwait::Answer& answer : found.answers) {
    check(answer);
    must(answer.progress < found.progress.size(), "a progress that is not there");
    must(answer.change.group == offwait::kNoGroup || answer.change.group < facts.groups.groups.size(),
         "a group that is not there");
    must(answer.change.device == offwait::kNoActor || answer.change.device < trace->actors.size(),
         "a device that is not there");
  }
  return 0;
}
