// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file/read_recording_file.h"

#include <utility>

#include "recording_file/records.h"
#include "recording_file/sections.h"
#include "recording_file/tables.h"

namespace offwait {
namespace {

constexpr const char* kImpossible = "a section has impossible content";

/// Adds sections until the recording is complete; otherwise returns why it is not.
Result<std::optional<std::string>> read_sections(SectionReader& sections, RowReader& rows) {
  std::optional<std::string> interrupted;
  for (;;) {
    OFFWAIT_TRY(const std::optional<Section> section, sections.next());
    if (!section) {
      interrupted = sections.fault().empty() ? "it has no end" : sections.fault();
      return interrupted;
    }
    switch (section->kind) {
      case SectionKind::rows:
        if (!rows.add(section->content)) return interrupted = kImpossible;
        break;
      case SectionKind::records:
        if (!rows.knows_about() ||
            !add_records(section->content, rows.about().architecture, rows.kernel().records))
          return interrupted = kImpossible;
        break;
      case SectionKind::end:
        return interrupted;
    }
  }
}

}  // namespace

Result<ReadRecording> read_recording_file(int fd, std::string head, const std::string& name) {
  SectionReader sections(fd, std::move(head), name);
  OFFWAIT_TRY_STATUS(sections.read_header());
  RowReader rows;
  ReadRecording read;
  OFFWAIT_TRY(read.interrupted, read_sections(sections, rows));
  if (!rows.knows_about() || !rows.has_window()) {
    return Error{name + ": the recording ends before anything was recorded" +
                 (read.interrupted ? " (" + *read.interrupted + ")" : "")};
  }
  if (!rows.finish(read.recording)) return Error{name + ": the recording contradicts itself"};
  return read;
}

}  // namespace offwait
