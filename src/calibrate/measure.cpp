// SPDX-License-Identifier: GPL-2.0-or-later
#include "calibrate/measure.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/monotonic.h"

namespace offwait {
namespace {

constexpr std::size_t kAlignment = 4096;  // enough for O_DIRECT everywhere

struct Load {
  Direction direction = Direction::read;
  std::size_t block = 0;
  int at_once = 0;
  bool anywhere = false;  // else in order
  bool once = false;      // stops at the end; else begins again
};

struct Done {
  std::uint64_t blocks = 0;
  Nanos took = 0;
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<char, Free>;

class Run {
 public:
  Run(const Measured& measured, const Load& load)
      : measured_(measured), load_(load), blocks_(measured.size / load.block) {}

  Result<Done> run(Nanos longest, int cancel) {
    const Nanos begin = monotonic_now();
    std::vector<std::thread> threads;
    Status status = success();
    try {
      for (int i = 0; i < load_.at_once; ++i) {
        threads.emplace_back([this, i] { work(static_cast<std::uint64_t>(i)); });
      }
      status = wait(begin + longest, cancel);
    } catch (const std::system_error& error) {
      status = Error{std::string("cannot start a thread: ") + error.what()};
    }
    stop_ = true;
    for (std::thread& thread : threads) thread.join();
    OFFWAIT_TRY_STATUS(status);
    if (error_ == 0 && load_.direction == Direction::write && ::fdatasync(measured_.fd) != 0) error_ = errno;
    if (error_ != 0) {
      return Error{fmt::format("cannot {} {}: {}", load_.direction == Direction::read ? "read" : "write",
                               measured_.name, std::strerror(error_))};
    }
    return Done{done_, std::max<Nanos>(monotonic_now() - begin, 1)};
  }

 private:
  Status wait(Nanos end, int cancel) const {
    constexpr Nanos kLongest = 20'000'000;
    for (Nanos now = monotonic_now(); now < end && !stop_; now = monotonic_now()) {
      pollfd wanted{cancel, POLLIN, 0};
      const Nanos left = std::min(end - now, kLongest);
      if (::poll(&wanted, 1, static_cast<int>((left + 999'999) / 1'000'000)) > 0) return Error{"interrupted"};
    }
    return success();
  }

  void work(std::uint64_t seed) {
    std::mt19937_64 random(seed + 1);
    const Buffer buffer(static_cast<char*>(std::aligned_alloc(kAlignment, load_.block)));
    if (!buffer) return give_up(ENOMEM);
    for (std::size_t at = 0; at < load_.block; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random();
      std::memcpy(buffer.get() + at, &word, sizeof(word));
    }
    while (!stop_) {
      const std::uint64_t turn = load_.anywhere ? random() : next_.fetch_add(1);
      if (load_.once && turn >= blocks_) {
        stop_ = true;
        return;
      }
      const auto offset = static_cast<off_t>(turn % blocks_ * load_.block);
      const ssize_t moved = load_.direction == Direction::read
                                ? ::pread(measured_.fd, buffer.get(), load_.block, offset)
                                : ::pwrite(measured_.fd, buffer.get(), load_.block, offset);
      if (moved < 0) return give_up(errno);
      if (static_cast<std::size_t>(moved) != load_.block) {
        return give_up(load_.direction == Direction::read ? EIO : ENOSPC);
      }
      ++done_;
    }
  }

  void give_up(int error) {
    error_ = error;
    stop_ = true;
  }

  const Measured& measured_;
  const Load load_;
  const std::uint64_t blocks_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<int> error_ = 0;
};

Result<double> rate(const Measured& measured, const Load& load, Nanos each, int cancel) {
  OFFWAIT_TRY(const Done done, Run(measured, load).run(each, cancel));
  if (done.blocks == 0) return Error{measured.name + " did nothing in all the time"};
  return static_cast<double>(done.blocks) / to_seconds(done.took);
}

Status large_enough(const Measured& measured) {
  if (measured.size >= kLargeBlock) return success();
  return Error{measured.name + " is too small to be measured"};
}

}  // namespace

Result<Throughput> measure(const Measured& measured, Direction direction, Nanos each, int cancel) {
  OFFWAIT_TRY_STATUS(large_enough(measured));
  OFFWAIT_TRY(const double large,
              rate(measured, {direction, kLargeBlock, kLargeAtOnce, false, false}, each, cancel));
  OFFWAIT_TRY(const double small,
              rate(measured, {direction, kSmallBlock, kSmallAtOnce, true, false}, each, cancel));
  return Throughput{large * static_cast<double>(kLargeBlock), small};
}

Result<std::uint64_t> fill(const Measured& measured, Nanos longest, int cancel) {
  OFFWAIT_TRY_STATUS(large_enough(measured));
  OFFWAIT_TRY(const Done done,
              Run(measured, {Direction::write, kLargeBlock, kLargeAtOnce, false, true}).run(longest, cancel));
  return done.blocks * kLargeBlock;
}

}  // namespace offwait
