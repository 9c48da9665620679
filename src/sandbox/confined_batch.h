// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/confined.h"

namespace offwait {

struct ConfinedBatch {
  /// What is needed for all items (files opened, tables read); done once in every process. May be empty.
  std::function<void()> prepare;
  /// The answer to item `index`.
  std::function<std::string(std::size_t index)> answer;
  std::size_t items = 0;
  Confinement confinement;         ///< of one process; several may follow each other
  std::size_t most_lost = 4;       ///< items that may cost their process; then the rest has no answers
  std::size_t most_exhausted = 8;  ///< processes that may run out of time or memory without blame; likewise
};

struct ConfinedAnswers {
  std::vector<std::optional<std::string>> answers;  ///< one for each item; nothing: lost, or never tried
  std::size_t lost = 0;                             ///< items that crashed, stalled or broke the rules
  bool given_up = false;                            ///< there are items that were not tried
};

/// Answers many questions about hostile input in confined processes: an item that ends its process costs its
/// own answer only, and a process of its own does the rest. An item is blamed if it was the first of its
/// process or brought it down on the spot; one in whose middle time or memory ran out after others is tried
/// again in a fresh one. Given up at once if `prepare` fails.
ConfinedAnswers answer_confined(const ConfinedBatch& batch);

}  // namespace offwait
