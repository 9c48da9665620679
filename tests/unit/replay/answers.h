// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/trace.h"
#include "replay/answers.h"

namespace offwait::test {

/// answers_of() with the facts of this trace. `progress`: patterns for names of threads, as --progress has
/// them.
inline Answers answers(const Trace& trace, const AnswerOptions& options = {},
                       const std::vector<std::string>& progress = {}) {
  return answers_of(trace, facts_of(trace, group_threads(trace), {progress}), options);
}

/// The first answer about such a part; null if there is none.
inline const Answer* answer_about(const Answers& answers, Resource resource) {
  const auto found = std::find_if(answers.answers.begin(), answers.answers.end(),
                                  [resource](const Answer& one) { return one.change.resource == resource; });
  return found == answers.answers.end() ? nullptr : &*found;
}

}  // namespace offwait::test
