// SPDX-License-Identifier: GPL-2.0-or-later
// The events of a trace, for several readers at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "model/histories.h"
#include "model/trace.h"
#include "replay/event_stream.h"

namespace offwait {

/// Puts the events in order once for all readers that keep up with each other. A reader that is far behind
/// the first one goes on with a stream of its own, so that only some batches are kept, and no reader waits
/// for another one. The trace and its histories outlive it.
class SharedEvents {
 public:
  SharedEvents(const Trace& trace, const Histories& histories)
      : trace_(trace), histories_(histories), stream_(trace, histories) {}

  /// Reads all events from the first one on. Each reader may be in a thread of its own; the shared events
  /// outlive it.
  class Reader {
   public:
    explicit Reader(SharedEvents& events) : events_(events) {}

    std::optional<Event> next() {
      if (!batch_ || at_ == batch_->size()) {
        if (!take_batch()) return std::nullopt;
      }
      return batch_->event(at_++);
    }

   private:
    bool take_batch();

    SharedEvents& events_;
    std::optional<EventStream> own_;
    std::shared_ptr<const EventStream::Batch> batch_;
    std::size_t number_ = 0;  ///< of the batch to come
    std::size_t at_ = 0;      ///< in batch_
  };

 private:
  using BatchPointer = std::shared_ptr<const EventStream::Batch>;
  /// The batch with this number; null after the last one. Nothing if it is no longer kept.
  std::optional<BatchPointer> batch(std::size_t number);

  const Trace& trace_;
  const Histories& histories_;
  std::mutex mutex_;
  EventStream stream_;
  std::deque<BatchPointer> kept_;
  std::size_t first_ = 0;  ///< the number of the first one that is kept
};

}  // namespace offwait
