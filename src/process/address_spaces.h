// SPDX-License-Identifier: GPL-2.0-or-later
// Follows which executable and which shared mappings processes have. During a recording nothing else reads
// /proc/PID/maps; the unwind tables and the symbolizer both use it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/nanos.h"
#include "process/proc_maps.h"

namespace offwait {

/// The mappings of one process when it was last looked at, in order of address.
struct AddressSpace {
  std::int32_t tgid = 0;
  std::vector<Mapping> mappings;  ///< executable ones
  std::vector<Mapping> shared{};  ///< see Mapping::shared
};

/// This class is not thread-safe.
class AddressSpaces {
 public:
  /// Follows the process from now on; the next take_due() returns it.
  void look_soon(std::int32_t tgid) { soon_.insert(tgid); }

  /// Like look_soon(). In addition the process now runs another program, so the next look counts as a change
  /// whatever it finds.
  void begin_anew(std::int32_t tgid);

  /// The processes to look at now, each once: those named by look_soon() since the last call and, once a
  /// second of `now`, all that are followed.
  std::set<std::int32_t> take_due(Nanos now);

  /// Looks at a process and returns its mappings, which stay valid until the next look at it. Returns null,
  /// and no longer follows the process, if it is gone or may not be looked at. Costs one read of
  /// /proc/TGID/maps.
  const AddressSpace* look_at(std::int32_t tgid);

  /// Looks at every process that is followed.
  void look_at_all();

  /// The changes found since the last call: for each process that changed, the last look that differed from
  /// the look before it.
  std::vector<AddressSpace> take_changed();

 private:
  std::map<std::int32_t, AddressSpace> followed_;
  std::set<std::int32_t> soon_;
  std::set<std::int32_t> anew_;  ///< processes named by begin_anew() since the last look at them
  std::map<std::int32_t, AddressSpace> changed_;
  std::optional<Nanos> next_;  ///< when all are due again; none before the first take_due()
};

}  // namespace offwait
