// SPDX-License-Identifier: GPL-2.0-or-later
// What processes have mapped executable, as it changes: the one reader of /proc/PID/maps during a recording,
// for all who need to know (unwind tables and names).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/nanos.h"
#include "process/proc_maps.h"

namespace offwait {

/// What one process had mapped executable when it was looked at, in order of address.
struct AddressSpace {
  std::int32_t tgid = 0;
  std::vector<Mapping> mappings;
};

/// Not for several threads at once.
class AddressSpaces {
 public:
  /// Follows the process from now on, and has it looked at soon.
  void look_soon(std::int32_t tgid) { soon_.insert(tgid); }

  /// As look_soon(); and what is known of the process is of another program, so that the next look counts
  /// as a change whatever it finds.
  void begin_anew(std::int32_t tgid);

  /// The processes to be looked at now, each once: those of look_soon() since the last call and, once a
  /// second of `now`, all that are followed.
  std::set<std::int32_t> take_due(Nanos now);

  /// Looks at a process; what was found stays valid until the next look at it. Null: the process is gone or
  /// may not be looked at, and is no longer followed. Costs one read of /proc/TGID/maps.
  const AddressSpace* look_at(std::int32_t tgid);

  /// Looks at all that are followed.
  void look_at_all();

  /// What was found to have changed since the last call: of each process the last look that differed from
  /// the one before it.
  std::vector<AddressSpace> take_changed();

 private:
  std::map<std::int32_t, AddressSpace> followed_;
  std::set<std::int32_t> soon_;
  std::set<std::int32_t> anew_;  ///< begin_anew() since the last look
  std::map<std::int32_t, AddressSpace> changed_;
  std::optional<Nanos> next_;  ///< when all are due; none: take_due() was not called yet
};

}  // namespace offwait
