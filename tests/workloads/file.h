// SPDX-License-Identifier: GPL-2.0-or-later
// A file that is on a disk and not in memory only.
#pragma once

#include <cstddef>
#include <string>

namespace workload {

/// A file of its own below a directory, unlinked already. Skips the workload where the directory is not on a
/// block device (tmpfs, overlay over tmpfs, network).
class DiskFile {
 public:
  explicit DiskFile(const std::string& directory);
  ~DiskFile();
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  /// Allocates and writes `bytes` (a multiple of 4096), and syncs them.
  void fill(std::size_t bytes) const;

  int fd() const { return fd_; }

  /// "disk:NAME", where NAME is that of the whole disk, not of a partition.
  const std::string& waker() const { return waker_; }

 private:
  int fd_;
  std::string waker_;
};

}  // namespace workload
