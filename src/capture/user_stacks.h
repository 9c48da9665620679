// SPDX-License-Identifier: GPL-2.0-or-later
// Does in user space what walking user stacks needs while a recording runs: follows the mappings of the
// recorded processes, keeps the unwind tables up to date, and walks the stacks that the BPF programs could
// not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "capture/late_stacks.h"
#include "capture/unwind_tables.h"
#include "event/recording.h"
#include "process/address_spaces.h"

struct ring_buffer;

namespace offwait {

/// This class is not thread-safe.
class UserStacks {
 public:
  explicit UserStacks(UnwindTables::Maps maps) : tables_(maps) {}
  UserStacks(const UserStacks&) = delete;
  UserStacks& operator=(const UserStacks&) = delete;

  /// Adds a process of the target; called before the BPF programs are loaded.
  void follow(std::int32_t tgid) { spaces_.look_soon(tgid); }

  /// Takes a record of a thread. A process that is new or runs another program is looked at with the next
  /// refresh().
  void note(const offwait_thread_record& record);

  /// Called when the BPF programs are loaded. The descriptors stay the caller's: the ring buffer of
  /// offwait_mappings_wanted, and the maps with the stacks that were not walked.
  Status open(int wanted_ring, LateStacks::Maps maps);

  /// Looks at the processes that are due (AddressSpaces), gives new mappings to the unwind tables, and walks
  /// the stacks that waited for them. Call it about every 100 ms. Once the looks have taken `most` CPU time,
  /// the other processes are left to the next call.
  Status refresh(Nanos most = INT64_MAX);

  /// Readable when refresh() should be called at once: until then the stacks of a process with a new mapping
  /// are cut.
  int urgent_fd() const;

  /// See AddressSpaces::take_changed().
  std::vector<AddressSpace> take_changed(AddressSpaces::Copies copies) {
    return spaces_.take_changed(copies);
  }

  /// The processes that are gone since the last call, and of which no stack was walked here.
  std::vector<std::int32_t> take_gone();

  /// Called at the end of the recording: looks at all processes for the last time, and adds the stacks that
  /// were walked here. `notes` says what was left out.
  void finish(KernelRecording& recording, std::vector<std::string>& notes);

  /// Adds the stacks that were walked here so far.
  void add_late_stacks(KernelRecording& recording) const;

  /// Drops what is known of waits that were over at `begin`, and take_gone() does not return the processes
  /// that are gone by now.
  void forget_before(Nanos begin);

 private:
  static int on_wanted(void* self, void* data, std::size_t size);

  struct FreeRing {
    void operator()(ring_buffer* ring) const;
  };

  AddressSpaces spaces_;
  UnwindTables tables_;
  std::unordered_set<std::int32_t> known_;  ///< processes that note() has seen, and that live
  std::unique_ptr<ring_buffer, FreeRing> wanted_;
  std::optional<LateStacks> late_stacks_;
};

}  // namespace offwait
