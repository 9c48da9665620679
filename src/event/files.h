// SPDX-License-Identifier: GPL-2.0-or-later
// The files in the kernel's records, as objects of a trace.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "event/recording.h"
#include "model/trace_builder.h"

namespace offwait {

/// What the record says. Names are hostile bytes.
KernelFile kernel_file(const offwait_file& record);

class Files {
 public:
  /// Both must outlive this.
  Files(const KernelRecording& recording, TraceBuilder& builder) : recording_(recording), builder_(builder) {}

  /// The file with this id in the recording; kNoObject for 0, and for one that was lost.
  ObjectId with_id(std::uint32_t id);
  /// The pipe without a name that has this inode number.
  ObjectId pipe(std::uint64_t inode);

 private:
  const KernelRecording& recording_;
  TraceBuilder& builder_;
  std::unordered_map<std::uint32_t, ObjectId> objects_;  ///< by id
};

/// Gives the waits that a disk ended, and whose system call says nothing of a file, the file of the request
/// that was complete at that moment: page faults, io_uring, the file system's own threads.
void add_files_of_requests(Trace& trace);

}  // namespace offwait
