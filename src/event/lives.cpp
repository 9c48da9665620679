// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/lives.h"

#include <algorithm>
#include <span>

namespace offwait {

Life* Lives::last(std::uint32_t tid) {
  const std::optional<std::uint32_t> number = tids_.find(tid);
  return number ? &lives_[last_[*number]] : nullptr;
}

const Life* Lives::last(std::uint32_t tid) const {
  const std::optional<std::uint32_t> number = tids_.find(tid);
  return number ? &lives_[last_[*number]] : nullptr;
}

void Lives::append(std::uint32_t tid, const Life& life) {
  const std::uint32_t number = tids_.number(tid, true).value();
  if (number == last_.size()) last_.push_back(0);
  last_[number] = static_cast<std::uint32_t>(lives_.size());
  lives_.push_back(life);
  tid_of_.push_back(number);
}

void Lives::end() {
  const std::size_t tids = last_.size();
  last_ = std::vector<std::uint32_t>();  // {} would keep its memory
  of_tid_.emplace(tids, tid_of_, [](std::uint32_t tid) { return tid; });
  tid_of_ = {};
}

const Life* Lives::alive_through(std::uint32_t tid, Nanos at) const {
  const std::optional<std::uint32_t> number = tids_.find(tid);
  if (!number) return nullptr;
  const std::span<const std::uint32_t> lives = of_tid_->of(*number);
  // Each life starts at or after the exit of the one before.
  const auto first = std::partition_point(lives.begin(), lives.end(),
                                          [&](std::uint32_t life) { return lives_[life].exit < at; });
  return first != lives.end() && lives_[*first].start <= at ? &lives_[*first] : nullptr;
}

}  // namespace offwait
