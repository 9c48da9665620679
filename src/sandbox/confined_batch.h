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
  /// Prepares what all items need (opens files, reads tables); called once in every process. May be empty.
  std::function<void()> prepare;
  /// Returns the answer to item `index`.
  std::function<std::string(std::size_t index)> answer;
  std::size_t items = 0;
  Confinement confinement;    ///< limits of one process; several processes may follow each other
  std::size_t most_lost = 4;  ///< items that may end their process; after that no further item is tried
  std::size_t most_exhausted =
      8;  ///< processes that may run out of time or memory without blame; after that as well
};

struct ConfinedAnswers {
  std::vector<std::optional<std::string>>
      answers;            ///< one for each item; nothing: the item was lost or never tried
  std::size_t lost = 0;   ///< items that crashed, stalled or broke the rules
  bool given_up = false;  ///< some items were not tried
};

/// Answers many questions about hostile input in confined processes. An item that ends its process costs only
/// its own answer; a new process does the rest. An item is to blame if it was the first of its process or
/// crashed it; an item during which time or memory ran out after others is tried again in a fresh process.
/// Gives up at once if `prepare` fails.
ConfinedAnswers answer_confined(const ConfinedBatch& batch);

}  // namespace offwait
