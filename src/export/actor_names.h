// SPDX-License-Identifier: GPL-2.0-or-later
// What exports call actors, objects and frames: hostile bytes, which each format escapes in its way.
#pragma once

#include <string>

#include "analysis/files.h"
#include "model/trace.h"

namespace offwait {

/// `redis-server`, `disk vda`, `nic eth0`, `timer`; `tid 12` for a thread without a name.
std::string actor_name(const Actor& actor);

/// `LOCK_log (mariadbd)`, `/var/lib/db/WAL`, `journal of vda`, as in reports; a lock without a name is where
/// it lies: `futex 0x7f0012345678 of pid 10`, `kernel mutex 0xffff888012345678`.
class ObjectNames {
 public:
  explicit ObjectNames(const Trace& trace) : trace_(trace), files_(trace) {}  // the trace must outlive this
  std::string operator()(ObjectId id) const;

 private:
  const Trace& trace_;
  FileNames files_;
};

}  // namespace offwait
