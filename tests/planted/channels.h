// SPDX-License-Identifier: GPL-2.0-or-later
// What threads of a plan wait for each other by: queues within a process, pipes, sockets and ports between
// processes, and barriers.
//
// All of them are made before the first fork. An item is the address of the Reply that a caller waits for,
// which is the same address in all processes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

class Reply {
 public:
  Reply() = default;
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  virtual ~Reply() = default;
  virtual void give() = 0;
};
using Item = Reply*;  // null if no thread waits for a reply

/// What a thread needs to call a channel. It is made before the thread starts, and used by that thread only.
class Caller {
 public:
  Caller() = default;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  virtual ~Caller() = default;
  /// Puts something and waits for its reply.
  virtual void call() = 0;
};

class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;
  virtual void put(Item item) = 0;
  virtual Item take() = 0;
  /// Waits for an item and takes all that are there; those of other processes take one.
  virtual std::deque<Item> take_all() { return {take()}; }
  virtual std::unique_ptr<Caller> caller() = 0;
};

/// A queue between threads of one process: items beyond the capacity wait.
class Queue : public Channel {
 public:
  Queue(std::size_t capacity, std::size_t items) : capacity_(capacity), items_(items, nullptr) {}

  [[gnu::noinline]] void put(Item item) override;
  [[gnu::noinline]] Item take() override;
  [[gnu::noinline]] std::deque<Item> take_all() override;
  std::unique_ptr<Caller> caller() override;

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<Item> items_;
};

/// A pipe in which each item fills a page, so that it has a capacity of so many items. Replies come by pipes.
class Pipe : public Channel {
 public:
  /// The capacity is rounded up to a power of two.
  explicit Pipe(std::size_t capacity);

  [[gnu::noinline]] void put(Item item) override;
  [[gnu::noinline]] Item take() override;
  std::unique_ptr<Caller> caller() override;

 private:
  int read_ = -1;
  int write_ = -1;
};

/// A pair of connected unix sockets, which keep the items apart. Replies come by such pairs. As many items
/// fit as the kernel lets: some hundreds.
class SocketPair : public Channel {
 public:
  SocketPair();

  [[gnu::noinline]] void put(Item item) override;
  [[gnu::noinline]] Item take() override;
  std::unique_ptr<Caller> caller() override;

 private:
  int read_ = -1;
  int write_ = -1;
};

/// A TCP port of 127.0.0.1. Each caller has a connection of its own. The threads that take from the port wait
/// for the next request of any connection (epoll). Nothing can be put into it without a reply.
class Port : public Channel {
 public:
  Port();

  [[noreturn]] void put(Item item) override;
  [[gnu::noinline]] Item take() override;
  std::unique_ptr<Caller> caller() override;

 private:
  void accept_one();

  int listening_ = -1;
  std::uint16_t number_ = 0;
  std::once_flag epoll_made_;  // by the process that takes, since the connections are its own
  int epoll_ = -1;
};

/// A meeting of so many threads of one process: each waits for all others.
class Barrier {
 public:
  explicit Barrier(std::size_t threads) : threads_(threads) {}

  [[gnu::noinline]] void meet();

 private:
  const std::size_t threads_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
};
