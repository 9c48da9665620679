// SPDX-License-Identifier: GPL-2.0-or-later
// Files ranked: which ones threads wait for, and which ones requests to disks are for. The time waited is
// that of the target's threads, while requests are everybody's: pages go to the disk long after they were
// written, and other threads send them.
#pragma once

#include <vector>

#include "analysis/found_files.h"
#include "model/trace.h"

namespace offwait {

/// What the objects of a trace are called that requests to disks can be for.
class FileNames {
 public:
  explicit FileNames(const Trace& trace);  // which must outlive this
  /// `id` is that of an object that is_stored().
  FoundFileName operator()(ObjectId id) const;

 private:
  const Trace& trace_;
  std::vector<ActorId> disk_of_;  ///< by ObjectId: the disk with most of its bytes, or kNoActor
};

/// Whether a request to a disk can be for what the wait is for.
bool is_for_file(const Trace& trace, const Wait& wait);

FoundFiles files_of(const Trace& trace);

}  // namespace offwait
