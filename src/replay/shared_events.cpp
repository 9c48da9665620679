// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/shared_events.h"

#include <utility>

namespace offwait {

namespace {

/// Some megabytes, and some tens of milliseconds of work.
constexpr std::size_t kMostKept = 64;

}  // namespace

std::optional<SharedEvents::BatchPointer> SharedEvents::batch(std::size_t number) {
  const std::lock_guard guard(mutex_);
  if (number < first_) return std::nullopt;
  if (number == first_ + kept_.size()) {
    std::optional<EventStream::Batch> next = stream_.next_batch();
    if (!next) return BatchPointer();
    kept_.push_back(std::make_shared<const EventStream::Batch>(*std::move(next)));
    if (kept_.size() > kMostKept) {
      kept_.pop_front();
      ++first_;
    }
  }
  return kept_[number - first_];
}

bool SharedEvents::Reader::take_batch() {
  at_ = 0;
  if (!own_) {
    if (std::optional<BatchPointer> shared = events_.batch(number_)) {
      batch_ = *std::move(shared);
      if (batch_ != nullptr) ++number_;
      return batch_ != nullptr;
    }
    own_.emplace(events_.trace_, events_.histories_);
    for (std::size_t i = 0; i < number_; ++i) own_->next_batch();
  }
  std::optional<EventStream::Batch> next = own_->next_batch();
  batch_ = next ? std::make_shared<const EventStream::Batch>(*std::move(next)) : nullptr;
  return batch_ != nullptr;
}

}  // namespace offwait
