// SPDX-License-Identifier: GPL-2.0-or-later
// A file of one thread, and work on it that takes a given time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <sys/types.h>

/// How many times as fast the two parts of work on a disk are: what the thread computes, and what it waits
/// for.
struct DiskSpeeds {
  double cpu = 1;
  double disk = 1;
};

/// Each thread has a file of its own. Its blocks are allocated, so that a sync writes data and flushes, and
/// changes no metadata. The disk of a virtual machine syncs in a fraction of a millisecond. To act as a
/// slower disk, the sync is repeated until a given time has passed. One part of that work cannot be made
/// faster, so the time is shortened instead by what the part would save, as told by what the thread did in it
/// so far.
class DiskFile {
 public:
  explicit DiskFile(const std::string& directory);
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;
  ~DiskFile();

  [[gnu::noinline]] void sync_for(std::int64_t ns, DiskSpeeds speeds);
  [[gnu::noinline]] void read_for(std::int64_t ns, DiskSpeeds speeds);

 private:
  static constexpr std::size_t kBlock = 4096;
  struct alignas(kBlock) Block : std::array<char, kBlock> {};

  /// What a thread did in some time; the rest of `elapsed_ns` it waited for the disk.
  struct Use {
    std::int64_t elapsed_ns = 0, ran_ns = 0, runnable_ns = 0;
  };
  static Use use_until_now();

  template <class Work>
  void repeat_for(std::int64_t ns, DiskSpeeds speeds, Work work);
  /// The part of the time that is left with these speeds.
  double left(DiskSpeeds speeds) const;

  off_t next_offset();
  void write_block();

  int file_ = -1;
  int direct_ = -1;
  std::size_t next_ = 0;
  std::unique_ptr<Block> block_ = std::make_unique<Block>();
  Use used_;
};
