// SPDX-License-Identifier: GPL-2.0-or-later
// What exports call actors and objects: hostile bytes, which each format escapes in its way.
#pragma once

#include <string>

#include "analysis/files.h"
#include "model/trace.h"

namespace offwait {

/// `redis-server`, `disk vda`, `nic eth0`, `timer`; `tid 12` for a thread without a name.
std::string actor_name(const Actor& actor);

/// What locks and files are called: `LOCK_log (mariadbd)`, `/var/lib/db/WAL`, `journal of vda`, as in
/// reports.
class ObjectNames {
 public:
  explicit ObjectNames(const Trace& trace) : trace_(trace), files_(trace) {}  // the trace must outlive this
  /// A lock without a name is where it lies: `futex 0x7f0012345678 of pid 10`, `kernel mutex
  /// 0xffff888012345678`.
  std::string operator()(ObjectId id) const;
  /// A lock without a name is `lock of` the function that takes it in this stack, as in --folded-objects;
  /// empty if there is none.
  std::string in_stack(ObjectId id, StackId wait_stack) const;
  /// The same, or where it lies if that is empty.
  std::string best(ObjectId id, StackId wait_stack) const;

 private:
  const Trace& trace_;
  FileNames files_;
};

}  // namespace offwait
