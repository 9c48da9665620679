// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/shared_events.h"

#include <algorithm>
#include <utility>

namespace offwait {

namespace {

/// Some 10 MB.
constexpr std::size_t kMostKept = 128;

}  // namespace

bool SharedEvents::is_needed(std::size_t number) const {
  return std::any_of(reading_.begin(), reading_.end(),
                     [number](const Reader* reader) { return reader->number_ <= number; });
}

std::optional<SharedEvents::BatchPointer> SharedEvents::next_of(Reader& reader) {
  std::unique_lock guard(mutex_);
  if (reader.number_ < first_) return std::nullopt;
  if (std::find(reading_.begin(), reading_.end(), &reader) == reading_.end()) reading_.push_back(&reader);
  // This reader needs none of those that are kept, so another one goes on to make room.
  read_.wait(guard, [&] {
    return reader.number_ < first_ + kept_.size() || kept_.size() < kMostKept || !is_needed(first_);
  });
  if (reader.number_ == first_ + kept_.size()) {
    std::optional<EventStream::Batch> next = stream_.next_batch();
    if (!next) return BatchPointer();
    kept_.push_back(std::make_shared<const EventStream::Batch>(*std::move(next)));
    if (kept_.size() > kMostKept) {
      kept_.pop_front();
      ++first_;
    }
  }
  BatchPointer out = kept_[reader.number_++ - first_];
  guard.unlock();
  read_.notify_all();
  return out;
}

void SharedEvents::leave(Reader& reader) {
  {
    const std::lock_guard guard(mutex_);
    std::erase(reading_, &reader);
  }
  read_.notify_all();
}

bool SharedEvents::Reader::take_batch() {
  at_ = 0;
  if (!own_) {
    if (std::optional<BatchPointer> shared = events_.next_of(*this)) {
      batch_ = *std::move(shared);
      if (batch_ == nullptr) events_.leave(*this);
      return batch_ != nullptr;
    }
    own_.emplace(events_.trace_, events_.histories_);
  }
  std::optional<EventStream::Batch> next = own_->next_batch();
  batch_ = next ? std::make_shared<const EventStream::Batch>(*std::move(next)) : nullptr;
  return batch_ != nullptr;
}

}  // namespace offwait
