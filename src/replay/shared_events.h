// SPDX-License-Identifier: GPL-2.0-or-later
// The events of a trace, for several readers at a time.
#pragma once

#include <condition_variable>
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

/// Puts the events in order once for all readers that read them at the same time. Only some batches are kept:
/// a reader that is far ahead waits for those that are reading, too, and one that begins too late has a
/// stream of its own. The trace and its histories outlive it.
class SharedEvents {
 public:
  SharedEvents(const Trace& trace, const Histories& histories)
      : trace_(trace), histories_(histories), stream_(trace, histories) {}

  /// Reads all events from the first one on. It reads from its first next() until there are no more, or until
  /// it is destroyed. Readers that read at the same time are in threads of their own. The shared events
  /// outlive it.
  class Reader {
   public:
    explicit Reader(SharedEvents& events) : events_(events) {}
    ~Reader() { events_.leave(*this); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    std::optional<Event> next() {
      if ((!batch_ || at_ == batch_->size()) && !take_batch()) return std::nullopt;
      // The waits lie far from each other.
      if (at_ + kAhead < batch_->size()) {
        __builtin_prefetch(events_.trace_.waits.data() + batch_->event(at_ + kAhead).wait);
      }
      return batch_->event(at_++);
    }

   private:
    friend class SharedEvents;
    static constexpr std::size_t kAhead = 8;
    bool take_batch();

    SharedEvents& events_;
    std::optional<EventStream> own_;
    std::shared_ptr<const EventStream::Batch> batch_;
    std::size_t number_ = 0;  ///< of the batch to come
    std::size_t at_ = 0;      ///< in batch_
  };

 private:
  using BatchPointer = std::shared_ptr<const EventStream::Batch>;
  /// The next batch of the reader; null after the last one. Nothing if it is no longer kept.
  std::optional<BatchPointer> next_of(Reader& reader);
  void leave(Reader& reader);
  bool is_needed(std::size_t number) const;

  const Trace& trace_;
  const Histories& histories_;
  std::mutex mutex_;
  std::condition_variable read_;
  std::vector<const Reader*> reading_;
  EventStream stream_;
  std::deque<BatchPointer> kept_;
  std::size_t first_ = 0;  ///< the number of the first one that is kept
};

}  // namespace offwait
