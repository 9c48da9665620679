// SPDX-License-Identifier: GPL-2.0-or-later
// Follows which executable and which shared mappings processes have. During a recording nothing else reads
// /proc/PID/maps; the unwind tables and the symbolizer both use it. The owner of this class asks for a look
// when it first hears of a process, after an exec, and when the walk of a stack meets an unknown address.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/monotonic.h"
#include "base/nanos.h"
#include "process/proc_maps.h"

namespace offwait {

/// The mappings of one process when it was last looked at, in order of address.
struct AddressSpace {
  std::int32_t tgid = 0;
  std::vector<Mapping> mappings;  ///< executable ones
  std::vector<Mapping> shared{};  ///< see Mapping::shared
  /// If it is not 0, the process itself was not looked at: it has the mappings of the process with this
  /// number, which forked it or an ancestor.
  std::int32_t copied_from = 0;
};

/// This class is not thread-safe.
class AddressSpaces {
 public:
  /// `clock` measures how long looks take.
  explicit AddressSpaces(std::function<Nanos()> clock = monotonic_now) : clock_(std::move(clock)) {}

  /// Follows the process from now on; the next take_due() returns it.
  void look_soon(std::int32_t tgid) { soon_.insert(tgid); }

  /// Like look_soon(). In addition the process now runs another program, so the next look counts as a change
  /// whatever it finds, and what it had as a copy of another process is void.
  void begin_anew(std::int32_t tgid);

  /// Follows a process that `parent` has forked, as a copy of its parent until it is looked at, which need
  /// not be soon: most short-lived processes never have other mappings, and a process that PostgreSQL forks
  /// for one query is gone before it could be looked at. As begin_anew() if the parent was not looked at, or
  /// not since it runs its program.
  void begin_as_copy(std::int32_t tgid, std::int32_t parent);

  /// The main thread of a process has exited. If the process is still a copy it is no longer followed, and
  /// counts as gone. Returns whether it is.
  bool end_copy(std::int32_t tgid);

  /// The processes to look at now, each once: those named by look_soon() since the last call and, from time
  /// to time, all that are followed. The latter once a second of `now`, or less often if such looks would
  /// take more than 2 % of the time (a process may have 65,000 mappings).
  std::set<std::int32_t> take_due(Nanos now);

  /// Looks at a process and returns its mappings, which stay valid until the next look at it. Returns null,
  /// and no longer follows the process, if it is gone or may not be looked at. Costs one read of
  /// /proc/TGID/maps.
  const AddressSpace* look_at(std::int32_t tgid);

  /// Looks at every process that is followed.
  void look_at_all();

  /// The processes that look_at() has found to be gone since the last call, without those whose number
  /// another process has by now.
  std::vector<std::int32_t> take_gone();

  enum class Copies { named, with_mappings };

  /// The changes found since the last call: for each process that changed, the last look that differed from
  /// the look before it. A new copy has no mappings here, or those that its original has now. A process
  /// without mappings that is no copy has been one, and runs another program, which was not looked at.
  std::vector<AddressSpace> take_changed(Copies copies = Copies::named);

 private:
  const AddressSpace* read(std::int32_t tgid);

  std::map<std::int32_t, AddressSpace> followed_;
  std::set<std::int32_t> soon_;
  std::set<std::int32_t> anew_;  ///< processes named by begin_anew() since the last look at them
  std::map<std::int32_t, AddressSpace> changed_;
  std::map<std::int32_t, std::int32_t> copies_;  ///< their originals; those that were not looked at yet
  std::set<std::int32_t> gone_;
  std::function<Nanos()> clock_;
  // The last time that all were due:
  std::optional<Nanos> all_due_at_;  ///< none before the first take_due()
  std::set<std::int32_t> all_due_;   ///< those that were not looked at since
  Nanos all_took_ = 0;               ///< to look at the others
};

}  // namespace offwait
