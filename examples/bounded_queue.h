// SPDX-License-Identifier: GPL-2.0-or-later
// A producer-consumer queue of limited size: a mutex and two condition variables.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>

namespace example {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// Waits while the queue is full.
  [[gnu::noinline]] void enqueue(T item) {
    {
      std::unique_lock lock(mutex_);
      not_full_.wait(lock, [this] { return items_.size() < capacity_; });
      items_.push_back(item);
    }
    not_empty_.notify_one();
  }

  /// Waits while the queue is empty.
  [[gnu::noinline]] T dequeue() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return !items_.empty(); });
    T item = items_.front();
    items_.pop_front();
    lock.unlock();
    not_full_.notify_one();
    return item;
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<T> items_;
};

}  // namespace example
