// SPDX-License-Identifier: GPL-2.0-or-later
// Records of the kernel as the content of sections, and back.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "event/lock_addresses.h"
#include "event/named_stacks.h"
#include "event/recording.h"

namespace offwait {

/// What records refer to, and needs names.
struct RecordReferences {
  std::set<std::uint32_t> stacks;  ///< ids in KernelRecording::stacks
  std::set<SpinStack> spins;
  LockAddresses locks;
  bool has_target = false;  ///< a thread of the target was recorded
};

/// The contents of as many SectionKind::records as the records take, in order; none for no records. Those of
/// files (offwait_file) are left out: KernelRecording::files has them. Adds to `references`.
std::vector<std::string> records_sections(const RecordBuffer& records, RecordReferences& references);

/// Appends the records of one section, which were recorded on `architecture` (AboutRecording). False if the
/// content is impossible; some may have been appended then.
bool add_records(std::string_view content, std::string_view architecture, RecordBuffer& records);

}  // namespace offwait
