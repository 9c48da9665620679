// SPDX-License-Identifier: GPL-2.0-or-later
#include "sandbox/confined_batch.h"

#include <utility>

#include "sandbox/message.h"

namespace offwait {

ConfinedAnswers answer_confined(const ConfinedBatch& batch) {
  ConfinedAnswers result;
  result.answers.resize(batch.items);
  std::size_t exhausted = 0;
  for (std::size_t next = 0; next < batch.items;) {
    const auto confined = run_confined(
        [&batch, next](const ConfinedOutput& out) {
          if (batch.prepare) batch.prepare();
          MessageWriter prepared;
          prepared.number(1);
          out.write(prepared.bytes());
          for (std::size_t i = next; i < batch.items; ++i) {
            MessageWriter message;
            message.text(batch.answer(i));
            out.write(message.bytes());
          }
        },
        batch.confinement);
    const std::size_t first = next;
    if (confined.ok()) {
      MessageReader reader(confined->output);
      if (reader.number() == 1) {
        while (next < batch.items) {
          const std::string_view answer = reader.text();
          if (reader.failed()) break;
          result.answers[next++] = std::string(answer);
        }
        if (next == batch.items) break;
        const bool blamed = next == first || confined->end == ConfinedEnd::crashed ||
                            confined->end == ConfinedEnd::forbidden || confined->end == ConfinedEnd::done;
        if (!blamed) {
          if (++exhausted < batch.most_exhausted) continue;
          result.given_up = true;
          break;
        }
        ++next;
        if (++result.lost < batch.most_lost) continue;
      }
    }
    result.given_up = next < batch.items;
    break;
  }
  return result;
}

}  // namespace offwait
