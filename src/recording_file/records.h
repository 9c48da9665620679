// SPDX-License-Identifier: GPL-2.0-or-later
// Records of the kernel as the content of sections, and back. Waits, preemptions, samples and requests are
// stored in columns of bytes of equal weight (format.h), because most of these bytes are zero and zstd leaves
// little of them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "event/lock_addresses.h"
#include "event/named_stacks.h"
#include "event/recording.h"
#include "recording_file/format.h"
#include "recording_file/sections.h"

namespace offwait {

/// What records refer to, and needs names.
struct RecordReferences {
  std::set<std::uint32_t> stacks;    ///< ids in KernelRecording::stacks
  std::set<RecordStack> in_records;  ///< that the records bring with them
  LockAddresses locks;
  bool has_target = false;  ///< a thread of the target was recorded
};

/// As many sections of records as the records take, in order; none for no records.
/// Those of files (offwait_file) are left out: KernelRecording::files has them. Adds to `references`, and
/// forgets there what only threads that have exited needed.
std::vector<Section> records_sections(const RecordBuffer& records, RecordReferences& references);

/// Appends the records of one section of this kind, which were recorded on `architecture` (AboutRecording).
/// False if the content is impossible; some may have been appended then.
bool add_records(SectionKind kind, std::string_view content, std::string_view architecture,
                 RecordBuffer& records);

}  // namespace offwait
